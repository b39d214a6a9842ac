"""DensityArchive beside that of pyribs, and density descent search with it."""
# Calls are made at once, inside the loops they are defined in.
# ruff: noqa: B023

from __future__ import annotations

import pickle

import numpy as np
import pytest
from beside_pyribs import assert_same, needs_pyribs, ours, outcome, sphere, theirs


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
