"""ProximityArchive finds its neighbours with rarefy's own search, as a plain loop would."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from rarefy.ribs.archives import ProximityArchive


def archive_of(dims: int, **options: Any) -> Any:
    return ProximityArchive(
        **{"solution_dim": 3, "measure_dim": dims, "k_neighbors": 5, "novelty_threshold": 0.2, "seed": 1} | options
    )


def plain_novelty(archive: Any, measures: np.ndarray, k: int = 5) -> np.ndarray:
    known = archive.data("measures").astype(np.float64)
    distances = np.sqrt(np.sum((measures[:, None].astype(np.float64) - known) ** 2, axis=2))
    return np.sort(distances, axis=1)[:, :k].mean(axis=1)


@pytest.mark.parametrize("dims", [1, 2, 6])
@pytest.mark.parametrize("competing", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_novelty_is_that_of_a_plain_loop(dims: int, competing: bool, dtype: Any) -> None:
    archive = archive_of(dims, local_competition=competing, measures_dtype=dtype, novelty_threshold=0.05 * dims**2)
    rng = np.random.default_rng(1)
    replaced = 0
    for i in range(12):
        measures = rng.normal(size=(60, dims)).astype(dtype)
        if not archive.empty:
            expected = plain_novelty(archive, measures)
            np.testing.assert_allclose(archive.compute_novelty(measures), expected, rtol=1e-12)
        info = archive.add(rng.normal(size=(60, 3)), rng.normal(size=60), measures)
        replaced += int(np.sum(info["status"] == 1))
        if i == 6:
            archive = pickle.loads(pickle.dumps(archive))
    assert (replaced > 0) == competing
    occupied, found = archive.retrieve(measures)
    nearest = np.argmin(np.sum((measures[:, None] - archive.data("measures")) ** 2, axis=2), axis=1)
    np.testing.assert_array_equal(found["measures"], archive.data("measures")[nearest])
    assert occupied.all()
    archive.clear()
    archive.add(np.zeros((2, 3)), np.zeros(2), np.array([[0.0] * dims, [3.0] * dims]))
    np.testing.assert_allclose(archive.compute_novelty(np.zeros((1, dims))), [1.5 * np.sqrt(dims)])


def test_options_of_scipy_make_it_scipys() -> None:
    pytest.importorskip("scipy")
    around = archive_of(1, kdtree_kwargs={"boxsize": 10.0}, k_neighbors=1)
    plain = archive_of(1, k_neighbors=1)
    for archive in (around, plain):
        archive.add(np.zeros((1, 3)), [0.0], [[9.5]])
    assert around.compute_novelty([[0.5]]) == pytest.approx([1.0])
    assert plain.compute_novelty([[0.5]]) == pytest.approx([9.0])


def test_no_scipy_is_needed() -> None:
    program = """
import sys
sys.modules["scipy"] = sys.modules["torch"] = sys.modules["ribs"] = None
import numpy as np, rarefy.ribs as ribs
archive = ribs.archives.ProximityArchive(solution_dim=2, measure_dim=2, k_neighbors=3, novelty_threshold=0.1, seed=1)
emitter = ribs.emitters.EvolutionStrategyEmitter(
    archive, x0=[0, 0], sigma0=0.2, ranker="nov", restart_rule="basic", seed=1
)
scheduler = ribs.schedulers.Scheduler(archive, [emitter])
for _ in range(30):
    solutions = scheduler.ask()
    scheduler.tell(np.zeros(len(solutions)), solutions)
print(len(archive) > 20)
"""
    run = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert run.stdout.strip() == "True", run.stderr
