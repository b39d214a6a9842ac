"""The rankers beside those of pyribs."""

from __future__ import annotations

import numpy as np
import pytest
from beside_pyribs import RANKERS, assert_same, make_archive, needs_pyribs, ours, theirs


@needs_pyribs
@pytest.mark.parametrize("ranker", [*RANKERS, "nov", "density"])
def test_rankers(ranker):
    rng = np.random.default_rng(1)
    rows = 50
    data = {"objective": rng.normal(size=rows), "measures": rng.normal(size=(rows, 2))}
    info = {name: rng.normal(size=rows) for name in ("value", "novelty", "density")} | {
        "status": rng.integers(3, size=rows)
    }
    results = []
    for library in (ours, theirs):
        made = library.emitters.rankers._get_ranker(ranker, 3)
        archive = make_archive(library, "grid")
        if "rd" in ranker:
            with pytest.raises(RuntimeError):
                made.rank(None, archive, data, info)
        made.reset(None, archive)
        results.append([made.rank(None, archive, data, info), getattr(made, "target_measure_dir", None)])
    assert_same(*results)
