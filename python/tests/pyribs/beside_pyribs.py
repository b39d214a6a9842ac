"""rarefy.ribs beside pyribs: the same calls must give the same results, types, shapes and errors.

This is no conftest, since the tests one folder up import theirs by that name. And the folder is not called "ribs":
where pyribs is not installed, `import ribs` would find the folder.
"""

from __future__ import annotations

import dataclasses

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
STRATEGIES = ["cma_es", "sep_cma_es", "lm_ma_es"]
RANKERS = ["imp", "2imp", "rd", "2rd", "obj", "2obj"]


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


def filled(library, name, rows=300):
    archive = make_archive(library, name)
    archive.add(**batch(np.random.default_rng(2), name, rows))
    return archive


def mutation_emitters(library, archive, **more):
    yield library.emitters.GaussianEmitter(archive, sigma=0.3, seed=5, batch_size=20, **more)
    yield library.emitters.GaussianEmitter(archive, sigma=[0.1, 0.2, 0.3], seed=5, **more)
    yield library.emitters.IsoLineEmitter(
        archive, iso_sigma=0.3, line_sigma=0.4, seed=np.random.SeedSequence(5), **more
    )


def make_scheduler(library, emitter_library=None, archive_library=None, **options):
    archive = make_archive(archive_library or library, "grid")
    emitters = [
        (emitter_library or library).emitters.GaussianEmitter(archive, sigma=1, x0=[0.0] * 3, batch_size=n, seed=n)
        for n in (1, 4, 7)
    ]
    return library.schedulers.Scheduler(archive, emitters, **options)


def sphere(solutions):
    return -np.sum(np.square(solutions), axis=1), solutions[:, :2]


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


def assert_same_state(a, b, exact=True):
    assert len(a) == len(b)
    assert a.empty == b.empty
    assert a.field_list == b.field_list
    assert dict(a.dtypes) == dict(b.dtypes)
    for name in a.field_list:
        assert_same(a.data(name), b.data(name), name, exact)
    assert_same(a.stats, b.stats, "stats", exact)
    assert_same(a.best_elite, b.best_elite, "best", exact)
