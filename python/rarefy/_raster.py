"""Archives as matrices of values, for pictures. Needs nothing but numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ._arrays import Doubles

if TYPE_CHECKING:
    from .archive import Archive

KINDS = ("visits", "objectives", "elites")


class Raster(NamedTuple):
    """Values over one or two features: ``values[i, j]`` lies between ``x[i]``, ``x[i + 1]`` and
    ``y[j]``, ``y[j + 1]``; NaN where there is nothing. With one feature, ``y`` is (0, 1)."""

    values: Doubles
    x: Doubles
    y: Doubles


def default_kind(archive: Archive) -> str:
    """What is worth showing: objectives where they differ; else visits, or elites of a projection."""
    if not archive.problem.constant_objective:
        return "objectives"
    return "visits" if archive.problem.feature_dim <= 2 else "elites"


def values_of_cells(archive: Archive, kind: str) -> Doubles:
    """A value for each cell; NaN where there is nothing."""
    if kind == "visits":
        return np.where(archive.visits > 0, archive.visits, np.nan).astype(np.float64)
    values = np.full(archive.tessellation.cells, np.nan)
    values[archive.cells] = archive.objectives if kind == "objectives" else 1.0
    return values


def cells_raster(archive: Archive, kind: str, resolution: int) -> Raster:
    """Every cell of one or two features: a grid's as they are, others on a raster of points."""
    box = np.asarray(archive.problem.feature_box)
    shape = archive.shape or (resolution,) * len(box)
    edges = [np.linspace(low, high, count + 1) for (low, high), count in zip(box, shape, strict=True)]
    values = values_of_cells(archive, kind)
    if not archive.shape:
        middles = [(along[:-1] + along[1:]) / 2 for along in edges]
        spots = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, len(box))
        values = values[archive.tessellation.cells_of(np.ascontiguousarray(spots))]
    # The last feature of a grid varies fastest.
    if len(box) == 1:
        return Raster(values.reshape(-1, 1), edges[0], np.array([0.0, 1.0]))
    return Raster(values.reshape(shape), edges[0], edges[1])


def intervals(archive: Archive, feature: int) -> int:
    """A grid's own intervals; else so many that a full archive has some elites in each of a pair."""
    if archive.shape:
        return min(archive.shape[feature], 1000)
    return int(np.clip(np.sqrt(archive.tessellation.cells) / 2.5, 5, 100))


def projection(archive: Archive, kind: str, pair: Sequence[int], bins: int | None = None) -> Raster:
    """Elites over two of many features: how many, their visits, or the best objective."""
    box = np.asarray(archive.problem.feature_box)[list(pair)]
    counts = [bins or intervals(archive, feature) for feature in pair]
    edges = [np.linspace(low, high, count + 1) for (low, high), count in zip(box, counts, strict=True)]
    places = (archive.features[:, list(pair)] - box[:, 0]) / (box[:, 1] - box[:, 0])
    # Features outside the box belong to the cells at its border.
    at = np.clip((places * counts).astype(np.int64), 0, np.array(counts) - 1)
    flat = at[:, 0] * counts[1] + at[:, 1]
    size = counts[0] * counts[1]
    if kind == "objectives":
        best = np.full(size, -np.inf)
        np.maximum.at(best, flat, archive.objectives)
        values = np.where(np.isneginf(best), np.nan, best)
    else:
        weights = archive.visits[archive.cells] if kind == "visits" else None
        sums = np.bincount(flat, weights=weights, minlength=size).astype(np.float64)
        values = np.where(sums > 0, sums, np.nan)
    return Raster(values.reshape(counts[0], counts[1]), edges[0], edges[1])
