"""An archive whose cells are equal boxes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from .._checks import check_1d, check_batch_shape
from .._pyribs import counterpart
from ._base import dtypes_of
from ._cells import CellArchive
from ._store import Store


@counterpart("archives", "GridArchive")
class GridArchive(CellArchive):
    """Divides each dimension of measure space into cells of equal size; see pyribs' GridArchive."""

    def __init__(
        self,
        *,
        solution_dim: Any,
        dims: Collection[int],
        ranges: Collection[tuple[float, float]],
        learning_rate: float | None = None,
        threshold_min: float = -np.inf,
        epsilon: float = 1e-6,
        qd_score_offset: float = 0.0,
        seed: Any = None,
        solution_dtype: Any = None,
        objective_dtype: Any = None,
        measures_dtype: Any = None,
        dtype: Any = None,
        extra_fields: dict[str, tuple[Any, Any]] | None = None,
    ) -> None:
        if len(dims) != len(ranges):
            raise ValueError(f"dims (length {len(dims)}) and ranges (length {len(ranges)}) must be the same length")
        self._set_dims(dims)
        CellArchive.__init__(
            self,
            solution_dim=solution_dim,
            ranges=ranges,
            cells=np.prod(self._dims),
            learning_rate=learning_rate,
            threshold_min=threshold_min,
            qd_score_offset=qd_score_offset,
            seed=seed,
            dtypes=dtypes_of(dtype, solution_dtype, objective_dtype, measures_dtype),
            extra_fields=extra_fields,
        )
        self._epsilon = np.asarray(epsilon, dtype=self.dtypes["measures"])
        self._set_boundaries()

    def _set_dims(self, dims: Collection[int]) -> None:
        self._dims = np.array(dims, dtype=np.int32)
        self._last = self._dims - 1
        # How far apart neighbours along each dimension are in the flat numbering.
        self._strides = np.append(np.cumprod(self._dims[:0:-1], dtype=np.int64)[::-1], 1)

    def _set_boundaries(self) -> None:
        self._boundaries = [
            np.linspace(low, high, count + 1)
            for low, high, count in zip(self._lower_bounds, self._upper_bounds, self._dims, strict=True)
        ]

    @property
    def dims(self) -> np.ndarray:
        return self._dims

    @property
    def boundaries(self) -> list[np.ndarray]:
        """For each dimension, where its cells begin, and where the last ends."""
        return self._boundaries

    @property
    def epsilon(self) -> np.ndarray:
        return self._epsilon

    def _cells_of(self, measures: np.ndarray) -> np.ndarray:
        # Like pyribs: the smallest float that is a little below a boundary counts as on it.
        place = ((self._dims * (measures - self._lower_bounds) + self._epsilon) / self._interval_size).astype(np.int32)
        np.clip(place, 0, self._last, out=place)
        return (place @ self._strides).astype(np.int32)

    def grid_to_int_index(self, grid_indices: Any) -> np.ndarray:
        """Flat numbers of cells given by their place along each dimension."""
        grid_indices = np.asarray(grid_indices)
        check_batch_shape(grid_indices, "grid_indices", self.measure_dim, "measure_dim")
        return np.ravel_multi_index(grid_indices.T, self._dims).astype(np.int32)

    def int_to_grid_index(self, int_indices: Any) -> np.ndarray:
        """The places along each dimension of cells given by their flat numbers."""
        int_indices = np.asarray(int_indices)
        check_1d(int_indices, "int_indices")
        return np.asarray(np.unravel_index(int_indices, self._dims), dtype=np.int32).T

    def retessellate(self, new_dims: Collection[int]) -> None:
        """Changes the number of cells, and adds the elites again."""
        if not np.isclose(self._learning_rate, 1):
            raise ValueError("Cannot retessellate an archive with a learning rate other than 1.")
        if len(new_dims) != self.measure_dim:
            raise ValueError(f"new_dims has {len(new_dims)} dimensions, and the measure space {self.measure_dim}.")
        elites = self.data()
        del elites["index"], elites["threshold"]
        self._set_dims(new_dims)
        self._set_boundaries()
        self._store = Store(self._store.field_desc, np.prod(self._dims))
        self._last_row = np.empty(self._store.capacity, dtype=np.int32)
        self._forget_stats()
        self.add(**elites)
