"""CMA-ES, sep-CMA-ES and LM-MA-ES, after Hansen's tutorial, Ros and Hansen (2008), Loshchilov et al. (2018)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._pyribs import counterpart
from ._base import Strategy, is_flat, weights_of


class _CovarianceStrategy(Strategy):
    """Cumulative step-size adaptation and evolution paths, whatever the form of the covariance."""

    def reset(self, x0: np.ndarray) -> None:
        super().reset(x0)
        self.pc = np.zeros(self.solution_dim)
        self.ps = np.zeros(self.solution_dim)

    def _rates(self, mu_eff: float) -> tuple[float, float, float, float]:
        """cc, cs, c1 and cmu of the full covariance."""
        n = self.solution_dim
        c1 = 2 / ((n + 1.3) ** 2 + mu_eff)
        cmu = min(1 - c1, 2 * (mu_eff - 2 + 1 / mu_eff) / ((n + 2) ** 2 + mu_eff))
        return (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n), (mu_eff + 2) / (n + mu_eff + 5), c1, cmu

    def _whitened(self, step: np.ndarray) -> np.ndarray:
        """The step times the inverse square root of the covariance."""
        raise NotImplementedError

    def _learn(self, decay: float, c1: float, cmu: float, steps: np.ndarray, weights: np.ndarray) -> None:
        """The covariance times decay, plus c1 of the path's and cmu of the steps' own."""
        raise NotImplementedError

    def _update(self, best: np.ndarray) -> None:
        n = self.solution_dim
        weights, mu_eff = weights_of(len(best))
        cc, cs, c1, cmu = self._rates(mu_eff)
        damping = 1 + 2 * max(0.0, np.sqrt((mu_eff - 1) / (n + 1)) - 1) + cs
        steps = (self._solutions[best].astype(np.float64) - self.mean) / self.sigma
        step = weights @ steps
        self.mean = self.mean + self.sigma * step
        self.ps = (1 - cs) * self.ps + np.sqrt(cs * (2 - cs) * mu_eff) * self._whitened(step)
        length = self.ps @ self.ps / n
        generations = self.current_eval / self.batch_size
        short = length / (1 - (1 - cs) ** (2 * generations)) < 2 + 4 / (n + 1)
        self.pc = (1 - cc) * self.pc + short * np.sqrt(cc * (2 - cc) * mu_eff) * step
        lost = 0.0 if short else c1 * cc * (2 - cc)
        self._learn(1 - c1 - cmu + lost, c1, cmu, steps, weights)
        self.sigma *= np.exp(min(1.0, cs / damping * (length - 1) / 2))


@counterpart("emitters.opt", "CMAEvolutionStrategy")
class CMAEvolutionStrategy(_CovarianceStrategy):
    """CMA-ES."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        *_, c1, cmu = self._rates(weights_of(max(1, self.batch_size // 2))[1])
        self.lazy_gap_evals = 0.5 * self.batch_size / (c1 + cmu) / self.solution_dim

    def reset(self, x0: np.ndarray) -> None:
        super().reset(x0)
        self.cov = np.eye(self.solution_dim)
        self._axes = np.ones(self.solution_dim)
        self._basis = np.eye(self.solution_dim)
        self._decomposed_at = 0

    def _decompose(self) -> None:
        if self.current_eval <= self._decomposed_at + self.lazy_gap_evals:
            return
        values, self._basis = np.linalg.eigh((self.cov + self.cov.T) / 2)
        self._axes = np.sqrt(np.maximum(values, 1e-300))
        self._decomposed_at = self.current_eval

    def check_stop(self, ranking_values: np.ndarray) -> bool:
        longest = self._axes.max()
        if longest / self._axes.min() > 1e7 or self.sigma * longest < 1e-11:
            return True
        return is_flat(ranking_values)

    def ask(self, batch_size: int | None = None) -> np.ndarray:
        self._decompose()
        return super().ask(batch_size)

    def _from_normals(self, normals: np.ndarray) -> np.ndarray:
        return (normals * self._axes) @ self._basis.T

    def _whitened(self, step: np.ndarray) -> np.ndarray:
        return self._basis @ ((self._basis.T @ step) / self._axes)

    def _learn(self, decay: float, c1: float, cmu: float, steps: np.ndarray, weights: np.ndarray) -> None:
        self.cov *= decay
        self.cov += c1 * np.outer(self.pc, self.pc)
        self.cov += (cmu * weights * steps.T) @ steps


@counterpart("emitters.opt", "SeparableCMAEvolutionStrategy")
class SeparableCMAEvolutionStrategy(_CovarianceStrategy):
    """sep-CMA-ES: the covariance is diagonal."""

    def reset(self, x0: np.ndarray) -> None:
        super().reset(x0)
        self.cov = np.ones(self.solution_dim)

    def _rates(self, mu_eff: float) -> tuple[float, float, float, float]:
        cc, cs, c1, cmu = super()._rates(mu_eff)
        faster = (self.solution_dim + 2) / 3
        c1 = min(1.0, c1 * faster)
        return cc, cs, c1, min(1 - c1, cmu * faster)

    def check_stop(self, ranking_values: np.ndarray) -> bool:
        longest = self.cov.max()
        if longest / self.cov.min() > 1e14 or self.sigma * np.sqrt(longest) < 1e-11:
            return True
        return is_flat(ranking_values)

    def _from_normals(self, normals: np.ndarray) -> np.ndarray:
        return normals * np.sqrt(self.cov)

    def _whitened(self, step: np.ndarray) -> np.ndarray:
        return step / np.sqrt(self.cov)

    def _learn(self, decay: float, c1: float, cmu: float, steps: np.ndarray, weights: np.ndarray) -> None:
        self.cov = np.maximum(decay * self.cov + c1 * self.pc**2 + cmu * (weights @ steps**2), 1e-300)


@counterpart("emitters.opt", "LMMAEvolutionStrategy")
class LMMAEvolutionStrategy(Strategy):
    """LM-MA-ES: the covariance is made of a few directions."""

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
    ) -> None:
        super().__init__(sigma0, solution_dim, batch_size, seed, dtype, lower_bounds, upper_bounds)
        if self.batch_size > solution_dim:
            raise ValueError(f"batch_size ({self.batch_size}) is greater than solution_dim ({solution_dim})")
        self.n_vectors = self.batch_size if n_vectors is None else n_vectors
        powers = np.arange(self.n_vectors)
        # The rates are meant for a dimension much larger than the batch; none may pass 1.
        self.csigma = min(1.0, 2 * self.batch_size / solution_dim)
        self.cd = 1 / (1.5**powers * solution_dim)
        self.cc = self.batch_size / (4.0**powers * solution_dim)
        # Directions that are learnt more slowly than this change a step by less than a millionth.
        self._directions = int(np.count_nonzero(self.cc > 1e-8))

    def reset(self, x0: np.ndarray) -> None:
        super().reset(x0)
        self.ps = np.zeros(self.solution_dim)
        self.m = np.zeros((self.n_vectors, self.solution_dim))
        self.current_gens = 0

    def check_stop(self, ranking_values: np.ndarray) -> bool:
        return self.sigma < 1e-12 or is_flat(ranking_values)

    def _from_normals(self, normals: np.ndarray) -> np.ndarray:
        rates = self.cd[: self.current_gens]
        steps = normals.copy()
        for rate, direction in zip(rates[: self._directions], self.m, strict=False):
            along = steps @ direction
            steps *= 1 - rate
            steps += (rate * along)[:, None] * direction
        steps *= np.prod(1 - rates[self._directions :])
        return steps

    def tell(self, ranking_indices: np.ndarray, ranking_values: np.ndarray, num_parents: int) -> None:
        super().tell(ranking_indices, ranking_values, num_parents)
        self.current_gens += 1

    def _update(self, best: np.ndarray) -> None:
        weights, mu_eff = weights_of(len(best))
        normal = weights @ self._normals[best]
        self.mean = weights @ self._solutions[best].astype(np.float64)
        rate = self.csigma
        self.ps = (1 - rate) * self.ps + np.sqrt(mu_eff * rate * (2 - rate)) * normal
        rates = self.cc[:, None]
        self.m = (1 - rates) * self.m + np.sqrt(mu_eff * rates * (2 - rates)) * normal
        self.sigma *= np.exp(min(1.0, float(rate / 2 * (self.ps @ self.ps / self.solution_dim - 1))))
