"""Pictures show what archives, runs and densities hold."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.collections import LineCollection, QuadMesh  # noqa: E402
from matplotlib.colors import LogNorm  # noqa: E402

import rarefy  # noqa: E402
import rarefy.plot as plot  # noqa: E402
from rarefy import _core  # noqa: E402
from rarefy.searches import search_of  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures() -> Any:
    yield
    plt.close("all")


def bent(solutions: Any) -> Any:
    features = np.stack([solutions[:, 0] + 0.5 * np.sin(3 * solutions[:, 1]), 2 * solutions[:, 1]], axis=1)
    return features, np.exp(-np.sum(solutions**2, axis=1) / 4)


def first_three(solutions: Any) -> Any:
    return solutions[:, :3], -np.sum(solutions**2, axis=1)


@pytest.fixture(scope="module")
def grid_search() -> rarefy.Search:
    """Two features, objectives all the same; not every cell is found."""
    search = rarefy.DensityDescent(3, [(-2, 2), (-3, 3)], seed=1, grid=60, feature_names=["bend", "reach"], title="Bent")
    search.run(lambda solutions: bent(solutions)[0], 10, progress=False)
    assert 0.2 < search.coverage < 0.99
    return search


@pytest.fixture(scope="module")
def cvt_search() -> rarefy.Search:
    search = rarefy.CmaMae(3, [(-2, 2), (-3, 3)], seed=1, archive="cvt", cells=40, objective_range=(0, 1))
    search.run(bent, 5, progress=False)
    return search


@pytest.fixture(scope="module")
def three() -> rarefy.Search:
    search = rarefy.CmaMae(5, [(-2, 2), (-1, 1), (-3, 3)], seed=1, archive="grid", grid=7, objective_range=(-50, 0))
    search.run(first_three, 10, progress=False)
    return search


@pytest.fixture(scope="module")
def maze() -> rarefy.Search:
    domain = rarefy.Domain("maze")
    core = _core._Search.make(_core.Config("maze", "dds-kde"), domain.problem, _core.Team(0), None, None)
    search = search_of(core)
    search.run(domain, 3, progress=False)
    return search


def mesh_of(ax: Any) -> QuadMesh:
    (mesh,) = [one for one in ax.collections if isinstance(one, QuadMesh)]
    return mesh


def painted(ax: Any) -> Any:
    """Rows from below, NaN where nothing is painted."""
    return np.ma.filled(mesh_of(ax).get_array().astype(float), np.nan)


def reshaped(mesh: QuadMesh) -> Any:
    corners = mesh.get_coordinates()
    return corners[0, :, 0], corners[:, 0, 1]


# ---- heatmaps --------------------------------------------------------------------------------


def test_heatmap_of_a_grid_paints_every_visit_between_its_edges(grid_search: rarefy.Search) -> None:
    archive = grid_search.archive
    ax = plot.heatmap(grid_search)
    visits = archive.visits.reshape(archive.shape).astype(float)
    np.testing.assert_array_equal(painted(ax), np.where(visits > 0, visits, np.nan).T)
    x, y = reshaped(mesh_of(ax))
    np.testing.assert_allclose(x, np.linspace(-2, 2, 61))
    np.testing.assert_allclose(y, np.linspace(-3, 3, 61))
    assert isinstance(mesh_of(ax).norm, LogNorm)
    assert ax.get_xlim() == (-2, 2) and ax.get_ylim() == (-3, 3)  # up is up
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("bend", "reach", "Bent")


def test_heatmap_shows_an_elite_where_its_features_are(grid_search: rarefy.Search) -> None:
    ax = plot.heatmap(grid_search)
    x, y = reshaped(mesh_of(ax))
    for elite in list(grid_search.archive)[:20]:
        if np.all(np.abs(elite.features) < (2, 3)):
            column, row = np.searchsorted(x, elite.features[0]) - 1, np.searchsorted(y, elite.features[1]) - 1
            assert painted(ax)[row, column] == grid_search.archive.visits[elite.cell]


def test_heatmap_of_an_oblong_grid() -> None:
    archive = rarefy.EliteArchive(rarefy.Grid([(0, 3), (0, 2)], [3, 2]), 1)
    archive.add([[0.0], [1.0]], [[2.5, 0.5], [0.5, 1.5]], [7.0, 8.0])
    ax = plot.heatmap(archive, values="objectives")
    np.testing.assert_array_equal(painted(ax), [[np.nan, np.nan, 7], [8, np.nan, np.nan]])
    swapped = plot.heatmap(archive, values="objectives", features=(1, 0))
    np.testing.assert_array_equal(painted(swapped), [[np.nan, 8], [np.nan, np.nan], [7, np.nan]])


def test_heatmap_of_one_feature_is_a_strip() -> None:
    search = rarefy.DensityDescent(2, [(-4, 4)], seed=1, grid=30)
    search.run(lambda solutions: solutions[:, :1], 3, progress=False)
    ax = plot.heatmap(search)
    visits = search.archive.visits.astype(float)
    np.testing.assert_array_equal(painted(ax), np.where(visits > 0, visits, np.nan)[None, :])
    assert len(ax.get_yticks()) == 0


def test_heatmap_of_voronoi_cells_paints_each_pixel_with_the_value_of_its_cell(cvt_search: rarefy.Search) -> None:
    archive = cvt_search.archive
    ax = plot.heatmap(cvt_search, resolution=50)
    objectives = {int(cell): objective for cell, objective in zip(archive.cells, archive.objectives, strict=True)}
    x, y = reshaped(mesh_of(ax))
    image = painted(ax)
    assert image.shape == (50, 50)
    for row in range(0, 50, 7):
        for column in range(50):
            middle = [[(x[column] + x[column + 1]) / 2, (y[row] + y[row + 1]) / 2]]
            cell = int(archive.cell_of(middle)[0])
            np.testing.assert_equal(image[row, column], objectives.get(cell, np.nan))
    assert not isinstance(mesh_of(ax).norm, LogNorm)
    visits = painted(plot.heatmap(cvt_search, values="visits", resolution=50))
    assert set(visits[np.isfinite(visits)]) <= set(archive.visits)


def test_heatmap_of_many_features_projects_the_best_objective(three: rarefy.Search) -> None:
    archive = three.archive
    ax = plot.heatmap(three, features=(2, 1))
    low, wide = np.array([-3, -1]), np.array([6, 2])
    wanted = np.full((7, 7), np.nan)
    for elite in archive:
        at = np.clip(((elite.features[[2, 1]] - low) / wide * 7).astype(int), 0, 6)
        wanted[at[1], at[0]] = np.fmax(wanted[at[1], at[0]], elite.objective)
    np.testing.assert_array_equal(painted(ax), wanted)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature_2", "feature_1")
    assert np.nansum(painted(plot.heatmap(three, values="elites", bins=4))) == len(archive)
    assert np.nansum(painted(plot.heatmap(three, values="visits"))) == archive.visits.sum()


def test_heatmap_takes_results_folders_and_axes(tmp_path: Path) -> None:
    search = rarefy.DensityDescent(3, [(-2, 2), (-3, 3)], seed=1, grid=12)
    result = search.run(lambda solutions: bent(solutions)[0], 4, progress=False, folder=tmp_path / "run")
    _, axes = plt.subplots(1, 4)
    for ax, what in zip(axes, (search, search.archive, result, tmp_path / "run"), strict=True):
        assert plot.heatmap(what, ax, colorbar=False) is ax
        np.testing.assert_array_equal(painted(ax), painted(axes[0]))
    assert len(axes[0].figure.axes) == 4  # no colour bars
    assert axes[0].get_title() == ""  # the problem has no title and no name of its own


def test_heatmap_draws_walls_and_landmarks(maze: rarefy.Search) -> None:
    ax = plot.heatmap(maze, landmarks={"start": (0.15, 0.2)})
    (walls,) = [one for one in ax.collections if isinstance(one, LineCollection)]
    np.testing.assert_allclose([part.ravel() for part in walls.get_segments()], maze.problem.lines)
    assert [text.get_text() for text in ax.texts] == ["start"]
    swapped = plot.heatmap(maze, features=("y", "x"), landmarks={"start": (0.15, 0.2)})
    (walls,) = [one for one in swapped.collections if isinstance(one, LineCollection)]
    wanted = np.array(maze.problem.lines)[:, [1, 0, 3, 2]]
    np.testing.assert_allclose([part.ravel() for part in walls.get_segments()], wanted)
    assert swapped.texts[0].xy == (0.2, 0.15)
    assert not [one for one in plot.heatmap(maze, lines=()).collections if isinstance(one, LineCollection)]


def test_heatmap_has_a_colour_bar_with_plain_numbers(maze: rarefy.Search) -> None:
    ax = plot.heatmap(maze, vmin=1, vmax=1000)
    bar = ax.figure.axes[1]
    ax.figure.canvas.draw()
    assert bar.get_ylabel() == "visits of the cell"
    texts = [tick.get_text() for tick in bar.get_yticklabels()]
    assert {"1", "10", "100", "1000"} <= set(texts)


def test_heatmap_of_an_empty_archive_is_empty() -> None:
    for keywords in ({}, {"objective_range": (0, 1)}):
        ax = plot.heatmap(rarefy.MapElites(3, [(0, 1), (0, 1)], grid=5, **keywords))
        ax.figure.canvas.draw()
        assert np.all(np.isnan(painted(ax)))


# ---- corners ---------------------------------------------------------------------------------


def test_corner_has_projections_below_and_histograms_on_the_diagonal(three: rarefy.Search) -> None:
    axes = plot.corner(three, values="elites")
    assert axes.shape == (3, 3)
    for row in range(3):
        for column in range(3):
            meshes = [one for one in axes[row, column].collections if isinstance(one, QuadMesh)]
            assert len(meshes) == (row > column)
            if row > column:
                wanted = painted(plot.heatmap(three, values="elites", features=(column, row)))
                np.testing.assert_array_equal(painted(axes[row, column]), wanted)
        (steps,) = axes[row, row].patches
        assert steps.get_data().values.sum() == len(three.archive)
    assert [ax.get_xlabel() for ax in axes[-1]] == ["feature_0", "feature_1", "feature_2"]
    assert [ax.get_ylabel() for ax in axes[:, 0]] == ["", "feature_1", "feature_2"]
    norms = {(mesh_of(axes[i, j]).norm.vmin, mesh_of(axes[i, j]).norm.vmax) for i in range(3) for j in range(i)}
    assert len(norms) == 1  # one colour bar for all
    axes[0, 0].figure.canvas.draw()
    boxes = [ax.get_position().bounds for ax in axes.ravel()]
    np.testing.assert_allclose([box[2:] for box in boxes], [boxes[0][2:]] * 9, atol=1e-6)
    lefts = [ax.get_position().x0 for ax in axes[0]]
    assert np.ptp(np.diff(lefts)) < 0.01  # evenly spaced


def test_corner_writes_large_and_small_numbers_briefly() -> None:
    search = rarefy.MapElites(3, [(0, 1e6), (-1e-4, 1e-4)], seed=1, grid=5)
    axes = plot.corner(search)
    axes[0, 0].figure.canvas.draw()
    texts = [tick.get_text() for tick in (*axes[1, 0].get_xticklabels(), *axes[1, 0].get_yticklabels())]
    assert "4e5" in texts and any(text.endswith("e−5") for text in texts)
    assert all(len(text) <= 6 for text in texts)


def test_corner_takes_some_features_and_axes(three: rarefy.Search) -> None:
    _, axes = plt.subplots(2, 2)
    assert plot.corner(three, axes, features=(2, "feature_0"))[1, 0] is axes[1, 0]
    assert axes[1, 0].get_xlabel() == "feature_2"
    with pytest.raises(ValueError, match=r"ax: got axes of shape \(2, 2\), expected \(3, 3\)"):
        plot.corner(three, axes)


def test_corner_refuses_too_many_features() -> None:
    search = rarefy.MapElites(10, [(0, 1)] * 9, archive="cvt", cells=20)
    with pytest.raises(ValueError, match=r"features: got 9 of them, expected 2 to 8; choose some"):
        plot.corner(search)
    with pytest.raises(ValueError, match="features: got 1 of them"):
        plot.corner(search, features=[3])


# ---- curves ----------------------------------------------------------------------------------


def tables(count: int) -> list[dict[str, Any]]:
    generator = np.random.default_rng(7)
    at = np.arange(10, 60, 10)
    return [{"evaluations": at, "coverage": np.sort(generator.random(5))} for _ in range(count)]


def band_edges(ax: Any) -> tuple[Any, Any]:
    """Of the only band: low and high at each point."""
    (filled,) = ax.collections
    corners = filled.get_paths()[0].vertices
    at = np.unique(corners[:, 0])
    ys = [corners[corners[:, 0] == one, 1] for one in at]
    return np.array([y.min() for y in ys]), np.array([y.max() for y in ys])


@pytest.mark.parametrize("band", ["quartiles", "stderr", "minmax"])
def test_curves_have_the_middle_and_the_band_of_the_seeds(band: str) -> None:
    runs = tables(6)
    values = np.stack([run["coverage"] for run in runs])
    ax = plot.curves({"a": runs}, band=band)
    low, high = band_edges(ax)
    middle = ax.lines[0].get_ydata()
    if band == "stderr":
        error = values.std(axis=0, ddof=1) / np.sqrt(6)
        wanted = values.mean(axis=0) - error, values.mean(axis=0), values.mean(axis=0) + error
    elif band == "minmax":
        wanted = values.min(axis=0), np.median(values, axis=0), values.max(axis=0)
    else:
        wanted = tuple(np.quantile(values, part, axis=0) for part in (0.25, 0.5, 0.75))
    np.testing.assert_allclose((low, middle, high), wanted)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), runs[0]["evaluations"])


def test_curves_interpolate_where_all_runs_have_values() -> None:
    one = {"evaluations": np.array([0, 10, 20]), "coverage": np.array([0.0, 0.2, 0.4])}
    two = {"evaluations": np.array([5, 15, 40]), "coverage": np.array([0.3, 0.5, 1.0])}
    ax = plot.curves({"a": [one, two]})
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [5, 10, 15, 20])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.2, 0.3, 0.4, 0.5])


def test_curves_take_results_frames_and_folders(tmp_path: Path) -> None:
    search = rarefy.DensityDescent(3, [(-2, 2), (-3, 3)], seed=1, grid=12, metrics_every=1)
    result = search.run(lambda solutions: bent(solutions)[0], 4, progress=False, folder=tmp_path / "run")
    given = {"result": result, "folders": tmp_path.glob("r*"), "columns": result.columns}
    if importlib.util.find_spec("pandas"):
        given["frame"] = result.metrics
    ax = plot.curves(given, "qd_score", x="iteration")
    assert len(ax.lines) == len(given) and not ax.collections  # one run has no band
    for line in ax.lines:
        np.testing.assert_array_equal(line.get_xdata(), [1, 2, 3, 4])
        np.testing.assert_allclose(line.get_ydata(), result.columns["qd_score"])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(given)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("iterations", "QD score")


def test_curves_have_the_labels_and_colours_they_are_given() -> None:
    ax = plot.curves({"a": tables(2), "b": tables(3)}, labels=["first", "second"], colors={"a": "red", "b": "blue"})
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["first", "second"]
    assert [line.get_color() for line in ax.lines] == ["red", "blue"]
    assert plot.curves(tables(2)).get_legend() is None
    assert plot.curves(tables(1)[0]).get_legend() is None


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"band": "sigma"}, "band: got 'sigma', expected 'quartiles'"),
        ({"metric": "covrage"}, "metric: got 'covrage', expected a column of .*coverage"),
        ({"x": "time"}, "x: got 'time', expected a column"),
        ({"labels": ["one", "two"]}, "labels: got .* expected 1, one for each label"),
        ({"labels": {"b": "two"}}, "labels: got none for 'a'"),
        ({"runs": {"a": []}}, r"runs\['a'\]: got no runs"),
        ({"runs": {}}, "runs: got no runs"),
        ({"runs": {"a": 3}}, r"runs\['a'\]: got a int, expected a RunResult"),
        ({"runs": {"a": "/nowhere/at/all"}}, "got '/nowhere/at/all', expected the folder of a run"),
    ],
)
def test_curves_name_what_is_wrong(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot.curves(**{"runs": {"a": tables(2)}, **keywords})


def test_curves_refuse_runs_without_points_in_common() -> None:
    one = {"evaluations": np.array([0, 10]), "coverage": np.array([0.0, 0.2])}
    two = {"evaluations": np.array([20, 30]), "coverage": np.array([0.3, 0.5])}
    with pytest.raises(ValueError, match="expected some evaluations in common"):
        plot.curves([one, two])


# ---- densities -------------------------------------------------------------------------------


def test_density_of_a_search_is_what_it_says(grid_search: rarefy.Search) -> None:
    ax = plot.density(grid_search, resolution=20, depth=None)
    x, y = reshaped(mesh_of(ax))
    middles = np.stack([np.tile((x[1:] + x[:-1]) / 2, 20), np.repeat((y[1:] + y[:-1]) / 2, 20)], axis=1)
    np.testing.assert_allclose(painted(ax).ravel(), grid_search.log_density(middles))
    assert (x[0], x[-1], y[0], y[-1]) == (-2, 2, -3, 3)
    assert ax.figure.axes[1].get_ylabel() == "log density"


def test_density_of_samples(grid_search: rarefy.Search) -> None:
    samples = np.random.default_rng(1).normal(size=(50, 2))
    estimate = rarefy.KernelDensity(samples)
    ax = plot.density(estimate, samples=True, depth=5)
    np.testing.assert_allclose(np.sort(ax.collections[1].get_offsets(), axis=0), np.sort(samples, axis=0))
    norm = mesh_of(ax).norm
    assert norm.vmax - norm.vmin == pytest.approx(5)
    chosen = plot.density(estimate, feature_box=[(0, 1), (0, 2)], samples=[[0.5, 0.5]])
    assert chosen.get_xlim() == (0, 1) and chosen.get_ylim() == (0, 2)
    assert len(plot.density(grid_search, samples=True).collections[1].get_offsets()) == len(grid_search.archive)


def test_density_of_one_feature_is_a_line() -> None:
    estimate = rarefy.KernelDensity(np.random.default_rng(1).normal(size=(50, 1)))
    ax = plot.density(estimate, resolution=30, samples=True)
    x, y = ax.lines[0].get_data()
    np.testing.assert_allclose(y, estimate.log_density(np.asarray(x)[:, None]))
    assert len(x) == 30 and len(ax.lines[1].get_xdata()) == 50


def test_density_names_what_is_wrong(grid_search: rarefy.Search, three: rarefy.Search) -> None:
    fresh = rarefy.DensityDescent(2, [(0, 1), (0, 1)])
    with pytest.raises(ValueError, match="of: got a search that was told nothing"):
        plot.density(fresh)
    with pytest.raises(ValueError, match="of: got a density over 3 features, expected 1 or 2"):
        plot.density(three)
    with pytest.raises(ValueError, match="of: got a int, expected a DensityDescent"):
        plot.density(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="resolution: got 0, expected a whole number of at least 1"):
        plot.density(grid_search, resolution=0)
    with pytest.raises(ValueError, match="depth: got -1"):
        plot.density(grid_search, depth=-1)
    with pytest.raises(ValueError, match="feature_box: got .* for each of 2 features"):
        plot.density(grid_search, feature_box=[(0, 1)])
    with pytest.raises(ValueError, match="samples: got an array of shape"):
        plot.density(grid_search, samples=[[1.0]])
    mapped = rarefy.MapElites(2, [(0, 1), (0, 1)])
    mapped.ask()
    mapped.tell(np.zeros((mapped.candidates, 2)))
    with pytest.raises(TypeError, match="does not estimate a density"):
        plot.density(mapped)


# ---- parallel axes ---------------------------------------------------------------------------


def test_parallel_has_a_line_for_each_elite(three: rarefy.Search) -> None:
    archive = three.archive
    ax = plot.parallel(three, count=10**6)
    (lines,) = [one for one in ax.collections if isinstance(one, LineCollection)]
    segments = np.array(lines.get_segments())
    assert segments.shape == (len(archive), 4, 2)
    order = np.argsort(archive.objectives, kind="stable")
    box = np.array(archive.problem.feature_box)
    places = np.clip((archive.features[order] - box[:, 0]) / (box[:, 1] - box[:, 0]), 0, 1)
    np.testing.assert_allclose(segments[:, :3, 1], places)
    np.testing.assert_array_equal(lines.get_array(), archive.objectives[order])
    assert segments[0, 3, 1] == 0 and segments[-1, 3, 1] == 1
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    assert names == ["feature_0", "feature_1", "feature_2", "objective"]


def test_parallel_draws_some_and_colours_by_what_is_asked(grid_search: rarefy.Search) -> None:
    archive = grid_search.archive
    ax = plot.parallel(grid_search, count=9, color_by="visits")
    (lines,) = [one for one in ax.collections if isinstance(one, LineCollection)]
    assert len(lines.get_segments()) == 9
    assert set(lines.get_array()) <= set(archive.visits) and isinstance(lines.norm, LogNorm)
    assert ax.figure.axes[1].get_ylabel() == "visits"
    other = plot.parallel(grid_search, features=("reach", "bend"))
    assert [tick.get_text() for tick in other.get_xticklabels()] == ["reach", "bend"]  # the objective is constant
    assert other.figure.axes[1].get_ylabel() == "reach"


def test_parallel_names_what_is_wrong(grid_search: rarefy.Search) -> None:
    with pytest.raises(ValueError, match="color_by: got 'height', expected .*'bend', 'reach'"):
        plot.parallel(grid_search, color_by="height")
    with pytest.raises(ValueError, match="count: got 0"):
        plot.parallel(grid_search, count=0)
    with pytest.raises(ValueError, match="what: got an empty archive"):
        plot.parallel(rarefy.MapElites(2, [(0, 1), (0, 1)]))
    with pytest.raises(ValueError, match="features: got 1 of them, expected at least two axes"):
        plot.parallel(grid_search, features=["bend"])


# ---- what is given ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"what": 3}, "what: got a int, expected a Search"),
        ({"what": "/nowhere/at/all"}, "what: got '/nowhere/at/all', expected the folder of a run"),
        ({"values": "visit"}, "values: got 'visit', expected 'auto' or 'visits'"),
        ({"values": "elites"}, "values: got 'elites' with 2 features"),
        ({"features": (0, 2)}, "features: got 2, expected 2 different features out of 'bend', 'reach'"),
        ({"features": (1, 1)}, r"features: got \(1, 1\), expected 2 different features"),
        ({"features": ("bend", "depth")}, "features: got 'depth'"),
        ({"features": 1}, "features: got 1, expected 2 different"),
        ({"cmap": "virids"}, "cmap: got 'virids'"),
        ({"vmin": 0}, "vmin: got 0, expected more than 0"),
        ({"vmax": 0.5}, "vmax: got 0.5, expected more than 1"),
        ({"resolution": 1.5}, "resolution: got 1.5"),
    ],
)
def test_heatmap_names_what_is_wrong(grid_search: rarefy.Search, keywords: dict[str, Any], message: str) -> None:
    before = plt.get_fignums()
    with pytest.raises(ValueError, match=message):
        plot.heatmap(**{"what": grid_search, **keywords})
    assert plt.get_fignums() == before  # no empty figure is left


def in_a_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.strip()


def test_rarefy_does_without_matplotlib() -> None:
    assert in_a_process("import sys, rarefy; print('matplotlib' in sys.modules)") == "False"
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "try:\n import rarefy.plot\n"
        "except ImportError as problem: print(problem)"
    )
    assert "pip install rarefy[plot]" in in_a_process(code)
