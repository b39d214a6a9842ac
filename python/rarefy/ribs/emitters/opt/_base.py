"""What all evolution strategies share."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from ...._core import _Strategy
from ..._checks import read_only
from ..._published import resolve
from ..._pyribs import counterpart, link

_FLAT = 1e-12


@counterpart("emitters.opt", "EvolutionStrategyBase")
class EvolutionStrategyBase(ABC):
    """An evolution strategy: reset(), then ask() and tell() in turns."""

    def __init__(
        self,
        sigma0: float,
        solution_dim: int,
        batch_size: int | None = None,
        seed: Any = None,
        dtype: Any = np.float64,
        lower_bounds: Any = -np.inf,
        upper_bounds: Any = np.inf,
    ) -> None:
        link()

    @abstractmethod
    def reset(self, x0: np.ndarray) -> None: ...

    @abstractmethod
    def check_stop(self, ranking_values: np.ndarray) -> bool: ...

    @abstractmethod
    def ask(self, batch_size: int | None = None) -> np.ndarray: ...

    @abstractmethod
    def tell(self, ranking_indices: np.ndarray, ranking_values: np.ndarray, num_parents: int) -> None: ...


def is_flat(ranking_values: np.ndarray) -> bool:
    """Whether the first and the last of values that are in order hardly differ."""
    if len(ranking_values) < 2:
        return False
    difference = ranking_values[0] - ranking_values[-1]
    if np.ndim(difference) == 0:
        return bool(abs(difference) < _FLAT)
    return bool(math.hypot(*difference.tolist()) < _FLAT)


class NativeStrategy(EvolutionStrategyBase):
    """A strategy of the C++ library.

    It keeps double precision inside. A solution that is out of bounds 100 times in a row is moved to them, with a
    warning. ``published`` is None for what ``rarefy.ribs.published()`` says.
    """

    _name: ClassVar[str]

    def __init__(
        self,
        sigma0: float,
        solution_dim: int,
        batch_size: int | None = None,
        seed: Any = None,
        dtype: Any = np.float64,
        lower_bounds: Any = -np.inf,
        upper_bounds: Any = np.inf,
        *,
        published: bool | None = None,
        directions: int = 0,
    ) -> None:
        EvolutionStrategyBase.__init__(self, sigma0, solution_dim)
        self.sigma0 = sigma0
        self.solution_dim = solution_dim
        self.batch_size = 4 + int(3 * np.log(solution_dim)) if batch_size is None else int(batch_size)
        if self.batch_size < 1:
            raise ValueError(f"batch_size: got {batch_size}, expected at least 1")
        self.dtype = np.dtype(dtype)
        self.lower_bounds = np.asarray(lower_bounds, dtype=self.dtype)
        self.upper_bounds = np.asarray(upper_bounds, dtype=self.dtype)
        self._bounded = not (np.all(self.lower_bounds == -np.inf) and np.all(self.upper_bounds == np.inf))
        self._options = {
            "strategy": self._name,
            "dimension": int(solution_dim),
            "batch": self.batch_size,
            "sigma0": float(sigma0),
            "seed": int(np.random.default_rng(seed).integers(2**63)),
            "lower": self.lower_bounds.astype(np.float64).ravel().tolist() if self._bounded else [],
            "upper": self.upper_bounds.astype(np.float64).ravel().tolist() if self._bounded else [],
            "directions": directions,
            "published": resolve(published),
            "single": self.dtype == np.float32,
        }
        self._core = _Strategy(**self._options)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_core": self._core.save()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._core = _Strategy(**self._options)
        self._core.load(state["_core"])

    @property
    def published(self) -> bool:
        """Whether it computes what pyribs does."""
        return bool(self._options["published"])

    @property
    def mean(self) -> np.ndarray:
        return self._core.mean().astype(self.dtype, copy=False)

    @property
    def sigma(self) -> float:
        return self._core.sigma

    def reset(self, x0: np.ndarray) -> None:
        self._core.reset(np.array(x0, dtype=np.float64).ravel())

    def check_stop(self, ranking_values: np.ndarray) -> bool:
        return self._core.stopped or is_flat(ranking_values)

    def ask(self, batch_size: int | None = None) -> np.ndarray:
        solutions: Any = self._core.ask(self.batch_size if batch_size is None else int(batch_size))
        if self._bounded and (moved := self._core.forced):
            warnings.warn(
                f"{moved} solutions were out of bounds 100 times in a row and were moved to the bounds; "
                "the bounds may be too tight for sigma0.",
                stacklevel=2,
            )
        return solutions if solutions.dtype == self.dtype else read_only(solutions.astype(self.dtype))

    def tell(self, ranking_indices: np.ndarray, ranking_values: np.ndarray, num_parents: int) -> None:
        self._core.tell(np.asarray(ranking_indices, dtype=np.int64), int(num_parents))
