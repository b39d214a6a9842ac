"""Arrays that share their first index, some entries of which are in use."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from .._checks import read_only, shape_of


class Store:
    """Fields of ``capacity`` entries each. Entries are numbered; those in use are listed in order of arrival."""

    def __init__(self, fields: dict[str, tuple[Any, Any]], capacity: Any) -> None:
        self._fields: dict[str, np.ndarray] = {}
        for name, (shape, dtype) in fields.items():
            if name == "index" or not name.isidentifier():
                raise ValueError(f"`{name}` cannot be the name of a field: it must be an identifier other than index")
            self._fields[name] = np.empty((capacity, *shape_of(shape)), dtype=dtype)
        self._capacity = capacity
        self._occupied = np.zeros(capacity, dtype=bool)
        self._listed = np.empty(capacity, dtype=np.int32)
        self._size = 0
        self._changes = 0
        self.dtypes_with_index = {name: array.dtype for name, array in self._fields.items()} | {"index": np.int32}
        self.field_list_with_index = [*self._fields, "index"]

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self._entries(self._changes)

    def _entries(self, changes: int) -> Iterator[dict[str, Any]]:
        position = 0
        while True:
            if changes != self._changes:
                raise RuntimeError("The archive was modified with add() or clear() during iteration.")
            if position >= self._size:
                return
            entry = self._listed[position]
            yield {"index": entry} | {name: array[entry] for name, array in self._fields.items()}
            position += 1

    @property
    def capacity(self) -> int:
        return self._capacity

    @property
    def occupied(self) -> np.ndarray:
        return read_only(self._occupied)

    @property
    def occupied_list(self) -> np.ndarray:
        return read_only(self._listed[: self._size])

    @property
    def field_desc(self) -> dict[str, tuple[Any, Any]]:
        return {name: (array.shape[1:], array.dtype) for name, array in self._fields.items()}

    def field(self, name: str) -> np.ndarray:
        """The whole of one field, to be read."""
        return self._fields[name]

    def entries(self, indices: np.ndarray) -> dict[str, np.ndarray]:
        """Copies of all fields at the indices, and the indices."""
        found = {name: array.take(indices, axis=0) for name, array in self._fields.items()}
        found["index"] = np.array(indices, dtype=np.int32)
        return found

    def retrieve(
        self, indices: Any, fields: Collection[str] | str | None = None, return_type: str | None = None
    ) -> Any:
        """Which of the indices are in use, and copies of the fields asked for."""
        indices = np.asarray(indices, dtype=np.int32)
        return self._occupied[indices], self._collect(indices, fields, return_type)

    def data(self, fields: Collection[str] | str | None = None, return_type: str | None = None) -> Any:
        """Copies of the fields of all entries in use."""
        return self._collect(self._listed[: self._size], fields, return_type)

    def _column(self, name: str, indices: np.ndarray) -> np.ndarray:
        if name == "index":
            return indices.copy()
        if name not in self._fields:
            raise ValueError(f"`{name}` is not a field of this archive; it has {self.field_list_with_index}.")
        return self._fields[name].take(indices, axis=0)

    def _collect(self, indices: np.ndarray, fields: Collection[str] | str | None, return_type: str | None) -> Any:
        alone = isinstance(fields, str)
        names: Any = [fields] if alone else self.field_list_with_index if fields is None else fields
        if return_type is None:
            return_type = "array" if alone else "dict"
        elif return_type not in ("dict", "tuple", "pandas"):
            raise ValueError(f"Invalid return_type {return_type}.")
        if return_type == "array":
            return self._column(names[0], indices)
        if return_type == "tuple":
            return tuple(self._column(name, indices) for name in names)
        columns = {name: self._column(name, indices) for name in names}
        if return_type == "dict":
            return columns
        from ._frame import ArchiveDataFrame

        return ArchiveDataFrame.of_fields(columns)

    def check_names(self, names: Collection[str]) -> None:
        """Raises where the names of the data are not those of the fields."""
        if names != self._fields.keys():
            raise ValueError(
                f"The data has fields {sorted(names)}, and the archive {sorted(self._fields)}. Extra fields of an "
                "archive must be given to add() or tell(); archive and result_archive must have the same."
            )

    def put(self, indices: np.ndarray, data: dict[str, np.ndarray]) -> None:
        """Writes rows to the indices, which differ from each other and ascend."""
        self.check_names(data.keys())
        self._changes += 1
        fresh = indices[~self._occupied[indices]]
        if len(fresh):
            self._occupied[fresh] = True
            self._listed[self._size : self._size + len(fresh)] = fresh
            self._size += len(fresh)
        for name, array in self._fields.items():
            array[indices] = data[name]

    def resize(self, capacity: int) -> None:
        """Makes room for more entries."""

        def longer(array: np.ndarray) -> np.ndarray:
            made = np.zeros((capacity, *array.shape[1:]), dtype=array.dtype)
            made[: self._capacity] = array
            return made

        self._occupied, self._listed = longer(self._occupied), longer(self._listed)
        self._fields = {name: longer(array) for name, array in self._fields.items()}
        self._capacity = capacity

    def clear(self) -> None:
        self._changes += 1
        self._size = 0
        self._occupied[:] = False
