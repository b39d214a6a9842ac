"""All pairs of many features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import Colormap, LogNorm
from matplotlib.ticker import MaxNLocator

from .._raster import KINDS, default_kind, intervals, projection
from ._given import (
    NOTHING,
    Shown,
    archive_of,
    colormap,
    features_of,
    finish_colorbar,
    norm_for,
    one_of,
    positive,
    title_of,
)
from ._heatmap import paint

if TYPE_CHECKING:
    import numpy.typing as npt

MOST = 8


def corner(
    what: Shown,
    ax: Any = None,
    *,
    values: str = "auto",
    features: Sequence[int | str] | None = None,
    bins: int | None = None,
    cmap: str | Colormap = "viridis",
    colorbar: bool = True,
    title: str | None = None,
) -> npt.NDArray[Any]:
    """Projections of the elites on every pair of features, and how they are spread over each.

    :param ax: a square matrix of axes, one row for each feature; ``None``: a new figure
    :param values: ``"elites"`` (how many), ``"visits"`` or ``"objectives"`` (the best);
        ``"auto"``: objectives where they differ, else elites
    :param features: two to eight of them, by number or name; ``None``: all
    :param bins: intervals along each feature; ``None``: those of the grid, or as many as suit the
        number of cells
    """
    archive = archive_of(what)
    one_of("values", values, ("auto", *KINDS))
    dim = archive.problem.feature_dim
    chosen = list(range(dim)) if features is None else features_of(archive, features)
    if not 2 <= len(chosen) <= MOST:
        hint = f"; choose some, such as features={tuple(range(min(dim, 4)))}" if len(chosen) > MOST else ""
        raise ValueError(f"features: got {len(chosen)} of them, expected 2 to {MOST}{hint}")
    if bins is not None:
        positive("bins", bins)
    kind = values
    if values == "auto":
        kind = "elites" if archive.problem.constant_objective else default_kind(archive)
    colours, count = colormap(cmap), len(chosen)
    axes = _axes(ax, count)
    pairs = {
        (row, column): projection(archive, kind, (chosen[column], chosen[row]), bins)
        for row in range(count)
        for column in range(row)
    }
    norm = norm_for(np.concatenate([raster.values.ravel() for raster in pairs.values()]), kind)
    mesh = None
    for row in range(count):
        for column in range(count):
            one = axes[row, column]
            if row > column:
                mesh = paint(one, pairs[row, column], norm, colours)
            elif row == column:
                _histogram(one, archive, chosen[row], bins)
            else:
                one.axis("off")
                continue
            _label(one, archive, chosen, row, column)
    axes[0, 0].figure.align_labels(axes[:, 0])
    heading = title_of(archive.problem) if title is None else title
    if ax is None and heading:
        axes[0, 0].figure.suptitle(heading)
    if colorbar:
        place = axes[0, -1].inset_axes((0.0, 0.45, 1.0, 0.1))
        place.set_in_layout(False)  # its label does not widen the last column
        label = "best objective" if kind == "objectives" else kind
        bar = axes[0, 0].figure.colorbar(mesh, cax=place, orientation="horizontal", label=label)
        if isinstance(norm, LogNorm):
            finish_colorbar(bar, True)
        else:
            bar.locator = MaxNLocator(nbins=4, steps=(1, 2, 5, 10), integer=kind == "elites")
    return axes


def _axes(given: Any, count: int) -> npt.NDArray[Any]:
    if given is None:
        import matplotlib.pyplot as plt

        side = min(1.2 + 1.8 * count, 12.0)
        _, axes = plt.subplots(count, count, figsize=(side, side), layout="constrained", squeeze=False)
        return np.asarray(axes)
    axes = np.asarray(given, dtype=object)
    if axes.shape != (count, count):
        raise ValueError(f"ax: got axes of shape {axes.shape}, expected ({count}, {count}), a row for each feature")
    return axes


def _histogram(ax: Any, archive: Any, feature: int, bins: int | None) -> None:
    low, high = archive.problem.feature_box[feature]
    count = bins or min(intervals(archive, feature), 50)
    counts, edges = np.histogram(np.clip(archive.features[:, feature], low, high), count, (low, high))
    ax.stairs(counts, edges, fill=True, color="0.55")
    ax.set_facecolor(NOTHING)
    ax.set_xlim(low, high)
    ax.set_ylim(0, max(1, counts.max()) * 1.05)


def _label(ax: Any, archive: Any, chosen: Sequence[int], row: int, column: int) -> None:
    """Only at the border: names and numbers."""
    names, count = archive.feature_names, len(chosen)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=3, prune="both"))
        axis.set_major_formatter(_short)
    if row == count - 1:
        slanted = count > 4 and max(len(names[feature]) for feature in chosen) > 12
        ax.set_xlabel(names[chosen[column]], **({"rotation": 30, "ha": "right"} if slanted else {}))
    else:
        ax.tick_params(labelbottom=False)
    if row == column:
        ax.set_yticks([])
        return
    if column == 0:
        ax.set_ylabel(names[chosen[row]])
    else:
        ax.tick_params(labelleft=False)


def _short(value: float, _: Any = None) -> str:
    """-1.5, 400, 4e5: panels are small."""
    words = f"{value:.3g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
    return words.replace("-", "\N{MINUS SIGN}")
