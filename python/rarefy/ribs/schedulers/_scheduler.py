"""The scheduler: emitters that fill an archive."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._blas import one_thread
from .._checks import shape_of
from .._pyribs import counterpart, link


def _warn_empty(name: str) -> None:
    warnings.warn(
        f"`{name}` was empty before solutions were added, and it still is. threshold_min may be too high: solutions "
        "enter only where their objective exceeds it.",
        stacklevel=4,
    )


@counterpart("schedulers", "Scheduler")
class Scheduler:
    """Asks the emitters for solutions, adds them to the archive, and tells the emitters what became of them."""

    def __init__(
        self, archive: Any, emitters: Sequence[Any], result_archive: Any = None, *, add_mode: str = "batch"
    ) -> None:
        link()
        try:
            count = len(emitters)
        except TypeError:
            raise TypeError("`emitters` must be a list of emitter objects.") from None
        if count == 0:
            raise ValueError("Pass in at least one emitter to the scheduler.")
        if len({id(emitter) for emitter in emitters}) != count:
            raise ValueError(
                "The same emitter was given more than once; [Emitter(...)] * n repeats one emitter, and "
                "[Emitter(...) for _ in range(n)] makes n of them."
            )
        self._solution_dim = emitters[0].solution_dim
        for i, emitter in enumerate(emitters):
            if emitter.solution_dim != self._solution_dim:
                raise ValueError(
                    f"All emitters must have the same solution dim, but emitter {i} has {emitter.solution_dim} and "
                    f"emitter 0 has {self._solution_dim}"
                )
        if add_mode not in ("batch", "single"):
            raise ValueError(f"add_mode must either be 'batch' or 'single', but it was '{add_mode}'")
        if archive is result_archive:
            raise ValueError("`result_archive` is `archive` itself; leave it out, and it will be")
        self._archive = archive
        self._emitters = emitters
        self._result_archive = result_archive
        self._add_mode = add_mode
        self._last_called: str | None = None
        self._cur_solutions: Any = []
        self._num_emitted: list[int] = [0] * count

    @property
    def archive(self) -> Any:
        return self._archive

    @property
    def emitters(self) -> Sequence[Any]:
        return self._emitters

    @property
    def result_archive(self) -> Any:
        return self._archive if self._result_archive is None else self._result_archive

    def _ask(self, method: str) -> np.ndarray:
        if self._last_called in ("ask", "ask_dqd"):
            raise RuntimeError(f"{method} cannot be called immediately after {self._last_called}")
        self._last_called = method
        with one_thread():
            asked = [getattr(emitter, method)() for emitter in self._emitters]
        self._num_emitted = [len(solutions) for solutions in asked]
        self._cur_solutions = np.concatenate(asked, axis=0) if asked else np.empty((0, *shape_of(self._solution_dim)))
        return self._cur_solutions

    def ask(self) -> np.ndarray:
        """Solutions to evaluate, in an order that tell() goes by."""
        return self._ask("ask")

    def ask_dqd(self) -> np.ndarray:
        """Solutions to evaluate together with gradients."""
        return self._ask("ask_dqd")

    def _check_length(self, name: str, array: np.ndarray) -> None:
        if len(array) != len(self._cur_solutions):
            raise ValueError(
                f"{name} should have length {len(self._cur_solutions)}, the number of solutions that were asked for, "
                f"but has length {len(array)}"
            )

    def _checked(self, data: dict[str, Any]) -> dict[str, Any]:
        checked = {}
        for name, values in data.items():
            if values is not None:
                values = np.asarray(values)
                self._check_length(name, values)
            checked[name] = values
        checked["solution"] = self._cur_solutions
        return checked

    def _add(self, data: dict[str, Any]) -> dict[str, np.ndarray]:
        archives = [("archive", self._archive)]
        if self._result_archive is not None:
            archives.append(("result_archive", self._result_archive))
        empty = [archive.empty for _, archive in archives]
        if self._add_mode == "batch":
            info, *_ = [archive.add(**data) for _, archive in archives]
        else:
            each = []
            for i in range(len(self._cur_solutions)):
                row = {name: None if values is None else values[i] for name, values in data.items()}
                each.append([archive.add_single(**row) for _, archive in archives][0])
            info = {name: np.asarray([one[name] for one in each]) for name in (each[0] if each else ())}
        for was_empty, (name, archive) in zip(empty, archives, strict=True):
            if was_empty and archive.empty:
                _warn_empty(name)
        return info

    def _tell_each(self, data: dict[str, Any], info: dict[str, Any], method: Callable[[Any], Any], **more: Any) -> None:
        begin = 0
        with one_thread():
            for emitter, count in zip(self._emitters, self._num_emitted, strict=True):
                part = slice(begin, begin + count)
                begin += count
                method(emitter)(
                    **{name: None if values is None else values[part] for name, values in data.items()},
                    **{name: values[part] for name, values in more.items()},
                    add_info={name: values[part] for name, values in info.items()},
                )

    def tell(self, objective: Any, measures: Any, **fields: Any) -> None:
        """Takes the evaluations of the solutions that ask() gave, in that order."""
        if self._last_called != "ask":
            raise RuntimeError("tell() was called without calling ask().")
        self._last_called = "tell"
        data = self._checked({"objective": objective, "measures": measures, **fields})
        self._tell_each(data, self._add(data), lambda emitter: emitter.tell)

    def tell_dqd(self, objective: Any, measures: Any, jacobian: Any, **fields: Any) -> None:
        """Takes the evaluations and gradients of the solutions that ask_dqd() gave."""
        if self._last_called != "ask_dqd":
            raise RuntimeError("tell_dqd() was called without calling ask_dqd().")
        self._last_called = "tell_dqd"
        data = self._checked({"objective": objective, "measures": measures, **fields})
        jacobian = np.asarray(jacobian)
        self._check_length("jacobian", jacobian)
        self._tell_each(data, self._add(data), lambda emitter: emitter.tell_dqd, jacobian=jacobian)
