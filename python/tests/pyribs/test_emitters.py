"""The emitters that mutate elites, beside those of pyribs."""

from __future__ import annotations

import numpy as np
import pytest
from beside_pyribs import assert_same, batch, make_archive, mutation_emitters, needs_pyribs, ours, theirs


@needs_pyribs
@pytest.mark.parametrize("name", ["grid", "grid-float32", "cvt"])
@pytest.mark.parametrize("more", [{}, {"bounds": [(-0.3, 0.3), None, (None, 1)]}, {"lower_bounds": [-1, -1, -1]}])
@pytest.mark.parametrize("start", [{"x0": [0, 1, 2]}, {"initial_solutions": [[0, 1, 2], [3, 4, 5]]}])
def test_mutations(name, more, start):
    pairs = [
        list(mutation_emitters(library, make_archive(library, name), **more, **start)) for library in (ours, theirs)
    ]
    for a, b in zip(*pairs, strict=True):
        for attribute in ("x0", "initial_solutions", "lower_bounds", "upper_bounds", "batch_size", "solution_dim"):
            assert_same(getattr(a, attribute), getattr(b, attribute), attribute)
        assert_same(a.ask(), b.ask(), "empty")
        assert_same(a.ask_dqd(), b.ask_dqd(), "dqd")
        data = batch(np.random.default_rng(1), name, 50)
        a.archive.add(**data)
        b.archive.add(**data)
        assert_same(a.ask(), b.ask(), "filled")
        assert_same(a.ask(), b.ask(), "again")


BAD_EMITTERS = [
    {"x0": None},
    {"initial_solutions": [[0, 1, 2]]},
    {"x0": [0, 1]},
    {"x0": None, "initial_solutions": [[0, 1]]},
    {"bounds": [(-1, 1)]},
    {"bounds": [(-1, 1, 2)] * 3},
    {"bounds": [(-1, 1)] * 3, "lower_bounds": [0, 0, 0]},
    {"lower_bounds": [0]},
]


@needs_pyribs
@pytest.mark.parametrize("bad", BAD_EMITTERS)
def test_bad_mutations(bad):
    for library in (ours, theirs):
        archive = make_archive(library, "grid")
        with pytest.raises(ValueError):
            library.emitters.GaussianEmitter(archive, **{"sigma": 1, "x0": [0, 0, 0]} | bad)
        with pytest.raises(ValueError):
            library.emitters.IsoLineEmitter(archive, **{"x0": [0, 0, 0]} | bad)


@needs_pyribs
def test_wrong_number_of_bounds_is_said_as_by_pyribs():
    for library in (ours, theirs):
        with pytest.raises(ValueError, match="bounds must have length solution_dim") as caught:
            library.emitters.GaussianEmitter(make_archive(library, "grid"), sigma=1, x0=[0] * 3, bounds=[(-1, 1)] * 5)
        assert str(caught.value).startswith("If it is an array-like")
    # Here the error says the numbers, too.
    with pytest.raises(ValueError, match="expected 3 entries, but it has 5"):
        ours.emitters.GaussianEmitter(make_archive(ours, "grid"), sigma=1, x0=[0] * 3, bounds=[(-1, 1)] * 5)
