"""Evaluates solutions as they come, and hands each back as soon as it is done."""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import Doubles
from ._pieces import _PIECES_A_WORKER
from ._remote import Results
from .evaluation import _SECONDS_TO_BREAK, BatchEvaluator, _Pool, _Processes

if TYPE_CHECKING:
    from .searches import Search

# A piece takes about so many seconds where rows take less: handing one out takes time as well.
_WORTH_HANDING_OUT = 0.02
# So many pieces for each worker are handed out, so that nobody waits for the next.
_PIECES_AT_A_TIME = 2

# Rows that are done: the job, the first of them, features, objectives or None, valid or None.
Done = tuple[int, int, Doubles, Doubles | None, Any]


@dataclass(eq=False)
class _Piece:
    """Rows of a job, one after the other."""

    job: int
    first: int
    solutions: Doubles
    tries: int = 0  # that have failed
    alone: bool = False  # somebody has died of it, or of one that was under way at the same time
    deadline: float | None = None


class RowStream(BatchEvaluator):
    """What a search whose emitters do not wait for each other evaluates with: jobs begin, one for each
    emitter, and rows of any of them are waited for."""

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
        super().__init__(search, evaluate, rowwise, executor, workers, timeout, retries)
        self._pool = self._hands if isinstance(self._hands, _Pool) else None
        self._todo: deque[_Piece] = deque()
        self._under_way: dict[Future[Any], _Piece] = {}
        self._finished: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._sent = 0  # pieces, for the function goes with the first
        self._succeeded = 0  # rows
        self._failed = 0
        self._broken_at = -1  # how many had succeeded when a foreign executor broke
        self._seconds = 0.0  # that succeeded rows took
        self._all_there: float | None = None  # when processes that were started are, at the latest

    # ---- called by the loop --------------------------------------------------------------------

    def begin(self, job: int, solutions: Doubles) -> None:
        size = self._rows_of_a_piece(len(solutions))
        for first in range(0, len(solutions), size):
            self._todo.append(_Piece(job, first, solutions[first : first + size]))
        self._hand_out()

    def wait(self) -> list[Done]:
        """At least one row, unless nothing is under way."""
        done: list[Done] = []
        while not done and (self._todo or self._under_way):
            if self._pool is None:
                piece = self._todo.popleft()
                self._take(piece, self._work.results(piece.solutions), done)
                continue
            self._hand_out()
            try:
                self._look_at(self._finished.get(timeout=self._time_left()), done)
                while not self._finished.empty():
                    self._look_at(self._finished.get(), done)
            except queue.Empty:
                self._end_what_takes_too_long(done)
                self._end_what_was_forgotten(done)
        in_vain = not self._succeeded and self._failed >= self._search.candidates
        if in_vain and self._search.failed == self._search.evaluations:
            first = self.failures[0].exception
            raise RuntimeError(
                f"none of the first {self._failed} solutions could be evaluated; the first failed with: {first!r}"
            ) from first
        return done

    def abandon(self) -> None:
        self._todo.clear()
        if not self._under_way:
            return
        for future in list(self._under_way):
            future.cancel()
        self._under_way.clear()
        if self._pool is not None and self._pool._own:  # nobody waits for those that hang
            self._mend()

    # ---- handing out -----------------------------------------------------------------------------

    def _rows_of_a_piece(self, rows: int) -> int:
        """One, unless they turn out to be cheap. What takes as long for one row as for many must not be called
        for every row."""
        if self._pool is None:
            return 1 if self._work.rowwise else rows
        if self._timeout is not None or not self._succeeded:
            return 1
        if not self._work.rowwise:
            return min(rows, -(-self._search.candidates // (_PIECES_A_WORKER * self.workers)))
        return int(np.clip(_WORTH_HANDING_OUT * self._succeeded / max(self._seconds, 1e-9), 1, rows))

    def _hand_out(self) -> None:
        if self._pool is None:
            return
        # With a time limit, only what begins at once: nobody tells when a worker takes it up.
        most = self.workers * (1 if self._timeout is not None else _PIECES_AT_A_TIME)
        while self._todo and len(self._under_way) < most:
            if self._todo[0].alone and self._under_way:
                return
            if any(piece.alone for piece in self._under_way.values()):
                return
            self._submit(self._todo.popleft())

    def _submit(self, piece: _Piece, with_function: bool = False) -> None:
        assert self._pool is not None
        shipped = self._pool._shipped
        first = shipped is not None and not shipped.sent and self._sent < self.workers
        self._sent += 1
        if self._timeout is not None:
            piece.deadline = self._beginning() + self._timeout * len(piece.solutions)
        future = self._pool._submit(piece.solutions, with_function or first)
        self._under_way[future] = piece
        future.add_done_callback(self._finished.put)

    def _beginning(self) -> float:
        """When a piece that is handed out now is taken up, at the latest."""
        if not isinstance(self._pool, _Processes):
            return time.monotonic()
        if self._all_there is None:
            # Processes begin with each other, and import what they need. That is nobody's fault.
            began = time.monotonic()
            self._pool._executor.submit(_nothing).result()
            now = time.monotonic()
            self._all_there = now + 1.0 + 2 * (now - began)
        return max(time.monotonic(), self._all_there)

    def _mend(self) -> None:
        assert self._pool is not None
        self._pool._mend()
        self._all_there = None

    def _time_left(self) -> float | None:
        waits = [max(0.0, p.deadline - time.monotonic()) for p in self._under_way.values() if p.deadline is not None]
        if isinstance(self._pool, _Processes):
            waits.append(_SECONDS_TO_BREAK)
        return min(waits, default=None)

    # ---- what came back ----------------------------------------------------------------------------

    def _look_at(self, future: Future[Any], done: list[Done]) -> None:
        piece = self._under_way.pop(future, None)
        if piece is None:  # given up
            return
        try:
            results = future.result()
        except CancelledError as error:  # by the executor: what we have ended is not under way any more
            self._take(piece, self._work.failed(len(piece.solutions), error), done)
        except BrokenExecutor as error:
            self._somebody_died(piece, error, done)
        except Exception as error:  # whatever the executor makes of what happened
            self._take(piece, self._work.failed(len(piece.solutions), error), done)
        else:
            if results is None:  # the worker has not got the function yet
                self._submit(piece, True)
            else:
                self._take(piece, results, done)

    def _somebody_died(self, piece: _Piece, error: BaseException, done: list[Done]) -> None:
        """All that were under way are lost with the one it died of. To find that one, each is tried again
        while nobody else is."""
        assert self._pool is not None
        if not self._pool._own:
            if self._broken_at == self._succeeded:
                raise error  # it is still broken, and not ours to mend
            self._broken_at = self._succeeded
        suspects = [piece, *self._under_way.values()]
        self._under_way.clear()
        self._mend()
        if len(suspects) == 1 and len(piece.solutions) == 1:
            self._take(piece, self._work.failed(1, error), done)
            return
        for suspect in reversed(suspects):
            for row in reversed(range(len(suspect.solutions))):
                self._again(suspect, row, suspect.tries, alone=True)

    def _end_what_takes_too_long(self, done: list[Done]) -> None:
        now = time.monotonic()
        late = [f for f, piece in self._under_way.items() if piece.deadline is not None and piece.deadline <= now]
        pieces = [self._under_way.pop(future) for future in late]
        for future in late:
            future.cancel()
        if pieces and self._pool is not None and self._pool._own:  # the others go with them
            self._todo.extendleft(self._under_way.values())
            self._under_way.clear()
            self._mend()
        for piece in pieces:
            error = FutureTimeout(f"it took longer than {self._timeout} seconds")
            self._take(piece, self._work.failed(len(piece.solutions), error), done)

    def _end_what_was_forgotten(self, done: list[Done]) -> None:
        """What is handed over at the moment when a process dies may never be done."""
        if self._under_way and isinstance(self._pool, _Processes) and self._pool._is_broken():
            piece = self._under_way.pop(next(iter(self._under_way)))
            self._somebody_died(piece, BrokenExecutor("a process ended"), done)

    def _take(self, piece: _Piece, results: Results, done: list[Done]) -> None:
        rows = len(piece.solutions)
        if not results.errors:
            self._succeeded += rows
            self._seconds += results.seconds
            done.append((piece.job, piece.first, results.features, results.objectives, None))
            return
        for row in range(rows):
            error = results.errors.get(row)
            if error is None:
                self._succeeded += 1
                objectives = None if results.objectives is None else results.objectives[row : row + 1]
                done.append((piece.job, piece.first + row, results.features[row : row + 1], objectives, None))
            elif piece.tries < self._retries:
                self._again(piece, row, piece.tries + 1, piece.alone)
            else:
                self._failed += 1
                place = self._search._native.first_row(piece.job) + piece.first + row
                self._keep(place, piece.solutions[row], error)
                nothing = np.zeros((1, self._work.features))
                done.append((piece.job, piece.first + row, nothing, None, np.zeros(1, dtype=np.uint8)))

    def _again(self, piece: _Piece, row: int, tries: int, alone: bool) -> None:
        one = piece.solutions[row : row + 1]
        self._todo.appendleft(_Piece(piece.job, piece.first + row, one, tries, alone))


def _nothing() -> None:
    pass
