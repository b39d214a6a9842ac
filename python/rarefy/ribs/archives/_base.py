"""What all archives share."""

from __future__ import annotations

import dataclasses
from abc import ABC
from collections.abc import Collection, Iterator
from enum import IntEnum
from typing import Any

import numpy as np

from .._pyribs import counterpart, link


class AddStatus(IntEnum):
    """What became of a solution given to add()."""

    NOT_ADDED = 0
    IMPROVE_EXISTING = 1
    NEW = 2


@dataclasses.dataclass
class ArchiveStats:
    """Figures of an archive; those of objectives are None where it is empty."""

    num_elites: Any
    coverage: Any
    qd_score: Any
    norm_qd_score: Any
    obj_max: Any
    obj_mean: Any


def _missing(name: str) -> NotImplementedError:
    return NotImplementedError(f"`{name}` has not been implemented in this archive")


@counterpart("archives", "ArchiveBase")
class ArchiveBase(ABC):
    """An archive. Nothing but the dimensions need be there: the rest raises NotImplementedError."""

    def __init__(self, *, solution_dim: Any, objective_dim: Any, measure_dim: Any) -> None:
        link()
        self._solution_dim = solution_dim
        self._objective_dim = objective_dim
        self._measure_dim = measure_dim

    @property
    def solution_dim(self) -> Any:
        return self._solution_dim

    @property
    def objective_dim(self) -> Any:
        return self._objective_dim

    @property
    def measure_dim(self) -> Any:
        return self._measure_dim

    @property
    def field_list(self) -> list[str]:
        raise _missing("field_list")

    @property
    def dtypes(self) -> dict[str, Any]:
        raise _missing("dtypes")

    @property
    def stats(self) -> ArchiveStats:
        raise _missing("stats")

    @property
    def empty(self) -> bool:
        raise _missing("empty")

    def __len__(self) -> int:
        raise _missing("__len__")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        raise _missing("__iter__")

    def add(self, solution: Any, objective: Any, measures: Any, **fields: Any) -> dict[str, np.ndarray]:
        raise _missing("add")

    def add_single(self, solution: Any, objective: Any, measures: Any, **fields: Any) -> dict[str, Any]:
        raise _missing("add_single")

    def clear(self) -> None:
        raise _missing("clear")

    def retrieve(self, measures: Any) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        raise _missing("retrieve")

    def retrieve_single(self, measures: Any) -> tuple[Any, dict[str, Any]]:
        raise _missing("retrieve_single")

    def data(self, fields: Collection[str] | str | None = None, return_type: str | None = None) -> Any:
        raise _missing("data")

    def sample_elites(self, n: int, replace: bool = True) -> dict[str, np.ndarray]:
        raise _missing("sample_elites")


def dtypes_of(dtype: Any, solution: Any, objective: Any, measures: Any) -> tuple[Any, Any, Any]:
    """The types of solutions, objectives and measures: one for all, or each by itself; float64 where not given."""
    if isinstance(dtype, dict):
        raise ValueError(
            "Passing a dict as `dtype` is deprecated in pyribs 0.9.0. Please pass in solution_dtype, objective_dtype "
            "and measures_dtype instead."
        )
    each = (solution, objective, measures)
    if dtype is not None and any(one is not None for one in each):
        raise ValueError("dtype cannot be used at the same time as solution_dtype, objective_dtype or measures_dtype")
    if dtype is not None:
        return dtype, dtype, dtype
    solution, objective, measures = (np.float64 if one is None else one for one in each)
    return solution, objective, measures


def fill_unoccupied(occupied: np.ndarray, data: dict[str, np.ndarray]) -> None:
    """Marks rows of elites that are not there: NaN, 0 for integers, None for objects, index -1."""
    if occupied.all():
        return
    missing = ~occupied
    for name, array in data.items():
        if array.dtype == object:
            array[missing] = None
        elif name == "index":
            array[missing] = -1
        else:
            array[missing] = 0 if np.issubdtype(array.dtype, np.integer) else np.nan
