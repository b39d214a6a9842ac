"""The density that is descended."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import Colormap, Normalize

from .._arrays import Doubles, as_box, as_rows
from .._raster import Raster
from ..parts import _Density
from ..running import RunResult
from ..searches import Search
from ._given import colormap, draw_landmarks, draw_lines, landmarks_of, new_axes, positive, title_of
from ._heatmap import paint

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def density(
    of: Search | _Density | RunResult | str | os.PathLike[str],
    ax: Axes | None = None,
    *,
    resolution: int = 200,
    samples: Any = False,
    feature_box: Sequence[tuple[float, float]] | None = None,
    depth: float | None = 12.0,
    cmap: str | Colormap = "viridis",
    colorbar: bool = True,
    title: str | None = None,
) -> Axes:
    """The logarithm of an estimated density over one or two features.

    :param of: a :class:`rarefy.DensityDescent` (or its result, or the folder of its run), a
        :class:`rarefy.KernelDensity` or a :class:`rarefy.FlowDensity`
    :param resolution: points along each feature
    :param samples: dots: ``True`` for the features the density is made of (for a search: the
        features of its elites), or rows of features
    :param feature_box: what to show; ``None``: the feature box of the search or of the density
    :param depth: how far below its greatest value it is told apart; ``None``: all the way
    """
    estimate, problem = _estimate(of)
    dim = problem.feature_dim if problem is not None else int(estimate._native.feature_dim)
    if dim > 2:
        raise ValueError(f"of: got a density over {dim} features, expected 1 or 2")
    positive("resolution", resolution)
    if depth is not None and not depth > 0:
        raise ValueError(f"depth: got {depth!r}, expected more than 0")
    box = np.asarray(_box(estimate, problem) if feature_box is None else as_box(feature_box))
    if box.shape != (dim, 2):
        raise ValueError(f"feature_box: got {feature_box!r}, expected a pair (low, high) for each of {dim} features")
    dots = _samples(estimate, samples, dim)
    edges = [np.linspace(low, high, resolution + 1) for low, high in box]
    middles = [(along[:-1] + along[1:]) / 2 for along in edges]
    points = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, dim)
    values = np.asarray(estimate.log_density(np.ascontiguousarray(points)))
    high = float(np.max(values[np.isfinite(values)], initial=-np.inf))
    if not np.isfinite(high):
        raise ValueError("of: got a density that is 0 all over the feature box, expected some of it there")
    low = float(np.min(values[np.isfinite(values)]))
    cut = depth is not None and low < high - depth
    if cut and depth is not None:
        low = high - depth

    colours = colormap(cmap)
    ax = ax if ax is not None else new_axes((6.0, 5.0) if dim == 2 else (6.0, 3.5))
    names = _names(problem, dim)
    ax.set_xlabel(names[0])
    if dim == 1:
        _line(ax, middles[0], values, dots, low, high)
        ax.set_xlim(*box[0])
    else:
        # Where a density is 0, its logarithm has the least colour.
        shown = np.where(np.isneginf(values), low, values).reshape(resolution, resolution)
        mesh = paint(ax, Raster(shown, edges[0], edges[1]), Normalize(low, high if high > low else low + 1), colours)
        ax.set_ylabel(names[1])
        ax.set_aspect("equal" if np.ptp(box[0]) == np.ptp(box[1]) else "auto")
        if dots is not None:
            ax.scatter(dots[:, 0], dots[:, 1], s=3, color="black", alpha=min(0.6, 60 / len(dots) ** 0.6), linewidths=0, zorder=2)
        if problem is not None:
            draw_lines(ax, problem.lines)
            draw_landmarks(ax, landmarks_of(problem))
        if colorbar:
            ax.figure.colorbar(
                mesh, ax=ax, label="log density", extend="min" if cut else "neither", aspect=25, fraction=0.046, pad=0.03
            )
    heading = title_of(problem) if title is None and problem is not None else title
    ax.set_title(heading or "")
    return ax


def _estimate(of: Any) -> tuple[Any, Any]:
    if isinstance(of, (str, os.PathLike)):
        from ..folders import load

        if not os.path.exists(of):
            raise ValueError(f"of: got {os.fspath(of)!r}, expected the folder of a run")
        of = load(of)
    if isinstance(of, RunResult):
        of = of.search
    if isinstance(of, Search):
        if of.iteration == 0:
            raise ValueError("of: got a search that was told nothing yet, expected at least one iteration")
        return of, of.problem
    if isinstance(of, _Density):
        return of, None
    raise ValueError(f"of: got a {type(of).__name__}, expected a DensityDescent, a KernelDensity or a FlowDensity")


def _box(estimate: Any, problem: Any) -> Any:
    if problem is not None:
        return problem.feature_box
    if len(estimate) == 0:
        raise ValueError("of: got a density without samples, expected some: call observe() first")
    return estimate.feature_box


def _samples(estimate: Any, samples: Any, dim: int) -> Doubles | None:
    if isinstance(samples, (bool, np.bool_)):
        if not samples:
            return None
        found = estimate.archive.features if isinstance(estimate, Search) else estimate.samples
        rows = np.asarray(found)
    else:
        rows = as_rows(samples, "samples", dim)
    return rows if len(rows) else None


def _line(ax: Axes, middles: Doubles, values: Doubles, dots: Doubles | None, low: float, high: float) -> None:
    room = 0.05 * (high - low) or 0.5
    ax.plot(middles, values)
    ax.set_ylim(low - room, high + room)
    ax.set_ylabel("log density")
    ax.spines[["top", "right"]].set_visible(False)
    if dots is not None:  # short strokes along the lower edge
        ax.plot(
            dots[:, 0], np.full(len(dots), 0.02), "|", color="black", alpha=0.3, markersize=7,
            transform=ax.get_xaxis_transform(),
        )  # fmt: skip


def _names(problem: Any, dim: int) -> list[str]:
    names = list(problem.feature_names) if problem is not None else []
    return names or [f"feature_{i}" for i in range(dim)]
