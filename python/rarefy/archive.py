"""What a search has found."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import Doubles, as_rows, as_values

if TYPE_CHECKING:
    import pandas as pd

Integers = npt.NDArray[np.int64]


class Elite(NamedTuple):
    """The best solution of a cell."""

    solution: Doubles  #: its values
    features: Doubles  #: what it does
    objective: float  #: how good it is; 1 where objectives are all the same
    cell: int  #: the number of its cell


class Archive:
    """The best solution of every cell, and how often each was visited.

    Elites are in the order in which their cells were found; row i of ``solutions``, ``features``,
    ``objectives`` and ``cells`` is elite i.
    """

    solutions: Doubles  #: a row for each elite
    features: Doubles  #: a row for each elite
    objectives: Doubles  #: one for each elite; 1 where they are all the same
    cells: Integers  #: the cell of each elite; on a grid the row-major number, last feature fastest
    visits: Integers  #: for each cell, how many solutions ever fell into it, kept or not
    tessellation: _core.Tessellation  #: the cells: a :class:`rarefy.Grid` or a :class:`rarefy.Cvt`
    problem: _core.Problem  #: what the archive is for

    @classmethod
    def _of(cls, arrays: dict[str, Any], problem: _core.Problem) -> Archive:
        archive = cls()
        for name, value in arrays.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            setattr(archive, name, value)
        archive.problem = problem
        return archive

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, elite: int) -> Elite:
        elite = operator.index(elite)
        if not -len(self) <= elite < len(self):
            raise IndexError(f"there are {len(self)} elites, and none is number {elite}")
        return Elite(
            self.solutions[elite], self.features[elite], float(self.objectives[elite]), int(self.cells[elite])
        )

    @property
    def coverage(self) -> float:
        """The part of all cells that are occupied, from 0 to 1."""
        return len(self) / self.tessellation.cells

    @property
    def qd_score(self) -> float:
        """The sum of the objectives, each less the least that is possible (see ``objective_range``)."""
        least = self.problem.least_objective
        return float(np.sum(self.objectives - (least or 0.0)))

    @property
    def shape(self) -> tuple[int, ...]:
        """Intervals along each feature, where cells are a grid; otherwise empty."""
        return tuple(self.tessellation.shape)

    def cell_of(self, features: Any) -> Integers:
        """The cells that rows of features fall into; outside of the box, the nearest inside."""
        return self.tessellation.cells_of(as_rows(features, "features", self.problem.feature_dim))

    def in_cell(self, cell: int) -> Elite | None:
        """The elite of a cell, if there is one."""
        cell = operator.index(cell)
        if not 0 <= cell < self.tessellation.cells:
            raise IndexError(f"cell: got {cell}, expected 0 to {self.tessellation.cells - 1}")
        found = np.flatnonzero(self.cells == cell)
        return self[int(found[0])] if len(found) else None

    def nearest(self, features: Any) -> Elite:
        """The elite whose features are nearest.

        :param features: one number for each feature. Distances are measured in widths of the box.
        """
        if len(self) == 0:
            raise ValueError("the archive is empty")
        wanted = as_values(features, "features", self.problem.feature_dim)
        box = np.asarray(self.problem.feature_box)
        away = (self.features - wanted) / (box[:, 1] - box[:, 0])
        return self[int(np.argmin(np.einsum("ij,ij->i", away, away)))]

    def best(self) -> Elite:
        """The elite with the greatest objective."""
        if len(self) == 0:
            raise ValueError("the archive is empty")
        return self[int(np.argmax(self.objectives))]

    def sample(self, count: int, seed: int | np.random.Generator | None = None) -> Archive:
        """Some elites, drawn uniformly with replacement, as an archive.

        :param count: how many
        :param seed: a seed or a generator of numpy's; ``None``: another draw every time
        """
        if len(self) == 0:
            raise ValueError("the archive is empty")
        return self._rows(np.random.default_rng(seed).integers(len(self), size=count))

    def _rows(self, rows: Any) -> Archive:
        arrays = {name: getattr(self, name)[rows] for name in ("solutions", "features", "objectives", "cells")}
        return Archive._of(arrays | {"visits": self.visits, "tessellation": self.tessellation}, self.problem)

    def to_pandas(self) -> pd.DataFrame:
        """A row for each elite: cell, objective, features by name, solution_0, solution_1, ..."""
        import pandas as pd

        columns: dict[str, Any] = {"cell": self.cells, "objective": self.objectives}
        for name, column in zip(self.feature_names, self.features.T, strict=True):
            columns[name] = column
        columns |= {f"solution_{i}": column for i, column in enumerate(self.solutions.T)}
        return pd.DataFrame(columns)

    @property
    def feature_names(self) -> list[str]:
        """Those of the problem, or ``feature_0``, ``feature_1``, ..."""
        names = list(self.problem.feature_names)
        return names or [f"feature_{i}" for i in range(self.problem.feature_dim)]

    def __repr__(self) -> str:
        return (
            f"<Archive: {len(self):,} of {self.tessellation.cells:,} cells, "
            f"{int(self.visits.sum()):,} visits>"
        )

    def _repr_html_(self) -> str:
        from ._html import archive_as_html

        return archive_as_html(self)
