"""CVTArchive beside that of pyribs."""
# Calls are made at once, inside the loops they are defined in.
# ruff: noqa: B023

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
from beside_pyribs import CENTROIDS, assert_same, needs_pyribs, ours, outcome, theirs


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
