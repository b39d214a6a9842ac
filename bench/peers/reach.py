#!/usr/bin/env python3
"""How long Rarefy and pyribs take to the coverage that the paper prints.

    bench/peers/reach --csv reach.csv                        the whole table (an hour: pyribs is slow)
    bench/peers/reach --algorithms dds-kde --domains lp      one line of it

For every algorithm and domain: pyribs goes on until its archive has the coverage that the density
descent paper (Lee et al., GECCO 2024) prints for the pair, or for 5,000 iterations. Then Rarefy
does, twice: in its published profile, which departs from the canonical algorithms as pyribs does,
and in its default profile with its own defaults. Where a side does not get there, the table has
the coverage it ended with.

Seconds are those of the processor (user and system), on one core and one thread, so that another
program on the machine matters less than to a clock: it still takes its part of caches and of a
core's units. Both are of the loop: Rarefy's are the processor_seconds of its metrics.csv, with the
checkpoints that it writes. Coverage is looked at after every tenth iteration. Parameters of pyribs
are those of compare.py, which also says what is not the same.

With --csv each outcome is added to the file as soon as it is known, and one that the file has
already is not measured again: it can be stopped and started again, a side at a time where need be.
"""

import argparse
import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from machine import processor
from settings import BATCH, DOMAINS, EMITTERS, PARAMETERS

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVERY = 10
SIDES = ("pyribs", "published", "default")
COLUMNS = ("algorithm", "domain", "aim", "side", "version", "seed", "iterations", "seconds", "coverage")
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
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES), help="who searches (all)")
    parser.add_argument("--rarefy", type=pathlib.Path, metavar="FILE", default=ROOT / "build/release/rarefy",
                        help="the command (build/release/rarefy)")
    parser.add_argument("--csv", type=pathlib.Path, metavar="FILE",
                        help="keep outcomes there, and do not measure again what it has")
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


def in_percent(coverage):
    return round(100 * float(coverage), 2)  # of 10,000 cells: exactly


def pyribs(algorithm, domain, aim, centroids):
    objectives = np.ones(EMITTERS * BATCH)
    parts = Parts(ribs, domain, centroids, 1)
    # What is compiled at its first use is compiled before the clock runs.
    warm_up = make_scheduler(parts, algorithm, ARGUMENTS.seed)
    for _ in range(3):
        warm_up.tell(objectives, domain.evaluate(warm_up.ask()))
    scheduler = make_scheduler(parts, algorithm, ARGUMENTS.seed)
    coverage, began = 0.0, time.process_time()
    for iteration in range(1, ARGUMENTS.iterations + 1):
        scheduler.tell(objectives, domain.evaluate(scheduler.ask()))
        if iteration % EVERY == 0:
            coverage = in_percent(scheduler.result_archive.stats.coverage)
            if coverage >= aim:
                break
    return {"iterations": iteration, "seconds": time.process_time() - began, "coverage": coverage}


def rarefy_command(*words):
    return subprocess.run([ARGUMENTS.rarefy, *map(str, words)], check=True, capture_output=True, text=True).stdout


def rarefy(algorithm, domain, aim, profile, centroids, folder):
    run = folder / "run"
    words = ["run", domain.name, "--algorithm", algorithm, "--profile", profile, "--seed",
             ARGUMENTS.seed, "--threads", 1, "--metrics-every", EVERY, "--quiet", "--overwrite", "--out", run]
    if centroids is not None:
        words += ["--centroids", folder / "centroids.npy"]
    # Not further than it takes, more or less: a run can always go on.
    iterations = min(250, ARGUMENTS.iterations)
    rarefy_command(*words, "--iterations", iterations)
    while True:
        with open(run / "metrics.csv", newline="", encoding="ascii") as file:
            lines = list(csv.DictReader(file))
        arrived = next((line for line in lines if in_percent(line["coverage"]) >= aim), None)
        if arrived or iterations == ARGUMENTS.iterations:
            break
        iterations = min(2 * iterations, ARGUMENTS.iterations)
        rarefy_command("resume", run, "--iterations", iterations, "--threads", 1, "--quiet")
    end = arrived or lines[-1]
    return {"iterations": int(end["iteration"]), "seconds": float(end["processor_seconds"]),
            "coverage": in_percent(end["coverage"])}


class Outcomes:
    """What is known by now, in a file where one was named."""

    def __init__(self, path):
        self.path, self.known = path, {}
        if path and path.is_file():
            with open(path, newline="", encoding="ascii") as file:
                for line in csv.DictReader(file):
                    self.known[self.key(line)] = line
        elif path:
            self.write(COLUMNS)

    @staticmethod
    def key(line):
        return line["algorithm"], line["domain"], line["side"], int(line["seed"])

    def write(self, values):
        with open(self.path, "a", encoding="ascii") as file:
            print(*values, sep=",", file=file)

    def add(self, line):
        self.known[self.key(line)] = line
        if self.path:
            self.write(line[name] for name in COLUMNS)


def cell(line, aim):
    if line is None:
        return ""
    coverage = float(line["coverage"])
    missed = "" if coverage >= aim else f" (not reached: {coverage:.2f} %)"
    return f"{float(line['seconds']):.1f} s, {int(line['iterations']):,} iterations{missed}"


def rarefy_version():
    return rarefy_command("--version").split()[-1]


def centroids_of(domain, folder):
    """Rarefy's, so that both have the same cells."""
    if not domain.is_cvt:
        return None
    if not (folder / "centroids.npy").is_file():
        rarefy_command("run", domain.name, "--iterations", 1, "--quiet", "--out", folder / "cells")
        (folder / "cells/centroids.npy").rename(folder / "centroids.npy")
    return np.load(folder / "centroids.npy")


def main():
    print(f"{processor()}, one core; ribs {ribs.__version__}; seed {ARGUMENTS.seed}\n")
    print("| | the paper's coverage | pyribs | Rarefy, published | Rarefy, default |\n|---|---|---|---|---|")
    outcomes = Outcomes(ARGUMENTS.csv)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for algorithm in ARGUMENTS.algorithms:
            for name in ARGUMENTS.domains:
                domain, aim = Domain(name), PAPER[algorithm][name]
                keys = {side: (algorithm, name, side, ARGUMENTS.seed) for side in SIDES}
                for side in ARGUMENTS.sides:
                    if keys[side] in outcomes.known:
                        continue
                    cells = centroids_of(domain, folder)
                    got = (pyribs(algorithm, domain, aim, cells) if side == "pyribs"
                           else rarefy(algorithm, domain, aim, side, cells, folder))
                    outcomes.add({"algorithm": algorithm, "domain": name, "aim": aim, "side": side,
                                  "version": ribs.__version__ if side == "pyribs" else rarefy_version(),
                                  "seed": ARGUMENTS.seed, "iterations": got["iterations"],
                                  "seconds": f"{got['seconds']:.3f}", "coverage": f"{got['coverage']:.2f}"})
                print(f"| {algorithm}, {name} | {aim} % | "
                      + " | ".join(cell(outcomes.known.get(keys[side]), aim) for side in SIDES) + " |", flush=True)


if __name__ == "__main__":
    main()
