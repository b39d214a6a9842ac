"""From whatever a caller has to contiguous arrays of doubles, and back to words where it is none."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]


def as_numpy(given: Any, name: str) -> npt.NDArray[Any]:
    """Arrays of numpy, torch, jax and cupy, and lists of numbers."""
    if isinstance(given, np.ndarray):
        return given
    if hasattr(given, "detach"):  # torch: numbers that are still being differentiated
        given = given.detach()
    if hasattr(given, "device") and hasattr(given, "cpu"):  # torch on another device
        given = given.cpu()
    if hasattr(given, "__cuda_array_interface__") and hasattr(given, "get"):  # cupy
        given = given.get()
    try:
        return np.asarray(given)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{name}: got {_kind_of(given)}, expected numbers ({problem})") from None


def as_doubles(given: Any, name: str) -> Doubles:
    array = as_numpy(given, name)
    if array.dtype == np.float64 and array.flags.c_contiguous:
        return array
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name}: got values of type {array.dtype}, expected numbers")
    return np.ascontiguousarray(array, dtype=np.float64)


def as_rows(given: Any, name: str, columns: int | None = None, rows: int | None = None) -> Doubles:
    """A matrix: one row for each solution."""
    array = as_doubles(given, name)
    if array.ndim != 2 or (columns is not None and array.shape[1] != columns) or (
        rows is not None and array.shape[0] != rows
    ):
        wanted = f"({'rows' if rows is None else rows}, {'columns' if columns is None else columns})"
        raise ValueError(f"{name}: got an array of shape {array.shape}, expected {wanted}")
    return array


def as_values(given: Any, name: str, count: int | None = None) -> Doubles:
    """One number for each solution."""
    array = as_doubles(given, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or (count is not None and array.shape[0] != count):
        wanted = "(rows,)" if count is None else f"({count},)"
        raise ValueError(f"{name}: got an array of shape {array.shape}, expected {wanted}")
    return np.ascontiguousarray(array)


def as_flags(given: Any, name: str, count: int) -> npt.NDArray[np.uint8]:
    array = as_numpy(given, name)
    if array.shape != (count,) or array.dtype.kind not in "biu":
        raise ValueError(
            f"{name}: got an array of shape {array.shape} and type {array.dtype}, "
            f"expected {count} values true or false"
        )
    return np.ascontiguousarray(array != 0).view(np.uint8)


def as_box(given: Any, name: str = "feature_box") -> list[tuple[float, float]]:
    """Pairs (low, high), one for each feature."""
    try:
        array = as_rows(given, name, columns=2)
    except ValueError:
        raise ValueError(
            f"{name}: got {given!r}, expected a pair (low, high) for each feature"
        ) from None
    return [(float(low), float(high)) for low, high in array]


def as_whole(given: Any, name: str) -> int:
    if isinstance(given, (bool, np.bool_)) or not hasattr(given, "__index__"):
        raise ValueError(f"{name}: got {given!r}, expected a whole number")
    value = operator.index(given)
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{name}: got {value}, expected a number of 64 bits")
    return value


def as_seed(given: Any, name: str = "seed") -> int:
    value = as_whole(given, name)
    if value < 0:
        raise ValueError(f"{name}: got {value}, expected at least 0")
    return value


def as_wholes(given: Any, name: str) -> list[int]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(f"{name}: got {given!r}, expected whole numbers, such as [10, 10]")
    return [as_whole(value, name) for value in given]


def as_number(given: Any, name: str) -> float:
    try:
        if isinstance(given, str):
            raise TypeError
        return float(given)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: got {given!r}, expected a number") from None


def as_pair(given: Any, name: str) -> tuple[float | None, float | None]:
    """(low, high), of which either may be None."""
    if given is None:
        return None, None
    try:
        low, high = given
    except (TypeError, ValueError):
        raise ValueError(f"{name}: got {given!r}, expected a pair (low, high)") from None
    low = None if low is None else as_number(low, name)
    high = None if high is None else as_number(high, name)
    if low is not None and high is not None and not low < high:
        raise ValueError(f"{name}: got {given!r}, expected low < high")
    return low, high


def _kind_of(given: Any) -> str:
    return f"a {type(given).__name__}"
