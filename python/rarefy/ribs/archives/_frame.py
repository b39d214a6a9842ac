"""A data frame of elites (needs pandas)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

_NUMBERED = re.compile(r"(.+)_\d+")


class ArchiveDataFrame(pd.DataFrame):
    """A data frame whose columns are the fields of elites; fields of rows have a column for each value."""

    @property
    def _constructor(self) -> type:
        return ArchiveDataFrame

    @classmethod
    def of_fields(cls, fields: dict[str, np.ndarray]) -> ArchiveDataFrame:
        columns = {}
        for name, array in fields.items():
            if array.ndim == 1:
                columns[name] = array
            elif array.ndim == 2:
                columns.update({f"{name}_{i}": array[:, i] for i in range(array.shape[1])})
            else:
                raise ValueError(f"Field `{name}` has shape {array.shape[1:]}: a data frame takes no more than 1D.")
        return cls(columns, copy=False)

    def iterelites(self) -> Iterator[dict[str, Any]]:
        """The elites, each a dict."""
        columns = [str(column) for column in self]
        names = dict.fromkeys(match[1] if (match := _NUMBERED.fullmatch(column)) else column for column in columns)
        fields = {name: self.get_field(name) for name in names}
        return ({name: array[i] for name, array in fields.items()} for i in range(len(self)))

    def get_field(self, field: str) -> np.ndarray:
        """A copy of one field of all elites."""
        if field in self:
            return self[field].to_numpy(copy=True)
        columns = [column for column in self if re.fullmatch(f"{re.escape(field)}_\\d+", str(column))]
        if not columns:
            raise KeyError(f"Field '{field}' was not found.")
        return self[columns].to_numpy(copy=True)
