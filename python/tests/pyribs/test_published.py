"""The switch that gives what pyribs does, held against pyribs itself where it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rarefy.ribs as ribs
from rarefy.ribs.emitters.opt import CMAEvolutionStrategy, LMMAEvolutionStrategy, SeparableCMAEvolutionStrategy

DIM = 8


def pyribs(module: str) -> Any:
    return pytest.importorskip(f"ribs.{module}", reason="pyribs is not installed")


@pytest.fixture(autouse=True)
def _leave_the_switch_as_it_was() -> Iterator[None]:
    before = ribs.published()
    yield
    ribs.published(before)


def made(**options: Any) -> Any:
    strategy = CMAEvolutionStrategy(sigma0=0.5, solution_dim=DIM, batch_size=9, seed=1, **options)
    strategy.reset(np.zeros(DIM))
    return strategy


def test_the_switch() -> None:
    assert ribs.published() is False
    before = made()
    assert ribs.published(True) is True
    assert ribs.published() is True
    assert made().published
    assert not made(published=False).published
    assert not before.published  # what there was stays
    assert ribs.published(False) is False
    assert not made().published
    assert made(published=True).published
    archive = ribs.archives.GridArchive(solution_dim=DIM, dims=[5], ranges=[(-1, 1)])
    for kwargs, expected in ((None, False), ({"published": True}, True)):
        emitter = ribs.emitters.EvolutionStrategyEmitter(archive, x0=np.zeros(DIM), sigma0=1, es_kwargs=kwargs)
        assert emitter._opt.published is expected


@pytest.mark.parametrize(
    ("value", "said"), [("published", "True"), ("", "False"), ("canonical", "expected 'published'")]
)
def test_the_environment(value: str, said: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", "import rarefy.ribs; print(rarefy.ribs.published())"],
        env=os.environ | {"RAREFY_RIBS": value, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert said in run.stdout + run.stderr


def interpreted(strategy: Any) -> Any:
    """A strategy of pyribs without its compiler, which takes seconds."""
    for name in dir(type(strategy)):
        plain = getattr(getattr(type(strategy), name), "py_func", None)
        if plain is not None:
            setattr(strategy, name, plain)
    strategy.reset(np.zeros(DIM))
    return strategy


def pull(solutions: np.ndarray, generation: int) -> np.ndarray:
    """Values to maximise: a slope first, on which steps go on in one direction, then a sphere."""
    return solutions.sum(axis=1) if generation < 8 else -np.sum(np.square(solutions - 1), axis=1)


@pytest.mark.parametrize("batch", [7, 10, 20])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(CMAEvolutionStrategy, "CMAEvolutionStrategy"), (SeparableCMAEvolutionStrategy, "SeparableCMAEvolutionStrategy")],
)
def test_covariances_are_those_of_pyribs(ours: Any, theirs: str, batch: int) -> None:
    """Both are told the same solutions in the same order, with numbers of parents that change."""
    opt = pyribs("emitters.opt")
    options = {"sigma0": 0.5, "solution_dim": DIM, "batch_size": batch}
    one, canonical = ours(**options, published=True, seed=1), ours(**options)
    other = interpreted(getattr(opt, theirs)(**options))
    for strategy in (one, canonical):
        strategy.reset(np.zeros(DIM))
    for generation in range(20):
        solutions = one.ask()
        other.ask()  # which decomposes its matrix
        other._solutions = solutions.copy()
        canonical.ask()
        values = pull(solutions, generation)
        order = np.argsort(-values)
        parents = generation % (batch + 1) if generation % 2 else batch // 2
        for strategy in (one, other, canonical):
            strategy.tell(order, values, parents)
        np.testing.assert_allclose(one.covariance, other.cov.cov, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9, atol=1e-12)
        assert one.sigma == pytest.approx(other.sigma, rel=1e-9)
        assert one.check_stop(values[order]) == other.check_stop(values[order])
    assert not np.allclose(canonical.sigma, other.sigma, rtol=1e-3)


@pytest.mark.parametrize("batch", [3, 7, 8])  # from 5 on, a rate passes 1
def test_lm_ma_es_is_that_of_pyribs(batch: int) -> None:
    opt = pyribs("emitters.opt")
    options = {"sigma0": 0.5, "solution_dim": DIM, "batch_size": batch}
    one = LMMAEvolutionStrategy(**options, published=True, seed=1)
    one.reset(np.zeros(DIM))
    other = interpreted(opt.LMMAEvolutionStrategy(**options))
    for generation in range(15):
        solutions = one.ask()
        other.ask()
        # The normal numbers behind the solutions: what pyribs makes of the axes, turned round.
        axes, _ = other._transform_and_check_sol(
            np.eye(DIM), min(generation, other.n_vectors), other.cd, other.m, np.zeros(DIM), 1.0, -np.inf, np.inf
        )
        other._solutions = solutions.copy()
        other._solution_z = (solutions - other.mean) / other.sigma @ np.linalg.inv(axes)
        values = pull(solutions, generation)
        order = np.argsort(-values)
        parents = generation % (batch + 1)
        one.tell(order, values, parents)
        other.tell(order, values, parents)
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-8, atol=1e-10)
        assert one.sigma == pytest.approx(other.sigma, rel=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_buffer_is_that_of_pyribs(dtype: Any) -> None:
    """To the last bit, with the same seed; without the switch it is another one."""
    archives = pyribs("archives")
    options = {"measure_dim": 2, "buffer_size": 150, "bandwidth": 0.5, "seed": 5, "measures_dtype": dtype}
    ribs.published(True)
    one, other = ribs.archives.DensityArchive(**options), archives.DensityArchive(**options)
    canonical = ribs.archives.DensityArchive(**options, published=False)
    rng = np.random.default_rng(1)
    for rows in (100, 100, 1, 70, 300, 5, 300):
        measures = rng.normal(size=(rows, 2))
        infos = [archive.add(None, None, measures) for archive in (one, other, canonical)]
        np.testing.assert_allclose(infos[0]["density"], infos[1]["density"], rtol=2e-5)
        np.testing.assert_array_equal(one.buffer, other.buffer)
    assert not np.array_equal(canonical.buffer, other.buffer)


def test_the_published_buffer_goes_on_when_nothing_is_accepted_any_more() -> None:
    archive = ribs.archives.DensityArchive(measure_dim=1, buffer_size=1, bandwidth=1, seed=1, published=True)
    for _ in range(30):
        archive.add(None, None, np.ones((10_000, 1)))
    assert archive.buffer.shape == (1, 1)
