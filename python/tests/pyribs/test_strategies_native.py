"""The evolution strategies of rarefy.ribs are those of the C++ library, with pyribs' interface."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest

from rarefy import _core
from rarefy.ribs.archives import GridArchive
from rarefy.ribs.emitters import EvolutionStrategyEmitter
from rarefy.ribs.emitters.opt import CMAEvolutionStrategy, LMMAEvolutionStrategy, SeparableCMAEvolutionStrategy

DIM = 12
STRATEGIES = {
    "cma-es": CMAEvolutionStrategy,
    "sep-cma-es": SeparableCMAEvolutionStrategy,
    "lm-ma-es": LMMAEvolutionStrategy,
}
every_strategy = pytest.mark.parametrize("name", STRATEGIES)


def started(name: str, x0: Any = 0.5, **options: Any) -> Any:
    strategy = STRATEGIES[name](**{"sigma0": 0.3, "solution_dim": DIM, "batch_size": 10, "seed": 7} | options)
    strategy.reset(np.broadcast_to(np.asarray(x0, dtype=float), DIM))
    return strategy


def tell(strategy: Any, solutions: np.ndarray, parents: int) -> None:
    values = -np.sum(np.arange(1, DIM + 1) * np.square(solutions), axis=1)
    strategy.tell(np.argsort(-values), values, parents)


@every_strategy
def test_it_is_the_library(name: str) -> None:
    """The same numbers as the optimizer of the package gives, to the last bit."""
    strategy = started(name, n_vectors=None) if name == "lm-ma-es" else started(name)
    other = _core._Optimizer(np.full(DIM, 0.5), 0.3, 10, name, False, strategy._options["seed"])
    for _ in range(30):
        solutions = strategy.ask()
        np.testing.assert_array_equal(solutions, other.ask())
        values = np.sum(solutions**2, axis=1)
        order = np.argsort(values)
        strategy.tell(order, -values, 5)
        other.tell(values)
    np.testing.assert_array_equal(strategy.mean, other.mean())
    assert strategy.sigma == other.sigma


@every_strategy
@pytest.mark.parametrize("batch", [1, 2, 3, 7, 12])
def test_every_batch_and_number_of_parents(name: str, batch: int) -> None:
    strategy = started(name, batch_size=batch)
    for i in range(2 * batch + 5):
        solutions = strategy.ask()
        assert solutions.shape == (batch, DIM)
        before = strategy.mean
        parents = i % (batch + 1)
        tell(strategy, solutions, parents)
        assert np.array_equal(before, strategy.mean) == (parents == 0)
        assert np.isfinite(strategy.mean).all()
        assert strategy.sigma > 0


@every_strategy
def test_asking_again_draws_anew(name: str) -> None:
    strategy = started(name)
    first, second, few, many = strategy.ask(), strategy.ask(), strategy.ask(3), strategy.ask(batch_size=25)
    assert [len(rows) for rows in (first, second, few, many)] == [10, 10, 3, 25]
    together = np.concatenate((first, second, few, many))
    assert len(np.unique(together, axis=0)) == len(together)
    tell(strategy, many, 20)  # of what was asked for last, more than the batch
    tell(strategy, strategy.ask(), 5)


@every_strategy
def test_types(name: str) -> None:
    double, single, half = (started(name, dtype=dtype) for dtype in (np.float64, np.float32, np.float16))
    for i in range(5):
        asked = [strategy.ask() for strategy in (double, single, half)]
        assert [rows.dtype for rows in asked] == [np.float64, np.float32, np.float16]
        assert not any(rows.flags.writeable for rows in asked)
        if i == 0:
            np.testing.assert_array_equal(asked[1], asked[0].astype(np.float32))
        for strategy, rows in zip((double, single, half), asked, strict=True):
            tell(strategy, rows, 5)
        # What single precision rounded off is not told: it learns from what was evaluated.
        np.testing.assert_allclose(single.mean, double.mean, rtol=1e-4, atol=1e-5)
    assert [strategy.mean.dtype for strategy in (double, single, half)] == [np.float64, np.float32, np.float16]


@every_strategy
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("lower", "upper"),
    [(-0.4, 0.9), (-0.4, np.inf), (np.linspace(-1, 0, DIM), 0.75), (np.full(DIM, -np.inf), np.full(DIM, 0.6))],
)
def test_bounds(name: str, dtype: Any, lower: Any, upper: Any) -> None:
    strategy = started(name, dtype=dtype, lower_bounds=lower, upper_bounds=upper, x0=0.3, sigma0=0.1)
    for _ in range(20):
        solutions = strategy.ask()
        assert (solutions >= strategy.lower_bounds).all()
        assert (solutions <= strategy.upper_bounds).all()
        strategy.tell(np.argsort(-solutions.sum(axis=1)), solutions.sum(axis=1), 5)  # against the walls
        if strategy.check_stop(solutions.sum(axis=1)):
            strategy.reset(np.full(DIM, 0.3))


@every_strategy
def test_bounds_that_are_too_tight(name: str) -> None:
    strategy = started(name, lower_bounds=-0.01, upper_bounds=0.01, x0=0.0)
    with pytest.warns(UserWarning, match="10 solutions were out of bounds 100 times"):
        assert (np.abs(strategy.ask()) <= 0.01).all()
    for lower, upper in ((1, 1), (2, 1), (np.zeros(3), 1), (np.nan, 1)):
        with pytest.raises(ValueError, match="bounds"):
            started(name, lower_bounds=lower, upper_bounds=upper)


@every_strategy
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("options", [{}, {"lower_bounds": -0.5, "upper_bounds": 1.0}, {"published": True}])
def test_copies_go_on_to_the_same_bits(name: str, dtype: Any, options: dict[str, Any]) -> None:
    strategy = started(name, dtype=dtype, sigma0=0.05, **options)

    def copies() -> list[Any]:
        return [copy.deepcopy(strategy), pickle.loads(pickle.dumps(strategy))]

    for i in range(12):
        before = copies()
        rows = 4 if i == 5 else None
        solutions = strategy.ask(rows)
        for other in before:
            np.testing.assert_array_equal(other.ask(rows), solutions)
        between = copies()
        for one in (strategy, *before, *between):
            tell(one, solutions, i % 4)
        for other in (*before, *between, *copies()):
            np.testing.assert_array_equal(other.mean, strategy.mean)
            assert other.sigma == strategy.sigma
            assert other.published == strategy.published
    with pytest.raises(RuntimeError, match="ask"):
        tell(copies()[0], solutions, 2)
    solutions = strategy.ask()
    strategy.reset(np.full(DIM, 0.2))
    with pytest.raises(RuntimeError, match="ask"):
        tell(copies()[0], solutions, 2)
    one, other = copies()
    np.testing.assert_array_equal(one.ask(), other.ask())


@every_strategy
def test_what_does_not_fit(name: str) -> None:
    made = STRATEGIES[name](sigma0=0.3, solution_dim=DIM, batch_size=10)
    with pytest.raises(RuntimeError, match="reset"):
        made.ask()
    for bad in (np.zeros(DIM - 1), np.full(DIM, np.nan)):
        with pytest.raises(ValueError, match=r"x0|initial solution"):
            made.reset(bad)
    made.reset(np.zeros(DIM))
    with pytest.raises(RuntimeError, match="ask"):
        made.tell(np.arange(10), np.zeros(10), 5)
    made.ask()
    for order, parents, what in (
        (np.arange(9), 5, "ranking_indices: got 9"),
        (np.arange(10) + 1, 5, "entry 9"),
        (np.arange(10) - 1, 5, "entry 0"),
        (np.arange(10), 11, "num_parents: got 11"),
        (np.arange(10), -1, "num_parents: got -1"),
    ):
        with pytest.raises(ValueError, match=what):
            made.tell(order, np.zeros(10), parents)
    for rows in (0, -1, 2**62):
        with pytest.raises(ValueError, match="batch_size"):
            made.ask(rows)
    for options in ({"batch_size": 0}, {"sigma0": 0}, {"sigma0": -1}, {"solution_dim": 0, "batch_size": 5}):
        with pytest.raises(ValueError):
            STRATEGIES[name](**{"sigma0": 0.3, "solution_dim": DIM} | options)
    made.tell(np.arange(10)[::-1], np.zeros(10), 5)  # a view that runs backwards
    made.tell(list(range(10)), np.zeros(10), 5)


@every_strategy
def test_stops(name: str) -> None:
    strategy = started(name)
    assert not strategy.check_stop(np.arange(10.0)[::-1])
    assert strategy.check_stop(np.zeros(10))
    assert not strategy.check_stop(np.zeros(1))
    pairs = np.zeros((10, 2))
    assert strategy.check_stop(pairs)
    pairs[0, 1] = 1e-6
    assert not strategy.check_stop(pairs)
    assert started(name, sigma0=1e-13).check_stop(np.arange(10.0))


@every_strategy
@pytest.mark.parametrize("rule", ["mu", "filter"])
@pytest.mark.parametrize("bounded", [False, True])
def test_it_optimises(name: str, rule: str, bounded: bool) -> None:
    strategy = started(name, x0=3.0, sigma0=0.1, **{"lower_bounds": -5.0, "upper_bounds": 5.0} if bounded else {})
    rng = np.random.default_rng(1)
    best = -np.inf
    for _ in range(700):
        solutions = strategy.ask()
        values = -np.sum(np.arange(1, DIM + 1) * np.square(solutions), axis=1)
        best = max(best, values.max())
        strategy.tell(np.argsort(-values), values, 5 if rule == "mu" else int(rng.integers(0, 7)))
    assert best > -1e-3


def test_lm_ma_es_has_as_many_directions_as_asked_for() -> None:
    assert started("lm-ma-es").n_vectors == 4 + int(3 * np.log(DIM))
    assert started("lm-ma-es", published=True).n_vectors == 10
    few, many = (started("lm-ma-es", n_vectors=n) for n in (1, 30))
    for _ in range(4):
        for strategy in (few, many):
            tell(strategy, strategy.ask(), 5)
    assert not np.array_equal(few.ask(), many.ask())
    with pytest.raises(ValueError, match="n_vectors"):
        started("lm-ma-es", n_vectors=0)
    with pytest.raises(ValueError, match="solution_dim"):
        started("lm-ma-es", batch_size=DIM + 1)


@every_strategy
def test_threads_take_turns(name: str) -> None:
    strategy = started(name)
    strategy.ask()
    unexpected: list[BaseException] = []

    def use() -> None:
        try:
            for _ in range(200):
                assert strategy.ask().shape == (10, DIM)
                strategy.tell(np.arange(10), np.arange(10.0), 3)
                strategy.check_stop(np.arange(10.0))
                if strategy.sigma > 1e3 or strategy.sigma < 1e-3:
                    strategy.reset(np.zeros(DIM))
                pickle.dumps(strategy)
        except BaseException as error:
            unexpected.append(error)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not unexpected


def test_tell_of_an_emitter_checks_what_it_is_told() -> None:
    archive = GridArchive(solution_dim=DIM, dims=[10, 10], ranges=[(-1, 1)] * 2, seed=1)
    emitter = EvolutionStrategyEmitter(archive, x0=np.zeros(DIM), sigma0=0.3, batch_size=10, seed=1)
    solutions = emitter.ask()
    objective, measures = -np.sum(solutions**2, axis=1), solutions[:, :2].copy()
    info = archive.add(solutions, objective, measures)
    infinite = np.where(np.arange(10) == 3, np.inf, objective)
    for bad in (
        (solutions[:, :3], objective, measures, info),
        (solutions, infinite, measures, info),
        (solutions, objective, np.full((10, 2), np.nan), info),
        (solutions, objective, measures[:5], info),
        (solutions, objective[:, None], measures, info),
        (solutions, np.float64(3), measures, info),
        (solutions, objective, measures, {name: values[:5] for name, values in info.items()}),
    ):
        with pytest.raises(ValueError):
            emitter.tell(*bad)
    assert emitter.itrs == 0
    emitter.tell(solutions, objective, measures, info)
    # What only overflows when it is summed up is fine.
    solutions = emitter.ask()
    huge = np.linspace(1.0, 1.7e308, 10)
    emitter.tell(solutions.tolist(), huge, measures, archive.add(solutions, objective, measures))
    assert emitter.itrs == 2
