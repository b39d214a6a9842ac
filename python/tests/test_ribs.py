"""rarefy.ribs beside pyribs: the same calls must give the same results, types, shapes and errors."""
# Calls are made at once, inside the loops they are defined in.
# ruff: noqa: B023

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import rarefy.ribs as ours

try:
    import ribs as theirs
except ImportError:
    theirs = None

needs_pyribs = pytest.mark.skipif(theirs is None, reason="pyribs is not installed")
ARCHIVES = [
    "grid",
    "grid-mae",
    "grid-float32",
    "grid-extra",
    "cvt",
    "cvt-brute",
    "cvt-sklearn",
    "cvt-mae",
    "proximity",
    "proximity-lc",
]
CELLS = [name for name in ARCHIVES if not name.startswith("proximity")]
CENTROIDS = np.random.default_rng(5).uniform(-1, 1, (60, 2))


def make_archive(library, name, **more):
    kind, _, variant = name.partition("-")
    options = {"solution_dim": 3, "seed": 7} | more
    if kind == "proximity":
        return library.archives.ProximityArchive(
            measure_dim=2, k_neighbors=4, novelty_threshold=0.08, initial_capacity=2,
            local_competition=variant == "lc", **options,
        )  # fmt: skip
    options["ranges"] = [(-1, 1), (-2, 2)]
    if variant == "mae":
        options |= {"learning_rate": 0.1, "threshold_min": -0.5, "qd_score_offset": -3.0}
    elif variant == "float32":
        options["dtype"] = np.float32
    elif variant == "extra":
        options["extra_fields"] = {"metadata": ((), object), "square": ((2, 2), np.int32)}
    if kind == "cvt":
        method = {"brute": "brute_force", "sklearn": "sklearn_nn"}.get(variant, "scipy_kd_tree")
        return library.archives.CVTArchive(centroids=CENTROIDS, nearest_neighbors=method, **options)
    return library.archives.GridArchive(dims=[10, 20], **options)


def batch(rng, archive_name, rows):
    data = {
        "solution": rng.normal(size=(rows, 3)),
        # Ties are likely.
        "objective": np.round(rng.normal(size=rows), 1),
        "measures": rng.normal(size=(rows, 2)),
    }
    if archive_name.endswith("extra"):
        data["metadata"] = np.array([{"row": i} for i in range(rows)] + [None], dtype=object)[:-1]
        data["square"] = rng.integers(9, size=(rows, 2, 2))
    return data


def outcome(call):
    """What a call gives, or the type of what it raises."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001
        return type(error)


def assert_same(a, b, where="", exact=True):
    if dataclasses.is_dataclass(a) and not isinstance(a, type):
        a, b = dataclasses.asdict(a), dataclasses.asdict(b)
    if isinstance(a, dict):
        assert list(a) == list(b) or set(a) == set(b), where
        for name in a:
            assert_same(a[name], b[name], f"{where}.{name}", exact)
    elif isinstance(a, (list, tuple)):
        assert type(a) is type(b), where
        assert len(a) == len(b), where
        for i, (one, other) in enumerate(zip(a, b, strict=True)):
            assert_same(one, other, f"{where}[{i}]", exact)
    elif isinstance(a, (np.ndarray, np.generic)):
        assert isinstance(a, np.ndarray) == isinstance(b, np.ndarray), (where, type(a), type(b))
        assert a.dtype == b.dtype, (where, a.dtype, b.dtype)
        assert a.shape == b.shape, (where, a.shape, b.shape)
        if a.dtype == object or exact:
            np.testing.assert_array_equal(a, b, err_msg=where)
        else:
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-12, err_msg=where)
    elif hasattr(a, "iterelites"):
        assert list(a.columns) == list(b.columns), where
        assert (a.dtypes == b.dtypes).all(), where
        assert (a.to_numpy() == b.to_numpy()).all(), where
        assert_same(list(a.iterelites()), list(b.iterelites()), where, exact)
    else:
        assert type(a) is type(b), (where, a, b)
        assert a == b, where


def filled(library, name, rows=300):
    archive = make_archive(library, name)
    archive.add(**batch(np.random.default_rng(2), name, rows))
    return archive


def assert_same_state(a, b, exact=True):
    assert len(a) == len(b)
    assert a.empty == b.empty
    assert a.field_list == b.field_list
    assert dict(a.dtypes) == dict(b.dtypes)
    for name in a.field_list:
        assert_same(a.data(name), b.data(name), name, exact)
    assert_same(a.stats, b.stats, "stats", exact)
    assert_same(a.best_elite, b.best_elite, "best", exact)


# Archives beside pyribs


@needs_pyribs
@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("seed", range(4))
def test_adding_batches(name, seed):
    a, b = make_archive(ours, name), make_archive(theirs, name)
    rng = np.random.default_rng(seed)
    # CMA-MAE's thresholds are sums in another order.
    exact = not name.endswith("mae")
    assert_same_state(a, b)
    for rows in (1, 5, 0, 40, 200, 540):
        data = batch(rng, name, rows)
        if rows == 0 and name.startswith("proximity"):
            continue
        assert_same(a.add(**data), b.add(**data), f"add {rows}", exact)
        assert_same_state(a, b, exact)


@needs_pyribs
@pytest.mark.parametrize("name", ARCHIVES)
def test_adding_one_by_one(name):
    a, b = make_archive(ours, name), make_archive(theirs, name)
    data = batch(np.random.default_rng(3), name, 150)
    for i in range(150):
        row = {field: values[i] for field, values in data.items()}
        assert_same(a.add_single(**row), b.add_single(**row), f"add_single {i}")
    assert_same_state(a, b)


@needs_pyribs
@pytest.mark.parametrize("name", ARCHIVES)
def test_reading(name):
    a, b = filled(ours, name), filled(theirs, name)
    measures = np.random.default_rng(4).normal(size=(100, 2))
    assert_same(a.retrieve(measures), b.retrieve(measures), "retrieve")
    for one in measures[:20]:
        assert_same(a.retrieve_single(one), b.retrieve_single(one), "retrieve_single")
        assert_same(a.index_of_single(one), b.index_of_single(one), "index_of_single")
    assert_same(a.index_of(measures), b.index_of(measures), "index_of")
    for n, replace in ((1, True), (7, True), (500, True), (20, False)):
        assert_same(a.sample_elites(n, replace=replace), b.sample_elites(n, replace=replace), "sample_elites")
    assert_same([elite for elite in a], [elite for elite in b], "iteration")
    for fields in (
        None,
        "objective",
        "index",
        ["objective", "measures"],
        ["objective", "objective"],
        ["index"],
        "nothing",
    ):
        for kind in (None, "dict", "tuple", "pandas", "nonsense"):
            assert_same(
                outcome(lambda: a.data(fields, return_type=kind)),
                outcome(lambda: b.data(fields, return_type=kind)),
                f"data({fields}, {kind})",
            )


@needs_pyribs
@pytest.mark.parametrize("name", ARCHIVES)
def test_refusals(name):
    a, b = filled(ours, name), filled(theirs, name)
    good = batch(np.random.default_rng(8), name, 3)

    def but(**changes):
        return lambda archive: archive.add(**good | changes)

    calls = {
        "solution": but(solution=np.ones((3, 2))),
        "one solution": but(solution=np.ones(3)),
        "measures": but(measures=np.ones((3, 3))),
        "fewer measures": but(measures=np.ones((2, 2))),
        "objective": but(objective=np.ones((3, 1))),
        "fewer objectives": but(objective=np.ones(2)),
        "nan objective": but(objective=[1, np.nan, 1]),
        "infinite measures": but(measures=[[0, 0], [np.inf, 0], [0, 0]]),
        "no objective": but(objective=None),
        "unknown field": but(objective=[9, 9, 9], thing=[1, 2, 3]),
        "short field": but(objective=[9, 9, 9], thing=[1]),
        "retrieve": lambda archive: archive.retrieve([[1, 2, 3]]),
        "retrieve nan": lambda archive: archive.retrieve([[1, np.nan]]),
        "retrieve one": lambda archive: archive.retrieve([1, 2]),
        "retrieve_single": lambda archive: archive.retrieve_single([[1, 2]]),
        "index_of": lambda archive: archive.index_of([1, 2]),
        "index_of_single": lambda archive: archive.index_of_single([1]),
        "sample too many": lambda archive: archive.sample_elites(10_000, replace=False),
        "single": lambda archive: archive.add_single([1, 2], 1.0, [0, 0]),
        "single measures": lambda archive: archive.add_single([1, 2, 3], 1.0, [0, 0, 0]),
        "single nan": lambda archive: archive.add_single([1, 2, 3], np.nan, [0, 0]),
    }
    for what, call in calls.items():
        assert_same(outcome(lambda: call(a)), outcome(lambda: call(b)), what)
    for library in (ours, theirs):
        empty = make_archive(library, name)
        with pytest.raises(IndexError):
            empty.sample_elites(1)


@needs_pyribs
@pytest.mark.parametrize("name", ARCHIVES)
def test_changes_during_iteration(name):
    for library in (ours, theirs):
        for change in (
            lambda archive: archive.clear(),
            lambda archive: archive.add(**batch(np.random.default_rng(1), name, 300)),
        ):
            archive = filled(library, name, 30)
            with pytest.raises(RuntimeError):
                for _ in archive:
                    change(archive)


@needs_pyribs
@pytest.mark.parametrize("name", CELLS)
def test_clearing(name):
    a, b = filled(ours, name), filled(theirs, name)
    a.clear()
    b.clear()
    assert_same_state(a, b)
    data = batch(np.random.default_rng(9), name, 50)
    assert_same(a.add(**data), b.add(**data), "add", exact=False)
    assert_same_state(a, b, exact=False)


@needs_pyribs
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_grid_cells(dtype):
    rng = np.random.default_rng(0)
    for dims in ([7], [10, 20], [3, 4, 5], [100, 100]):
        options = {"solution_dim": 1, "dims": dims, "ranges": [(-1, 1)] * len(dims), "dtype": dtype}
        a, b = ours.archives.GridArchive(**options), theirs.archives.GridArchive(**options)
        # On the boundaries, just off them, inside, and far out.
        edges = np.stack([rng.choice(edge, 400) for edge in b.boundaries], axis=1)
        points = np.concatenate(
            (edges, edges - 1e-9, edges + 1e-9, rng.uniform(-1.2, 1.2, (400, len(dims))), 1e3 * edges)
        )
        assert_same(a.index_of(points), b.index_of(points), str(dims))
        cells = a.index_of(points)
        assert_same(a.int_to_grid_index(cells), b.int_to_grid_index(cells))
        places = a.int_to_grid_index(cells)
        assert_same(a.grid_to_int_index(places), b.grid_to_int_index(places))
        for name in (
            "dims",
            "lower_bounds",
            "upper_bounds",
            "interval_size",
            "boundaries",
            "epsilon",
            "learning_rate",
            "threshold_min",
            "qd_score_offset",
            "cells",
            "measure_dim",
            "solution_dim",
            "objective_dim",
        ):
            assert_same(getattr(a, name), getattr(b, name), name)
        for call in (
            lambda x: x.grid_to_int_index([1]),
            lambda x: x.int_to_grid_index([[1]]),
            lambda x: x.grid_to_int_index([[1000] * len(dims)]),
        ):
            assert outcome(lambda: call(a)) == outcome(lambda: call(b))


@needs_pyribs
def test_retessellating():
    a, b = filled(ours, "grid"), filled(theirs, "grid")
    for archive in (a, b):
        archive.retessellate([5, 5])
    assert_same(a.data(), b.data())
    # pyribs counts the objectives of before the change as well.
    assert a.stats.qd_score == pytest.approx(a.data("objective").sum())
    for archive in (a, b):
        with pytest.raises(ValueError):
            archive.retessellate([5, 5, 5])
        with pytest.raises(ValueError):
            filled(ours, "grid-mae").retessellate([5, 5])


BAD_GRIDS = [
    {"dims": [10] * 3},
    {"learning_rate": 0.1},
    {"threshold_min": 0.0},
    {"dtype": {"solution": np.float32}},
    {"dtype": np.float32, "solution_dtype": np.float32},
    {"extra_fields": {"objective": ((), float)}},
    {"extra_fields": {"not a name": ((), float)}},
]


@needs_pyribs
@pytest.mark.parametrize("bad", BAD_GRIDS)
def test_bad_grids(bad):
    for library in (ours, theirs):
        with pytest.raises(ValueError):
            library.archives.GridArchive(**{"solution_dim": 3, "dims": [10, 10], "ranges": [(-1, 1)] * 2} | bad)


@needs_pyribs
@pytest.mark.parametrize("solution_dim", [(), (2, 3), 0])
def test_shapes_of_solutions(solution_dim):
    made = []
    for library in (ours, theirs):
        archive = library.archives.GridArchive(
            solution_dim=solution_dim, dims=[4], ranges=[(0, 1)], solution_dtype=np.int64
        )
        shape = (solution_dim,) if isinstance(solution_dim, int) else solution_dim
        rng = np.random.default_rng(0)
        archive.add(rng.integers(9, size=(20, *shape)), rng.normal(size=20), rng.uniform(size=(20, 1)))
        made.append((archive.data(), archive.retrieve([[0.1], [0.9]]), dict(archive.dtypes)))
    assert_same(*made)


@needs_pyribs
def test_centroids_by_k_means():
    options = {"centroids": 30, "ranges": [(-1, 1), (0, 3)], "samples": 500, "seed": 3}
    assert_same(ours.archives.k_means_centroids(**options), theirs.archives.k_means_centroids(**options))
    a, b = (library.archives.CVTArchive(solution_dim=2, **options) for library in (ours, theirs))
    assert_same(a.centroids, b.centroids)
    for bad in (
        {"cells": 5},
        {"use_kd_tree": True},
        {"custom_centroids": CENTROIDS},
        {"nearest_neighbors": "x"},
        {"samples": np.zeros((9, 3))},
        {"samples": np.zeros((9, 2))},
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = [
                outcome(lambda: library.archives.CVTArchive(solution_dim=2, **options | bad))
                for library in (ours, theirs)
            ]
        assert got[0] is got[1], bad


@needs_pyribs
def test_score():
    points = np.random.default_rng(0).uniform(-1, 1, (3, 20, 2))
    options = {"iterations": 3, "target_points": points, "obj_min": -1, "obj_max": 3, "dist_max": 4}
    a, b = filled(ours, "grid"), filled(theirs, "grid")
    for penalties in (5, [0.0, 0.3]):
        assert_same(
            ours.archives.cqd_score(a, penalties=penalties, **options),
            theirs.archives.cqd_score(b, penalties=penalties, **options),
            exact=False,
        )
    with pytest.raises(ValueError):
        ours.archives.cqd_score(a, penalties=5, **options | {"iterations": 2})


# The density archive


@needs_pyribs
@pytest.mark.parametrize("method", ["kde", "kde_sklearn"])
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_density(method, dim, dtype):
    options = {"measure_dim": dim, "bandwidth": 0.4, "density_method": method, "measures_dtype": dtype}
    a, b = ours.archives.DensityArchive(**options), theirs.archives.DensityArchive(**options)
    rng = np.random.default_rng(1)
    for _ in range(6):
        measures = rng.normal(size=(200, dim))
        one, other = a.add(None, None, measures), b.add(None, None, measures)
        assert_same(one["status"], other["status"])
        assert one["density"].dtype == other["density"].dtype == dtype
        # Sums of many kernels are rounded to about seven digits.
        np.testing.assert_allclose(one["density"], other["density"], rtol=2e-5)
    assert_same(a.buffer, b.buffer)
    assert a.buffer.flags.writeable == b.buffer.flags.writeable is False
    assert a.solution_dim == b.solution_dim == 0
    assert a.empty is b.empty is False
    for name in ("data", "stats", "dtypes", "field_list", "retrieve", "sample_elites", "__len__"):
        calls = [
            lambda x=archive: getattr(x, name)(*[1] * (name in ("retrieve", "sample_elites"))) for archive in (a, b)
        ]
        assert [outcome(call) for call in calls] == [NotImplementedError] * 2, name
    for bad in (np.ones((2, dim + 1)), np.full((2, dim), np.nan)):
        assert outcome(lambda: a.add(None, None, bad)) is outcome(lambda: b.add(None, None, bad)) is ValueError


def test_density_of_a_full_buffer():
    archive = ours.archives.DensityArchive(measure_dim=2, buffer_size=100, bandwidth=0.5, seed=1)
    rng = np.random.default_rng(1)
    for _ in range(50):
        archive.add(None, None, rng.normal(size=(40, 2)))
    assert archive.buffer.shape == (100, 2)
    back = pickle.loads(pickle.dumps(archive))
    more = rng.normal(size=(300, 2))
    assert_same(archive.add(None, None, more), back.add(None, None, more))
    assert_same(archive.buffer, back.buffer)


def test_density_without_bandwidth():
    archive = ours.archives.DensityArchive(measure_dim=2)
    measures = np.random.default_rng(1).normal(size=(100, 2))
    archive.add(None, None, measures)
    assert (archive.add(None, None, measures)["density"] > 0).all()
    with pytest.raises(ValueError):
        ours.archives.DensityArchive(measure_dim=2, density_method="nonsense")


# Emitters


def mutation_emitters(library, archive, **more):
    yield library.emitters.GaussianEmitter(archive, sigma=0.3, seed=5, batch_size=20, **more)
    yield library.emitters.GaussianEmitter(archive, sigma=[0.1, 0.2, 0.3], seed=5, **more)
    yield library.emitters.IsoLineEmitter(
        archive, iso_sigma=0.3, line_sigma=0.4, seed=np.random.SeedSequence(5), **more
    )


@needs_pyribs
@pytest.mark.parametrize("name", ["grid", "grid-float32", "cvt"])
@pytest.mark.parametrize("more", [{}, {"bounds": [(-0.3, 0.3), None, (None, 1)]}, {"lower_bounds": [-1, -1, -1]}])
@pytest.mark.parametrize("start", [{"x0": [0, 1, 2]}, {"initial_solutions": [[0, 1, 2], [3, 4, 5]]}])
def test_mutations(name, more, start):
    pairs = [
        list(mutation_emitters(library, make_archive(library, name), **more, **start)) for library in (ours, theirs)
    ]
    for a, b in zip(*pairs, strict=True):
        for attribute in ("x0", "initial_solutions", "lower_bounds", "upper_bounds", "batch_size", "solution_dim"):
            assert_same(getattr(a, attribute), getattr(b, attribute), attribute)
        assert_same(a.ask(), b.ask(), "empty")
        assert_same(a.ask_dqd(), b.ask_dqd(), "dqd")
        data = batch(np.random.default_rng(1), name, 50)
        a.archive.add(**data)
        b.archive.add(**data)
        assert_same(a.ask(), b.ask(), "filled")
        assert_same(a.ask(), b.ask(), "again")


BAD_EMITTERS = [
    {"x0": None},
    {"initial_solutions": [[0, 1, 2]]},
    {"x0": [0, 1]},
    {"x0": None, "initial_solutions": [[0, 1]]},
    {"bounds": [(-1, 1)]},
    {"bounds": [(-1, 1, 2)] * 3},
    {"bounds": [(-1, 1)] * 3, "lower_bounds": [0, 0, 0]},
    {"lower_bounds": [0]},
]


@needs_pyribs
@pytest.mark.parametrize("bad", BAD_EMITTERS)
def test_bad_mutations(bad):
    for library in (ours, theirs):
        archive = make_archive(library, "grid")
        with pytest.raises(ValueError):
            library.emitters.GaussianEmitter(archive, **{"sigma": 1, "x0": [0, 0, 0]} | bad)
        with pytest.raises(ValueError):
            library.emitters.IsoLineEmitter(archive, **{"x0": [0, 0, 0]} | bad)


BAD_STRATEGIES = [
    {"x0": [0]},
    {"x0": [[0, 0, 0]]},
    {"selection_rule": "x"},
    {"restart_rule": "x"},
    {"ranker": "x"},
    {"ranker": 5},
    {"ranker": lambda seed: None},
    {"es": "x"},
    {"es": 5},
    {"es": lambda **options: None},
    {"es": "lm_ma_es", "batch_size": 10},
    {"bounds": [(-1, 1)]},
]


@needs_pyribs
@pytest.mark.parametrize("bad", BAD_STRATEGIES)
def test_bad_strategies(bad):
    for library in (ours, theirs):
        with pytest.raises(ValueError):
            library.emitters.EvolutionStrategyEmitter(
                make_archive(library, "grid"), **{"x0": [0, 0, 0], "sigma0": 1} | bad
            )


def sphere(solutions):
    return -np.sum(np.square(solutions), axis=1), solutions[:, :2]


STRATEGIES = ["cma_es", "sep_cma_es", "lm_ma_es"]
RANKERS = ["imp", "2imp", "rd", "2rd", "obj", "2obj"]


@pytest.mark.parametrize("es", STRATEGIES)
@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("rule", ["mu", "filter"])
def test_strategies_run(es, ranker, rule):
    archive = ours.archives.GridArchive(solution_dim=12, dims=[20, 20], ranges=[(-1, 1)] * 2, dtype=np.float32, seed=1)
    emitter = ours.emitters.EvolutionStrategyEmitter(
        archive, x0=np.full(12, 0.5), sigma0=0.2, ranker=ranker, es=es, selection_rule=rule, seed=1
    )
    assert emitter.batch_size == 4 + int(3 * np.log(12))
    assert emitter.x0.dtype == np.float32
    for i in range(60):
        solutions = emitter.ask()
        assert solutions.shape == (emitter.batch_size, 12)
        assert solutions.dtype == np.float32
        assert not solutions.flags.writeable
        objective, measures = sphere(solutions)
        emitter.tell(solutions, objective, measures, archive.add(solutions, objective, measures))
        assert emitter.itrs == i + 1
        if i == 30:
            emitter = copy.deepcopy(emitter)
            archive = emitter.archive
    assert len(archive) > 10


@pytest.mark.parametrize("es", STRATEGIES)
@pytest.mark.parametrize("rule", ["mu", "filter"])
def test_strategies_optimise(es, rule):
    """From 30 sigmas away, every strategy comes close to the optimum."""
    archive = ours.archives.GridArchive(solution_dim=10, dims=[1], ranges=[(-1, 1)], seed=1)
    emitter = ours.emitters.EvolutionStrategyEmitter(
        archive, x0=np.full(10, 3.0), sigma0=0.1, ranker="obj", es=es, selection_rule=rule, restart_rule="basic",
        batch_size=10, seed=1,
    )  # fmt: skip
    for _ in range(500):
        solutions = emitter.ask()
        objective, measures = -np.sum(np.arange(1, 11) * solutions**2, axis=1), solutions[:, :1]
        info = archive.add(solutions, objective, measures)
        if rule == "filter":
            info["status"][:] = np.argsort(np.argsort(-objective)) < 5
        emitter.tell(solutions, objective, measures, info)
    assert archive.stats.obj_max > -1e-3


@pytest.mark.parametrize("es", STRATEGIES)
def test_strategies_keep_bounds(es):
    archive = ours.archives.GridArchive(solution_dim=10, dims=[20], ranges=[(-1, 1)], seed=1)
    options = {"x0": np.zeros(10), "sigma0": 0.5, "es": es, "batch_size": 10, "seed": 1}
    emitter = ours.emitters.EvolutionStrategyEmitter(archive, bounds=[(-1, 1)] * 10, **options)
    assert (np.abs(emitter.ask()) <= 1).all()
    emitter = ours.emitters.EvolutionStrategyEmitter(archive, bounds=[(-0.01, 0.01)] * 10, **options)
    with pytest.warns(UserWarning, match="out of bounds"):
        assert (np.abs(emitter.ask()) <= 0.01).all()


@pytest.mark.parametrize("rule", ["mu", "filter"])
def test_restarts(rule):
    archive = ours.archives.GridArchive(solution_dim=4, dims=[20], ranges=[(-1, 1)], seed=1)
    emitters = [
        ours.emitters.EvolutionStrategyEmitter(
            archive, x0=[0.0] * 4, sigma0=0.2, restart_rule=restart, selection_rule=rule, seed=1
        )
        for restart in (5, "no_improvement", "basic")
    ]
    for _ in range(10):
        for emitter in emitters:
            solutions = emitter.ask()
            objective, measures = sphere(solutions)
            archive.add(solutions, objective, measures[:, :1])
            info = {"status": np.zeros(len(solutions), dtype=np.int32), "value": objective}
            emitter.tell(solutions, objective, measures[:, :1], info)
    assert [emitter.restarts for emitter in emitters] == [2, 10, 0]


@needs_pyribs
@pytest.mark.parametrize("ranker", [*RANKERS, "nov", "density"])
def test_rankers(ranker):
    rng = np.random.default_rng(1)
    rows = 50
    data = {"objective": rng.normal(size=rows), "measures": rng.normal(size=(rows, 2))}
    info = {name: rng.normal(size=rows) for name in ("value", "novelty", "density")} | {
        "status": rng.integers(3, size=rows)
    }
    results = []
    for library in (ours, theirs):
        made = library.emitters.rankers._get_ranker(ranker, 3)
        archive = make_archive(library, "grid")
        if "rd" in ranker:
            with pytest.raises(RuntimeError):
                made.rank(None, archive, data, info)
        made.reset(None, archive)
        results.append([made.rank(None, archive, data, info), getattr(made, "target_measure_dir", None)])
    assert_same(*results)


# The scheduler


def make_scheduler(library, emitter_library=None, archive_library=None, **options):
    archive = make_archive(archive_library or library, "grid")
    emitters = [
        (emitter_library or library).emitters.GaussianEmitter(archive, sigma=1, x0=[0.0] * 3, batch_size=n, seed=n)
        for n in (1, 4, 7)
    ]
    return library.schedulers.Scheduler(archive, emitters, **options)


@needs_pyribs
@pytest.mark.parametrize("mode", ["batch", "single"])
def test_scheduling(mode):
    a, b = make_scheduler(ours, add_mode=mode), make_scheduler(theirs, add_mode=mode)
    for _ in range(20):
        one, other = a.ask(), b.ask()
        assert_same(one, other)
        a.tell(*sphere(one))
        b.tell(*sphere(other))
    assert_same_state(a.archive, b.archive)
    assert a.result_archive is a.archive


@needs_pyribs
@pytest.mark.parametrize("parts", [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)])
def test_mixed_parts(parts):
    libraries = [(ours, theirs)[i] for i in parts]
    scheduler = make_scheduler(*libraries)
    strategy = libraries[1].emitters.EvolutionStrategyEmitter(
        scheduler.archive,
        x0=[0.0] * 3,
        sigma0=0.3,
        seed=1,
        ranker=libraries[2].emitters.rankers.TwoStageObjectiveRanker,
    )
    scheduler = libraries[0].schedulers.Scheduler(
        scheduler.archive, [*scheduler.emitters, strategy], make_archive(theirs, "cvt")
    )
    for _ in range(5):
        scheduler.tell(*sphere(scheduler.ask()))
    assert len(scheduler.archive) > 3
    assert len(scheduler.result_archive) > 3


@pytest.mark.parametrize(
    "order", [("ask", "ask"), ("tell",), ("ask_dqd", "tell"), ("ask", "tell_dqd"), ("ask", "ask_dqd")]
)
def test_order_of_calls(order):
    scheduler = make_scheduler(ours)
    *first, last = order
    for name in first:
        getattr(scheduler, name)()
    with pytest.raises(RuntimeError):
        getattr(scheduler, last)(*[None] * {"tell": 2, "tell_dqd": 3}.get(last, 0))


def test_bad_schedulers():
    scheduler = make_scheduler(ours)
    archive, emitters = scheduler.archive, scheduler.emitters
    with pytest.raises(ValueError, match="at least one"):
        ours.schedulers.Scheduler(archive, [])
    with pytest.raises(TypeError):
        ours.schedulers.Scheduler(archive, emitters[0])
    with pytest.raises(ValueError, match="more than once"):
        ours.schedulers.Scheduler(archive, [emitters[0]] * 2)
    with pytest.raises(ValueError, match="add_mode"):
        ours.schedulers.Scheduler(archive, emitters, add_mode="x")
    with pytest.raises(ValueError, match="result_archive"):
        ours.schedulers.Scheduler(archive, emitters, archive)
    other = ours.archives.GridArchive(solution_dim=2, dims=[2], ranges=[(0, 1)])
    with pytest.raises(ValueError, match="solution dim"):
        ours.schedulers.Scheduler(archive, [*emitters, ours.emitters.GaussianEmitter(other, sigma=1, x0=[0, 0])])
    scheduler.ask()
    with pytest.raises(ValueError, match="length"):
        scheduler.tell(np.ones(2), np.ones((12, 2)))


def test_warning_where_nothing_is_added():
    archive = make_archive(ours, "grid-mae")
    scheduler = ours.schedulers.Scheduler(
        archive, [ours.emitters.GaussianEmitter(archive, sigma=1, x0=[0] * 3, batch_size=4)]
    )
    scheduler.ask()
    with pytest.warns(UserWarning, match="empty"):
        scheduler.tell(np.full(4, -9.0), np.zeros((4, 2)))


def test_density_descent():
    """The setting of density descent search: the emitters are built on the result archive."""
    density = ours.archives.DensityArchive(measure_dim=2, bandwidth=0.1, seed=1)
    result = ours.archives.GridArchive(solution_dim=8, dims=[20, 20], ranges=[(-1, 1)] * 2, seed=1)
    emitters = [
        ours.emitters.EvolutionStrategyEmitter(
            result,
            x0=np.zeros(8),
            sigma0=0.2,
            ranker="density",
            selection_rule="mu",
            restart_rule="basic",
            batch_size=12,
            seed=i,
        )
        for i in range(3)
    ]
    scheduler = ours.schedulers.Scheduler(density, emitters, result)
    for _ in range(100):
        scheduler.tell(*sphere(scheduler.ask()))
    assert result.stats.coverage > 0.6


@pytest.mark.parametrize("name", CELLS)
def test_pickling(name):
    archive = filled(ours, name)
    back = pickle.loads(pickle.dumps(archive))
    assert_same_state(archive, back)
    data = batch(np.random.default_rng(5), name, 50)
    assert_same(archive.add(**data), back.add(**data))
    assert_same(archive.sample_elites(9), back.sample_elites(9))


@pytest.mark.parametrize("es", STRATEGIES)
@pytest.mark.parametrize("rule", ["mu", "filter"])
def test_pickled_strategies_go_on(es, rule):
    archive = ours.archives.GridArchive(solution_dim=12, dims=[20, 20], ranges=[(-1, 1)] * 2, seed=1)
    emitter = ours.emitters.EvolutionStrategyEmitter(
        archive, x0=np.zeros(12), sigma0=0.3, es=es, selection_rule=rule, batch_size=10, seed=1
    )
    scheduler = ours.schedulers.Scheduler(archive, [emitter])
    for _ in range(7):
        scheduler.tell(*sphere(scheduler.ask()))
    # Once between tell and ask, and once between ask and tell.
    first = pickle.loads(pickle.dumps(scheduler))
    solutions = scheduler.ask()
    assert_same(solutions, first.ask())
    second = pickle.loads(pickle.dumps(scheduler))
    for one in (scheduler, first, second):
        one.tell(*sphere(solutions))
    for _ in range(5):
        solutions = scheduler.ask()
        for one in (first, second):
            assert_same(solutions, one.ask())
        for one in (scheduler, first, second):
            one.tell(*sphere(solutions))


# Hand-over


@needs_pyribs
def test_hand_over():
    from rarefy.ribs.archives import SlidingBoundariesArchive
    from rarefy.ribs.emitters import GradientArborescenceEmitter
    from rarefy.ribs.emitters.opt import AdamOpt
    from rarefy.ribs.emitters.rankers import NSLCRanker
    from rarefy.ribs.schedulers import BanditScheduler

    assert SlidingBoundariesArchive is theirs.archives.SlidingBoundariesArchive
    assert AdamOpt is theirs.emitters.opt.AdamOpt
    assert NSLCRanker is theirs.emitters.rankers.NSLCRanker
    archive = make_archive(ours, "grid")
    assert isinstance(archive, theirs.archives.ArchiveBase)
    assert isinstance(archive, theirs.archives.GridArchive)
    assert isinstance(ours.emitters.rankers.ImprovementRanker(), theirs.emitters.rankers.RankerBase)
    gradient = GradientArborescenceEmitter(archive, x0=[0.1] * 3, sigma0=0.5, lr=0.1, batch_size=8, seed=1)
    scheduler = ours.schedulers.Scheduler(archive, [gradient])
    for _ in range(3):
        solutions = scheduler.ask_dqd()
        objective, measures = sphere(solutions)
        jacobian = np.stack((-2 * solutions, *np.broadcast_to(np.eye(3)[:2, None], (2, len(solutions), 3))), axis=1)
        scheduler.tell_dqd(objective, measures, jacobian)
        scheduler.tell(*sphere(scheduler.ask()))
    assert len(archive) > 1
    bandit = BanditScheduler(archive, list(mutation_emitters(ours, archive, x0=[0] * 3)), num_active=2)
    bandit.tell(*sphere(bandit.ask()))
    with pytest.raises(AttributeError):
        ours.archives.Nonsense  # noqa: B018


def test_without_pyribs():
    script = """
import sys
sys.modules["ribs"] = None
import rarefy.ribs as ribs
archive = ribs.archives.GridArchive(solution_dim=2, dims=[4, 4], ranges=[(-1, 1)] * 2)
emitter = ribs.emitters.EvolutionStrategyEmitter(archive, x0=[0, 0], sigma0=1)
scheduler = ribs.schedulers.Scheduler(archive, [emitter])
solutions = scheduler.ask()
scheduler.tell(solutions[:, 0], solutions)
assert len(archive) > 0
for get in (lambda: ribs.archives.DNSArchive, lambda: ribs.visualize.grid_archive_heatmap):
    try:
        get()
    except ImportError as error:
        assert "pip install ribs" in str(error), error
    else:
        raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_without_scikit_learn():
    script = """
import sys
sys.modules["sklearn"] = sys.modules["sklearn.cluster"] = None
import numpy as np
import rarefy.ribs as ribs
archive = ribs.archives.CVTArchive(solution_dim=2, centroids=50, ranges=[(-1, 1)] * 2, samples=2000, seed=1)
assert archive.centroids.shape == (50, 2)
assert (abs(archive.centroids) <= 1).all()
rng = np.random.default_rng(1)
archive.add(rng.normal(size=(900, 2)), rng.normal(size=900), rng.uniform(-1, 1, (900, 2)))
assert len(archive) > 45
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@needs_pyribs
def test_pyribs_imported_later():
    script = """
import sys
import rarefy.ribs as ours
assert "ribs" not in sys.modules
import ribs
archive = ours.archives.GridArchive(solution_dim=2, dims=[4, 4], ranges=[(-1, 1)] * 2)
assert isinstance(archive, ribs.archives.GridArchive)
ribs.emitters.EvolutionStrategyEmitter(archive, x0=[0, 0], sigma0=1, ranker=ours.emitters.rankers.ObjectiveRanker)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


@needs_pyribs
def test_pictures():
    pytest.importorskip("seaborn")  # which its pictures need
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    from rarefy.ribs.visualize import cvt_archive_heatmap, grid_archive_heatmap, parallel_axes_plot

    grid_archive_heatmap(filled(ours, "grid"))
    parallel_axes_plot(filled(ours, "grid"))
    pyplot.figure()
    cvt_archive_heatmap(filled(ours, "cvt"))
    pyplot.close("all")
