"""What the loop costs in Python, against the same loop inside the library: 540 x 100, LP, two threads.

    PYTHONPATH=... python bench/python/overhead.py [ITERATIONS] [ROUNDS]

Both do the same work on the same search (ask, evaluate, tell), by turns, so that what else the machine
does meets both alike. Printed is the median of the ratios.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time

import rarefy
from rarefy import _core

iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
domain = rarefy.Domain("lp", threads=2)
team = domain.team  # one for all: two would take turns on the cores


def in_python(search: rarefy.Search) -> float:
    began = time.perf_counter()
    for _ in range(iterations):
        features, _ = domain(search.ask())
        search.tell(features)
    return (time.perf_counter() - began) / iterations


def inside(search: rarefy.Search) -> float:
    return _core.time_loop(search._native, domain._native, iterations) / iterations


python = rarefy.DensityDescent(domain, seed=1, team=team)
native = rarefy.DensityDescent(domain, seed=1, team=team)
in_python(python), inside(native)  # past the beginning
pairs = [(in_python(python), inside(native)) for _ in range(rounds)]
ratios = [ours / theirs for ours, theirs in pairs]
print(f"in Python {1e6 * statistics.median(p for p, _ in pairs):.0f} us an iteration, "
      f"inside {1e6 * statistics.median(n for _, n in pairs):.0f} us; "
      f"overhead {100 * (statistics.median(ratios) - 1):.1f} % (median of {rounds})")
