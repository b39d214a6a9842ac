"""Archives that keep elites."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from .._checks import as_measures, as_single_measures
from ._base import ArchiveBase, ArchiveStats, fill_unoccupied
from ._store import Store


class EliteArchive(ArchiveBase):
    """Elites in a store, and figures of their objectives. Subclasses say where in the store measures belong."""

    def __init__(
        self,
        *,
        solution_dim: Any,
        measure_dim: int,
        capacity: Any,
        qd_score_offset: Any,
        seed: Any,
        dtypes: tuple[Any, Any, Any],
        own_fields: dict[str, tuple[Any, Any]],
        extra_fields: dict[str, tuple[Any, Any]] | None,
    ) -> None:
        ArchiveBase.__init__(self, solution_dim=solution_dim, objective_dim=(), measure_dim=measure_dim)
        solution_dtype, objective_dtype, measures_dtype = dtypes
        fields = {
            "solution": (solution_dim, solution_dtype),
            "objective": ((), objective_dtype),
            "measures": (measure_dim, measures_dtype),
            **own_fields,
        }
        extra_fields = extra_fields or {}
        if {*fields, "index"} & extra_fields.keys():
            raise ValueError(f"The following names are not allowed in extra_fields: {sorted([*fields, 'index'])}")
        self._rng = np.random.default_rng(seed)
        self._store = Store(fields | extra_fields, capacity)
        self._objective_dtype = self.dtypes["objective"]
        self._qd_score_offset = np.asarray(qd_score_offset, dtype=self._objective_dtype)
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
    def qd_score_offset(self) -> np.ndarray:
        return self._qd_score_offset

    def __len__(self) -> int:
        return len(self._store)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._store)

    # Figures

    def _forget_stats(self) -> None:
        self._best_elite: dict[str, Any] | None = None
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
                coverage=self._figure(elites / max(1, self.cells)),
                qd_score=score,
                norm_qd_score=self._figure(score / max(1, self.cells)),
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

    # Places

    @abstractmethod
    def _cells_of(self, measures: np.ndarray) -> np.ndarray:
        """Where, as int32, measures belong that have been checked."""

    def index_of(self, measures: Any) -> np.ndarray:
        """Where in the archive each row of measures belongs."""
        return self._cells_of(as_measures(measures, self.dtypes["measures"], self.measure_dim))

    def index_of_single(self, measures: Any) -> np.int32:
        return self._cells_of(as_single_measures(measures, self.dtypes["measures"], self.measure_dim)[None])[0]

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
            raise ValueError("Cannot take a larger sample than the number of elites in the archive when replace=False")
        return self._store.entries(self._store.occupied_list[self._rng.choice(len(self), size=n, replace=replace)])
