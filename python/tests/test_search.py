"""ask and tell."""

from __future__ import annotations

import copy
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import go, project, small

import rarefy


def test_candidates_are_rows_of_doubles(algorithm: str) -> None:
    search = small(algorithm)
    candidates = search.ask()
    assert candidates.shape == (24, 6) == (search.candidates, search.solution_dim)
    assert candidates.dtype == np.float64
    assert np.array_equal(candidates, search.ask()), "asking again gives the same ones"
    with pytest.raises(ValueError):
        candidates[0, 0] = 1.0


def test_candidates_that_are_kept_stay_as_they_are() -> None:
    search = small()
    kept = []
    for _ in range(10):
        candidates = search.ask()
        kept.append((candidates, candidates.copy()))
        search.tell(project(candidates))
    for candidates, before in kept:
        assert np.array_equal(candidates, before)


def test_every_algorithm_finds_something_and_repeats_it(algorithm: str) -> None:
    one, other = go(small(algorithm), 20), go(small(algorithm, threads=1), 20)
    assert one.iteration == 20
    assert one.evaluations == 480
    assert len(one.archive) > 10
    for name in ("solutions", "features", "objectives", "cells", "visits"):
        assert np.array_equal(getattr(one.archive, name), getattr(other.archive, name)), name
    assert not np.array_equal(one.archive.solutions, go(small(algorithm, seed=2), 20).archive.solutions)


def test_the_same_bits_as_the_command(command: str, tmp_path: Path) -> None:
    words = ["run", "lp", "--n", "10", "--iterations", "30", "--seed", "5", "--grid", "30", "--out", str(tmp_path / "run")]
    subprocess.run([command, *words, "--quiet"], check=True)
    theirs = np.load(tmp_path / "run" / "archive.npz")
    domain = rarefy.Domain("lp", n=10)
    search = rarefy.DensityDescent(10, domain.feature_box, seed=5, grid=30)
    search.run(domain, 30, progress=False)
    for name in ("solutions", "features", "cells", "visits"):
        assert np.array_equal(theirs[name], getattr(search.archive, name)), name


def test_whatever_holds_numbers_can_be_told() -> None:
    features = project(small().ask())
    expected = small()
    expected.ask()
    expected.tell(features)

    class Interchange:  # such as torch and jax have
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return features

    wide = np.zeros((24, 4))
    wide[:, ::2] = features
    frozen = features.copy()
    frozen.flags.writeable = False
    for given in (
        features.tolist(), np.asfortranarray(features), wide[:, ::2], frozen, Interchange(),
        features.astype(">f8"), features.astype(np.longdouble),
    ):  # fmt: skip
        search = small()
        search.ask()
        search.tell(given)
        assert np.array_equal(search.archive.features, expected.archive.features)
    search = small()
    search.ask()
    search.tell(features.astype(np.float32))
    assert np.array_equal(search.archive.features, search.archive.features.astype(np.float32))


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (np.zeros((23, 2)), "features: got an array of shape (23, 2), expected (24, 2)"),
        (np.zeros((24, 3)), "features: got an array of shape (24, 3), expected (24, 2)"),
        (np.zeros(24), "features: got an array of shape (24,), expected (24, 2)"),
        (np.zeros((0, 2)), "features: got an array of shape (0, 2), expected (24, 2)"),
        (np.full((24, 2), np.nan), "features: row 0, feature 0: got nan"),
        (np.full((24, 2), np.inf), "features: row 0, feature 0: got inf"),
        (np.full((24, 2), "a"), "features: got values of type <U1, expected numbers"),
        (np.zeros((24, 2), dtype=complex), "features: got values of type complex128"),
        ("nonsense", "features: got values of type <U8, expected numbers"),
        (None, "features: got values of type object, expected numbers"),
        ([[1.0], [2.0, 3.0]], "features: got a list, expected numbers"),
    ],
)
def test_features_that_cannot_be_used_are_refused_and_change_nothing(features: object, words: str) -> None:
    search = small()
    search.ask()
    with pytest.raises(ValueError) as error:
        search.tell(features)
    assert words in str(error.value)
    assert search.iteration == 0
    search.tell(project(search.ask()))
    assert search.iteration == 1


def test_other_arguments_of_tell_are_checked() -> None:
    search = small()
    with pytest.raises(RuntimeError, match="ask"):
        search.tell(np.zeros((24, 2)))
    features = project(search.ask())
    with pytest.raises(ValueError, match=r"objectives: got an array of shape \(3,\), expected \(24,\)"):
        search.tell(features, [1, 2, 3])
    with pytest.raises(ValueError, match="valid: got an array of shape"):
        search.tell(features, valid=[True])
    with pytest.raises(ValueError, match="objective"):
        search.tell(features, np.full(24, np.nan))


def test_rows_that_failed_are_marked() -> None:
    search = small()
    features = project(search.ask())
    valid = np.ones(24, dtype=bool)
    valid[3] = False
    features[3] = np.nan
    search.tell(features, valid=valid)
    assert search.failed == 1
    assert search.archive.visits.sum() == 23

    other = small(nan_fails=True)
    other.ask()
    other.tell(features)
    assert other.failed == 1
    assert np.array_equal(other.archive.features, search.archive.features)


@pytest.mark.parametrize(
    ("keywords", "kind", "words"),
    [
        ({"sigma": 1}, TypeError, "unexpected keyword argument 'sigma'; did you mean 'sigma0'?"),
        ({"feature_bax": 1}, TypeError, "did you mean 'feature_box'?"),
        ({"xyzzy": 1}, TypeError, "unexpected keyword argument 'xyzzy'"),
        ({"sigma0": -1}, ValueError, "sigma0: got -1, expected 'auto' or a number > 0"),
        ({"batch": 1}, ValueError, "batch: got 1"),
        ({"batch": 2.5}, ValueError, "batch: got 2.5"),
        ({"kernel": "triangle"}, ValueError, "did you mean 'triangular'?"),
        ({"sigma0": []}, ValueError, "sigma0"),
        ({"sigma0": object()}, TypeError, "sigma0: got a object, expected a number or a text"),
        ({"alpha": 0.5}, ValueError, "alpha: the algorithm is dds-kde, and it belongs to cma-mae, dms"),
        ({"name": "a\nb"}, ValueError, "name"),
        ({"feature_names": ["x"]}, ValueError, "feature"),
        ({"objective_range": 5}, ValueError, "objective_range: got 5, expected a pair (low, high)"),
        ({"solution_range": (1,)}, ValueError, "solution_range: got (1,), expected a pair (low, high)"),
        ({"density": "histogram"}, ValueError, "density: got 'histogram', expected 'kde', 'flow', 'mixture' or"),
        ({"initial_solutions": [[1.0]]}, ValueError, "initial_solutions: got an array of shape (1, 1)"),
        ({"initial_solutions": "nowhere.npy"}, OSError, "nowhere.npy"),
        ({"grid": 20, "emitters": 100_000, "batch": 1_000_000}, ValueError, "batch"),
    ],
)
def test_keywords_are_those_of_the_command(keywords: dict[str, object], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as error:
        rarefy.DensityDescent(6, [(-2, 2), (-2, 2)], **keywords)
    assert words in str(error.value)
    assert "--" not in str(error.value), "no flags of the command"


@pytest.mark.parametrize(
    ("solution_dim", "box", "words"),
    [
        (0, [(0, 1)], "solution"), (-1, [(0, 1)], "solution"), (2.5, [(0, 1)], "solution_dim: got 2.5"),
        (True, [(0, 1)], "solution_dim"), (3, [], "feature_box"), (3, [(1, 0)], "feature"),
        (3, [(0, float("nan"))], "feature"), (3, [0, 1], "feature_box"), (3, "box", "feature_box"),
    ],
)  # fmt: skip
def test_problems_that_make_no_sense_are_refused(solution_dim: object, box: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rarefy.DensityDescent(solution_dim, box)  # type: ignore[arg-type]


def test_keeps_to_the_parameters_it_was_given() -> None:
    search = rarefy.CmaMae(6, [(-2, 2)], alpha=0.25, emitters=np.int64(4), batch=6, bounds=(-3, 3), seed=7)
    assert search.config.get("alpha") == 0.25
    assert search.config.get("emitters") == 4
    assert search.candidates == 24
    assert search.config.get("bounds") == "-3,3"
    assert np.all(np.abs(search.ask()) <= 3)
    assert rarefy.DensityDescent(6, [(0, 1)], profile="published").config.get("profile") == "published"


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda search: pickle.loads(pickle.dumps(search))])
def test_a_copy_made_between_ask_and_tell_can_be_told(algorithm: str, copied: Any) -> None:
    search = go(small(algorithm), 2)
    features = project(search.ask())
    other = copied(search)
    for one in (search, other):
        one.tell(features)
    np.testing.assert_array_equal(search.ask(), other.ask())
    with pytest.raises(RuntimeError, match="ask"):
        copied(go(small(algorithm), 1)).tell(features)


@pytest.mark.parametrize("way", ["pickle", "deepcopy", "file"])
@pytest.mark.parametrize("asked", [False, True])
def test_a_copy_goes_on_to_the_same_bits(algorithm: str, way: str, asked: bool, tmp_path: Path) -> None:
    search = go(small(algorithm), 7)
    if asked:
        search.ask()
    if way == "pickle":
        other = pickle.loads(pickle.dumps(search))
    elif way == "deepcopy":
        other = copy.deepcopy(search)
    else:
        search.save(tmp_path / "search")
        other = rarefy.load(tmp_path / "search")
    assert type(other) is type(search)
    go(search, 5)
    go(other, 5)
    assert other.iteration == 12
    assert np.array_equal(search.ask(), other.ask())
    assert np.array_equal(search.archive.solutions, other.archive.solutions)


def test_files_that_are_no_search_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "search"
    go(small(), 2).save(file)
    whole = file.read_bytes()
    for damaged in (b"", b"nonsense", whole[:-1], whole[:100] + b"\0" + whole[101:]):
        file.write_bytes(damaged)
        with pytest.raises(ValueError):
            rarefy.load(file)
    with pytest.raises(OSError):
        rarefy.load(tmp_path / "nowhere")
    with pytest.raises(ValueError):
        small().__setstate__({"state": b"nonsense"})


def test_objectives_decide_which_solution_of_a_cell_stays() -> None:
    search = small("cma-mae", objective_range=(-100, 0))
    for _ in range(10):
        candidates = search.ask()
        search.tell(project(candidates), -np.sum(candidates**2, axis=1))
    archive = search.archive
    assert np.allclose(archive.objectives, -np.sum(archive.solutions**2, axis=1))
    assert search.metrics()["best_objective"] == archive.objectives.max() == archive.best().objective
    assert search.metrics()["qd_score"] == pytest.approx(archive.qd_score)


def test_initial_solutions_come_first() -> None:
    given = np.arange(12.0).reshape(2, 6)
    search = small(initial_solutions=given)
    assert np.array_equal(search.ask()[:2], given)


def test_centroids_of_ones_own() -> None:
    centroids = np.array([[-1.0, 0.0], [1.0, 0.0]])
    search = rarefy.DensityDescent(6, [(-2, 2), (-2, 2)], centroids=centroids, emitters=3, batch=8)
    go(search, 3)
    assert np.array_equal(search.archive.tessellation.centroids, centroids)
    assert np.array_equal(search.archive.cell_of([[-0.5, 1.0], [0.5, 1.0]]), [0, 1])
    assert np.array_equal(pickle.loads(pickle.dumps(search)).archive.visits, search.archive.visits)


def test_log_density_is_that_of_the_search() -> None:
    search = go(small(), 5)
    inside, outside = search.log_density([[0.0, 0.0], [50.0, 50.0]])
    assert inside > outside
    with pytest.raises(TypeError, match="CmaMe does not estimate a density"):
        go(small("cma-me"), 1).log_density([[0.0, 0.0]])


def test_searches_can_share_threads() -> None:
    team = rarefy.Team(2)
    searches = [small(threads=0, team=team, seed=seed) for seed in (1, 2)]
    for search in searches:
        go(search, 3)
    assert np.array_equal(searches[0].ask(), go(small(), 3).ask())


def test_a_problem_or_a_domain_describes_itself() -> None:
    maze = rarefy.Domain("maze")
    search = rarefy.NoveltySearch(maze, seed=2, emitters=2, batch=4)
    assert search.problem == maze.problem
    assert search.problem.lines
    assert search.problem.places == [(0.15, 0.15, "start")]
    search.tell(*maze(search.ask()))
    assert pickle.loads(pickle.dumps(search)).problem.lines == search.problem.lines
    assert rarefy.DensityDescent(rarefy.Problem(3, [(0, 1)])).solution_dim == 3
    with pytest.raises(TypeError, match="feature_box"):
        rarefy.DensityDescent(maze, [(0, 1)])


def test_there_is_no_density_before_features_are_told() -> None:
    search = rarefy.DensityDescent(4, [(0, 1), (0, 1)], seed=1, emitters=2, batch=4)
    with pytest.raises(RuntimeError, match="tell"):
        search.log_density([[0.5, 0.5]])
    search.tell(search.ask()[:, :2])
    assert np.isfinite(search.log_density([[0.5, 0.5]])).all()


def test_none_leaves_a_parameter_as_it_is() -> None:
    rarefy.MapElites(2, [(0, 1)], sigma0=None)
    with pytest.raises(ValueError, match="sigma0"):
        rarefy.MapElites(2, [(0, 1)], sigma0=1.0)
