"""Evaluates batches with whoever there is, and survives what they do."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _remote, executors
from ._arrays import Doubles, as_number, as_whole
from ._pieces import Pieces
from ._remote import Results, Work

if TYPE_CHECKING:
    from .searches import Search

_MOST_FAILURES_KEPT = 1000
_SECONDS_TO_BREAK = 0.5  # in which all that a pool was given breaks with it


# Hears of rows that have succeeded, while others are still under way: the first of them, their
# features, their objectives or None.
Note = Callable[[int, Doubles, Doubles | None], None]


@dataclass(frozen=True)
class Failure:
    """A solution that could not be evaluated."""

    iteration: int  #: how many batches had been told before
    row: int  #: its place in the batch, or among what a resumed run still had to evaluate of it
    solution: Doubles  #: its values
    exception: BaseException  #: what its last try ended with


class BatchEvaluator:
    """Called with solutions, it gives (features, objectives or None, valid or None)."""

    def __init__(
        self,
        search: Search,
        evaluate: Callable[[Any], Any],
        rowwise: bool,
        executor: str | Executor | None,
        workers: int | None,
        timeout: float | None,
        retries: int,
    ) -> None:
        if not callable(evaluate):
            raise TypeError(f"evaluate: got a {type(evaluate).__name__}, expected a function")
        if timeout is not None and executor is None:
            raise ValueError("timeout: needs an executor; nobody can end what this thread is doing")
        if retries < 0:
            raise ValueError(f"retries: got {retries}, expected at least 0")
        self.failures: list[Failure] = []
        self._search = search
        self._work = Work(evaluate, rowwise, search.feature_dim)
        self._timeout = timeout
        self._retries = retries
        if workers is not None and as_whole(workers, "workers") < 1:
            raise ValueError(f"workers: got {workers}, expected at least 1")
        if timeout is not None and not as_number(timeout, "timeout") > 0:
            raise ValueError(f"timeout: got {timeout}, expected seconds, more than 0")
        self._hands = _make_hands(self._work, executor, workers)

    def __enter__(self) -> BatchEvaluator:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        self._hands.close(now=kind is not None)

    @property
    def workers(self) -> int:
        """How many solutions are evaluated at a time."""
        return self._hands.workers

    def __call__(self, solutions: Doubles, note: Note | None = None) -> tuple[Doubles, Doubles | None, Any]:
        every = np.arange(len(solutions))
        # What failed is tried again row by row, so that one does not take others with it.
        results = self._hands.evaluate(solutions, every, self._timeout is not None, self._timeout, note)
        if results.errors:
            _own_memory(results)
        for _ in range(self._retries):
            if not results.errors:
                break
            failed = np.array(sorted(results.errors))
            again = self._hands.evaluate(solutions, failed, True, self._timeout)
            _put(results, failed, again)
        if not results.errors:
            return results.features, results.objectives, None
        return self._without_failures(solutions, results)

    def _without_failures(self, solutions: Doubles, results: Results) -> tuple[Doubles, Doubles | None, Any]:
        valid = np.ones(len(solutions), dtype=np.uint8)
        for row, error in sorted(results.errors.items()):
            valid[row] = 0
            self._keep(row, solutions[row], error)
        first = results.errors[min(results.errors)]
        # Where some of them are in a journal, something has worked.
        whole = len(solutions) == self._search.candidates
        if not valid.any() and whole and self._search.iteration == 0:
            raise RuntimeError(
                f"none of the first {len(solutions)} solutions could be evaluated; the first failed with: "
                f"{first!r}"
            ) from first
        results.features[valid == 0] = 0.0
        if results.objectives is not None:
            results.objectives[valid == 0] = 0.0
        return results.features, results.objectives, valid

    def _keep(self, row: int, solution: Doubles, exception: BaseException) -> None:
        self.failures.append(Failure(self._search.iteration, row, np.array(solution), exception))
        del self.failures[: -max(_MOST_FAILURES_KEPT, self._search.candidates)]


def _make_hands(work: Work, executor: str | Executor | None, workers: int | None) -> _Hands:
    if executor is None:
        return _Here(work)
    if executor == "threads":
        count = workers or os.cpu_count() or 1
        return _Pool(work, count, lambda: ThreadPoolExecutor(count), own=True)
    if executor == "processes":
        return _Processes(work, workers or os.cpu_count() or 1)
    if isinstance(executor, str):
        raise ValueError(f"executor: got {executor!r}, expected 'threads', 'processes' or an executor")
    if not hasattr(executor, "submit"):
        raise TypeError(
            f"executor: got a {type(executor).__name__}, expected an object with submit(), such as a "
            "concurrent.futures.Executor"
        )
    count = workers or executors.count_workers(executor) or os.cpu_count() or 1
    return _Pool(work, int(count), lambda: executor, own=False)


def _own_memory(results: Results) -> None:
    """What is about to be changed may be an array that belongs to the user."""
    results.features = results.features.copy()
    if results.objectives is not None:
        results.objectives = results.objectives.copy()


def _put(results: Results, rows: Any, some: Results) -> None:
    """The results of some rows into their places among all."""
    results.features[rows] = some.features
    if some.objectives is not None:
        if results.objectives is None:
            results.objectives = np.ones(len(results.features))
        results.objectives[rows] = some.objectives
    for row in rows:
        results.errors.pop(int(row), None)
    results.errors.update({int(rows[i]): error for i, error in some.errors.items()})


class _Hands:
    """Those who do the work."""

    workers = 1

    def evaluate(
        self, solutions: Doubles, rows: Any, alone: bool, timeout: float | None, note: Note | None = None
    ) -> Results:
        """What comes of some rows; each by itself, where `alone`. Whoever gives a `note` wants all rows."""
        raise NotImplementedError

    def close(self, now: bool) -> None:
        pass


class _Here(_Hands):
    def __init__(self, work: Work) -> None:
        self._work = work

    def evaluate(
        self, solutions: Doubles, rows: Any, alone: bool, timeout: float | None, note: Note | None = None
    ) -> Results:
        by_row = note is not None and self._work.rowwise
        if not alone and not by_row:
            return self._work.results(solutions)
        results = self._work.failed(len(rows), RuntimeError("it was not evaluated"))
        for i, row in enumerate(rows):
            some = self._work.results(solutions[row : row + 1])
            _put(results, [i], some)
            if note is not None and not some.errors:
                note(i, some.features, some.objectives)
        return results


class _Notes:
    """Tells of pieces in the order in which they are done, while the first of them is waited for."""

    def __init__(self, pieces: list[Any], futures: list[Future[Any]], note: Note) -> None:
        self._pieces = pieces
        self._futures = futures
        self._note = note
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()
        for i, future in enumerate(futures):
            future.add_done_callback(partial(self._put_by, i))

    def _put_by(self, i: int, _: Future[Any]) -> None:
        """Called by any thread: the one that waits will tell of it."""
        self._done.put(i)

    def result(self, future: Future[Any], timeout: float | None) -> Any:
        """That of the future, as ``future.result(timeout)`` would give it."""
        end = None if timeout is None else time.monotonic() + timeout
        while not future.done():
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                break
            try:
                self._tell(self._done.get(timeout=left))
            except queue.Empty:
                break
        while not self._done.empty():
            self._tell(self._done.get())
        return future.result(timeout if end is None else max(0.0, end - time.monotonic()))

    def _tell(self, i: int) -> None:
        future, piece = self._futures[i], self._pieces[i]
        if future.cancelled() or future.exception() is not None:
            return
        results = future.result()
        if results is None:  # the worker has not got the function yet
            return
        for k, row in enumerate(piece):
            if k not in results.errors:
                objectives = results.objectives[k : k + 1] if results.objectives is not None else None
                self._note(int(row), results.features[k : k + 1], objectives)


class _Pool(_Hands):
    """An executor. The function goes to each of its workers once; see _remote.py."""

    def __init__(self, work: Work, workers: int, make: Callable[[], Executor], own: bool) -> None:
        self._work = work
        self.workers = workers
        self._make = make
        self._own = own
        self._executor = make()
        self._shipped = _remote.Shipped(work) if not own else None
        self._pieces = Pieces(workers, work.rowwise)

    def _submit(self, solutions: Doubles, with_function: bool) -> Future[Any]:
        try:
            if self._shipped is None:
                return self._executor.submit(self._work.results, solutions)
            parcel = self._shipped.parcel(with_function)
            return executors.submit(self._executor, _remote.evaluate, parcel, solutions)
        except BrokenExecutor as exception:  # since the last piece was handed over
            future: Future[Any] = Future()
            future.set_exception(exception)
            return future

    def evaluate(
        self, solutions: Doubles, rows: Any, alone: bool, timeout: float | None, note: Note | None = None
    ) -> Results:
        results = self._work.failed(len(rows), RuntimeError("it was not evaluated"))
        for pieces in self._pieces.of(len(rows), alone):
            self._evaluate_pieces(solutions, rows, pieces, timeout, note, results)
        return results

    def _evaluate_pieces(
        self,
        solutions: Doubles,
        rows: Any,
        pieces: list[Any],
        timeout: float | None,
        note: Note | None,
        results: Results,
    ) -> None:
        first = self._shipped is not None and not self._shipped.sent
        futures = [
            self._submit(solutions[rows[piece]], first and i < self.workers)
            for i, piece in enumerate(pieces)
        ]
        notes = _Notes(pieces, futures, note) if note is not None else None
        broken = False
        for piece, future in zip(pieces, futures, strict=True):
            some = self._result(future, solutions[rows[piece]], timeout, notes)
            if isinstance(some, BaseException):
                broken = broken or isinstance(some, (BrokenExecutor, FutureTimeout))
                some = self._work.failed(len(piece), some)
            else:
                self._pieces.learn(len(piece), some.seconds)
            _put(results, piece, some)
        if self._shipped is not None:
            self._shipped.sent = True
        if broken:
            self._mend()

    def _result(
        self, future: Future[Any], solutions: Doubles, timeout: float | None, notes: _Notes | None
    ) -> Any:
        try:
            results = self._wait(future, timeout, notes)
            if results is None:  # the worker has not got the function yet
                results = self._submit(solutions, True).result(timeout)
            return results
        except FutureTimeout:
            future.cancel()
            return FutureTimeout(f"it took longer than {timeout} seconds")
        except Exception as exception:  # whatever the executor makes of what happened
            return exception

    def _wait(self, future: Future[Any], timeout: float | None, notes: _Notes | None) -> Any:
        return future.result(timeout) if notes is None else notes.result(future, timeout)

    def _mend(self) -> None:
        """After a worker has died or hangs."""
        if self._own:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = self._make()

    def close(self, now: bool) -> None:
        if self._own:
            self._executor.shutdown(wait=not now, cancel_futures=True)


class _Processes(_Pool):
    """Processes of our own, which get the function when they start."""

    def __init__(self, work: Work, workers: int) -> None:
        # Not fork: there are threads already.
        import multiprocessing

        context = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
        parcel = _remote.Shipped(work).parcel(True)

        def make() -> Executor:
            return ProcessPoolExecutor(
                workers, mp_context=context, initializer=_remote.begin, initargs=(parcel,)
            )

        super().__init__(work, workers, make, own=True)
        self._shipped = _remote.Shipped(work)
        self._shipped.sent = True
        self._lost_some = False

    def _wait(self, future: Future[Any], timeout: float | None, notes: _Notes | None) -> Any:
        """What is handed over at the moment when a process dies, Python may forget (before 3.12): it is never done."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            patience = 0.0 if self._lost_some else _SECONDS_TO_BREAK
            left = patience if end is None else min(patience, max(0.0, end - time.monotonic()))
            try:
                return super()._wait(future, left, notes)
            except FutureTimeout:
                if end is not None and time.monotonic() >= end:
                    raise
                if self._is_broken() and not future.done():
                    self._lost_some = True
                    raise BrokenExecutor("a process ended") from None

    def _is_broken(self) -> bool:
        manager = getattr(self._executor, "_executor_manager_thread", None)
        return bool(getattr(self._executor, "_broken", False)) or (manager is not None and not manager.is_alive())

    def _mend(self) -> None:
        self._lost_some = False
        self._end()
        super()._mend()

    def _end(self) -> None:
        for process in list(getattr(self._executor, "_processes", {}).values()):
            process.kill()

    def close(self, now: bool) -> None:
        if now:
            self._end()
        super().close(now)
