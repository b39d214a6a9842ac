"""What a search has found, for people and other programs."""

from __future__ import annotations

import base64
import re

import numpy as np
import pytest
from conftest import go, small

import rarefy


@pytest.fixture
def archive() -> rarefy.Archive:
    return go(small(feature_names=["left", "right"], title="Mine"), 20).archive


def test_elites_by_cell_and_by_features(archive: rarefy.Archive) -> None:
    for elite in archive:
        assert archive.in_cell(elite.cell).cell == elite.cell
        assert archive.cell_of([elite.features])[0] == elite.cell
    assert archive.in_cell(int(np.flatnonzero(archive.visits == 0)[0])) is None
    wanted = archive[3]
    assert archive.nearest(wanted.features).cell == wanted.cell
    distances = np.linalg.norm(archive.features - [0.1, 0.2], axis=1)
    assert archive.nearest([0.1, 0.2]).cell == archive.cells[distances.argmin()]


def test_it_does_not_change_when_the_search_goes_on() -> None:
    search = go(small(), 3)
    before = search.archive
    count = len(before)
    assert search.archive is before
    go(search, 10)
    assert len(before) == count < len(search.archive)
    with pytest.raises(ValueError):
        before.solutions[0, 0] = 1.0


def test_samples_are_elites(archive: rarefy.Archive) -> None:
    sample = archive.sample(50, seed=1)
    assert len(sample) == 50
    assert set(sample.cells) <= set(archive.cells)
    assert np.array_equal(sample.cells, archive.sample(50, seed=1).cells)
    with pytest.raises(ValueError, match="empty"):
        small().archive.sample(1)


def test_as_a_table(archive: rarefy.Archive) -> None:
    pytest.importorskip("pandas")
    table = archive.to_pandas()
    assert list(table.columns) == ["cell", "objective", "left", "right", *(f"solution_{i}" for i in range(6))]
    assert np.array_equal(table[["left", "right"]].to_numpy(), archive.features)
    assert len(table) == len(archive)


def test_in_a_notebook(archive: rarefy.Archive) -> None:
    page = archive._repr_html_()
    assert "<b>Mine</b>" in page
    assert ">left<" in page
    assert ">right<" in page
    image = base64.b64decode(re.search(r"base64,([^\"]+)", page).group(1))
    assert image.startswith(b"\x89PNG")
    assert "&lt;b&gt;" in go(small(title="<b>"), 1).archive._repr_html_()
    assert "0 of 400 cells" in small().archive._repr_html_()
    many = rarefy.DensityDescent(6, [(-2, 2)] * 3, cells=20, cvt_samples=200, emitters=2, batch=4)
    many.tell(many.ask()[:, :3])
    assert "of 20 cells" in many._repr_html_()
    one = rarefy.DensityDescent(6, [(-2, 2)], emitters=2, batch=4)
    one.tell(one.ask()[:, :1])
    assert "of 100 cells" in one._repr_html_()


def test_in_words(archive: rarefy.Archive) -> None:
    assert repr(archive) == f"<Archive: {len(archive)} of 400 cells, 480 visits>"
    assert "DensityDescent: 6 values, 2 features, 3 iterations" in repr(go(small(), 3))
