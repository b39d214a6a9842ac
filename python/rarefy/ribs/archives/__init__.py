"""Archives: see pyribs' ribs.archives, of which what is not here is handed over."""

from __future__ import annotations

from typing import Any

from .._pyribs import hand_over
from ._base import AddStatus, ArchiveBase, ArchiveStats
from ._cvt import CVTArchive, k_means_centroids
from ._density import DensityArchive
from ._grid import GridArchive
from ._proximity import ProximityArchive
from ._score import CQDScoreResult, cqd_score

__all__ = [
    "AddStatus",
    "ArchiveBase",
    "ArchiveDataFrame",
    "ArchiveStats",
    "CQDScoreResult",
    "CVTArchive",
    "DensityArchive",
    "GridArchive",
    "ProximityArchive",
    "cqd_score",
    "k_means_centroids",
]

_elsewhere = hand_over(__name__)


def __getattr__(name: str) -> Any:
    if name == "ArchiveDataFrame":  # needs pandas
        from ._frame import ArchiveDataFrame

        return ArchiveDataFrame
    return _elsewhere(name)
