"""How a batch is cut into pieces: each worth sending, and the last so small that nobody waits long for it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

# Pieces that each worker gets of a batch at least: rows may take unlike times.
_PIECES_A_WORKER = 4
# Seconds of a piece. What is finished is known piece by piece, so none shall take long where it need not;
# and a cluster takes milliseconds to hand out another.
_LONGEST = 0.5
_SHORTEST = 0.05


class Pieces:
    """Learns what a row costs. Where rows take long, pieces are small, and single rows towards the end.

    Functions of whole batches are left alone: what takes as long for one row as for a hundred must not be
    called for every row.
    """

    def __init__(self, workers: int, rowwise: bool) -> None:
        self._workers = workers
        self._rowwise = rowwise
        self._rows = 0.0
        self._seconds = 0.0

    def learn(self, rows: int, seconds: float) -> None:
        """So many rows took somebody so long."""
        self._rows += rows
        self._seconds += seconds

    def of(self, count: int, alone: bool) -> Iterator[list[Any]]:
        """Pieces of a batch, as indices; those of a list go out together, in this order. The first time, a few
        rows show what the others will cost."""
        every = np.arange(count)
        if alone or count <= self._workers:
            yield np.array_split(every, count)
            return
        if self._rowwise and self._rows == 0 and count > _PIECES_A_WORKER * self._workers:
            yield np.array_split(every[: self._workers], self._workers)
            every = every[self._workers :]
        if self._rowwise and self._rows > 0:
            yield np.split(every, np.cumsum(self._sizes(len(every)))[:-1])
        else:
            yield np.array_split(every, min(len(every), _PIECES_A_WORKER * self._workers))
        # What was long ago says less.
        self._rows, self._seconds = self._rows / 2, self._seconds / 2

    def _sizes(self, left: int) -> list[int]:
        row = max(self._seconds / self._rows, 1e-9)
        most = min(max(1, int(_LONGEST / row)), math.ceil(left / (_PIECES_A_WORKER * self._workers)))
        least = min(max(1, int(_SHORTEST / row)), most)
        sizes = []
        while left > 0:
            size = min(max(math.ceil(left / (2 * self._workers)), least), most, left)
            sizes.append(size)
            left -= size
        return sizes
