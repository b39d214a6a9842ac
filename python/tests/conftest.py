"""What the tests share."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import rarefy

pytest.register_assert_rewrite("beside_pyribs")  # so that what it asserts is explained, too

ALGORITHMS = {
    "kde": lambda **k: rarefy.DensityDescent(6, [(-2, 2), (-2, 2)], **k),
    "flow": lambda **k: rarefy.DensityDescent(6, [(-2, 2), (-2, 2)], density="flow", **k),
    "quality": lambda **k: rarefy.QualityDescent(6, [(-2, 2), (-2, 2)], **k),
    "novelty": lambda **k: rarefy.NoveltySearch(6, [(-2, 2), (-2, 2)], **k),
    "cma-mae": lambda **k: rarefy.CmaMae(6, [(-2, 2), (-2, 2)], **k),
    "dms": lambda **k: rarefy.DiscountModelSearch(6, [(-2, 2), (-2, 2)], **k),
    "cma-me": lambda **k: rarefy.CmaMe(6, [(-2, 2), (-2, 2)], **k),
    "map-elites": lambda **k: rarefy.MapElites(6, [(-2, 2), (-2, 2)], **k),
    "map-elites-plain": lambda **k: rarefy.MapElites(6, [(-2, 2), (-2, 2)], line=False, **k),
}


def small(algorithm: str = "kde", **keywords: object) -> rarefy.Search:
    options: dict[str, object] = {"seed": 1, "emitters": 3, "batch": 8, "grid": 20, "threads": 2}
    if "own_emitters" not in keywords:  # few rows at a time would be spent on the probe of step sizes
        options |= {"iso_sigma": 0.1} if algorithm.startswith("map-elites") else {"sigma0": 1.5}
    return ALGORITHMS[algorithm](**(options | keywords))


def project(solutions: np.ndarray) -> np.ndarray:
    """A problem that takes no time."""
    return np.stack([solutions[:, :3].sum(axis=1), solutions[:, 3:].sum(axis=1)], axis=1)


def project_row(solution: np.ndarray) -> tuple[float, float]:
    return float(solution[:3].sum()), float(solution[3:].sum())


def go(search: rarefy.Search, iterations: int) -> rarefy.Search:
    for _ in range(iterations):
        search.tell(project(search.ask()))
    return search


@pytest.fixture(params=list(ALGORITHMS))
def algorithm(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def command() -> str:
    """The rarefy command, where it is built."""
    found = os.environ.get("RAREFY_COMMAND") or shutil.which("rarefy")
    if not found or not Path(found).exists():
        pytest.skip("the command is not built; RAREFY_COMMAND names it")
    return found
