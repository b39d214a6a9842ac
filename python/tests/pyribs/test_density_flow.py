"""DensityArchive(density_method="cnf") with rarefy's own flow."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import numpy as np
import pytest

import rarefy.ribs as ribs


def flow(**options: Any) -> Any:
    return ribs.archives.DensityArchive(**{"measure_dim": 2, "density_method": "cnf", "seed": 1} | options)


def normals(seed: int, rows: int = 540, dims: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, dims))


def trained(batches: int = 40, scale: float = 1.0, **options: Any) -> Any:
    archive = flow(**options)
    for i in range(batches):
        archive.add(None, None, scale * normals(i))
    return archive


def test_it_learns_a_density() -> None:
    """On a normal distribution, logarithms come within 0.3 of the true ones, and the density integrates to 1."""
    archive = trained(50)
    at = normals(99)
    true = -0.5 * np.sum(at**2, axis=1) - np.log(2 * np.pi)
    assert np.sqrt(np.mean((archive.compute_density(at) - true) ** 2)) < 0.3
    axis = np.linspace(-6, 6, 60)
    plane = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    mass = np.exp(archive.compute_density(plane)).sum() * (axis[1] - axis[0]) ** 2
    assert mass == pytest.approx(1, abs=0.05)
    assert "torch" not in sys.modules


def test_the_unit_of_the_measures_does_not_matter() -> None:
    small, large = trained(10), trained(10, scale=1024.0)
    at = normals(99)
    np.testing.assert_allclose(
        small.compute_density(at), large.compute_density(1024 * at) + 2 * np.log(1024), rtol=0, atol=1e-6
    )


def test_strays_do_not_spoil_it() -> None:
    archive = flow()
    for i in range(25):
        measures = normals(i)
        measures[0] = 1e9
        archive.add(None, None, measures)
    density = archive.compute_density(np.array([[0.0, 0.0], [3.0, 3.0]]))
    assert density[0] > density[1] + 2


def test_it_waits_for_enough_measures() -> None:
    archive = flow(cnf_min_buffer_size=300)
    info = archive.add(None, None, normals(1, 200))
    assert (info["density"] == 0).all()
    assert (archive.compute_density(normals(2)) == 0).all()
    info = archive.add(None, None, normals(3, 100))  # of before it came
    assert (info["density"] == 0).all()
    assert (info["status"] == 2).all()
    assert archive.compute_density(normals(2)).std() > 0
    assert archive.buffer.shape == (300, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dims", [1, 3])
def test_types_and_dimensions(dtype: Any, dims: int) -> None:
    archive = flow(measure_dim=dims, measures_dtype=dtype, cnf_train_steps=2)
    for i in range(3):
        info = archive.add(None, None, normals(i, 200, dims))
        assert info["density"].dtype == dtype
        assert info["density"].shape == (200,)
    assert archive.buffer.dtype == dtype
    assert len(archive.compute_density(np.empty((0, dims)))) == 0
    with pytest.raises(ValueError):
        archive.add(None, None, normals(1, 5, dims + 1))


@pytest.mark.parametrize("published", [False, True])
def test_copies_go_on_to_the_same_bits(published: bool) -> None:
    archive = trained(5, buffer_size=1000, published=published, cnf_train_steps=3)
    copies = [copy.deepcopy(archive), pickle.loads(pickle.dumps(archive))]
    for i in range(3):
        info = archive.add(None, None, normals(50 + i))
        for other in copies:
            np.testing.assert_array_equal(other.add(None, None, normals(50 + i))["density"], info["density"])
            np.testing.assert_array_equal(other.buffer, archive.buffer)


def test_keywords() -> None:
    plain = trained(3, cnf_train_steps=2)
    at = normals(9)
    for same in (
        {"cnf_kwargs": {"hidden_features": (64, 64)}},
        {"cnf_kwargs": {"activation": "ELU", "freqs": 3, "exact": True, "context": 0}},
        {"cnf_kwargs": {"activation": type("ELU", (), {})}},
        {"cnf_device": "cpu", "cnf_lr": 1e-3},
    ):
        found = trained(3, cnf_train_steps=2, **same).compute_density(at)
        np.testing.assert_array_equal(found, plain.compute_density(at))
    for other in (
        {"cnf_kwargs": {"hidden_features": [32]}},
        {"cnf_kwargs": {"activation": "tanh"}},
        {"cnf_kwargs": {"freqs": 2}},
        {"cnf_kwargs": {"rtol": 1e-3}},
        {"cnf_lr": 1e-2},
        {"cnf_batch_size": 16},
        {"seed": 2},
    ):
        found = trained(3, **{"cnf_train_steps": 2} | other).compute_density(at)
        assert not np.array_equal(found, plain.compute_density(at)), other


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"cnf_device": "cuda"}, "cnf_device: got 'cuda'"),
        ({"cnf_kwargs": {"features": 3}}, "features"),
        ({"cnf_kwargs": {"activation": "relu"}}, "activation: got 'relu'"),
        ({"cnf_kwargs": {"exact": False}}, "exact"),
        ({"cnf_kwargs": {"context": 2}}, "context"),
        ({"cnf_kwargs": {"normalize": True}}, "'normalize' has no counterpart"),
        ({"cnf_kwargs": {"hidden_features": (0,)}}, "hidden layers"),
        ({"cnf_lr": -1.0}, "-1"),
        ({"cnf_batch_size": 0}, "0"),
    ],
)
def test_keywords_that_do_not_fit(bad: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        flow(**bad)


def test_density_descent_with_a_flow() -> None:
    density = flow(cnf_train_steps=3, cnf_batch_size=64)
    result = ribs.archives.GridArchive(solution_dim=6, dims=[20, 20], ranges=[(-4, 4)] * 2, seed=1)
    emitters = [
        ribs.emitters.EvolutionStrategyEmitter(
            result, x0=np.zeros(6), sigma0=0.2, ranker="density", selection_rule="mu", restart_rule="basic",
            batch_size=40, seed=i,
        )
        for i in range(3)
    ]  # fmt: skip
    scheduler = ribs.schedulers.Scheduler(density, emitters, result)
    coverage = []
    for _ in range(60):
        solutions = scheduler.ask()
        scheduler.tell(-np.sum(solutions**2, axis=1), solutions[:, :2])
        coverage.append(float(result.stats.coverage))
    assert coverage[-1] > 3 * coverage[5]
