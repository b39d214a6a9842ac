"""Densities and emitters written in Python."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from pathlib import Path

import numpy as np
import pytest
from conftest import go, project, small

import rarefy


class Histogram:
    """How often each of a few squares was visited."""

    def __init__(self) -> None:
        self.counts = np.zeros((10, 10))

    def _places(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        places = np.clip(((features + 2) / 4 * 10).astype(int), 0, 9)
        return places[:, 0], places[:, 1]

    def score(self, features: np.ndarray) -> np.ndarray:
        return self.counts[self._places(features)]

    def observe(self, features: np.ndarray, objectives: np.ndarray) -> None:
        np.add.at(self.counts, self._places(features), 1)


class RandomWalk:
    """Steps from the best of the last batch."""

    def __init__(self, batch: int = 8, seed: int = 1) -> None:
        self.batch = batch
        self.seed = seed
        self.mean = np.zeros(6)
        self.restarts = 0
        self.told = 0

    def ask(self, iteration: int) -> np.ndarray:
        return self.mean + np.random.default_rng([self.seed, iteration]).normal(size=(self.batch, 6))

    def tell(self, solutions: np.ndarray, features: np.ndarray, objectives: np.ndarray, scores: np.ndarray, order: np.ndarray) -> bool:
        self.mean = solutions[order[0]]
        inside = [row for row in order if np.all(np.abs(features[row]) <= 2)]  # others come last
        assert list(order[: len(inside)]) == inside
        assert np.all(np.diff(scores[inside]) >= 0) or self.told == 0
        self.told += 1
        return self.told % 10 == 0

    def restart(self, solution: np.ndarray) -> None:
        self.mean = solution
        self.restarts += 1


def test_a_density_of_ones_own_is_descended() -> None:
    histogram = Histogram()
    search = rarefy.DensityDescent(6, [(-2, 2), (-2, 2)], density=histogram, emitters=3, batch=8, grid=20, seed=1, sigma0=1.5)
    go(search, 30)
    assert histogram.counts.sum() == 30 * 24
    blind = rarefy.DensityDescent(6, [(-2, 2), (-2, 2)], density=Blind(), emitters=3, batch=8, grid=20, seed=1, sigma0=1.5)
    assert len(search.archive) > len(go(blind, 30).archive)


class Blind(Histogram):
    def score(self, features: np.ndarray) -> np.ndarray:
        return np.random.default_rng(len(features)).uniform(size=len(features))


def test_emitters_of_ones_own_are_asked_told_and_restarted() -> None:
    emitters = [RandomWalk(seed=1), RandomWalk(batch=5, seed=2)]
    search = small("kde", own_emitters=emitters)
    assert search.candidates == 13
    go(search, 25)
    assert [emitter.told for emitter in emitters] == [25, 25]
    assert all(emitter.restarts >= 2 for emitter in emitters)
    assert len(search.archive) > 20


@pytest.mark.parametrize("way", [lambda s: pickle.loads(pickle.dumps(s)), copy.deepcopy])
def test_copies_go_on_to_the_same_bits(way: object) -> None:
    search = rarefy.DensityDescent(
        6, [(-2, 2), (-2, 2)], density=Histogram(), own_emitters=[RandomWalk()], grid=20, seed=1
    )
    go(search, 7)
    other = way(search)  # type: ignore[operator]
    go(search, 8)
    go(other, 8)
    assert np.array_equal(search.archive.solutions, other.archive.solutions)
    assert np.array_equal(search.ask(), other.ask())


def test_what_they_do_wrong_is_told(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="density: got a object"):
        small("kde", density=object())
    with pytest.raises(TypeError, match="own_emitters: got a int"):
        small("kde", own_emitters=[1])
    with pytest.raises(ValueError, match="batch of an emitter"):
        small("kde", own_emitters=[RandomWalk(batch=0)])

    class Wrong(RandomWalk):
        def ask(self, iteration: int) -> np.ndarray:
            return np.zeros((1, 1))

    with pytest.raises(ValueError, match="solutions of an emitter: got 1 x 1, expected 8 x 6"):
        small("kde", own_emitters=[Wrong()]).ask()

    class Raises(Histogram):
        def score(self, features: np.ndarray) -> np.ndarray:
            raise ArithmeticError("on purpose")

    search = rarefy.DensityDescent(6, [(-2, 2), (-2, 2)], density=Raises(), emitters=3, batch=8)
    go(search, 1)
    with pytest.raises(ArithmeticError, match="on purpose"):
        go(search, 1)

    class NotANumber(Histogram):
        def score(self, features: np.ndarray) -> np.ndarray:
            return np.full(len(features), np.nan)

    search = rarefy.DensityDescent(6, [(-2, 2), (-2, 2)], density=NotANumber(), emitters=3, batch=8)
    go(search, 1)
    with pytest.raises(ValueError, match="scores: row 0"):
        go(search, 1)
    with pytest.raises(ValueError, match="folder: not with parts written in Python"):
        go(small("kde", own_emitters=[RandomWalk()]), 1).run(project, 3, folder=tmp_path / "run", progress=False)


def test_many_threads_call_them() -> None:
    search = small("kde", own_emitters=[RandomWalk(seed=seed) for seed in range(20)], threads=4)
    go(search, 20)
    assert search.evaluations == 20 * 160


def test_a_search_and_its_part_that_refer_to_each_other_are_collected() -> None:
    density = Histogram()
    search = rarefy.DensityDescent(4, [(-2, 2), (-2, 2)], density=density, emitters=2, batch=4, seed=1)
    density.search = search  # type: ignore[attr-defined]
    search.tell(search.ask()[:, :2])
    gone = weakref.ref(density)
    del density, search
    gc.collect()
    assert gone() is None


def test_a_search_with_parts_of_ones_own_is_not_saved_to_a_file(tmp_path: Path) -> None:
    search = rarefy.DensityDescent(4, [(-2, 2), (-2, 2)], density=Histogram(), emitters=2, batch=4, seed=1)
    with pytest.raises(TypeError, match="pickle"):
        search.save(tmp_path / "search")
    assert not any(tmp_path.iterdir())
