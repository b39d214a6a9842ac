"""What callers give, and what all pictures have in common."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import matplotlib
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colorbar import Colorbar
from matplotlib.colors import Colormap, LogNorm, Normalize
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogFormatter

from .. import _core
from .._arrays import Doubles
from ..archive import Archive
from ..parts import EliteArchive
from ..running import RunResult
from ..searches import Search

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Shown = Union[Search, Archive, EliteArchive, RunResult, "str | os.PathLike[str]"]
Line = tuple[float, float, float, float]
Place = tuple[float, float]

NOTHING = "0.92"  #: the colour of what is empty
LABELS = {
    "visits": "visits of the cell",
    "objectives": "best objective of the cell",
    "elites": "elites in this projection",
}
PROJECTED = {
    "visits": "visits in this projection",
    "objectives": "best objective in this projection",
    "elites": "elites in this projection",
}


def archive_of(what: Any, name: str = "what") -> Archive:
    """The archive of a search, a result, a folder or a file."""
    if isinstance(what, Archive):
        return what
    if isinstance(what, (Search, RunResult)):
        archive: Archive = what.archive
        return archive
    if isinstance(what, EliteArchive):
        return what.view()
    if isinstance(what, (str, os.PathLike)):
        from ..folders import load

        if not Path(what).exists():
            raise ValueError(f"{name}: got {os.fspath(what)!r}, expected the folder of a run")
        return load(what).archive
    raise ValueError(
        f"{name}: got a {type(what).__name__}, expected a Search, an Archive, a RunResult or the folder of a run"
    )


def columns_of(run: Any, name: str = "runs") -> Any:
    """The course of a run: something with columns by name."""
    if isinstance(run, RunResult):
        return run.columns
    if isinstance(run, (str, os.PathLike)):
        if not Path(run).is_dir():
            raise ValueError(f"{name}: got {os.fspath(run)!r}, expected the folder of a run")
        return _core._Run.look(os.fspath(run), 1).metrics()
    if isinstance(run, Mapping) or hasattr(run, "columns"):
        return run
    raise ValueError(
        f"{name}: got a {type(run).__name__}, expected a RunResult, a DataFrame or the folder of a run"
    )


def is_run(given: Any) -> bool:
    """One run, or nothing that could be several."""
    return (
        isinstance(given, (RunResult, str, os.PathLike, Mapping))
        or hasattr(given, "columns")
        or not hasattr(given, "__iter__")
    )


def one_of(name: str, value: Any, choices: Sequence[str | None]) -> Any:
    if value not in choices:
        raise ValueError(f"{name}: got {value!r}, expected {' or '.join(repr(choice) for choice in choices)}")
    return value


def positive(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name}: got {value!r}, expected a whole number of at least 1")
    return int(value)


def features_of(archive: Archive, given: Any, name: str = "features", count: int | None = None) -> list[int]:
    """Numbers of features, given by numbers or names."""
    names = archive.feature_names
    wanted = "different features" if count is None else f"{count} different features"
    wanted += f" out of {', '.join(repr(known) for known in names)} (or their numbers, from 0)"
    if isinstance(given, (str, int)) or not hasattr(given, "__iter__"):
        raise ValueError(f"{name}: got {given!r}, expected {wanted}")
    numbers = []
    for one in given:
        if isinstance(one, str) and one in names:
            numbers.append(names.index(one))
        elif isinstance(one, (int, np.integer)) and not isinstance(one, bool) and 0 <= one < len(names):
            numbers.append(int(one))
        else:
            raise ValueError(f"{name}: got {one!r}, expected {wanted}")
    if len(set(numbers)) != len(numbers) or (count is not None and len(numbers) != count):
        raise ValueError(f"{name}: got {given!r}, expected {wanted}")
    return numbers


def title_of(problem: _core.Problem) -> str:
    if problem.title:
        return str(problem.title)
    return "" if problem.name == "problem" else str(problem.name)


def new_axes(size: tuple[float, float]) -> Axes:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=size, layout="constrained")
    return ax


def colormap(given: str | Colormap) -> Colormap:
    if isinstance(given, Colormap):
        return given
    try:
        return matplotlib.colormaps[given]
    except KeyError:
        raise ValueError(f"cmap: got {given!r}, expected a colour map that matplotlib knows") from None


def norm_for(values: Doubles, kind: str, vmin: float | None = None, vmax: float | None = None) -> Normalize:
    """Visits span decades; the rest does not."""
    some = values[np.isfinite(values)]
    low = vmin if vmin is not None else float(some.min()) if len(some) else 1.0
    high = vmax if vmax is not None else float(some.max()) if len(some) else low + 1.0
    if vmax is not None and vmax <= low:
        raise ValueError(f"vmax: got {vmax!r}, expected more than {low:g}")
    if kind == "visits":
        if low <= 0:
            raise ValueError(f"vmin: got {low!r}, expected more than 0, as visits are drawn on a logarithmic scale")
        return LogNorm(low, high if high > low else 10 * low)
    return Normalize(low, high if high > low else low + 1.0)


def finish_colorbar(bar: Colorbar, logarithmic: bool) -> None:
    """Plain numbers, 1, 10, 100, on a logarithmic scale as well."""
    if logarithmic:
        bar.formatter = LogFormatter(labelOnlyBase=False, minor_thresholds=(2.2, 0.5))
        bar.minorformatter = LogFormatter(labelOnlyBase=False, minor_thresholds=(2.2, 0.5))


def draw_lines(ax: Axes, lines: Sequence[Line], swapped: bool = False) -> None:
    """Walls."""
    segments = [[(x1, y1), (x2, y2)] for x1, y1, x2, y2 in lines]
    if swapped:
        segments = [[(y, x) for x, y in segment] for segment in segments]
    if segments:
        ax.add_collection(
            LineCollection(segments, colors="black", linewidths=2.0, capstyle="round", zorder=3), autolim=False
        )


def draw_landmarks(ax: Axes, places: Mapping[str, Place], swapped: bool = False) -> None:
    """Dots with names: where a maze begins."""
    for name, (x, y) in places.items():
        at = (y, x) if swapped else (x, y)
        ax.plot(*at, "o", color="#d62728", markeredgecolor="white", markersize=8, zorder=4)
        ax.annotate(
            name, at, xytext=(7, 0), textcoords="offset points", va="center", zorder=4,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )  # fmt: skip


def landmarks_of(problem: _core.Problem) -> dict[str, Place]:
    return {name: (x, y) for x, y, name in getattr(problem, "places", ())}
