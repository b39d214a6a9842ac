"""The emitter that samples from an evolution strategy."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from .._checks import as_add_info, as_batch, check_shape
from .._pyribs import counterpart
from ._base import EmitterBase
from .opt import make_strategy
from .rankers import make_ranker


def _are_plain(add_info: dict[str, Any], rows: int) -> bool:
    """Whether all are flat arrays of so many rows, and the status is of integers."""
    shape = (rows,)
    return all(type(values) is np.ndarray and values.shape == shape for values in add_info.values()) and (
        "status" in add_info and add_info["status"].dtype.kind in "iu"
    )


@counterpart("emitters", "EvolutionStrategyEmitter")
class EvolutionStrategyEmitter(EmitterBase):
    """Adapts a Gaussian distribution to what the ranker puts first; see pyribs' EvolutionStrategyEmitter."""

    def __init__(
        self,
        archive: Any,
        *,
        x0: Any,
        sigma0: float,
        ranker: Any = "2imp",
        es: Any = "cma_es",
        es_kwargs: dict[str, Any] | None = None,
        selection_rule: str = "filter",
        restart_rule: str | int = "no_improvement",
        bounds: Any = None,
        lower_bounds: Any = None,
        upper_bounds: Any = None,
        batch_size: int | None = None,
        seed: Any = None,
    ) -> None:
        EmitterBase.__init__(
            self, archive, solution_dim=archive.solution_dim,
            bounds=bounds, lower_bounds=lower_bounds, upper_bounds=upper_bounds,
        )  # fmt: skip
        if not isinstance(seed, np.random.SeedSequence):
            seed = np.random.SeedSequence(seed)
        strategy_seed, ranker_seed = seed.spawn(2)
        self._x0 = np.array(x0, dtype=archive.dtypes["solution"])
        check_shape(self._x0, "x0", archive.solution_dim, "archive.solution_dim")
        self._sigma0 = sigma0
        if selection_rule not in ("mu", "filter"):
            raise ValueError(f"Invalid selection_rule {selection_rule}")
        self._restart_every: int | None = None
        if isinstance(restart_rule, numbers.Integral):
            if restart_rule < 1:
                raise ValueError(f"Invalid restart_rule {restart_rule}: at least 1 iteration")
            self._restart_every = int(restart_rule)
        elif restart_rule not in ("no_improvement", "basic"):
            raise ValueError(f"Invalid restart_rule {restart_rule}")
        self._selection_rule = selection_rule
        self._restart_rule = restart_rule
        self._restarts = 0
        self._itrs = 0
        self._opt = make_strategy(
            es, sigma0=sigma0, solution_dim=self._solution_dim, batch_size=batch_size, seed=strategy_seed,
            dtype=archive.dtypes["solution"], lower_bounds=self._lower_bounds, upper_bounds=self._upper_bounds,
            **(es_kwargs or {}),
        )  # fmt: skip
        self._opt.reset(self._x0)
        self._ranker = make_ranker(ranker, ranker_seed)
        self._ranker.reset(self, archive)
        self._batch_size = self._opt.batch_size

    @property
    def x0(self) -> np.ndarray:
        return self._x0

    @property
    def batch_size(self) -> int:
        return self._batch_size

    @property
    def restarts(self) -> int:
        return self._restarts

    @property
    def itrs(self) -> int:
        """How often tell() was called."""
        return self._itrs

    def ask(self) -> np.ndarray:
        return self._opt.ask()

    def _must_restart(self, added: int) -> bool:
        if self._restart_every is not None:
            return self._itrs % self._restart_every == 0
        return self._restart_rule == "no_improvement" and added == 0

    def _plain(self, solution: Any, objective: Any, measures: Any, fields: dict[str, Any]) -> dict[str, Any] | None:
        """The arguments of tell() where a glance says that they need no conversion; None where it does not."""
        archive = self._archive
        if (
            fields
            or not (type(solution) is type(objective) is type(measures) is np.ndarray)
            or objective.ndim != 1
            or solution.shape != (len(objective), self._solution_dim)
            or measures.shape != (len(objective), archive.measure_dim)
        ):
            return None
        dtypes = archive.dtypes
        if (
            solution.dtype != dtypes["solution"]
            or objective.dtype != dtypes["objective"]
            or measures.dtype != dtypes["measures"]
            # One number that is not finite makes the sum so. (So may an overflow: as_batch() looks closely.)
            or not math.isfinite(np.add.reduce(objective) + np.add.reduce(measures, axis=None))
        ):
            return None
        return {"solution": solution, "objective": objective, "measures": measures}

    def tell(self, solution: Any, objective: Any, measures: Any, add_info: dict[str, Any], **fields: Any) -> None:
        data = self._plain(solution, objective, measures, fields)
        if data is None:
            data = as_batch(self.archive, solution, objective, measures, fields, objective_needed=False)
        if not _are_plain(add_info, len(data["solution"])):
            add_info = as_add_info(add_info, len(data["solution"]))
        self._itrs += 1
        added = int(np.count_nonzero(add_info["status"]))
        indices, values = self._ranker.rank(self, self.archive, data, add_info)
        parents = added if self._selection_rule == "filter" else self._batch_size // 2
        self._opt.tell(indices, values, parents)
        if self._opt.check_stop(values[indices]) or self._must_restart(added):
            self._opt.reset(self.archive.sample_elites(1)["solution"][0])
            self._ranker.reset(self, self.archive)
            self._restarts += 1
