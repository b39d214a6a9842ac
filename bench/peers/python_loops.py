#!/usr/bin/env python3
"""ask, evaluate, tell in Python: pyribs, rarefy.ribs (its stand-in) and rarefy's own classes, by turns.

    make test-python                                        once: makes build/python-env
    build/python-env/bin/python bench/peers/python_loops.py [--algorithms cma-me] [--domains lp,arm]

The evaluation is the same NumPy code for all three. What is the same otherwise, and what is not, is
at the head of compare.py; rarefy's own classes have the parameters of pyribs here, too, or with
--settings own the defaults of rarefy. Times are those of the iterations after the warm-up, the median
of the rounds; ratios are medians of the rounds' own ratios.
"""

import argparse
import gc
import os
import statistics
import sys
import time

from machine import Others, processor
from settings import BATCH, DOMAINS, EMITTERS, LIKE_PYRIBS, PARAMETERS, SOLUTION_DIM


def names(choices):
    def parse(text):
        given = text.split(",")
        for name in given:
            if name not in choices:
                raise argparse.ArgumentTypeError(f"expected some of {','.join(choices)}, not '{name}'")
        return given
    return parse


parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
parser.add_argument("--algorithms", type=names(PARAMETERS), default=list(PARAMETERS), metavar="A,B")
parser.add_argument("--domains", type=names(DOMAINS), default=list(DOMAINS), metavar="A,B")
parser.add_argument("--iterations", type=int, default=100, help="timed in each round (100)")
parser.add_argument("--warm-up", type=int, default=30, help="iterations before these (30)")
parser.add_argument("--rounds", type=int, default=3, help="of each side, by turns (3)")
parser.add_argument("--threads", type=int, default=2, help="of each side (2)")
parser.add_argument("--settings", choices=("same", "own"), default="same", help="of rarefy's classes")
arguments = parser.parse_args()

# Libraries read these when they are loaded.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.threads])
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = str(arguments.threads)

import numpy as np  # noqa: E402
import ribs.archives  # noqa: E402
import ribs.emitters  # noqa: E402
import ribs.schedulers  # noqa: E402

import rarefy  # noqa: E402
import rarefy.ribs  # noqa: E402
from domains import Domain  # noqa: E402
from schedulers import Parts, make_scheduler  # noqa: E402

CLASSES = {"dds-kde": rarefy.DensityDescent, "ns": rarefy.NoveltySearch, "cma-mae": rarefy.CmaMae,
           "cma-me": rarefy.CmaMe, "map-elites-line": rarefy.MapElites}


def timed(iterate):
    """Milliseconds an iteration."""
    for _ in range(arguments.warm_up):
        iterate()
    began = time.perf_counter()
    for _ in range(arguments.iterations):
        iterate()
    return 1e3 * (time.perf_counter() - began) / arguments.iterations


def with_schedulers(library):
    def run(algorithm, domain, centroids, seed):
        scheduler = make_scheduler(Parts(library, domain, centroids, arguments.threads), algorithm, seed)
        objectives = np.ones(EMITTERS * BATCH)
        passed = timed(lambda: scheduler.tell(objectives, domain.evaluate(scheduler.ask())))
        return passed, float(scheduler.result_archive.stats.coverage)
    return run


def with_classes(algorithm, domain, centroids, seed):
    options = {"emitters": EMITTERS, "batch": BATCH}
    if arguments.settings == "same":
        options |= PARAMETERS[algorithm][domain.name] | LIKE_PYRIBS[algorithm]
    options = {name.replace("-", "_"): False if value == "false" else value for name, value in options.items()}
    search = CLASSES[algorithm](SOLUTION_DIM, domain.ranges, seed=seed, threads=arguments.threads,
                                centroids=centroids, **options)
    passed = timed(lambda: search.tell(domain.evaluate(search.ask())))
    return passed, search.coverage


SIDES = {"pyribs": with_schedulers(ribs), "rarefy.ribs": with_schedulers(rarefy.ribs), "rarefy": with_classes}


def compare(algorithm, domain, centroids):
    rounds = []
    for number in range(1, arguments.rounds + 1):
        row = {}
        for side, run in SIDES.items():
            row[side] = run(algorithm, domain, centroids, 1000 * number)
            gc.collect()  # schedulers and emitters refer to each other
            time.sleep(0.3)  # threads of libraries wait actively for a moment before they sleep
        rounds.append(row)
    times = {side: statistics.median(row[side][0] for row in rounds) for side in SIDES}
    ratios = {side: statistics.median(row["pyribs"][0] / row[side][0] for row in rounds) for side in SIDES}
    covered = {side: 100 * statistics.mean(row[side][1] for row in rounds) for side in SIDES}
    print(f"| {algorithm} | {domain.name} | {times['pyribs']:.2f} | {times['rarefy.ribs']:.2f} | {times['rarefy']:.3f} | "
          f"{ratios['rarefy.ribs']:.1f} | {ratios['rarefy']:.1f} | "
          + " / ".join(f"{covered[side]:.1f}" for side in SIDES) + " |", flush=True)


def main():
    print(f"{processor()}, {arguments.threads} threads; Python {sys.version.split()[0]}, numpy {np.__version__}, "
          f"pyribs {ribs.__version__}, rarefy {rarefy.__version__}\n"
          f"iterations {arguments.warm_up + 1} to {arguments.warm_up + arguments.iterations} of {EMITTERS * BATCH} "
          f"solutions of {SOLUTION_DIM} values, {arguments.rounds} rounds\n")
    others = Others()
    print("| algorithm | domain | pyribs, ms | rarefy.ribs, ms | rarefy, ms | rarefy.ribs, times | rarefy, times "
          "| coverage, % |\n|---|---|---|---|---|---|---|---|")
    for name in arguments.domains:
        domain = Domain(name)
        centroids = rarefy.Cvt(domain.ranges, 10_000, seed=1).centroids if domain.is_cvt else None
        for algorithm in arguments.algorithms:
            compare(algorithm, domain, centroids)
    print(others.warning(), end="")


if __name__ == "__main__":
    main()
