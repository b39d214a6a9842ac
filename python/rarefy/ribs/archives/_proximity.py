"""An archive that keeps what is novel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core import _Neighbours
from .._checks import as_batch, as_single
from .._pyribs import counterpart
from ._base import dtypes_of
from ._elites import EliteArchive


@counterpart("archives", "ProximityArchive")
class ProximityArchive(EliteArchive):
    """Keeps solutions whose measures are far from their nearest neighbours; see pyribs' ProximityArchive."""

    def __init__(
        self,
        *,
        solution_dim: Any,
        measure_dim: int,
        k_neighbors: int,
        novelty_threshold: float,
        local_competition: bool = False,
        initial_capacity: int = 128,
        qd_score_offset: float = 0.0,
        threshold_decay_rate: float | None = None,
        threshold_decay_itrs: int = 1,
        threshold_decay_min: float = 0.0,
        seed: Any = None,
        solution_dtype: Any = None,
        objective_dtype: Any = None,
        measures_dtype: Any = None,
        dtype: Any = None,
        extra_fields: dict[str, tuple[Any, Any]] | None = None,
        kdtree_kwargs: dict[str, Any] | None = None,
        ckdtree_kwargs: None = None,
    ) -> None:
        if ckdtree_kwargs is not None:
            raise ValueError("`ckdtree_kwargs` is deprecated in pyribs 0.9.0. Please pass in kdtree_kwargs instead.")
        if initial_capacity < 1:
            raise ValueError("initial_capacity must be at least 1.")
        EliteArchive.__init__(
            self,
            solution_dim=solution_dim,
            measure_dim=measure_dim,
            capacity=initial_capacity,
            qd_score_offset=qd_score_offset,
            seed=seed,
            dtypes=dtypes_of(dtype, solution_dtype, objective_dtype, measures_dtype),
            own_fields={},
            extra_fields=extra_fields,
        )
        if threshold_decay_rate is not None:
            if not 0.0 < threshold_decay_rate <= 1.0:
                raise ValueError(
                    f"threshold_decay_rate must be above 0 and at most 1, but it was {threshold_decay_rate}"
                )
            if threshold_decay_itrs <= 0:
                raise ValueError(f"threshold_decay_itrs must be at least 1, but it was {threshold_decay_itrs}")
            if threshold_decay_min < 0.0:
                raise ValueError(f"threshold_decay_min must not be negative, but it was {threshold_decay_min}")
        self._k_neighbors = int(k_neighbors)
        self._novelty_threshold = np.asarray(novelty_threshold, dtype=self.dtypes["measures"])
        self._local_competition = local_competition
        self._decay = (threshold_decay_rate, threshold_decay_itrs, threshold_decay_min)
        self._itrs_without_novel = 0
        self._kdtree_kwargs = dict(kdtree_kwargs or {})
        self._tree: Any = None
        self._neighbours = _Neighbours(measure_dim)  # of the solutions that are in it

    @property
    def k_neighbors(self) -> int:
        return self._k_neighbors

    @property
    def novelty_threshold(self) -> np.ndarray:
        return self._novelty_threshold

    @property
    def local_competition(self) -> bool:
        return self._local_competition

    @property
    def capacity(self) -> int:
        """How many solutions there is room for; it doubles when needed."""
        return self._store.capacity

    @property
    def cells(self) -> int:
        """How many solutions there are: there are no cells."""
        return len(self)

    def clear(self) -> None:
        super().clear()
        self._tree = None
        self._neighbours.clear()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_tree": None, "_neighbours": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._neighbours = _Neighbours(self.measure_dim)

    # Neighbours

    def _neighbors(self, measures: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Distances to the k nearest, the nearest first, and their numbers."""
        if self._kdtree_kwargs:
            return self._by_tree(measures, k)
        known = len(self._neighbours)
        if known < len(self):
            fresh = self._store.field("measures")[known : len(self)]
            self._neighbours.add(np.ascontiguousarray(fresh, dtype=np.float64))
        return self._neighbours.find(np.ascontiguousarray(measures, dtype=np.float64), k)

    def _by_tree(self, measures: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """With a tree as the options say, which may be of another geometry (boxsize)."""
        if self._tree is None:
            from scipy.spatial import KDTree

            self._tree = KDTree(self._store.data("measures"), **self._kdtree_kwargs)
        # A list of k, so that there is a column for k = 1, too.
        return self._tree.query(measures, k=range(1, k + 1))

    def _cells_of(self, measures: np.ndarray) -> np.ndarray:
        if self.empty:
            raise RuntimeError("There are no solutions in the archive, and so none nearest to the measures.")
        if len(measures) == 0:
            return np.empty(0, dtype=np.int32)
        return self._neighbors(measures, 1)[1][:, 0].astype(np.int32)

    def compute_novelty(self, measures: Any, local_competition: Any = None) -> Any:
        """Mean distances to the nearest neighbours; with objectives, also how many neighbours have lower ones."""
        measures = np.asarray(measures)
        if self.empty or len(measures) == 0:
            novelty = np.full(len(measures), self._novelty_threshold, dtype=self.dtypes["measures"])
            return novelty if local_competition is None else (novelty, np.zeros(len(measures), dtype=np.int32))
        distances, neighbors = self._neighbors(measures, min(len(self), self._k_neighbors))
        novelty = np.mean(distances, axis=1)
        if local_competition is None:
            return novelty
        lower = self._store.field("objective")[neighbors] < np.asarray(local_competition)[:, None]
        return novelty, np.sum(lower, axis=1, dtype=np.int32)

    # Writing

    def _make_room(self, size: int) -> None:
        capacity = self.capacity
        while capacity < size:
            capacity *= 2
        if capacity > self.capacity:
            self._store.resize(capacity)

    def _decay_threshold(self, novel: int) -> None:
        rate, patience, least = self._decay
        if rate is None:
            return
        self._itrs_without_novel = 0 if novel else self._itrs_without_novel + 1
        if self._itrs_without_novel >= patience:
            lower = max(least, self._novelty_threshold * rate)
            self._novelty_threshold = np.asarray(lower, dtype=self.dtypes["measures"])
            self._itrs_without_novel = 0

    def _replacements(self, objective: np.ndarray, rows: np.ndarray, nearest: np.ndarray) -> tuple[Any, Any]:
        """Of rows that are better than their nearest neighbour, the best for each neighbour (the first of equals)."""
        order = np.lexsort((-objective[rows], nearest))
        first = np.ones(len(order), dtype=bool)
        first[1:] = nearest[order][1:] != nearest[order][:-1]
        return nearest[order][first], rows[order][first]

    def add(self, solution: Any, objective: Any, measures: Any, **fields: Any) -> dict[str, np.ndarray]:
        """Adds what is novel enough; with local competition, the better replace their nearest neighbours."""
        if objective is None:
            if self._local_competition:
                raise ValueError("If local competition is turned on, objective must be passed in to add().")
            objective = np.zeros(len(solution), dtype=self._objective_dtype)
        data = as_batch(self, solution, objective, measures, fields)
        objective = data["objective"]
        status = np.zeros(len(objective), dtype=np.int32)
        if self._local_competition:
            novelty, competition = self.compute_novelty(data["measures"], objective)
        else:
            novelty = self.compute_novelty(data["measures"])
        novel = novelty >= self._novelty_threshold
        status[novel] = 2
        info = {"status": status, "novelty": novelty}
        where = replaced = np.empty(0, dtype=np.int32)
        rows = np.empty(0, dtype=np.int64)
        if self._local_competition:
            info["local_competition"] = competition
            info["value"] = objective.copy()
            others = np.flatnonzero(~novel)
            if len(others):
                nearest = self._cells_of(data["measures"][others])
                info["value"][others] -= self._store.field("objective")[nearest]
                better = info["value"][others] > 0
                status[others[better]] = 1
                where, rows = self._replacements(objective, others[better], nearest[better])
            replaced = self._store.field("objective")[where]

        fresh = np.flatnonzero(novel)
        if len(fresh) or len(rows):
            self._store.check_names(data.keys())
            self._make_room(len(self) + len(fresh))
            places = np.concatenate((where, np.arange(len(self), len(self) + len(fresh))))
            entering = np.concatenate((rows, fresh))
            self._store.put(places, {name: array[entering] for name, array in data.items()})
            self._tree = None
            if len(rows):  # others stand in known places
                self._neighbours.clear()
            total = self._objective_sum + np.sum(objective[fresh])
            if self._local_competition:
                total = total + np.sum(objective[rows] - replaced)
            self._added(total, places[np.argmax(objective[entering])])
        self._decay_threshold(len(fresh))
        return info

    def add_single(self, solution: Any, objective: Any, measures: Any, **fields: Any) -> dict[str, Any]:
        """Adds one solution; what comes back has one row."""
        if objective is None:
            if self._local_competition:
                raise ValueError("If local competition is turned on, objective must be passed in to add_single().")
            objective = 0.0
        data = as_single(self, solution, objective, measures, fields)
        return self.add(**{name: [value] for name, value in data.items()})
