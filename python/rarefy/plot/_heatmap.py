"""An archive, cell by cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import Colormap, LogNorm, Normalize

from .._raster import KINDS, Raster, cells_raster, default_kind, projection
from ..archive import Archive
from ._given import (
    LABELS,
    NOTHING,
    PROJECTED,
    Line,
    Place,
    Shown,
    archive_of,
    colormap,
    draw_landmarks,
    draw_lines,
    features_of,
    finish_colorbar,
    landmarks_of,
    new_axes,
    norm_for,
    one_of,
    positive,
    title_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def heatmap(
    what: Shown,
    ax: Axes | None = None,
    *,
    values: str = "auto",
    cmap: str | Colormap = "viridis",
    colorbar: bool = True,
    features: Sequence[int | str] = (0, 1),
    bins: int | None = None,
    resolution: int = 400,
    vmin: float | None = None,
    vmax: float | None = None,
    lines: Sequence[Line] | None = None,
    landmarks: Mapping[str, Place] | None = None,
    title: str | None = None,
) -> Axes:
    """An archive over one or two of its features.

    Cells of one or two features are drawn as they are. Of more features, elites are projected on
    two of them.

    :param what: a search, an archive, a result, or the folder of a run
    :param values: ``"visits"`` on a logarithmic scale, ``"objectives"``, or ``"elites"`` (how many
        a projection has); ``"auto"``: objectives where they differ, else visits or elites
    :param features: two of them, by number or name: along and up. Not looked at where there is one.
    :param bins: intervals of a projection along each feature; ``None``: those of the grid, or as
        many as suit the number of cells
    :param resolution: pixels along each feature for cells that are not a grid
    :param vmin: the least value that has a colour of its own
    :param vmax: the greatest
    :param lines: walls, as (x1, y1, x2, y2); ``None``: those of the problem
    :param landmarks: places by name; ``None``: those of the problem
    :param title: ``None``: that of the problem
    """
    archive = archive_of(what)
    one_of("values", values, ("auto", *KINDS))
    dim = archive.problem.feature_dim
    pair = [0] if dim == 1 else features_of(archive, features, count=2)
    if values == "elites" and dim <= 2:
        raise ValueError(
            f"values: got 'elites' with {dim} features, expected 'visits' or 'objectives' up to 2 features"
        )
    kind = default_kind(archive) if values == "auto" else values
    positive("resolution", resolution)
    if bins is not None:
        positive("bins", bins)
    if dim <= 2:
        raster = cells_raster(archive, kind, resolution)
        if pair == [1, 0]:
            raster = Raster(raster.values.T, raster.y, raster.x)
    else:
        raster = projection(archive, kind, pair, bins)
    norm, colours = norm_for(raster.values, kind, vmin, vmax), colormap(cmap)

    ax = ax if ax is not None else new_axes((6.0, 5.0) if dim > 1 else (6.0, 1.8))
    mesh = paint(ax, raster, norm, colours)
    label_axes(ax, archive, pair)
    if dim == 2:
        swapped = pair == [1, 0]
        draw_lines(ax, archive.problem.lines if lines is None else lines, swapped)
        draw_landmarks(ax, landmarks_of(archive.problem) if landmarks is None else landmarks, swapped)
    ax.set_title(title_of(archive.problem) if title is None else title)
    if colorbar:
        label = kind if dim == 1 else LABELS[kind] if dim == 2 else PROJECTED[kind]
        shape = {"aspect": 7} if dim == 1 else {"aspect": 25, "fraction": 0.046}
        bar = ax.figure.colorbar(mesh, ax=ax, label=label, pad=0.03, **shape)
        finish_colorbar(bar, isinstance(norm, LogNorm))
    return ax


def paint(ax: Axes, raster: Raster, norm: Normalize, cmap: Colormap) -> Any:
    """Squares with the edges that they have, up is up. In vector files they are pixels: many
    thousands of squares have seams, and take long to draw."""
    ax.set_facecolor(NOTHING)
    values = np.ma.masked_invalid(raster.values.T)
    mesh = ax.pcolormesh(raster.x, raster.y, values, norm=norm, cmap=cmap, rasterized=True)
    ax.set_xlim(raster.x[0], raster.x[-1])
    ax.set_ylim(raster.y[0], raster.y[-1])
    return mesh


def label_axes(ax: Axes, archive: Archive, pair: Sequence[int]) -> None:
    names, box = archive.feature_names, np.asarray(archive.problem.feature_box)
    ax.set_xlabel(names[pair[0]])
    if len(pair) == 1:
        ax.set_yticks([])
        return
    ax.set_ylabel(names[pair[1]])
    width, height = (box[feature, 1] - box[feature, 0] for feature in pair)
    ax.set_aspect("equal" if width == height else "auto")
