#!/usr/bin/env python3
"""Makes the tables beside it, against which tests/statistics compares.

    python -m venv env && env/bin/pip install scipy statsmodels pingouin mpmath
    env/bin/python tests/statistics/data/make_tables.py

They are committed: the tests need none of these packages. Made with SciPy 1.17.1, statsmodels
0.15.0, pingouin 0.7.0 and mpmath 1.4.1.
"""

import csv
import pathlib

import mpmath
import numpy as np
import pandas as pd
import pingouin
import scipy.stats
from statsmodels.stats.oneway import anova_oneway

HERE = pathlib.Path(__file__).parent


def write(name, header, rows):
    with open(HERE / name, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def studentized_range():
    rows = []
    for groups in (2, 3, 4, 6, 10, 13, 30, 100):
        for freedom in (1, 2, 3, 5, 9, 12.5, 20, 54, 120, 1000, np.inf):
            for q in (0.5, 1, 2, 3, 3.5, 4, 5, 6, 8, 12, 20):
                rows.append((groups, freedom, q, repr(float(scipy.stats.studentized_range.cdf(q, groups, freedom)))))
    write("studentized_range.csv", ("groups", "freedom", "q", "cdf"), rows)


def studentized_range_tails():
    """In 30 digits: far out SciPy has nothing left of them."""
    mp = mpmath
    mp.mp.dps = 30

    def above(k, w):
        def density(z):
            cdf, lower = mp.ncdf(z), mp.ncdf(z - w)
            # cdf^(k - 1) less (cdf - lower)^(k - 1), which are nearly the same
            power = mp.expm1((k - 1) * mp.log1p(-lower / cdf))
            return -k * mp.npdf(z) * cdf ** (k - 1) * power
        return mp.quad(density, mp.linspace(w / 2 - 12, w / 2 + 12, 12))

    rows = [(groups, "inf", q, mp.nstr(above(groups, mp.mpf(q)), 18))
            for groups, q in ((2, 8), (3, 12), (6, 5), (20, 15), (100, 10))]
    write("studentized_range_tails.csv", ("groups", "freedom", "q", "survival"), rows)


# Groups as runs give them: of different sizes, some of which vary a hundred times more than others.
SETS = {
    "equal": [[24.5, 23.5, 26.4, 27.1, 29.9], [28.4, 34.2, 29.5, 32.2, 30.1],
              [26.1, 28.3, 24.3, 26.2, 27.8]],
    "uneven": [[24.5, 23.5, 26.28, 26.4, 27.1, 29.9, 30.1, 30.1],
               [28.4, 34.2, 29.5, 32.2, 30.1], [26.1, 28.3, 24.3, 26.2, 27.8, 25.7]],
    "spread": [[67.1, 70.9, 60.2, 75.8, 64.4, 71.0, 59.8, 68.9, 66.3, 72.5],
               [80.21, 80.22, 80.22, 80.23, 80.20, 80.22, 80.21, 80.24],
               [22.9, 18.4, 31.0, 20.7, 24.1], [80.0, 79.1, 78.2, 81.4],
               [56.4, 55.1, 58.0, 57.7, 56.0, 54.3, 57.2], [42.9, 42.8, 43.1, 42.5, 43.9, 42.2]],
    "pair": [[1.0, 2.0, 4.0], [2.5, 3.5, 3.0, 9.0]],
}


def tests():
    samples, anovas, pairs = [], [], []
    for name, groups in SETS.items():
        for g, values in enumerate(groups):
            samples += [(name, g, repr(value)) for value in values]
        classic = scipy.stats.f_oneway(*groups)
        count = sum(len(values) for values in groups)
        anovas.append((name, "classic", repr(float(classic.statistic)), len(groups) - 1,
                       count - len(groups), repr(float(classic.pvalue))))
        welch = anova_oneway(groups, use_var="unequal", welch_correction=True)
        anovas.append((name, "welch", repr(float(welch.statistic)), repr(float(welch.df_num)),
                       repr(float(welch.df_denom)), repr(float(welch.pvalue))))
        tukey = scipy.stats.tukey_hsd(*groups)
        interval = tukey.confidence_interval(0.95)
        for i in range(len(groups)):
            for j in range(i + 1, len(groups)):
                pairs.append((name, "tukey", i, j, repr(float(tukey.statistic[i, j])), "nan",
                              repr(float(tukey.pvalue[i, j])), repr(float(interval.low[i, j])),
                              repr(float(interval.high[i, j]))))
        howell = scipy.stats.tukey_hsd(*groups, equal_var=False)  # Games and Howell's
        interval = howell.confidence_interval(0.95)
        frame = pd.DataFrame([(g, v) for g, values in enumerate(groups) for v in values],
                             columns=["group", "value"])
        other = pingouin.pairwise_gameshowell(data=frame, dv="value", between="group")
        for _, row in other.iterrows():
            i, j = int(row["A"]), int(row["B"])
            # The two agree but for the digits to which SciPy integrates.
            assert abs(row["pval"] - howell.pvalue[i, j]) < 1e-8, (name, i, j)
            pairs.append((name, "games-howell", i, j, repr(float(row["diff"])),
                          repr(float(row["df"])), repr(float(row["pval"])),
                          repr(float(interval.low[i, j])), repr(float(interval.high[i, j]))))
    write("samples.csv", ("set", "group", "value"), samples)
    write("anova.csv", ("set", "test", "f", "between", "within", "p"), anovas)
    write("pairs.csv",
          ("set", "test", "first", "second", "difference", "df", "p", "lower", "upper"), pairs)


if __name__ == "__main__":
    tests()
    studentized_range()
    studentized_range_tails()
