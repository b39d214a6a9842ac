"""What a notebook shows of an archive or a run, without any plotting library."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ._raster import cells_raster, default_kind, projection

if TYPE_CHECKING:
    from .archive import Archive
    from .running import RunResult
    from .searches import Search

# Some colours of viridis (S. van der Walt, N. Smith, 2015), between which others lie.
_COLOURS = np.array(
    [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], dtype=float
)
# Light on dark pages, too: there, the darkest colours could not be told from a dark one.
_NOTHING = np.array([235, 235, 235], dtype=np.uint8)
_PIXELS = 240


def png(pixels: Any) -> bytes:
    """An image of 8-bit colours, rows from above, as a PNG file."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + np.ascontiguousarray(row).tobytes() for row in pixels)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def colours_of(values: Any) -> Any:
    """From 0..1 to colours; NaN is a light grey."""
    place = np.clip(np.nan_to_num(values), 0, 1) * (len(_COLOURS) - 1)
    below = np.minimum(place.astype(int), len(_COLOURS) - 2)
    part = (place - below)[..., None]
    mixed = (_COLOURS[below] * (1 - part) + _COLOURS[below + 1] * part).astype(np.uint8)
    return np.where(np.isnan(values)[..., None], _NOTHING, mixed)


def picture_of(archive: Archive) -> bytes:
    """Cells of one or two features, or a projection on the first two, as a small PNG file."""
    return _picture(_shares(archive)[0])


def _picture(shares: Any) -> bytes:
    """The first feature goes to the right, the second up."""
    return png(colours_of(shares.T[::-1]))


def _shares(archive: Archive) -> tuple[Any, float, float]:
    """Values from 0 to 1, NaN where there is nothing, and the values that 0 and 1 stand for."""
    kind = default_kind(archive)
    if archive.problem.feature_dim <= 2:
        values = _coarser(cells_raster(archive, kind, _PIXELS).values)
    else:
        values = projection(archive, kind, (0, 1)).values
    if np.all(np.isnan(values)):
        return values, np.nan, np.nan
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    shown = np.log(values) if kind == "visits" else values
    least, most = float(np.nanmin(shown)), float(np.nanmax(shown))
    return (shown - least) / (most - least if most > least else 1.0), low, high


def _coarser(values: Any) -> Any:
    """The greatest values of blocks, where there are more cells than anybody could see."""
    for axis in (0, 1):
        block = -(-values.shape[axis] // (2 * _PIXELS))
        if block > 1:
            values = np.fmax.reduceat(values, np.arange(0, values.shape[axis], block), axis=axis)
    return values


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "\N{MINUS SIGN}") if np.isfinite(value) else ""


def _text(x: float, y: float, words: str, anchor: str = "middle", more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" {more}>{html.escape(words)}</text>'


def _svg(width: float, height: float, parts: list[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
        f'font-family="sans-serif" font-size="11" fill="currentColor" style="vertical-align:top">{"".join(parts)}</svg>'
    )


def heatmap_as_svg(archive: Archive) -> str:
    """The picture with its axes, the walls of a maze and what the colours mean."""
    problem, names = archive.problem, archive.feature_names
    box = problem.feature_box
    left, top, wide = 48, 8, _PIXELS
    high = _PIXELS if len(box) > 1 else 36
    shares, least, most = _shares(archive)
    image = base64.b64encode(_picture(shares)).decode()
    frame = 'fill="none" stroke="currentColor" stroke-width="1"'
    parts = [
        f'<image x="{left}" y="{top}" width="{wide}" height="{high}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{image}"/>',
    ]
    if len(box) == 2:
        (x0, x1), (y0, y1) = box
        for line in problem.lines:
            ends = [left + wide * (x - x0) / (x1 - x0) for x in line[::2]]
            ups = [top + high * (y1 - y) / (y1 - y0) for y in line[1::2]]
            parts.append(
                f'<line x1="{ends[0]:.1f}" y1="{ups[0]:.1f}" x2="{ends[1]:.1f}" y2="{ups[1]:.1f}" '
                f'stroke="black" stroke-width="1.6" stroke-linecap="round"/>'
            )
    parts.append(f'<rect x="{left}" y="{top}" width="{wide}" height="{high}" {frame}/>')
    below = top + high + 14
    parts += [
        _text(left, below, _number(box[0][0])),
        _text(left + wide, below, _number(box[0][1])),
        _text(left + wide / 2, below, names[0]),
    ]
    if len(box) > 1:
        middle = top + high / 2
        parts += [
            _text(left - 5, top + high, _number(box[1][0]), "end"),
            _text(left - 5, top + 9, _number(box[1][1]), "end"),
            _text(left - 12, middle, names[1], more=f'transform="rotate(-90 {left - 12:g} {middle:g})"'),
        ]
    if np.isfinite(least):
        scale = base64.b64encode(png(colours_of(np.linspace(1, 0, 64)[:, None]))).decode()
        x = left + wide + 12
        parts += [
            f'<image x="{x}" y="{top}" width="12" height="{high}" preserveAspectRatio="none" '
            f'href="data:image/png;base64,{scale}"/>',
            f'<rect x="{x}" y="{top}" width="12" height="{high}" {frame}/>',
            _text(x + 17, top + 9, _number(most), "start"),
            _text(x + 17, top + high, _number(least), "start"),
        ]
    return _svg(left + wide + 76, top + high + 22, parts)


def curve_as_svg(x: Any, y: Any, x_name: str, y_name: str) -> str:
    """A line, from 0 to the greatest of both."""
    left, top, wide, high = 48, 8, _PIXELS, 120
    most_x, most_y = float(np.max(x)) or 1.0, float(np.max(y)) or 1.0
    points = " ".join(
        f"{left + wide * a / most_x:.1f},{top + high * (1 - b / most_y):.1f}" for a, b in zip(x, y, strict=True)
    )
    middle = top + high / 2
    line = (
        f'<polyline points="{points}" fill="none" stroke="rgb(33,145,140)" stroke-width="1.8"/>'
        if len(x) > 1
        else f'<circle cx="{left + wide}" cy="{top}" r="3" fill="rgb(33,145,140)"/>'
    )
    parts = [
        f'<path d="M{left} {top}V{top + high}H{left + wide}" fill="none" stroke="currentColor"/>',
        line,
        _text(left, top + high + 14, "0"),
        _text(left + wide, top + high + 14, f"{most_x:,.0f}"),
        _text(left + wide / 2, top + high + 14, x_name),
        _text(left - 5, top + high, "0", "end"),
        _text(left - 5, top + 9, f"{100 * most_y:.3g} %", "end"),
        _text(left - 12, middle, y_name, more=f'transform="rotate(-90 {left - 12:g} {middle:g})"'),
    ]
    return _svg(left + wide + 40, top + high + 22, parts)


def _lines_of(archive: Archive) -> list[str]:
    lines = [
        f"{len(archive):,} of {archive.tessellation.cells:,} cells ({100 * archive.coverage:.2f} %)",
        f"{int(archive.visits.sum()):,} visits",
    ]
    if not archive.problem.constant_objective and len(archive):
        lines.append(f"best objective {archive.best().objective:.6g}")
    return lines


def _captioned(archive: Archive, pictures: str, lines: list[str]) -> str:
    problem = archive.problem
    title = html.escape(problem.title or ("" if problem.name == "problem" else problem.name))
    words = {
        "visits": "visits of each cell (logarithmic)",
        "objectives": "best objective" + (" of each cell" if problem.feature_dim <= 2 else ""),
        "elites": "number of elites",
    }
    what = words[default_kind(archive)]
    return (
        f'<div style="font-family:sans-serif;line-height:1.4">{f"<b>{title}</b>" if title else ""}<div>{pictures}</div>'
        f'<div style="font-size:smaller">Colours: {what}<br>{"<br>".join(lines)}</div></div>'
    )


def archive_as_html(archive: Archive) -> str:
    return _captioned(archive, heatmap_as_svg(archive), _lines_of(archive))


def search_as_html(search: Search) -> str:
    archive = search.archive
    line = f"{type(search).__name__}, {search.iteration:,} iterations, {search.evaluations:,} evaluations"
    return _captioned(archive, heatmap_as_svg(archive), [line, *_lines_of(archive), *_failures_of(search)])


def _failures_of(search: Search) -> list[str]:
    return [f"{search.failed:,} evaluations failed"] if search.failed else []


def result_as_html(result: RunResult) -> str:
    """The archive, and how its coverage grew."""
    archive, columns = result.search.archive, result.columns
    pictures = heatmap_as_svg(archive)
    if len(columns.get("evaluations", ())):
        pictures += curve_as_svg(columns["evaluations"], columns["coverage"], "evaluations", "coverage")
    lines = [
        f"{'finished' if result.finished else 'stopped'} after {result.search.iteration:,} iterations, "
        f"{result.search.evaluations:,} evaluations and {result.seconds:.3g} s",
        *_lines_of(archive),
        *_failures_of(result.search),
    ]
    if result.folder is not None:
        lines.append(html.escape(result.folder))
    return _captioned(archive, pictures, lines)
