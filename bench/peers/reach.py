#!/usr/bin/env python3
"""How long Rarefy and pyribs take to the coverage that the paper prints.

    bench/peers/reach                                        the whole table (hours: pyribs is slow)
    bench/peers/reach --algorithms dds-kde --domains lp      one line of it

For every algorithm and domain: pyribs goes on until its archive has the coverage that the density
descent paper (Lee et al., GECCO 2024) prints for the pair, or for 5,000 iterations. Then Rarefy
does, twice: in its published profile, which departs from the canonical algorithms as pyribs does,
and in its default profile with its own defaults. Where a side does not get there, the table has
the coverage it ended with.

Seconds are those of the processor (user and system), on one core and one thread, so that another
program on the machine hardly matters. Those of pyribs are of the loop alone. Those of Rarefy are of
a whole process that is stopped at the iteration where it arrives, with its files; the start of
the same process with one iteration is taken off. Coverage is looked at after every tenth iteration.
Parameters of pyribs are those of compare.py, which also says what is not the same.
"""

import argparse
import csv
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

from machine import processor
from settings import BATCH, DOMAINS, EMITTERS, PARAMETERS

ROOT = pathlib.Path(__file__).resolve().parents[2]
RAREFY = ROOT / "build/release/rarefy"
EVERY = 10
# The paper's table of results: coverage in percent.
PAPER = {
    "dds-kde": {"lp": 67.67, "arm": 80.22, "multi-lp": 50.22},
    "ns": {"lp": 22.96, "arm": 78.67, "multi-lp": 10.36},
    "cma-mae": {"lp": 56.47, "arm": 77.77, "multi-lp": 11.68},
    "cma-me": {"lp": 42.90, "arm": 39.29, "multi-lp": 0.56},
    "map-elites-line": {"lp": 42.30, "arm": 74.62, "multi-lp": 6.28},
}


def arguments():
    parser = argparse.ArgumentParser(prog="bench/peers/reach", allow_abbrev=False,
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("--algorithms", nargs="+", choices=PARAMETERS, default=list(PARAMETERS))
    parser.add_argument("--domains", nargs="+", choices=DOMAINS, default=list(DOMAINS))
    parser.add_argument("--iterations", type=int, default=5000, help="at most (5000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--csv", type=pathlib.Path, metavar="FILE", help="add the lines to it, too")
    parser.add_argument("--check-options", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


ARGUMENTS = arguments()
if ARGUMENTS.check_options:
    sys.exit(0)
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"
try:
    import numpy as np
    import ribs

    from domains import Domain
    from schedulers import Parts, make_scheduler
except ImportError as error:
    sys.exit(f"bench/peers/reach.py: {error}. Start it by bench/peers/reach, which installs pyribs")


def pyribs(algorithm, domain, aim, centroids):
    scheduler = make_scheduler(Parts(ribs, domain, centroids, 1), algorithm, ARGUMENTS.seed)
    objectives = np.ones(EMITTERS * BATCH)
    coverage, began = 0.0, time.process_time()
    for iteration in range(1, ARGUMENTS.iterations + 1):
        scheduler.tell(objectives, domain.evaluate(scheduler.ask()))
        if iteration % EVERY == 0:
            coverage = 100 * float(scheduler.result_archive.stats.coverage)
            if coverage >= aim:
                break
    return {"iterations": iteration, "seconds": time.process_time() - began, "coverage": coverage}


def processor_seconds(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([RAREFY, *map(str, words)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rarefy(algorithm, domain, aim, profile, centroids, folder):
    words = ["run", domain.name, "--algorithm", algorithm, "--profile", profile, "--seed",
             ARGUMENTS.seed, "--threads", 1, "--metrics-every", EVERY, "--quiet", "--overwrite",
             "--out", folder / "run"]
    if centroids is not None:
        words += ["--centroids", folder / "centroids.npy"]
    processor_seconds([*words, "--iterations", ARGUMENTS.iterations])
    with open(folder / "run/metrics.csv", newline="", encoding="ascii") as file:
        lines = list(csv.DictReader(file))
    end = next((line for line in lines if 100 * float(line["coverage"]) >= aim), lines[-1])
    iterations = int(end["iteration"])
    # Once more, no further than that.
    words += ["--checkpoint-seconds", 1e6]
    seconds = (processor_seconds([*words, "--iterations", iterations])
               - processor_seconds([*words, "--iterations", 1]))
    return {"iterations": iterations, "seconds": seconds, "coverage": 100 * float(end["coverage"])}


def cell(side, aim):
    arrived = side["coverage"] >= aim
    missed = "" if arrived else f" (not reached: {side['coverage']:.2f} %)"
    return f"{side['seconds']:.1f} s, {side['iterations']:,} iterations{missed}"


def main():
    if not RAREFY.is_file():
        sys.exit("bench/peers/reach.py: build/release/rarefy is missing; run 'make build'")
    print(f"{processor()}, one core; ribs {ribs.__version__}; seed {ARGUMENTS.seed}\n")
    print("| | the paper's coverage | pyribs | Rarefy, published | Rarefy, default |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for algorithm in ARGUMENTS.algorithms:
            for name in ARGUMENTS.domains:
                domain, aim, centroids = Domain(name), PAPER[algorithm][name], None
                if domain.is_cvt:
                    if not (folder / "centroids.npy").is_file():
                        processor_seconds(["run", name, "--iterations", 1, "--quiet", "--out", folder / "cells"])
                        (folder / "cells/centroids.npy").rename(folder / "centroids.npy")
                    centroids = np.load(folder / "centroids.npy")
                sides = {"pyribs": pyribs(algorithm, domain, aim, centroids)}
                for profile in ("published", "default"):
                    sides[profile] = rarefy(algorithm, domain, aim, profile, centroids, folder)
                print(f"| {algorithm}, {name} | {aim} % | "
                      + " | ".join(cell(side, aim) for side in sides.values()) + " |", flush=True)
                if ARGUMENTS.csv:
                    with open(ARGUMENTS.csv, "a", encoding="ascii") as file:
                        for side, got in sides.items():
                            print(algorithm, name, aim, side, got["iterations"], f"{got['seconds']:.3f}",
                                  f"{got['coverage']:.2f}", sep=",", file=file)


if __name__ == "__main__":
    main()
