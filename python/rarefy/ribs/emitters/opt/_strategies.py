"""CMA-ES, sep-CMA-ES and LM-MA-ES, after Hansen's tutorial, Ros and Hansen (2008), Loshchilov et al. (2018)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._published import resolve
from ..._pyribs import counterpart
from ._base import NativeStrategy


@counterpart("emitters.opt", "CMAEvolutionStrategy")
class CMAEvolutionStrategy(NativeStrategy):
    """CMA-ES."""

    _name = "cma-es"

    @property
    def covariance(self) -> np.ndarray:
        """A matrix; sigma is not in it."""
        return self._core.covariance()


@counterpart("emitters.opt", "SeparableCMAEvolutionStrategy")
class SeparableCMAEvolutionStrategy(NativeStrategy):
    """sep-CMA-ES: the covariance is diagonal."""

    _name = "sep-cma-es"

    @property
    def covariance(self) -> np.ndarray:
        """The diagonal; sigma is not in it."""
        return self._core.covariance()


@counterpart("emitters.opt", "LMMAEvolutionStrategy")
class LMMAEvolutionStrategy(NativeStrategy):
    """LM-MA-ES: the covariance is made of a few directions.

    ``n_vectors`` is how many: by default the paper's 4 + floor(3 ln n), and as many as the batch has solutions where
    it is to be as in pyribs.
    """

    _name = "lm-ma-es"

    def __init__(
        self,
        sigma0: float,
        solution_dim: int,
        batch_size: int | None = None,
        seed: Any = None,
        dtype: Any = np.float64,
        lower_bounds: Any = -np.inf,
        upper_bounds: Any = np.inf,
        n_vectors: int | None = None,
        *,
        published: bool | None = None,
    ) -> None:
        batch = 4 + int(3 * np.log(solution_dim)) if batch_size is None else int(batch_size)
        if batch > solution_dim:
            raise ValueError(f"batch_size ({batch}) is greater than solution_dim ({solution_dim})")
        if n_vectors is None:
            n_vectors = batch if resolve(published) else 4 + int(3 * np.log(solution_dim))
        self.n_vectors = int(n_vectors)
        if self.n_vectors < 1:
            raise ValueError(f"n_vectors: got {n_vectors}, expected at least 1")
        super().__init__(
            sigma0, solution_dim, batch_size, seed, dtype, lower_bounds, upper_bounds,
            published=published, directions=self.n_vectors,
        )  # fmt: skip
