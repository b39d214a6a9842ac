"""Emitters that change elites at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._pyribs import counterpart
from ._base import MutationEmitter


@counterpart("emitters", "GaussianEmitter")
class GaussianEmitter(MutationEmitter):
    """Adds Gaussian noise to elites."""

    def __init__(
        self,
        archive: Any,
        *,
        sigma: Any,
        x0: Any = None,
        initial_solutions: Any = None,
        bounds: Any = None,
        lower_bounds: Any = None,
        upper_bounds: Any = None,
        batch_size: int = 64,
        seed: Any = None,
    ) -> None:
        MutationEmitter.__init__(
            self, archive, x0=x0, initial_solutions=initial_solutions, batch_size=batch_size, seed=seed,
            bounds=bounds, lower_bounds=lower_bounds, upper_bounds=upper_bounds,
        )  # fmt: skip
        self._sigma = np.asarray(sigma, dtype=archive.dtypes["solution"])

    @property
    def sigma(self) -> np.ndarray:
        return self._sigma

    def ask(self) -> np.ndarray:
        if self.archive.empty and self._initial_solutions is not None:
            return self._clip(self._initial_solutions)
        parents = self._parents(self._batch_size)
        return self._clip(parents + self._noise(self._sigma, self._noise_shape))


@counterpart("emitters", "IsoLineEmitter")
class IsoLineEmitter(MutationEmitter):
    """Adds isotropic noise to elites, and noise along the line to another elite (Iso+LineDD)."""

    def __init__(
        self,
        archive: Any,
        *,
        iso_sigma: float = 0.01,
        line_sigma: float = 0.2,
        x0: Any = None,
        initial_solutions: Any = None,
        bounds: Any = None,
        lower_bounds: Any = None,
        upper_bounds: Any = None,
        batch_size: int = 64,
        seed: Any = None,
    ) -> None:
        MutationEmitter.__init__(
            self, archive, x0=x0, initial_solutions=initial_solutions, batch_size=batch_size, seed=seed,
            bounds=bounds, lower_bounds=lower_bounds, upper_bounds=upper_bounds,
        )  # fmt: skip
        self._iso_sigma = np.asarray(iso_sigma, dtype=archive.dtypes["solution"])
        self._line_sigma = np.asarray(line_sigma, dtype=archive.dtypes["solution"])

    @property
    def iso_sigma(self) -> np.ndarray:
        return self._iso_sigma

    @property
    def line_sigma(self) -> np.ndarray:
        return self._line_sigma

    def ask(self) -> np.ndarray:
        if self.archive.empty and self._initial_solutions is not None:
            return self._clip(self._initial_solutions)
        elites, others = self._parents(2 * self._batch_size).reshape(2, *self._noise_shape)
        isotropic = self._noise(self._iso_sigma, self._noise_shape)
        along = self._noise(self._line_sigma, (self._batch_size, *[1] * (len(self._noise_shape) - 1)))
        return self._clip(elites + isotropic + along * (others - elites))
