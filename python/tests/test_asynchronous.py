"""Runs whose emitters do not wait for each other."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import project_row, small

import rarefy

ITERATIONS = 6
ROWS = 24


def slow_row(solution: np.ndarray) -> tuple[float, float]:
    """Takes unlike times."""
    time.sleep(0.0002 * (abs(hash(solution.tobytes())) % 10))
    return project_row(solution)


def all_rows(solutions: np.ndarray) -> np.ndarray:
    return np.array([project_row(solution) for solution in solutions])


def fails_sometimes(solution: np.ndarray) -> tuple[float, float]:
    if solution[0] > 0.5:
        raise ArithmeticError("more than a half")
    return project_row(solution)


def hangs_sometimes(solution: np.ndarray) -> tuple[float, float]:
    if solution[0] > 1.5:
        time.sleep(60)
    return project_row(solution)


HANGS = 300.0  # seconds


def hang() -> None:
    time.sleep(HANGS)


class HangsOnce:
    """The first time."""

    def __init__(self, marker: Path, hangs: Callable[[], Any]) -> None:
        self.marker = marker
        self.hangs = hangs

    def __call__(self, solution: np.ndarray) -> tuple[float, float]:
        try:
            self.marker.touch(exist_ok=False)
        except FileExistsError:
            return project_row(solution)
        self.hangs()
        return project_row(solution)


def dies_sometimes(solution: np.ndarray) -> tuple[float, float]:
    if solution[0] > 1.5:
        os._exit(1)
    return project_row(solution)


def same(a: rarefy.Search, b: rarefy.Search) -> bool:
    return all(np.array_equal(getattr(a.archive, n), getattr(b.archive, n)) for n in ("solutions", "features", "visits"))


@pytest.mark.parametrize("executor", [None, "threads", "processes"])
@pytest.mark.parametrize("rowwise", [True, False])
def test_does_what_was_planned(executor: str | None, rowwise: bool) -> None:
    search = small()
    evaluate = slow_row if rowwise else all_rows
    result = search.run(
        evaluate, ITERATIONS, rowwise=rowwise, executor=executor, workers=3, asynchronous=True, progress=False
    )
    assert result.finished
    assert search.evaluations == ITERATIONS * ROWS
    assert list(result.columns["iteration"]) == [ITERATIONS]
    assert search.archive.visits.sum() == ITERATIONS * ROWS
    assert search.coverage > 0


def test_its_order_can_be_repeated(tmp_path: Path) -> None:
    first, again = small(), small()
    first.run(
        slow_row, ITERATIONS, rowwise=True, executor="threads", workers=4, asynchronous=True,
        folder=tmp_path / "first", progress=False,
    )  # fmt: skip
    again.run(
        all_rows, ITERATIONS, asynchronous=True, folder=tmp_path / "again", order=tmp_path / "first", progress=False
    )
    assert same(first, again)
    with pytest.raises(ValueError, match="order: needs asynchronous=True and a folder"):
        small().run(all_rows, ITERATIONS, order=tmp_path / "first")


KILLED = """
import sys
from test_asynchronous import slow_row, ITERATIONS
from conftest import small
small(checkpoint_seconds=1000, journal="on").run(
    slow_row, 100, rowwise=True, executor=sys.argv[2], workers=2, asynchronous=True, folder=sys.argv[1],
    progress=False)
"""


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_killed_it_goes_on_in_the_same_order(executor: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(folder), executor], env=environment)
    journal = folder / "journal.bin"
    while process.poll() is None and (not journal.exists() or journal.stat().st_size < 5000):
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert rarefy.load(folder).evaluations == 0
    result = rarefy.resume(folder, slow_row, ITERATIONS, rowwise=True, executor="threads", workers=3, progress=False)
    assert result.finished
    assert result.search.evaluations == ITERATIONS * ROWS
    again = small(checkpoint_seconds=1000, journal="on")
    again.run(
        all_rows, ITERATIONS, asynchronous=True, folder=tmp_path / "again", order=folder / "order.bin", progress=False
    )
    assert same(result.search, again)


def test_what_fails_is_tried_again_and_told() -> None:
    search = small()
    result = search.run(
        fails_sometimes, ITERATIONS, rowwise=True, executor="threads", workers=3, retries=2, asynchronous=True,
        progress=False,
    )  # fmt: skip
    assert search.evaluations == ITERATIONS * ROWS
    assert 0 < search.failed == len(result.failures)
    failure = result.failures[0]
    assert isinstance(failure.exception, ArithmeticError)
    assert failure.solution[0] > 0.5
    assert all(0 <= failure.row < ROWS for failure in result.failures)


@pytest.mark.parametrize("executor", [None, "threads"])
def test_what_never_works_is_said_at_once(executor: str | None) -> None:
    def broken(solution: np.ndarray) -> float:
        raise ZeroDivisionError("of course")

    with pytest.raises(RuntimeError, match="none of the first .* solutions could be evaluated.*of course"):
        small().run(broken, ITERATIONS, rowwise=True, executor=executor, asynchronous=True, progress=False)


@pytest.mark.parametrize(("evaluate", "timeout"), [(hangs_sometimes, 0.5), (dies_sometimes, None)])
def test_one_that_hangs_or_dies_takes_nobody_with_it(evaluate: object, timeout: float | None) -> None:
    search = small(sigma0=0.7)
    result = search.run(
        evaluate, 3, rowwise=True, executor="processes", workers=2, timeout=timeout, retries=0,
        asynchronous=True, progress=False,
    )  # fmt: skip
    assert search.evaluations == 3 * ROWS
    assert 0 < search.failed < ROWS
    assert all(failure.solution[0] > 1.5 for failure in result.failures)


def test_a_callback_stops_it_and_it_can_go_on() -> None:
    search = small()
    result = search.run(
        slow_row, ITERATIONS, rowwise=True, executor="threads", workers=3, asynchronous=True, progress=False,
        callback=lambda search: search.iteration >= 2,
    )  # fmt: skip
    assert not result.finished
    assert search.iteration == 2
    search.run(all_rows, ITERATIONS, asynchronous=True, progress=False)
    assert search.evaluations == ITERATIONS * ROWS
    search.run(all_rows, ITERATIONS + 2, progress=False)  # and all together
    assert search.evaluations == (ITERATIONS + 2) * ROWS


class Cancelling(Executor):
    """Takes nothing on."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_an_executor_that_takes_nothing_on_is_told_of() -> None:
    with pytest.raises(RuntimeError, match="none of the first .* solutions could be evaluated"):
        small().run(slow_row, 2, rowwise=True, executor=Cancelling(), workers=2, asynchronous=True, progress=False)


def test_an_executor_that_is_broken_for_good_ends_the_run() -> None:
    with ProcessPoolExecutor(2) as pool, pytest.raises(BrokenProcessPool):
        small(sigma0=3.0).run(
            dies_sometimes, ITERATIONS, rowwise=True, executor=pool, asynchronous=True, progress=False
        )


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_stop_does_not_wait_for_what_hangs(executor: str, tmp_path: Path) -> None:
    released = threading.Event()
    hangs = released.wait if executor == "threads" else hang
    began = time.monotonic()
    result = small(batch=3, emitters=8).run(
        HangsOnce(tmp_path / "marker", hangs), 100, rowwise=True, executor=executor, workers=3, timeout=600.0,
        asynchronous=True, progress=False, callback=lambda search: True,
    )  # fmt: skip
    released.set()
    assert (tmp_path / "marker").exists()
    assert not result.finished
    assert result.search.evaluations == ROWS
    assert time.monotonic() - began < HANGS / 2


def test_a_loop_of_ones_own() -> None:
    search, other = small(), small()
    order = np.random.default_rng(5).integers(0, search.emitters, 40)
    for emitter in order:
        candidates = search.ask_emitter(emitter)
        assert candidates.shape == (ROWS // search.emitters, search.solution_dim)
        search.tell_emitter(emitter, all_rows(candidates))
    for emitter in order:
        other.tell_emitter(emitter, all_rows(other.ask_emitter(emitter)))
    assert same(search, other)
    with pytest.raises(ValueError, match="emitter: got 99, expected 0 to"):
        search.ask_emitter(99)
    search.ask_emitter(0)
    with pytest.raises(ValueError, match="features"):
        search.tell_emitter(0, np.zeros((3, 2)))
