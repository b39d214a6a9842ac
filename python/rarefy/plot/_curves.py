"""How runs went, over several seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator, PercentFormatter, StrMethodFormatter

from .._arrays import Doubles
from ._given import columns_of, is_run, new_axes, one_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PERCENT = ("coverage", "outside")
_LARGE = ("qd_score", "restarts", "failed")
_WHOLE = ("evaluations", "iteration")


class Band(NamedTuple):
    x: Doubles
    middle: Doubles
    low: Doubles
    high: Doubles


def curves(
    runs: Any,
    metric: str = "coverage",
    ax: Axes | None = None,
    *,
    x: str = "evaluations",
    band: str | None = "quartiles",
    labels: Mapping[str, str] | Sequence[str] | None = None,
    colors: Mapping[str, Any] | Sequence[Any] | None = None,
    title: str | None = None,
) -> Axes:
    """A metric in the course of runs: a line for each label, and how much seeds differ around it.

    Where the runs of a label were measured at different points, each is interpolated linearly; a
    line goes as far as all of its runs do.

    :param runs: by label, several runs each (or one): results, data frames or folders. Without
        labels, a run or several.
    :param metric: a column of ``result.metrics``
    :param x: the column to go along: ``"evaluations"``, ``"iteration"`` or ``"seconds"``
    :param band: ``"quartiles"``: the median, and the middle half of the runs; ``"minmax"``: the
        median, and all runs; ``"stderr"``: the mean, and one standard error on either side;
        ``None``: the median only
    :param labels: what the legend calls them, by label or in order
    :param colors: by label or in order
    """
    one_of("band", band, ("quartiles", "stderr", "minmax", None))
    groups = _groups(runs)
    names = _in_order("labels", labels, groups) or {label: str(label) for label in groups}
    paints = _in_order("colors", colors, groups)
    bands = {label: band_of(group, metric, x, band, f"runs[{label!r}]") for label, group in groups.items()}

    ax = ax if ax is not None else new_axes((6.0, 4.0))
    named = _by_label(runs) or labels is not None
    for label, shown in bands.items():
        look: dict[str, Any] = {"color": paints[label]} if paints is not None else {}
        alone: dict[str, Any] = {"marker": "o", "markersize": 4} if len(shown.x) == 1 else {}
        (line,) = ax.plot(shown.x, shown.middle, label=names[label] if named else None, **look, **alone)
        if band is not None and len(groups[label]) > 1:
            ax.fill_between(shown.x, shown.low, shown.high, color=line.get_color(), alpha=0.2, linewidth=0)
    ax.set_xlabel("iterations" if x == "iteration" else x.replace("_", " "))
    ax.set_ylabel(metric.replace("_", " ").replace("qd score", "QD score"))
    if x in _WHOLE:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    if metric in _PERCENT:
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    elif metric in _LARGE:
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    ax.grid(alpha=0.3, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.01)
    if title:
        ax.set_title(title)
    if named:
        ax.legend(frameon=False)
    return ax


def band_of(group: Sequence[Any], metric: str, x: str, band: str | None, name: str) -> Band:
    """The middle of some runs and the band around it, where all of them have values."""
    tracks = []
    for run in group:
        columns = columns_of(run, name)
        for argument, column in (("metric", metric), ("x", x)):
            if column not in columns:
                known = ", ".join(str(known) for known in columns)
                raise ValueError(f"{argument}: got {column!r}, expected a column of {name}: {known}")
        along, values = (np.asarray(columns[column], dtype=np.float64) for column in (x, metric))
        there = np.isfinite(along) & np.isfinite(values)
        if not there.any():
            raise ValueError(f"{name}: got a run without values of {metric!r}, expected at least one")
        order = np.argsort(along[there], kind="stable")
        tracks.append((along[there][order], values[there][order]))
    first, last = max(track[0][0] for track in tracks), min(track[0][-1] for track in tracks)
    if first > last:
        raise ValueError(f"{name}: got runs from {first:g} on and up to {last:g} {x}, expected some {x} in common")
    points = np.unique(np.concatenate([track[0] for track in tracks]))
    points = points[(points >= first) & (points <= last)]
    values = np.stack([np.interp(points, *track) for track in tracks])
    if band == "stderr":
        middle = values.mean(axis=0)
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.zeros(len(points))
        return Band(points, middle, middle - error, middle + error)
    inside = (0.0, 1.0) if band == "minmax" else (0.25, 0.75)
    low, middle, high = np.quantile(values, (inside[0], 0.5, inside[1]), axis=0)
    return Band(points, middle, low, high)


def _groups(runs: Any) -> dict[str, list[Any]]:
    groups = dict(runs) if _by_label(runs) else {"": runs}
    found = {label: [group] if is_run(group) else list(group) for label, group in groups.items()}
    for label, group in found.items():
        if not group:
            raise ValueError(f"runs[{label!r}]: got no runs, expected at least one")
    if not found:
        raise ValueError("runs: got no runs, expected at least one")
    return found


def _by_label(runs: Any) -> bool:
    """Runs by label, not the columns of one run by name."""
    return isinstance(runs, Mapping) and not (
        runs and all(isinstance(column, np.ndarray) for column in runs.values())
    )


def _in_order(name: str, given: Any, groups: Mapping[str, Any]) -> dict[str, Any] | None:
    """By label, whether given by label or in order."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        missing = [label for label in groups if label not in given]
        if missing:
            raise ValueError(f"{name}: got none for {missing[0]!r}, expected one for each label of runs")
        return dict(given)
    if isinstance(given, str) or len(given) != len(groups):
        raise ValueError(f"{name}: got {given!r}, expected {len(groups)}, one for each label of runs")
    return dict(zip(groups, given, strict=True))
