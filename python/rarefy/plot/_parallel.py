"""Elites as lines across parallel axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Colormap, LogNorm

from .._arrays import Doubles
from ..archive import Archive
from ._given import Shown, archive_of, colormap, features_of, finish_colorbar, new_axes, norm_for, positive, title_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


def parallel(
    what: Shown,
    ax: Axes | None = None,
    *,
    count: int = 200,
    color_by: str | int = "auto",
    features: Sequence[int | str] | None = None,
    seed: int = 1,
    cmap: str | Colormap = "viridis",
    colorbar: bool = True,
    alpha: float = 0.6,
    title: str | None = None,
) -> Axes:
    """Some elites, each a line across an axis for each feature and one for the objective.

    An axis goes from the lower to the upper end of the feature box; that of the objective, which
    is there where objectives differ, from the least to the greatest of the whole archive.

    :param count: of elites, drawn at random; all where there are fewer
    :param color_by: ``"objective"``, ``"visits"`` or a feature by name or number; ``"auto"``: the
        objective where it differs, else the first feature
    :param features: which ones, in which order; ``None``: all
    :param seed: of the draw
    """
    archive = archive_of(what)
    if len(archive) == 0:
        raise ValueError("what: got an empty archive, expected at least one elite")
    chosen = list(range(archive.problem.feature_dim)) if features is None else features_of(archive, features)
    varied = not archive.problem.constant_objective
    if len(chosen) + varied < 2:
        raise ValueError(f"features: got {len(chosen)} of them, expected at least two axes")
    if color_by == "auto":
        color_by = "objective" if varied else chosen[0]
    label, colours = _colours(archive, color_by)
    rows = np.arange(len(archive))
    if positive("count", count) < len(archive):
        rows = np.random.default_rng(seed).choice(len(archive), count, replace=False)
    rows = rows[np.argsort(colours[rows], kind="stable")]  # the greatest on top

    names = [archive.feature_names[feature] for feature in chosen]
    limits = [(archive.problem.feature_box[feature][0], archive.problem.feature_box[feature][1]) for feature in chosen]
    columns = [archive.features[rows, feature] for feature in chosen]
    if varied:
        names.append("objective")
        limits.append((float(archive.objectives.min()), float(archive.objectives.max())))
        columns.append(archive.objectives[rows])
    heights = np.stack([_place(column, *limit) for column, limit in zip(columns, limits, strict=True)], axis=1)

    norm, shades = norm_for(colours, label), colormap(cmap)
    ax = ax if ax is not None else new_axes((max(6.0, 0.9 * len(names) + 2.0), 4.0))
    across = np.broadcast_to(np.arange(len(names)), heights.shape)
    lines = LineCollection(
        list(np.stack([across, heights], axis=-1)), array=colours[rows], norm=norm, cmap=shades, alpha=alpha,
        linewidths=0.9, zorder=1, rasterized=True,
    )  # fmt: skip
    ax.add_collection(lines, autolim=False)
    _axes(ax, names, limits)
    ax.set_title(title_of(archive.problem) if title is None else title, pad=22)
    if colorbar:
        bar = ax.figure.colorbar(ScalarMappable(norm, shades), ax=ax, label=label, pad=0.03, aspect=25, fraction=0.046)
        finish_colorbar(bar, isinstance(norm, LogNorm))
    return ax


def _colours(archive: Archive, by: str | int) -> tuple[str, Doubles]:
    if by == "objective":
        return "objective", archive.objectives
    if by == "visits":
        return "visits", archive.visits[archive.cells].astype(np.float64)
    names = archive.feature_names
    if isinstance(by, str) and by in names:
        by = names.index(by)
    if isinstance(by, (int, np.integer)) and not isinstance(by, bool) and 0 <= by < len(names):
        return names[by], archive.features[:, by]
    known = ", ".join(repr(name) for name in names)
    raise ValueError(f"color_by: got {by!r}, expected 'auto', 'objective', 'visits' or a feature: {known}")


def _place(values: Doubles, low: float, high: float) -> Any:
    """From 0 at the lower end to 1 at the upper; what lies outside is at the end."""
    return np.clip((values - low) / (high - low), 0, 1) if high > low else np.full(len(values), 0.5)


def _axes(ax: Axes, names: list[str], limits: list[tuple[float, float]]) -> None:
    ax.set_xlim(-0.15, len(names) - 0.85)
    ax.set_ylim(0, 1)
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    slanted = len(names) > 6 and max(len(name) for name in names) > 8
    ax.set_xticks(range(len(names)), names, rotation=30 if slanted else 0, ha="right" if slanted else "center")
    ax.tick_params(axis="x", length=0, pad=18)
    for at, (low, high) in enumerate(limits):
        ax.axvline(at, color="black", linewidth=1, zorder=2)
        for end, height, side in ((low, 0, "top"), (high, 1, "bottom")):
            ax.annotate(
                f"{end:.4g}".replace("-", "\N{MINUS SIGN}"), (at, height), xytext=(0, 4 if height else -4), textcoords="offset points",
                ha="center", va=side, fontsize="small", color="0.3", annotation_clip=False,
            )  # fmt: skip
