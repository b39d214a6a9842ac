"""What a notebook shows: small pictures without any plotting library."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

import rarefy
from rarefy import _core, _html
from rarefy.searches import search_of


def pixels_of(file: bytes) -> Any:
    """The colours of a PNG file as we write them: one chunk of data, no filters."""
    assert file.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", file[16:24])
    at = file.index(b"IDAT")
    (size,) = struct.unpack(">I", file[at - 4 : at])
    rows = np.frombuffer(zlib.decompress(file[at + 4 : at + 4 + size]), np.uint8).reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


def svgs_of(html: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(part) for part in re.findall(r"<svg.*?</svg>", html)]


def texts_of(svg: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in svg.iter() if text.tag.endswith("text")]


def test_picture_has_a_pixel_for_each_cell_and_up_is_up() -> None:
    archive = rarefy.EliteArchive(rarefy.Grid([(0, 3), (0, 2)], [3, 2]), 1)
    # Four visits at the lower right, one at the upper left.
    archive.add(np.zeros((5, 1)), [[2.5, 0.5]] * 4 + [[0.5, 1.5]])
    pixels = pixels_of(_html.picture_of(archive.view()))
    assert pixels.shape == (2, 3, 3)
    least, most, nothing = (68, 1, 84), (253, 231, 37), (235, 235, 235)
    wanted = [[least, nothing, nothing], [nothing, nothing, most]]
    np.testing.assert_array_equal(pixels, wanted)


def test_picture_of_voronoi_cells_has_the_colour_of_the_cell_everywhere() -> None:
    cells = rarefy.Cvt.of([(0.0, 1.0), (0.0, 1.0)], np.array([[0.25, 0.5], [0.75, 0.5]]))
    archive = rarefy.EliteArchive(cells, 1)
    archive.add([[0.0]], [[0.1, 0.1]])
    pixels = pixels_of(_html.picture_of(archive.view()))
    side = pixels.shape[1]
    assert np.all(pixels[:, : side // 2] == (68, 1, 84)) and np.all(pixels[:, side // 2 :] == (235, 235, 235))


def test_fine_grids_make_small_pictures_that_lose_no_cell() -> None:
    archive = rarefy.EliteArchive(rarefy.Grid([(0, 1), (0, 1)], [2000, 2000]), 1)
    archive.add([[0.0]], [[0.30001, 0.70001]])
    pixels = pixels_of(_html.picture_of(archive.view()))
    assert max(pixels.shape) <= 500
    assert np.sum(np.any(pixels != 235, axis=-1)) == 1


def test_archive_shows_axes_and_escapes_names() -> None:
    search = rarefy.DensityDescent(2, [(-2, 2), (-3, 5)], seed=1, feature_names=["a<b", "c"], title="R&D")
    search.run(lambda solutions: solutions, 3, progress=False)
    html = search._repr_html_()
    (svg,) = svgs_of(html)
    assert {"a<b", "c", "−2", "2", "−3", "5"} <= set(texts_of(svg))
    assert "<b>R&amp;D</b>" in html and "visits of each cell" in html


def test_search_says_how_far_it_is_and_a_problem_without_a_name_has_no_title() -> None:
    search = rarefy.DensityDescent(2, [(-2, 2), (-3, 5)], seed=1, emitters=2, batch=10)
    features = search.ask().copy()
    search.tell(features, valid=features[:, 0] > features[:, 0].min())
    html = search._repr_html_()
    assert "DensityDescent, 1 iterations, 20 evaluations" in html and "1 evaluations failed" in html
    assert "<b>" not in html and "<b>arm</b>" in rarefy.MapElites(2, [(0, 1)], name="arm")._repr_html_()


def test_archives_of_any_number_of_features_can_be_shown() -> None:
    for features in (1, 2, 3, 9):
        search = rarefy.MapElites(9, [(-2, 2)] * features, seed=1, archive="cvt", cells=50)
        assert len(svgs_of(search._repr_html_())) == 1  # while empty
        search.run(lambda solutions, count=features: solutions[:, :count], 2, progress=False)
        assert len(svgs_of(search._repr_html_())) == 1


def test_a_maze_has_its_walls() -> None:
    domain = rarefy.Domain("maze")
    core = _core._Search.make(_core.Config("maze", "dds-kde"), domain.problem, _core.Team(0), None, None)
    (svg,) = svgs_of(search_of(core)._repr_html_())
    assert sum(part.tag.endswith("line") for part in svg.iter()) == len(domain.problem.lines)


def test_result_shows_its_course(tmp_path: Path) -> None:
    search = rarefy.DensityDescent(2, [(-2, 2), (-3, 5)], seed=1, metrics_every=1)
    result = search.run(lambda solutions: solutions, 6, progress=False, folder=tmp_path / "run")
    html = result._repr_html_()
    _, curve = svgs_of(html)
    (line,) = [part for part in curve.iter() if part.tag.endswith("polyline")]
    points = np.array([point.split(",") for point in line.attrib["points"].split()], dtype=float)
    assert len(points) == 6
    rising = (points[0, 1] - points[:, 1]) / (points[0, 1] - points[-1, 1])
    coverage = result.columns["coverage"]
    np.testing.assert_allclose(rising, (coverage - coverage[0]) / (coverage[-1] - coverage[0]), atol=0.01)
    assert "finished after 6 iterations" in html and "run" in html
