"""The scheduler beside that of pyribs, and with parts of both."""

from __future__ import annotations

import numpy as np
import pytest
from beside_pyribs import assert_same, assert_same_state, make_archive, make_scheduler, needs_pyribs, ours, sphere, theirs


@needs_pyribs
@pytest.mark.parametrize("mode", ["batch", "single"])
def test_scheduling(mode):
    a, b = make_scheduler(ours, add_mode=mode), make_scheduler(theirs, add_mode=mode)
    for _ in range(20):
        one, other = a.ask(), b.ask()
        assert_same(one, other)
        a.tell(*sphere(one))
        b.tell(*sphere(other))
    assert_same_state(a.archive, b.archive)
    assert a.result_archive is a.archive


@needs_pyribs
@pytest.mark.parametrize("parts", [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)])
def test_mixed_parts(parts):
    libraries = [(ours, theirs)[i] for i in parts]
    scheduler = make_scheduler(*libraries)
    strategy = libraries[1].emitters.EvolutionStrategyEmitter(
        scheduler.archive,
        x0=[0.0] * 3,
        sigma0=0.3,
        seed=1,
        ranker=libraries[2].emitters.rankers.TwoStageObjectiveRanker,
    )
    scheduler = libraries[0].schedulers.Scheduler(
        scheduler.archive, [*scheduler.emitters, strategy], make_archive(theirs, "cvt")
    )
    for _ in range(5):
        scheduler.tell(*sphere(scheduler.ask()))
    assert len(scheduler.archive) > 3
    assert len(scheduler.result_archive) > 3


@pytest.mark.parametrize(
    "order", [("ask", "ask"), ("tell",), ("ask_dqd", "tell"), ("ask", "tell_dqd"), ("ask", "ask_dqd")]
)
def test_order_of_calls(order):
    scheduler = make_scheduler(ours)
    *first, last = order
    for name in first:
        getattr(scheduler, name)()
    with pytest.raises(RuntimeError):
        getattr(scheduler, last)(*[None] * {"tell": 2, "tell_dqd": 3}.get(last, 0))


def test_bad_schedulers():
    scheduler = make_scheduler(ours)
    archive, emitters = scheduler.archive, scheduler.emitters
    with pytest.raises(ValueError, match="at least one"):
        ours.schedulers.Scheduler(archive, [])
    with pytest.raises(TypeError):
        ours.schedulers.Scheduler(archive, emitters[0])
    with pytest.raises(ValueError, match="more than once"):
        ours.schedulers.Scheduler(archive, [emitters[0]] * 2)
    with pytest.raises(ValueError, match="add_mode"):
        ours.schedulers.Scheduler(archive, emitters, add_mode="x")
    with pytest.raises(ValueError, match="result_archive"):
        ours.schedulers.Scheduler(archive, emitters, archive)
    other = ours.archives.GridArchive(solution_dim=2, dims=[2], ranges=[(0, 1)])
    with pytest.raises(ValueError, match="solution dim"):
        ours.schedulers.Scheduler(archive, [*emitters, ours.emitters.GaussianEmitter(other, sigma=1, x0=[0, 0])])
    scheduler.ask()
    with pytest.raises(ValueError, match="length"):
        scheduler.tell(np.ones(2), np.ones((12, 2)))


def test_warning_where_nothing_is_added():
    archive = make_archive(ours, "grid-mae")
    scheduler = ours.schedulers.Scheduler(
        archive, [ours.emitters.GaussianEmitter(archive, sigma=1, x0=[0] * 3, batch_size=4)]
    )
    scheduler.ask()
    with pytest.warns(UserWarning, match="empty"):
        scheduler.tell(np.full(4, -9.0), np.zeros((4, 2)))
