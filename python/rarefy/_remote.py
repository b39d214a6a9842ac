"""What travels to other threads and processes: a function, once, and rows of solutions."""

from __future__ import annotations

import hashlib
import multiprocessing
import multiprocessing.connection
import os
import pickle
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arrays import Doubles, as_doubles


@dataclass
class Results:
    """What came of some solutions. Of rows that failed only the exception says anything."""

    features: Doubles
    objectives: Doubles | None
    errors: dict[int, BaseException]
    seconds: float = 0.0  #: how long it took, wherever it was


# Functions that have arrived in this process, by the digest of their pickle.
_received: dict[str, Work] = {}
_broken: dict[str, str] = {}  # why others did not


@dataclass
class Work:
    """A function to evaluate with, and what its results must look like."""

    evaluate: Callable[[Any], Any]
    rowwise: bool
    features: int

    def results(self, solutions: Doubles) -> Results:
        """No exception but those that end a program leaves it."""
        began = time.perf_counter()
        if self.rowwise:
            results = self._row_by_row(solutions)
        else:
            try:
                results = self._all_at_once(solutions)
            except Exception as exception:
                results = self.failed(len(solutions), exception)
        results.seconds = time.perf_counter() - began
        return results

    def failed(self, count: int, exception: BaseException) -> Results:
        return Results(np.zeros((count, self.features)), None, dict.fromkeys(range(count), exception))

    def _row_by_row(self, solutions: Doubles) -> Results:
        features = np.zeros((len(solutions), self.features))
        objectives = np.ones(len(solutions))
        errors: dict[int, BaseException] = {}
        any_objective = False
        for i, solution in enumerate(solutions):
            try:
                found, objective = _split(self.evaluate(solution))
                values = as_doubles(found, "features").reshape(-1)
                if len(values) != self.features:
                    raise ValueError(f"features: got {len(values)} values, expected {self.features}")
                features[i] = values
                if objective is not None:
                    objectives[i] = float(objective)
                    any_objective = True
            except Exception as exception:
                errors[i] = exception
        return _checked(features, objectives if any_objective else None, errors)

    def _all_at_once(self, solutions: Doubles) -> Results:
        found, objectives = _split(self.evaluate(solutions))
        features = as_doubles(found, "features")
        if features.shape != (len(solutions), self.features):
            wanted = (len(solutions), self.features)
            raise ValueError(f"features: got an array of shape {features.shape}, expected {wanted}")
        if objectives is not None:
            objectives = as_doubles(objectives, "objectives").reshape(-1)
            if len(objectives) != len(solutions):
                raise ValueError(f"objectives: got {len(objectives)} values, expected {len(solutions)}")
        return _checked(features, objectives, {})


def _checked(features: Doubles, objectives: Doubles | None, errors: dict[int, BaseException]) -> Results:
    sums = features.sum(axis=1)
    if objectives is not None:
        sums = sums + objectives
    if not np.all(np.isfinite(sums)):
        for i in np.flatnonzero(~np.isfinite(sums)):
            if not np.all(np.isfinite(features[i])):
                text = f"features: got {features[i]}, expected finite numbers"
            elif objectives is not None and not np.isfinite(objectives[i]):
                text = f"objective: got {objectives[i]}, expected a finite number"
            else:
                continue  # only the sum is not
            errors.setdefault(int(i), ValueError(text))
    return Results(features, objectives, errors)


def _split(result: Any) -> tuple[Any, Any]:
    """Features, and objectives where there are any."""
    if isinstance(result, tuple) and len(result) == 2 and not np.isscalar(result[0]):
        return result
    return result, None


class Shipped:
    """A function as it travels."""

    def __init__(self, work: Work) -> None:
        self._pickle = _pickled(work)
        self._digest = hashlib.sha256(self._pickle).hexdigest()
        self.sent = False  # to those who were there

    def parcel(self, with_function: bool) -> tuple[str, bytes | None]:
        return self._digest, self._pickle if with_function else None


def _pickled(work: Work) -> bytes:
    try:
        import cloudpickle  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        pass
    else:
        return bytes(cloudpickle.dumps(work))
    try:
        return pickle.dumps(work)
    except Exception as problem:
        raise ValueError(
            f"evaluate: cannot be sent to other processes ({problem}); define it at the top of a module, or "
            "install cloudpickle"
        ) from None


def begin(parcel: tuple[str, bytes | None]) -> None:
    """The first thing in a process of our own."""
    threading.Thread(target=_end_with_the_search, daemon=True).start()
    receive(parcel)


def _end_with_the_search() -> None:
    """However that ends: where it is killed, nobody tells its processes."""
    search = multiprocessing.parent_process()
    if search is not None:
        multiprocessing.connection.wait([search.sentinel])
        os._exit(1)


def receive(parcel: tuple[str, bytes | None]) -> None:
    digest, function = parcel
    if function is not None and digest not in _received:
        try:
            _received[digest] = pickle.loads(function)
        except Exception as problem:  # a process that ends here could not say why
            _broken[digest] = f"{type(problem).__name__}: {problem}"


def evaluate(parcel: tuple[str, bytes | None], solutions: Doubles) -> Results | None:
    """In a worker; nothing where the function is not there yet. Exceptions go back as such where they
    can travel, and else as their text."""
    receive(parcel)
    work = _received.get(parcel[0])
    if work is None:
        if parcel[0] in _broken:
            raise RuntimeError(
                f"evaluate: did not arrive in another process ({_broken[parcel[0]]}); what it uses must be in a module, "
                "or be plain functions and values (not those of functools.cache)"
            )
        return None
    results = work.results(solutions)
    results.errors = {row: _able_to_travel(error) for row, error in results.errors.items()}
    return results


def _able_to_travel(error: BaseException) -> BaseException:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
