"""The loop for those who do not want to write it: ask, evaluate, tell, until done."""

from __future__ import annotations

import math
import os
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._arrays import as_whole
from .evaluation import BatchEvaluator, Failure
from .streaming import RowStream

if TYPE_CHECKING:
    import pandas as pd

    from .archive import Archive
    from .searches import Search

Evaluate = Callable[[Any], Any]


@dataclass
class RunResult:
    """How a run came to its end."""

    search: Search  #: the search, which can go on
    finished: bool  #: false where a callback stopped it
    seconds: float  #: how long it took
    failures: list[Failure] = field(default_factory=list)  #: the last ones, with their exceptions
    folder: str | None = None  #: where the run is kept, if anywhere
    columns: dict[str, Any] = field(default_factory=dict, repr=False)  #: the metrics, without pandas

    @property
    def metrics(self) -> pd.DataFrame:
        """The course of the run as a table: ``iteration``, ``evaluations``, ``coverage``,
        ``cross_entropy``, ``qd_score``, ..., a row every ``metrics_every`` iterations and one at the end."""
        import pandas as pd

        return pd.DataFrame(self.columns)

    @property
    def archive(self) -> Archive:
        """What was found: that of the search."""
        return self.search.archive

    def _repr_html_(self) -> str:
        from ._html import result_as_html

        return result_as_html(self)


def run(
    search: Search,
    evaluate: Evaluate,
    iterations: int,
    *,
    rowwise: bool = False,
    executor: str | Executor | None = None,
    workers: int | None = None,
    timeout: float | None = None,
    retries: int = 1,
    asynchronous: bool = False,
    order: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: bool | None = None,
    callback: Callable[[Search], Any] | None = None,
) -> RunResult:
    """Goes on with a search until it has done so many iterations in all: ``search.run(evaluate, 100)``.

    :param search: any search
    :param iterations: how many it shall have done at the end, those of before included
    :param evaluate: from solutions to features, or to (features, objectives): a matrix, one row
        for each solution, or with ``rowwise=True`` one solution
    :param executor: who evaluates: ``None``, this thread; ``"threads"``; ``"processes"``; or any
        ``concurrent.futures.Executor`` (``MPIPoolExecutor``, Dask's ``client.get_executor()``)
    :param workers: how many, or how many the executor has
    :param timeout: seconds for one solution (not with ``executor=None``)
    :param retries: how often a solution is tried again that raises, takes too long or gives
        nonsense. Then it counts as failed, and the run goes on.
    :param asynchronous: emitters do not wait for each other: each is told as soon as its own solutions are
        evaluated, and asks again at once, so that nobody waits for the slowest. Results then depend on
        the order in which evaluations are done, which the folder keeps.
    :param order: the folder of an asynchronous run (or the ``order.bin`` in it) whose order is repeated,
        to the same bits; needs a ``folder`` of its own
    :param folder: where the run is kept, as the command keeps its own: ``rarefy show`` draws it, and
        :func:`rarefy.resume` goes on with it after whatever ended it
    :param overwrite: replace a run that is in the folder already
    :param progress: a bar; ``None``: where somebody sees it
    :param callback: called with the search after each iteration; true stops the run
    """
    iterations = as_whole(iterations, "iterations")
    if iterations < search.iteration:
        raise ValueError(f"iterations: got {iterations}, expected at least the {search.iteration} that are done")
    if order is not None and (folder is None or not asynchronous):
        raise ValueError("order: needs asynchronous=True and a folder")
    kind = RowStream if asynchronous else BatchEvaluator
    with ExitStack() as stack:
        evaluator = stack.enter_context(kind(search, evaluate, rowwise, executor, workers, timeout, retries))
        bar = stack.enter_context(_Bar(search, iterations, progress))

        def done() -> bool:
            bar.update()
            return callback is not None and bool(callback(search))

        if folder is None:
            return _run_in_memory(search, evaluator, iterations, done)
        native = _core._Run.start(
            search._native, os.fspath(folder), overwrite, iterations, asynchronous,
            "" if order is None else os.fspath(order),
        )  # fmt: skip
        return go_on(native, search, evaluator, iterations, done)


def resume(
    folder: str | os.PathLike[str],
    evaluate: Evaluate | None = None,
    iterations: int | None = None,
    *,
    threads: int = 0,
    rowwise: bool = False,
    executor: str | Executor | None = None,
    workers: int | None = None,
    timeout: float | None = None,
    retries: int = 1,
    progress: bool | None = None,
    callback: Callable[[Search], Any] | None = None,
) -> RunResult:
    """Goes on with the run in a folder, whoever began it, to the same bits as if it had never ended.

    :param folder: that of the run
    :param evaluate: as for :func:`rarefy.running.run`, as are all that are not named here; not needed for
        a run of the command on a domain of its own
    :param iterations: until so many are done in all; ``None``: as many as were planned
    :param threads: of the search; 0: one for each core
    """
    from .searches import search_of

    native = _core._Run.resume(os.fspath(folder), threads)
    search = search_of(native.search)
    if evaluate is None:
        if not native.can_go_on:
            raise ValueError(f"evaluate: needed to go on with {search.problem.name!r}")
        evaluate = _native_domain(search, threads)
    total = native.iterations if iterations is None else as_whole(iterations, "iterations")
    kind = RowStream if native.asynchronous else BatchEvaluator
    with ExitStack() as stack:
        evaluator = stack.enter_context(kind(search, evaluate, rowwise, executor, workers, timeout, retries))
        bar = stack.enter_context(_Bar(search, total, progress))

        def done() -> bool:
            bar.update()
            return callback is not None and bool(callback(search))

        return go_on(native, search, evaluator, total, done)


def _native_domain(search: Search, threads: int) -> Evaluate:
    domain, team = _core.make_domain(search.config), _core.Team(threads)
    return lambda solutions: domain.evaluate(np.ascontiguousarray(solutions), team)


def go_on(
    native: _core._Run, search: Search, evaluator: BatchEvaluator, iterations: int, done: Callable[[], bool]
) -> RunResult:
    go = native.go_asynchronously if isinstance(evaluator, RowStream) else native.go
    finished = go(evaluator, done, iterations, evaluator.workers)
    return RunResult(
        search, finished, native.seconds, evaluator.failures, native.folder, native.metrics()
    )


def _run_in_memory(
    search: Search, evaluator: BatchEvaluator, iterations: int, done: Callable[[], bool]
) -> RunResult:
    every = int(search.config.get("metrics-every"))
    began = time.perf_counter()
    lines: list[dict[str, Any]] = []

    def note() -> None:
        # What the evaluator costs the processors, here or elsewhere, is not known.
        times = {"seconds": time.perf_counter() - began, "processor_seconds": math.nan}
        lines.append(search.metrics() | times)

    def iteration_done() -> bool:
        if search.iteration % every == 0:
            note()
        return done()

    if isinstance(evaluator, RowStream):
        finished = _core.drive_asynchronously(
            search._native, evaluator, iteration_done, iterations, evaluator.workers
        )
    else:
        finished = True
        while search.iteration < iterations:
            search._native.tell(*evaluator(search._native.ask()))
            if iteration_done():
                finished = search.iteration >= iterations
                break
    if not lines or lines[-1]["iteration"] != search.iteration:
        note()
    columns = {name: np.array([line[name] for line in lines]) for name in lines[0]}
    return RunResult(search, finished, time.perf_counter() - began, evaluator.failures, None, columns)


class _Bar:
    """A bar of tqdm's, where it is installed and somebody looks."""

    def __init__(self, search: Search, iterations: int, wanted: bool | None) -> None:
        self._search = search
        self._bar: Any = None
        self._shown = 0.0
        if wanted is None:
            wanted = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        if not wanted:
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # in a notebook without ipywidgets: a bar of text will do
                from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(total=iterations, initial=search.iteration, unit="it", dynamic_ncols=True)

    def __enter__(self) -> _Bar:
        return self

    def update(self) -> None:
        if self._bar is None:
            return
        now = time.monotonic()
        if now - self._shown > 0.2 or self._search.iteration >= self._bar.total:
            self._shown = now
            self._bar.set_postfix_str(f"coverage {100 * self._search.coverage:.2f} %", refresh=False)
            self._bar.update(self._search.iteration - self._bar.n)

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.update(self._search.iteration - self._bar.n)
            self._bar.close()
