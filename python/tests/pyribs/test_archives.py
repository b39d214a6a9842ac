"""What all archives have in common, beside pyribs."""
# Calls are made at once, inside the loops they are defined in.
# ruff: noqa: B023

from __future__ import annotations

import pickle

import numpy as np
import pytest
from beside_pyribs import ARCHIVES, CELLS, assert_same, assert_same_state, batch, filled, make_archive, needs_pyribs, ours, outcome, theirs


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


@pytest.mark.parametrize("name", CELLS)
def test_pickling(name):
    archive = filled(ours, name)
    back = pickle.loads(pickle.dumps(archive))
    assert_same_state(archive, back)
    data = batch(np.random.default_rng(5), name, 50)
    assert_same(archive.add(**data), back.add(**data))
    assert_same(archive.sample_elites(9), back.sample_elites(9))
