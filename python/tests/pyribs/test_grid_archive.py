"""GridArchive beside that of pyribs."""
# Calls are made at once, inside the loops they are defined in.
# ruff: noqa: B023

from __future__ import annotations

import numpy as np
import pytest
from beside_pyribs import assert_same, filled, needs_pyribs, ours, outcome, theirs


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
