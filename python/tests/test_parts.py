"""Every part by itself."""

from __future__ import annotations

import numpy as np
import pytest

import rarefy


def naive_log_density(samples: np.ndarray, at: np.ndarray, bandwidths: list[float]) -> np.ndarray:
    """Term by term, in double precision."""
    away = (at[:, None, :] - samples[None, :, :]) / np.array(bandwidths)
    exponents = -0.5 * np.sum(away**2, axis=2)
    top = exponents.max(axis=1)
    logs = top + np.log(np.sum(np.exp(exponents - top[:, None]), axis=1))
    return logs - np.log(len(samples)) - np.log(np.prod(bandwidths)) - 0.5 * at.shape[1] * np.log(2 * np.pi)


@pytest.mark.parametrize(("count", "dims"), [(200, 1), (200, 2), (5000, 1), (5000, 2), (300, 5)])
def test_kernel_density_is_the_sum_of_kernels(count: int, dims: int) -> None:
    random = np.random.default_rng(count + dims)
    samples = random.normal(size=(count, dims))
    at = random.normal(size=(50, dims)) * 1.5
    density = rarefy.KernelDensity(samples)
    assert len(density) == count
    expected = naive_log_density(samples, at, density.bandwidths)
    assert np.allclose(density.log_density(at), expected, atol=1e-4, rtol=0)
    assert ("panels" in density.method) == (dims <= 2 and count >= 2000)


def test_kernel_density_agrees_with_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.neighbors")
    random = np.random.default_rng(3)
    samples = random.uniform(-1, 1, size=(4000, 2))
    at = random.uniform(-1, 1, size=(200, 2))
    theirs = sklearn.KernelDensity(bandwidth=0.1).fit(samples).score_samples(at)
    ours = rarefy.KernelDensity(samples, feature_box=[(-1, 1), (-1, 1)], bandwidth=0.1).log_density(at)
    assert np.allclose(ours, theirs, atol=1e-4, rtol=0)


def test_densities_are_told_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="feature_box: needed"):
        rarefy.KernelDensity()
    with pytest.raises(ValueError, match="did you mean 'triangular'"):
        rarefy.KernelDensity([[0.0, 0.0]], kernel="triangula")
    with pytest.raises(ValueError, match="bandwidth"):
        rarefy.KernelDensity([[0.0, 0.0]], bandwidth="wide")
    empty = rarefy.KernelDensity(feature_box=[(0, 1)])
    with pytest.raises(RuntimeError, match="observe"):
        empty.log_density([[0.5]])
    with pytest.raises(ValueError, match="row 1: got nan"):
        empty.observe([[0.5], [np.nan]])
    with pytest.raises(ValueError, match="expected"):
        empty.observe([[0.5, 0.5]])


def test_a_flow_learns_where_features_are() -> None:
    random = np.random.default_rng(1)
    flow = rarefy.FlowDensity([(-1, 1), (-1, 1)], steps=50)
    for _ in range(20):
        flow.observe(random.normal(scale=0.1, size=(256, 2)) + 0.4)
    here, there = flow.log_density([[0.4, 0.4], [-0.6, -0.6]])
    assert here > there + 2


def test_a_reservoir_is_a_uniform_sample() -> None:
    reservoir = rarefy.Reservoir(1, capacity=500, seed=2)
    for first in range(0, 10_000, 100):
        reservoir.add(np.arange(first, first + 100.0)[:, None])
    assert len(reservoir) == 500
    assert reservoir.seen == 10_000
    values = reservoir.contents[:, 0]
    assert len(np.unique(values)) == 500
    # The mean of a uniform sample has a standard deviation of 10000 / sqrt(12 * 500) = 129 at most; five of
    # them: one false alarm in two million.
    assert abs(values.mean() - 4999.5) < 5 * 129


@pytest.mark.parametrize("strategy", ["cma-es", "sep-cma-es", "lm-ma-es"])
def test_cma_es_minimises(strategy: str) -> None:
    optimizer = rarefy.CmaEs(np.full(8, 2.0), 1.0, strategy=strategy, seed=3)
    for _ in range(400):
        candidates = optimizer.ask()
        optimizer.tell(np.sum(candidates**2 * np.arange(1, 9), axis=1))
        if optimizer.stop:
            break
    assert np.sum(optimizer.mean**2) < 1e-6
    if strategy == "cma-es":
        assert optimizer.covariance.shape == (8, 8)
    else:
        with pytest.raises(ValueError, match="full matrix"):
            _ = optimizer.covariance
    with pytest.raises(RuntimeError, match="ask"):
        optimizer.tell(np.zeros(optimizer.ask().shape[0]))
        optimizer.tell(np.zeros(optimizer.ask().shape[0]))
        optimizer.tell(np.zeros(10))


def test_grids_and_voronoi_cells() -> None:
    grid = rarefy.Grid([(0, 1), (0, 10)], [4, 5])
    assert grid.cells == 20
    assert grid.cells_of(np.array([[0.0, 0.0], [0.99, 9.9], [0.3, 4.0], [5.0, -5.0]])).tolist() == [0, 19, 7, 15]
    cells = rarefy.Cvt([(0, 1), (0, 1)], 50, samples=2000, seed=4)
    assert cells.centroids.shape == (50, 2)
    points = np.random.default_rng(1).uniform(size=(300, 2))
    distances = np.linalg.norm(points[:, None] - cells.centroids[None], axis=2)
    assert np.array_equal(cells.cells_of(points), distances.argmin(axis=1))
    again = rarefy.Cvt.of([(0, 1), (0, 1)], cells.centroids)
    assert np.array_equal(again.cells_of(points), cells.cells_of(points))


def test_an_archive_keeps_the_best_of_each_cell() -> None:
    archive = rarefy.EliteArchive(rarefy.Grid([(0, 1)], [10]), 2)
    solutions = np.arange(8.0).reshape(4, 2)
    status = archive.add(solutions, [[0.05], [0.05], [0.05], [0.95]], [1.0, 3.0, 2.0, 0.0])
    assert status.tolist() == [2, 1, 0, 2]
    assert len(archive) == 2
    assert archive.coverage == 0.2
    elite = archive.in_cell(0)
    assert elite is not None
    assert elite.objective == 3.0
    assert elite.solution.tolist() == [2.0, 3.0]
    assert archive.in_cell(5) is None
    assert archive.view().visits.tolist() == [3, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    with pytest.raises(ValueError, match="row 0"):
        archive.add([[0, 0]], [[np.nan]])
    with pytest.raises(ValueError, match="objectives: row 0"):
        archive.add([[0, 0]], [[0.5]], [np.nan])


def test_domains_are_those_of_the_command() -> None:
    arm = rarefy.Domain("arm", n=3)
    features, objectives = arm([[0.0, 0.0, 0.0], [np.pi / 2, 0.0, 0.0]])
    assert np.allclose(features, [[3, 0], [0, 3]], atol=1e-12)
    assert objectives.tolist() == [1.0, 1.0]
    assert arm.feature_box == [(-3.0, 3.0), (-3.0, 3.0)]
    projection = rarefy.Domain("lp", n=4)
    assert projection([[1.0, 2.0, 3.0, 10.24]])[0].tolist() == [[3.0, 3.5]]
    maze = rarefy.Domain("maze")
    assert maze.trajectory(np.zeros(66)).shape == (251, 3)
    assert maze.problem.lines
    with pytest.raises(ValueError, match="did you mean 'maze'"):
        rarefy.Domain("mase")
    with pytest.raises(ValueError, match="solutions: got an array of shape"):
        arm([[0.0]])
