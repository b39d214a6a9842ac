"""The journal: what was evaluated before a kill is not evaluated again."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import go, project_row, small

import rarefy

ITERATIONS = 5
ROWS = 24
OPTIONS = {"checkpoint_seconds": 1000, "journal": "on"}

KILLED = """
import os, sys
from test_journal import Slow, OPTIONS, ITERATIONS
from conftest import small
executor = None if sys.argv[3] == "None" else sys.argv[3]
workers = 2 if executor else None
small(**OPTIONS).run(Slow(sys.argv[2]), ITERATIONS, rowwise=True, executor=executor, workers=workers,
                     folder=sys.argv[1], progress=False)
"""


class Slow:
    """Adds a byte to a file for every evaluation that has begun."""

    def __init__(self, tally: str) -> None:
        self.tally = tally

    def __call__(self, solution: np.ndarray) -> tuple[float, float]:
        with open(self.tally, "ab", buffering=0) as file:
            file.write(b".")
        time.sleep(0.004)
        return project_row(solution)


def same(a: rarefy.Search, b: rarefy.Search) -> bool:
    return all(np.array_equal(getattr(a.archive, n), getattr(b.archive, n)) for n in ("solutions", "features", "visits"))


def count(tally: Path) -> int:
    return tally.stat().st_size if tally.exists() else 0


def workers_of(tally: Path) -> list[str]:
    """Processes that a run was started with, or that it has started: they have its environment."""
    mark = f"RAREFY_TEST_RUN={tally}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                found.append(process.name)
        except OSError:  # it has ended, or is somebody else's
            continue
    return found


# Two workers have a piece of three solutions each under way; processes go on with what was handed to
# them before they notice. Without a journal, everything would be made again.
@pytest.mark.parametrize(("executor", "lost"), [(None, 1), ("threads", 12), ("processes", ROWS)])
def test_a_killed_run_evaluates_only_what_is_missing(executor: str | None, lost: int, tmp_path: Path) -> None:
    folder, tally = tmp_path / "run", tmp_path / "tally"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    environment["RAREFY_TEST_RUN"] = str(tally)
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(folder), str(tally), str(executor)], env=environment
    )
    while count(tally) < 3 * ROWS + ROWS // 2 and process.poll() is None:
        time.sleep(0.001)
    process.kill()
    process.wait()
    until = time.monotonic() + 120
    while workers_of(tally):  # they end with the run
        assert time.monotonic() < until, "somebody has outlived the run"
        time.sleep(0.01)
    before = count(tally)
    assert 3 * ROWS < before < ITERATIONS * ROWS
    assert rarefy.load(folder).iteration == 0
    result = rarefy.resume(folder, Slow(str(tally)), rowwise=True, progress=False)
    assert result.finished
    assert ITERATIONS * ROWS <= count(tally) <= ITERATIONS * ROWS + lost
    assert same(result.search, go(small(**OPTIONS), ITERATIONS))
    assert not (folder / "journal.bin").exists()


def test_an_exception_keeps_what_was_done(tmp_path: Path) -> None:
    def stop_after(most: int) -> tuple[list[int], object]:
        calls = [0]

        def evaluate(solution: np.ndarray) -> tuple[float, float]:
            if calls[0] == most:
                raise KeyboardInterrupt
            calls[0] += 1
            return project_row(solution)

        return calls, evaluate

    _, evaluate = stop_after(2 * ROWS + 10)
    with pytest.raises(KeyboardInterrupt):
        small(**OPTIONS).run(evaluate, ITERATIONS, rowwise=True, folder=tmp_path / "run", progress=False)
    assert rarefy.load(tmp_path / "run").iteration == 2
    calls, evaluate = stop_after(-1)
    result = rarefy.resume(tmp_path / "run", evaluate, rowwise=True, progress=False)
    assert calls[0] == ITERATIONS * ROWS - 2 * ROWS - 10
    assert same(result.search, go(small(**OPTIONS), ITERATIONS))
