"""Log-densities at many places: rarefy.KernelDensity against scikit-learn's, by turns, with the same bandwidth.

    python bench/python/kde.py        (needs scikit-learn)
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from sklearn.neighbors import KernelDensity as Theirs

import rarefy

random = np.random.default_rng(1)
print("samples  queries  scikit-learn      rarefy     ratio   greatest difference of the logarithms")
for samples, queries in ((1_000, 540), (10_000, 540), (100_000, 540)):
    features = random.normal(size=(samples, 2))
    at = random.normal(size=(queries, 2))
    ours = rarefy.KernelDensity(features, bandwidth=0.1, threads=2)
    theirs = Theirs(bandwidth=0.1).fit(features)
    pairs = []
    for _ in range(5):
        began = time.perf_counter()
        a = ours.log_density(at)
        middle = time.perf_counter()
        b = theirs.score_samples(at)
        pairs.append((middle - began, time.perf_counter() - middle))
    mine, other = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"{samples:7,}  {queries:7,}  {1e3 * other:9.2f} ms  {1e3 * mine:7.3f} ms  {other / mine:7.0f}x"
          f"   {np.max(np.abs(a - b)):.1e}  ({ours.method})")
