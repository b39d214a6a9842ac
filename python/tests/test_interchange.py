"""Arrays of other libraries, on whatever device they are. Each library is tried where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rarefy

Make = Callable[[np.ndarray], Any]


def torch_on(device: str, differentiated: bool = False) -> Make:
    torch = pytest.importorskip("torch")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no such device")
    return lambda array: torch.tensor(
        array, device=device, requires_grad=differentiated and array.dtype.kind == "f"
    )


def jax_default() -> Make:
    return lambda array, numpy=pytest.importorskip("jax.numpy"): numpy.asarray(array)  # type: ignore[misc]


def cupy_default() -> Make:
    return lambda array, cupy=pytest.importorskip("cupy"): cupy.asarray(array)  # type: ignore[misc]


LIBRARIES: dict[str, Callable[[], Make]] = {
    "numpy": lambda: np.asarray,
    "torch": lambda: torch_on("cpu"),
    "torch, differentiated": lambda: torch_on("cpu", differentiated=True),
    "torch on cuda": lambda: torch_on("cuda", differentiated=True),
    "jax": jax_default,
    "cupy": cupy_default,
}


def new_search() -> rarefy.DensityDescent:
    box = [(-2.0, 2.0), (-2.0, 2.0)]
    return rarefy.DensityDescent(6, box, seed=1, emitters=2, batch=4, objective_range=(0, 1))


@pytest.mark.parametrize("library", LIBRARIES)
def test_arrays_of_other_libraries_are_the_same_numbers(library: str) -> None:
    make = LIBRARIES[library]()
    theirs, ours = new_search(), new_search()
    valid = np.arange(8) != 2
    for _ in range(3):
        # Single precision, for some libraries have no other unless told.
        features = np.ascontiguousarray(ours.ask()[:, :2], dtype=np.float32)
        objectives = np.linspace(0, 1, 8, dtype=np.float32)
        assert np.array_equal(theirs.ask(), ours.ask())
        theirs.tell(make(features), make(objectives), make(valid))
        ours.tell(features, objectives, valid)
    assert np.array_equal(theirs.ask(), ours.ask())
    rows = np.random.default_rng(1).random((100, 2), dtype=np.float32)
    of_theirs = rarefy.KernelDensity(make(rows)).log_density(make(rows[:5]))
    assert np.array_equal(of_theirs, rarefy.KernelDensity(rows).log_density(rows[:5]))


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_evaluation_may_return_them(library: str) -> None:
    make = LIBRARIES[library]()

    def evaluate(solutions: np.ndarray) -> tuple[Any, Any]:
        return make(np.ascontiguousarray(solutions[:, :2])), make(np.linspace(0, 1, len(solutions)))

    result = new_search().run(evaluate, 5)
    assert result.finished
    assert not result.failures
