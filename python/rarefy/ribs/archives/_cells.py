"""Archives that keep one elite in each cell of measure space."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from .._checks import as_batch, as_measures, as_single, as_single_measures
from ._base import ArchiveBase, ArchiveStats, dtypes_of, fill_unoccupied
from ._store import Store

_RESERVED = {"solution", "objective", "measures", "threshold", "index"}


def _rates(learning_rate: Any, threshold_min: Any, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    if learning_rate is None:
        if threshold_min != -np.inf:
            raise ValueError("threshold_min was set without learning_rate; it is for CMA-MAE, which needs both")
        learning_rate = 1.0
    if threshold_min == -np.inf and learning_rate != 1.0:
        raise ValueError("threshold_min can only be -np.inf if learning_rate is 1.0")
    return np.asarray(learning_rate, dtype=dtype), np.asarray(threshold_min, dtype=dtype)


class CellArchive(ArchiveBase):
    """The best solution of every cell, with the thresholds of CMA-MAE. Subclasses say which cell measures are in."""

    def __init__(
        self,
        *,
        solution_dim: Any,
        ranges: Collection[tuple[float, float]],
        cells: int,
        learning_rate: Any,
        threshold_min: Any,
        qd_score_offset: Any,
        seed: Any,
        dtypes: tuple[Any, Any, Any],
        extra_fields: dict[str, tuple[Any, Any]] | None,
    ) -> None:
        ArchiveBase.__init__(self, solution_dim=solution_dim, objective_dim=(), measure_dim=len(ranges))
        extra_fields = extra_fields or {}
        if _RESERVED & extra_fields.keys():
            raise ValueError(f"The following names are not allowed in extra_fields: {sorted(_RESERVED)}")
        solution_dtype, objective_dtype, measures_dtype = dtypes
        self._rng = np.random.default_rng(seed)
        self._store = Store(
            {
                "solution": (solution_dim, solution_dtype),
                "objective": ((), objective_dtype),
                "measures": (len(ranges), measures_dtype),
                "threshold": ((), objective_dtype),
                **extra_fields,
            },
            cells,
        )
        self._objective_dtype = self.dtypes["objective"]
        lower, upper = zip(*ranges, strict=True)
        self._lower_bounds = np.array(lower, dtype=self.dtypes["measures"])
        self._upper_bounds = np.array(upper, dtype=self.dtypes["measures"])
        self._interval_size = self._upper_bounds - self._lower_bounds
        self._learning_rate, self._threshold_min = _rates(learning_rate, threshold_min, self.dtypes["threshold"])
        self._qd_score_offset = np.asarray(qd_score_offset, dtype=self._objective_dtype)
        self._last_row = np.empty(cells, dtype=np.int32)
        self._forget_stats()

    @property
    def field_list(self) -> list[str]:
        return self._store.field_list_with_index

    @property
    def dtypes(self) -> dict[str, Any]:
        return self._store.dtypes_with_index

    @property
    def empty(self) -> bool:
        return len(self._store) == 0

    @property
    def best_elite(self) -> dict[str, Any] | None:
        """The elite with the highest objective ever added, as it was then; None where there is none."""
        return self._best_elite

    @property
    def cells(self) -> int:
        return self._store.capacity

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

    @property
    def qd_score_offset(self) -> np.ndarray:
        return self._qd_score_offset

    def __len__(self) -> int:
        return len(self._store)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._store)

    # Figures

    def _forget_stats(self) -> None:
        self._best_elite = None
        self._objective_sum = self._figure(0.0)
        self._stats: ArchiveStats | None = None

    def _figure(self, value: Any) -> np.ndarray:
        return np.asarray(value, dtype=self._objective_dtype)

    @property
    def stats(self) -> ArchiveStats:
        if self._stats is None:
            elites, best = len(self), self._best_elite
            score = self._figure(0.0)
            if best is not None:
                score = self._objective_sum - self._figure(elites) * self._qd_score_offset
            self._stats = ArchiveStats(
                num_elites=elites,
                coverage=self._figure(elites / self.cells),
                qd_score=score,
                norm_qd_score=self._figure(score / self.cells),
                obj_max=None if best is None else best["objective"],
                obj_mean=None if best is None else self._figure(self._objective_sum / elites),
            )
        return self._stats

    def _added(self, objective_sum: Any, best_cell: int) -> None:
        self._objective_sum = objective_sum
        self._stats = None
        objective = self._store.field("objective")[best_cell]
        if self._best_elite is None or objective > self._best_elite["objective"]:
            self._best_elite = {name: rows[0] for name, rows in self._store.entries(np.array([best_cell])).items()}

    # Cells

    @abstractmethod
    def _cells_of(self, measures: np.ndarray) -> np.ndarray:
        """The cells, int32, of measures that have been checked."""

    def index_of(self, measures: Any) -> np.ndarray:
        """The cell of each row of measures."""
        return self._cells_of(as_measures(measures, self.dtypes["measures"], self.measure_dim))

    def index_of_single(self, measures: Any) -> np.int32:
        return self._cells_of(as_single_measures(measures, self.dtypes["measures"], self.measure_dim)[None])[0]

    # Writing

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
        sums = np.zeros(len(counts), dtype=objective.dtype)
        np.add.at(sums, place, objective)
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

    def clear(self) -> None:
        self._store.clear()
        self._forget_stats()

    # Reading

    def retrieve(self, measures: Any) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Whether there is an elite in the cell of each row of measures, and the elites."""
        cells = self.index_of(measures)
        occupied, data = self._store.occupied[cells], self._store.entries(cells)
        fill_unoccupied(occupied, data)
        return occupied, data

    def retrieve_single(self, measures: Any) -> tuple[Any, dict[str, Any]]:
        measures = as_single_measures(measures, self.dtypes["measures"], self.measure_dim)
        occupied, data = self.retrieve(measures[None])
        return occupied[0], {name: array[0] for name, array in data.items()}

    def data(self, fields: Collection[str] | str | None = None, return_type: str | None = None) -> Any:
        """Copies of the elites' fields: a dict, an array for one name, a "tuple" or a "pandas" data frame."""
        return self._store.data(fields, return_type)

    def sample_elites(self, n: int, replace: bool = True) -> dict[str, np.ndarray]:
        """Elites drawn at random, each as likely as the others."""
        if self.empty:
            raise IndexError("No elements in archive.")
        if not replace and n > len(self):
            raise ValueError("Cannot take a larger sample than there are elites in the archive when replace=False")
        return self._store.entries(self._store.occupied_list[self._rng.choice(len(self), size=n, replace=replace)])


__all__ = ["CellArchive", "dtypes_of"]
