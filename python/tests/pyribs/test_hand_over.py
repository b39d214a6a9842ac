"""What is handed over to pyribs, and what happens where it is not installed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from beside_pyribs import filled, make_archive, mutation_emitters, needs_pyribs, ours, sphere, theirs


@needs_pyribs
def test_hand_over():
    from rarefy.ribs.archives import SlidingBoundariesArchive
    from rarefy.ribs.emitters import GradientArborescenceEmitter
    from rarefy.ribs.emitters.opt import AdamOpt
    from rarefy.ribs.emitters.rankers import NSLCRanker
    from rarefy.ribs.schedulers import BanditScheduler

    assert SlidingBoundariesArchive is theirs.archives.SlidingBoundariesArchive
    assert AdamOpt is theirs.emitters.opt.AdamOpt
    assert NSLCRanker is theirs.emitters.rankers.NSLCRanker
    archive = make_archive(ours, "grid")
    assert isinstance(archive, theirs.archives.ArchiveBase)
    assert isinstance(archive, theirs.archives.GridArchive)
    assert isinstance(ours.emitters.rankers.ImprovementRanker(), theirs.emitters.rankers.RankerBase)
    gradient = GradientArborescenceEmitter(archive, x0=[0.1] * 3, sigma0=0.5, lr=0.1, batch_size=8, seed=1)
    scheduler = ours.schedulers.Scheduler(archive, [gradient])
    for _ in range(3):
        solutions = scheduler.ask_dqd()
        objective, measures = sphere(solutions)
        jacobian = np.stack((-2 * solutions, *np.broadcast_to(np.eye(3)[:2, None], (2, len(solutions), 3))), axis=1)
        scheduler.tell_dqd(objective, measures, jacobian)
        scheduler.tell(*sphere(scheduler.ask()))
    assert len(archive) > 1
    bandit = BanditScheduler(archive, list(mutation_emitters(ours, archive, x0=[0] * 3)), num_active=2)
    bandit.tell(*sphere(bandit.ask()))
    with pytest.raises(AttributeError):
        ours.archives.Nonsense  # noqa: B018


def test_without_pyribs():
    script = """
import sys
sys.modules["ribs"] = None
import rarefy.ribs as ribs
archive = ribs.archives.GridArchive(solution_dim=2, dims=[4, 4], ranges=[(-1, 1)] * 2)
emitter = ribs.emitters.EvolutionStrategyEmitter(archive, x0=[0, 0], sigma0=1)
scheduler = ribs.schedulers.Scheduler(archive, [emitter])
solutions = scheduler.ask()
scheduler.tell(solutions[:, 0], solutions)
assert len(archive) > 0
for get in (lambda: ribs.archives.DNSArchive, lambda: ribs.visualize.grid_archive_heatmap):
    try:
        get()
    except ImportError as error:
        assert "pip install ribs" in str(error), error
    else:
        raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@needs_pyribs
def test_pyribs_imported_later():
    script = """
import sys
import rarefy.ribs as ours
assert "ribs" not in sys.modules
import ribs
archive = ours.archives.GridArchive(solution_dim=2, dims=[4, 4], ranges=[(-1, 1)] * 2)
assert isinstance(archive, ribs.archives.GridArchive)
ribs.emitters.EvolutionStrategyEmitter(archive, x0=[0, 0], sigma0=1, ranker=ours.emitters.rankers.ObjectiveRanker)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


@needs_pyribs
def test_pictures():
    pytest.importorskip("seaborn")  # which its pictures need
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    from rarefy.ribs.visualize import cvt_archive_heatmap, grid_archive_heatmap, parallel_axes_plot

    grid_archive_heatmap(filled(ours, "grid"))
    parallel_axes_plot(filled(ours, "grid"))
    pyplot.figure()
    cvt_archive_heatmap(filled(ours, "cvt"))
    pyplot.close("all")
