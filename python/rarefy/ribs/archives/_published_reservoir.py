"""The buffer of pyribs' density archive, to the last bit. It is no uniform sample: docs/published-profile.md."""

from __future__ import annotations

from typing import Any

import numpy as np

_FOREVER = 2**62


class PublishedReservoir:
    """Li's algorithm L with what pyribs departs from it in, and pyribs' random numbers."""

    def __init__(self, dims: int, capacity: int, seed: Any) -> None:
        self._rng = np.random.default_rng(seed)
        self._rows = np.empty((capacity, dims))
        self._filled = 0
        self._accepted = 1.0
        self._draw_skip()

    def _draw_skip(self) -> None:
        self._accepted *= np.exp(np.log(self._rng.uniform()) / len(self._rows))
        passed = np.log(1 - self._accepted)
        self._skip = int(np.log(self._rng.uniform()) / passed) if passed < 0 else _FOREVER

    def contents(self) -> np.ndarray:
        return self._rows[: self._filled].copy()

    def add(self, measures: np.ndarray) -> None:
        room = min(len(self._rows) - self._filled, len(measures))
        self._rows[self._filled : self._filled + room] = measures[:room]
        self._filled += room
        others = measures[room:]
        left = len(others)
        while left > 0:
            if self._skip < left:
                slot = self._rng.integers(len(self._rows))
                # Counted from the beginning of the batch, whatever was skipped of it before.
                self._rows[slot] = others[self._skip]
                self._draw_skip()
            skipped = min(self._skip, left)  # and what was put in does not count as passed
            left -= skipped
            self._skip -= skipped
