"""What a notebook shows of an archive, without any plotting library."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .archive import Archive

# Some colours of viridis (S. van der Walt, N. Smith, 2015), between which others lie.
_COLOURS = np.array(
    [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], dtype=float
)
_NOTHING = np.array([245, 245, 245], dtype=np.uint8)
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
    """The first two features, in as many squares as there are pixels or cells along them."""
    box = np.asarray(archive.problem.feature_box)[:2]
    shape = archive.shape
    side = min(_PIXELS, shape[0]) if len(shape) in (1, 2) else 60
    edges = [np.linspace(low, high, side + 1) for low, high in box]
    inside = np.clip(archive.features[:, : len(box)], box[:, 0], box[:, 1])
    varied = not archive.problem.constant_objective
    weights = archive.objectives if varied else archive.visits[archive.cells].astype(float)
    if len(box) == 1:
        counts, _ = np.histogram(inside[:, 0], edges[0])
        sums, _ = np.histogram(inside[:, 0], edges[0], weights=weights)
        counts, sums = counts[:, None].repeat(side // 4 + 1, 1), sums[:, None].repeat(side // 4 + 1, 1)
    else:
        counts, _, _ = np.histogram2d(inside[:, 0], inside[:, 1], edges)
        sums, _, _ = np.histogram2d(inside[:, 0], inside[:, 1], edges, weights=weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(counts > 0, sums / counts, np.nan)
        if not varied:
            values = np.log(values)
        low, high = (np.nanmin(values), np.nanmax(values)) if np.any(counts > 0) else (0.0, 1.0)
        values = (values - low) / (high - low if high > low else 1.0)
    zoom = max(1, _PIXELS // side)
    pixels = colours_of(values.T[::-1]).repeat(zoom, 0).repeat(zoom, 1)
    return png(pixels)


def archive_as_html(archive: Archive) -> str:
    problem = archive.problem
    title = html.escape(problem.title or problem.name)
    names = " and ".join(html.escape(name) for name in archive.feature_names[:2])
    image = base64.b64encode(picture_of(archive)).decode()
    what = "visits (logarithmic)" if problem.constant_objective else "objectives"
    lines = [
        f"{len(archive):,} of {archive.tessellation.cells:,} cells ({100 * archive.coverage:.2f} %)",
        f"{int(archive.visits.sum()):,} visits",
    ]
    if not problem.constant_objective and len(archive):
        lines.append(f"best objective {archive.best().objective:.6g}")
    return (
        f'<div style="font-family:sans-serif"><b>{title}</b><br>'
        f'<img src="data:image/png;base64,{image}" alt="{names}" '
        f'style="image-rendering:pixelated;border:1px solid #ccc"><br>'
        f"<small>{names}: {what}<br>{'<br>'.join(lines)}</small></div>"
    )
