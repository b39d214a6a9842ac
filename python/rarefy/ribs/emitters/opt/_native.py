"""rarefy's own strategies, for what their binding does: half of the batch are parents, and no bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...._core import _Optimizer
from ..._checks import read_only
from ._base import EvolutionStrategyBase, is_flat

NAMES = {
    "cma_es": "cma-es",
    "CMAEvolutionStrategy": "cma-es",
    "sep_cma_es": "sep-cma-es",
    "SeparableCMAEvolutionStrategy": "sep-cma-es",
    "lm_ma_es": "lm-ma-es",
    "LMMAEvolutionStrategy": "lm-ma-es",
}


class NativeStrategy(EvolutionStrategyBase):
    """A strategy in C++. ask() without tell() gives the same solutions again."""

    def __init__(
        self, strategy: str, sigma0: float, solution_dim: int, batch_size: int | None, seed: Any, dtype: Any
    ) -> None:
        EvolutionStrategyBase.__init__(self, sigma0, solution_dim)
        self.sigma0 = sigma0
        self.solution_dim = solution_dim
        self.batch_size = 4 + int(3 * np.log(solution_dim)) if batch_size is None else batch_size
        if strategy == "lm-ma-es" and self.batch_size > solution_dim:
            raise ValueError(f"batch_size ({self.batch_size}) is greater than solution_dim ({solution_dim})")
        self.dtype = np.dtype(dtype)
        self._strategy = strategy
        self._rng = np.random.default_rng(seed)
        self._core: Any = None

    def reset(self, x0: np.ndarray) -> None:
        self._make(np.array(x0, dtype=np.float64), int(self._rng.integers(2**63)))

    def _make(self, mean: np.ndarray, seed: int) -> None:
        self._seed = seed
        self._core = _Optimizer(mean, float(self.sigma0), int(self.batch_size), self._strategy, False, seed)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_core": self._core.save()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        saved = self._core
        self._make(np.zeros(self.solution_dim), self._seed)
        self._core.load(saved)
        # What was asked for is asked for again, so that tell() may come next.
        self._core.ask()

    @property
    def mean(self) -> np.ndarray:
        return self._core.mean()

    @property
    def sigma(self) -> float:
        return self._core.sigma

    def check_stop(self, ranking_values: np.ndarray) -> bool:
        return self._core.stop != "none" or is_flat(ranking_values)

    def ask(self, batch_size: int | None = None) -> np.ndarray:
        if batch_size is not None and batch_size != self.batch_size:
            raise ValueError(f"batch_size must be {self.batch_size}, as it was given")
        return read_only(self._core.ask().astype(self.dtype, copy=False))

    def tell(self, ranking_indices: np.ndarray, ranking_values: np.ndarray, num_parents: int) -> None:
        places = np.empty(self.batch_size)
        places[ranking_indices] = np.arange(self.batch_size)
        self._core.tell(places)
