"""The emitter of evolution strategies."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from beside_pyribs import RANKERS, STRATEGIES, assert_same, make_archive, needs_pyribs, ours, sphere, theirs

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
