"""Archives that keep one elite in each cell of measure space."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from .._checks import as_batch, as_single
from ._elites import EliteArchive


def _rates(learning_rate: Any, threshold_min: Any, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    if learning_rate is None:
        if threshold_min != -np.inf:
            raise ValueError("threshold_min was set without learning_rate; it is for CMA-MAE, which needs both")
        learning_rate = 1.0
    if threshold_min == -np.inf and learning_rate != 1.0:
        raise ValueError("threshold_min can only be -np.inf if learning_rate is 1.0")
    return np.asarray(learning_rate, dtype=dtype), np.asarray(threshold_min, dtype=dtype)


class CellArchive(EliteArchive):
    """The best solution of every cell, with the thresholds of CMA-MAE. Subclasses say which cell measures are in."""

    def __init__(
        self,
        *,
        ranges: Collection[tuple[float, float]],
        cells: Any,
        dtypes: tuple[Any, Any, Any],
        learning_rate: Any,
        threshold_min: Any,
        **options: Any,
    ) -> None:
        EliteArchive.__init__(
            self, measure_dim=len(ranges), capacity=cells, dtypes=dtypes,
            own_fields={"threshold": ((), dtypes[1])}, **options,
        )  # fmt: skip
        lower, upper = zip(*ranges, strict=True)
        self._lower_bounds = np.array(lower, dtype=self.dtypes["measures"])
        self._upper_bounds = np.array(upper, dtype=self.dtypes["measures"])
        self._interval_size = self._upper_bounds - self._lower_bounds
        self._learning_rate, self._threshold_min = _rates(learning_rate, threshold_min, self.dtypes["threshold"])
        self._last_row = np.empty(cells, dtype=np.int32)

    @property
    def lower_bounds(self) -> np.ndarray:
        return self._lower_bounds

    @property
    def upper_bounds(self) -> np.ndarray:
        return self._upper_bounds

    @property
    def interval_size(self) -> np.ndarray:
        return self._interval_size

    @property
    def learning_rate(self) -> np.ndarray:
        return self._learning_rate

    @property
    def threshold_min(self) -> np.ndarray:
        return self._threshold_min

    def _best_rows(self, cells: np.ndarray, objective: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Of the rows, the best of each cell (the first of equals), by ascending cell."""
        worst_first = rows[np.argsort(-objective[rows], kind="stable")[::-1]]
        self._last_row[cells[worst_first]] = worst_first
        best = rows[self._last_row[cells[rows]] == rows]
        return best[np.argsort(cells[best])]

    @staticmethod
    def _compute_thresholds(
        indices: np.ndarray, objective: np.ndarray, cur_threshold: np.ndarray, learning_rate: Any, dtype: Any
    ) -> np.ndarray:
        """CMA-MAE's rule for a batch: each cell moves towards the mean objective of what could enter it."""
        if len(indices) == 0:
            return np.empty(0, dtype=dtype)
        _, place, counts = np.unique(indices, return_inverse=True, return_counts=True)
        sums = np.bincount(place, weights=objective)
        kept = np.asarray(1.0 - learning_rate, dtype=dtype) ** counts
        return kept[place] * cur_threshold + (sums / counts)[place] * (1 - kept[place])

    def add(self, solution: Any, objective: Any, measures: Any, **fields: Any) -> dict[str, np.ndarray]:
        """Adds a batch; ``status`` and ``value`` compare each row with the archive as it was before."""
        data = as_batch(self, solution, objective, measures, fields)
        store, objective = self._store, data["objective"]
        cells = self._cells_of(data["measures"])
        occupied = store.occupied[cells]
        plain = self._threshold_min == -np.inf
        threshold = store.field("threshold")[cells]
        threshold[~occupied] = self._threshold_min
        enters = objective > threshold
        if plain:
            threshold[~occupied] = 0.0
        info = {
            "status": np.subtract(2, occupied, dtype=np.int32) * enters,
            "value": objective - threshold,
        }
        rows = np.flatnonzero(enters)
        if len(rows) == 0:
            return info

        store.check_names(data.keys() | {"threshold"})
        if plain:
            new_threshold = objective
        else:
            new_threshold = threshold.copy()
            new_threshold[rows] = self._compute_thresholds(
                cells[rows], objective[rows], threshold[rows], self._learning_rate, self._objective_dtype
            )
        best = self._best_rows(cells, objective, rows)
        where, entering = cells[best], objective[best]
        replaced = store.field("objective")[where]
        replaced[~occupied[best]] = 0.0
        data["threshold"] = new_threshold
        store.put(where, {name: array[best] for name, array in data.items()})
        self._added(self._objective_sum + np.sum(entering - replaced), where[np.argmax(entering)])
        return info

    def add_single(self, solution: Any, objective: Any, measures: Any, **fields: Any) -> dict[str, Any]:
        """Adds one solution."""
        data = as_single(self, solution, objective, measures, fields)
        store, objective = self._store, data["objective"]
        cell = self._cells_of(data["measures"][None])[0]
        occupied = store.occupied[cell]
        if occupied:
            threshold = store.field("threshold")[cell]
            enters = threshold < objective
        else:
            enters = self._threshold_min < objective
            threshold = self._figure(0.0) if self._threshold_min == -np.inf else self._threshold_min
        status = np.int32((1 if occupied else 2) if enters else 0)
        info = {"status": status, "value": objective - threshold}
        if enters:
            data["threshold"] = threshold * (1.0 - self._learning_rate) + objective * self._learning_rate
            replaced = store.field("objective")[cell] if occupied else self._figure(0.0)
            store.put(np.array([cell]), {name: np.expand_dims(value, axis=0) for name, value in data.items()})
            self._added(self._objective_sum + objective - replaced, cell)
        return info
