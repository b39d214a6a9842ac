"""The continuous quality diversity score (Kent et al., 2022)."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .._checks import check_1d


@dataclasses.dataclass
class CQDScoreResult:
    """The scores, their mean, and what they were computed with."""

    iterations: int
    mean: Any
    scores: np.ndarray
    target_points: np.ndarray
    penalties: np.ndarray
    obj_min: float
    obj_max: float
    dist_max: float
    dist_ord: Any


def cqd_score(
    archive: Any,
    *,
    iterations: int,
    target_points: Any,
    penalties: Any,
    obj_min: float,
    obj_max: float,
    dist_max: float,
    dist_ord: Any = None,
) -> CQDScoreResult:
    """For each set of target points, the sum over targets and penalties of the best penalised objective."""
    targets = np.array(target_points)
    if targets.ndim != 3 or targets.shape[0] != iterations or targets.shape[2] != archive.measure_dim:
        raise ValueError(
            f"Expected target_points to be an array with shape ({iterations}, n, {archive.measure_dim}), "
            f"but it had shape {targets.shape}"
        )
    penalties = np.linspace(0, 1, int(penalties)) if np.ndim(penalties) == 0 else np.array(penalties)
    check_1d(penalties, "penalties")
    objectives = archive.data("objective")[:, None] / (obj_max - obj_min)
    measures = archive.data("measures")
    scores = np.zeros(iterations)
    for i, points in enumerate(targets):
        distances = np.linalg.norm(measures[:, None] - points, ord=dist_ord, axis=2) / dist_max
        scores[i] = sum(np.sum(np.max(objectives - penalty * distances, axis=0)) for penalty in penalties)
    return CQDScoreResult(
        iterations, np.mean(scores), scores, targets, penalties, obj_min, obj_max, dist_max, dist_ord
    )  # fmt: skip
