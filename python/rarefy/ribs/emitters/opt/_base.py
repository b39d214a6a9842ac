"""What all evolution strategies share."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..._checks import read_only
from ..._pyribs import counterpart, link

_TRIES = 100


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
    return len(ranking_values) >= 2 and bool(np.linalg.norm(ranking_values[0] - ranking_values[-1]) < 1e-12)


def weights_of(parents: int) -> tuple[np.ndarray, float]:
    """Weights of recombination, which sum to 1, and how many parents they amount to."""
    weights = np.log(parents + 0.5) - np.log(np.arange(1, parents + 1))
    weights /= weights.sum()
    return weights, float(1 / np.sum(weights**2))


class Strategy(EvolutionStrategyBase):
    """The parts of a strategy that keeps double precision inside and samples again what is out of bounds."""

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
        EvolutionStrategyBase.__init__(self, sigma0, solution_dim)
        self.sigma0 = sigma0
        self.solution_dim = solution_dim
        self.batch_size = 4 + int(3 * np.log(solution_dim)) if batch_size is None else batch_size
        self.dtype = dtype
        self.lower_bounds = np.asarray(lower_bounds, dtype=dtype)
        self.upper_bounds = np.asarray(upper_bounds, dtype=dtype)
        self._bounded = bool(np.isfinite(self.lower_bounds).any() or np.isfinite(self.upper_bounds).any())
        self._rng = np.random.default_rng(seed)
        self._normals: Any = None
        self._solutions: Any = None
        self.mean: Any = None
        self.sigma: Any = None

    def reset(self, x0: np.ndarray) -> None:
        self.mean = np.array(x0, dtype=np.float64)
        self.sigma = float(self.sigma0)
        self.current_eval = 0

    def _from_normals(self, normals: np.ndarray) -> np.ndarray:
        """Steps, to be multiplied by sigma, of standard normal vectors."""
        raise NotImplementedError

    def ask(self, batch_size: int | None = None) -> np.ndarray:
        rows = np.arange(self.batch_size if batch_size is None else batch_size)
        self._normals = np.empty((len(rows), self.solution_dim))
        self._solutions = np.empty((len(rows), self.solution_dim), dtype=self.dtype)
        for _ in range(_TRIES):
            normals = self._rng.standard_normal((len(rows), self.solution_dim))
            self._normals[rows] = normals
            self._solutions[rows] = self.mean + self.sigma * self._from_normals(normals)
            if not self._bounded:
                break
            tried = self._solutions[rows]
            rows = rows[((tried < self.lower_bounds) | (tried > self.upper_bounds)).any(axis=1)]
            if len(rows) == 0:
                break
        else:
            warnings.warn(
                f"{len(rows)} solutions were out of bounds {_TRIES} times in a row and were moved to the bounds; "
                "the bounds may be too tight for sigma0.",
                stacklevel=2,
            )
            np.clip(self._solutions, self.lower_bounds, self.upper_bounds, out=self._solutions)
        return read_only(self._solutions)

    def tell(self, ranking_indices: np.ndarray, ranking_values: np.ndarray, num_parents: int) -> None:
        self.current_eval += len(ranking_indices)
        if num_parents > 0:
            self._update(np.asarray(ranking_indices)[:num_parents])

    def _update(self, best: np.ndarray) -> None:
        """Learns from the rows of the parents, the best first."""
        raise NotImplementedError
