"""What all emitters share."""

from __future__ import annotations

from abc import ABC
from collections.abc import Collection
from typing import Any

import numpy as np

from .._checks import check_batch_shape, check_shape, shape_of
from .._pyribs import counterpart, link


def _from_pairs(bounds: Collection[Any], solution_dim: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    lower = np.full(solution_dim, -np.inf, dtype=dtype)
    upper = np.full(solution_dim, np.inf, dtype=dtype)
    if len(bounds) != solution_dim:
        # It begins like that of pyribs, which scripts and tests may look for.
        raise ValueError(
            "If it is an array-like, bounds must have length solution_dim: "
            f"expected {solution_dim} entries, but it has {len(bounds)}"
        )
    for i, pair in enumerate(bounds):
        if pair is None:
            continue
        if len(pair) != 2:
            raise ValueError(f"bounds: entry {i} must be None or (lower, upper)")
        lower[i] = -np.inf if pair[0] is None else pair[0]
        upper[i] = np.inf if pair[1] is None else pair[1]
    return lower, upper


@counterpart("emitters", "EmitterBase")
class EmitterBase(ABC):
    """An emitter: ask() for solutions, tell() what became of them."""

    def __init__(
        self, archive: Any, *, solution_dim: Any, bounds: Any = None, lower_bounds: Any = None, upper_bounds: Any = None
    ) -> None:
        link()
        self._archive = archive
        self._solution_dim = solution_dim
        dtype = archive.dtypes["solution"]
        if bounds is not None:
            if lower_bounds is not None or upper_bounds is not None:
                raise ValueError("Specify either bounds, or lower_bounds and upper_bounds.")
            self._lower_bounds, self._upper_bounds = _from_pairs(bounds, solution_dim, dtype)
            return
        self._lower_bounds = np.full(solution_dim, -np.inf, dtype) if lower_bounds is None else lower_bounds
        self._upper_bounds = np.full(solution_dim, np.inf, dtype) if upper_bounds is None else upper_bounds
        self._lower_bounds = np.asarray(self._lower_bounds, dtype=dtype)
        self._upper_bounds = np.asarray(self._upper_bounds, dtype=dtype)
        check_shape(self._lower_bounds, "lower_bounds", solution_dim, "solution_dim")
        check_shape(self._upper_bounds, "upper_bounds", solution_dim, "solution_dim")

    @property
    def archive(self) -> Any:
        return self._archive

    @property
    def solution_dim(self) -> Any:
        return self._solution_dim

    @property
    def lower_bounds(self) -> np.ndarray:
        return self._lower_bounds

    @property
    def upper_bounds(self) -> np.ndarray:
        return self._upper_bounds

    def ask(self) -> np.ndarray:
        return np.empty((0, *shape_of(self.solution_dim)), dtype=self.archive.dtypes["solution"])

    def tell(self, solution: Any, objective: Any, measures: Any, add_info: dict[str, Any], **fields: Any) -> None:
        pass

    def ask_dqd(self) -> np.ndarray:
        return np.empty((0, *shape_of(self.solution_dim)), dtype=self.archive.dtypes["solution"])

    def tell_dqd(
        self, solution: Any, objective: Any, measures: Any, jacobian: Any, add_info: dict[str, Any], **fields: Any
    ) -> None:
        pass


class MutationEmitter(EmitterBase):
    """Emitters that change elites of the archive at random, or an initial solution while there are none."""

    def __init__(
        self, archive: Any, *, x0: Any, initial_solutions: Any, batch_size: int, seed: Any, **bounds: Any
    ) -> None:
        EmitterBase.__init__(self, archive, solution_dim=archive.solution_dim, **bounds)
        if (x0 is None) == (initial_solutions is None):
            raise ValueError("Provide either x0 or initial_solutions (and not both).")
        dtype = archive.dtypes["solution"]
        self._rng = np.random.default_rng(seed)
        self._batch_size = batch_size
        self._noise_shape = (batch_size, *shape_of(self.solution_dim))
        self._x0: Any = None
        self._initial_solutions: Any = None
        if x0 is not None:
            self._x0 = np.array(x0, dtype=dtype)
            check_shape(self._x0, "x0", archive.solution_dim, "archive.solution_dim")
        else:
            self._initial_solutions = np.asarray(initial_solutions, dtype=dtype)
            check_batch_shape(
                self._initial_solutions, "initial_solutions", archive.solution_dim, "archive.solution_dim"
            )

    @property
    def x0(self) -> np.ndarray | None:
        return self._x0

    @property
    def initial_solutions(self) -> np.ndarray | None:
        return self._initial_solutions

    @property
    def batch_size(self) -> int:
        return self._batch_size

    def _clip(self, solutions: np.ndarray) -> np.ndarray:
        return np.clip(solutions, self._lower_bounds, self._upper_bounds)

    def _parents(self, count: int) -> np.ndarray:
        if self.archive.empty:
            return np.repeat(self._x0[None], count, axis=0)
        return self.archive.sample_elites(count)["solution"]

    def _noise(self, scale: Any, shape: tuple[int, ...]) -> np.ndarray:
        return self._rng.normal(scale=scale, size=shape).astype(self.archive.dtypes["solution"])
