"""What is checked of arrays that come from outside."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def shape_of(dim: Any) -> tuple[int, ...]:
    """A dimension, or a tuple of them, as a tuple."""
    return (int(dim),) if isinstance(dim, numbers.Integral) else tuple(dim)


def check_finite(array: Any, name: str) -> None:
    if not np.isfinite(array).all():
        which = name if np.ndim(array) == 0 else f"All elements of {name}"
        raise ValueError(f"{which} must be finite (infinity and NaN are not supported).")


def check_batch_shape(array: np.ndarray, name: str, dim: Any, dim_name: str, rows: str = "batch_size") -> None:
    shape = shape_of(dim)
    if array.ndim != 1 + len(shape) or array.shape[1:] != shape:
        want = ", ".join([rows, *map(str, shape)])
        raise ValueError(
            f"Expected {name} to be an array with shape ({want}), that is ({rows}, {dim_name}), "
            f"but it had shape {array.shape}."
        )


def check_shape(array: np.ndarray, name: str, dim: Any, dim_name: str) -> None:
    shape = shape_of(dim)
    if array.shape != shape:
        raise ValueError(
            f"Expected {name} to be an array with shape {shape}, that is ({dim_name}), but it had shape {array.shape}."
        )


def check_1d(array: np.ndarray, name: str) -> None:
    if array.ndim != 1:
        raise ValueError(f"Expected {name} to be a 1D array but it had shape {array.shape}.")


def check_rows(array: np.ndarray, name: str, rows: int) -> None:
    if array.ndim == 0 or array.shape[0] != rows:
        raise ValueError(
            f"{name} does not match the batch dimension of solution: it has shape {array.shape}, "
            f"and solution has {rows} rows."
        )


def as_measures(measures: Any, dtype: Any, dim: int) -> np.ndarray:
    """A batch of measures."""
    array = np.asarray(measures, dtype=dtype)
    check_batch_shape(array, "measures", dim, "measure_dim")
    check_finite(array, "measures")
    return array


def as_single_measures(measures: Any, dtype: Any, dim: int) -> np.ndarray:
    """The measures of one solution."""
    array = np.asarray(measures, dtype=dtype)
    check_shape(array, "measures", dim, "measure_dim")
    check_finite(array, "measures")
    return array


def as_batch(
    archive: Any, solution: Any, objective: Any, measures: Any, fields: dict[str, Any], *, objective_needed: bool = True
) -> dict[str, np.ndarray]:
    """The arguments of an archive's add() as arrays of as many rows as there are solutions."""
    dtypes = archive.dtypes
    solution = np.asarray(solution, dtype=dtypes["solution"])
    check_batch_shape(solution, "solution", archive.solution_dim, "solution_dim")
    rows = solution.shape[0]
    data = {"solution": solution, "objective": None}
    if objective is not None:
        objective = np.asarray(objective, dtype=dtypes["objective"])
        check_1d(objective, "objective")
        check_rows(objective, "objective", rows)
        check_finite(objective, "objective")
        data["objective"] = objective
    elif objective_needed:
        raise ValueError("objective cannot be None")
    measures = np.asarray(measures, dtype=dtypes["measures"])
    check_batch_shape(measures, "measures", archive.measure_dim, "measure_dim")
    check_rows(measures, "measures", rows)
    if measures.dtype.kind in "fciu":
        check_finite(measures, "measures")
    data["measures"] = measures
    for name, values in fields.items():
        data[name] = np.asarray(values)
        check_rows(data[name], name, rows)
    return data


def as_add_info(add_info: dict[str, Any], rows: int) -> dict[str, np.ndarray]:
    """What an archive's add() gave, for as many solutions."""
    checked = {}
    for name, values in add_info.items():
        array = np.asarray(values)
        if name in ("status", "value"):
            check_1d(array, name)
        check_rows(array, name, rows)
        if name == "status":
            check_finite(array, name)
        checked[name] = array
    return checked


def as_single(
    archive: Any, solution: Any, objective: Any, measures: Any, fields: dict[str, Any], *, objective_needed: bool = True
) -> dict[str, Any]:
    """The arguments of an archive's add_single()."""
    dtypes = archive.dtypes
    solution = np.asarray(solution, dtype=dtypes["solution"])
    check_shape(solution, "solution", archive.solution_dim, "solution_dim")
    if objective is not None:
        objective = np.asarray(objective, dtype=dtypes["objective"])
        check_finite(objective, "objective")
    elif objective_needed:
        raise ValueError("objective cannot be None")
    measures = np.asarray(measures, dtype=dtypes["measures"])
    check_shape(measures, "measures", archive.measure_dim, "measure_dim")
    if measures.dtype.kind in "fciu":
        check_finite(measures, "measures")
    return {"solution": solution, "objective": objective, "measures": measures, **fields}


def read_only(array: np.ndarray) -> np.ndarray:
    """A view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view
