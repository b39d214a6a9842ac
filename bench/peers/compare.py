#!/usr/bin/env python3
"""Rarefy beside pyribs: milliseconds an iteration and coverage, by turns on the same cores.

    make bench-peers                                        the whole table
    bench/peers/compare --algorithms dds-kde --domains lp   one line of it
    bench/peers/compare --rounds 1 --iterations 4950        coverage after the paper's 5,000

For every algorithm and domain, in every round, pyribs does its iterations, then Rarefy does. The
warm-up is not timed: it fills the buffer of DDS-KDE, and lets pyribs compile. Then both are timed
over the same iterations, which matters for novelty search, whose cost grows. Times are the mean
over these iterations, then the median of the rounds. Each round has a seed of its own. Coverage is
the mean over the rounds, after the last timed iteration.

The same in both:
  - the domains (checked on random solutions before anything is timed): solutions of 100 values,
    constant objective, no bounds;
  - 15 emitters of 36 solutions, x0 = 0, float64 solutions and features;
  - the parameters of the paper (Lee et al., "Density descent for diversity optimization", GECCO
    2024) and of pyribs: step sizes, bandwidths, a buffer of 10,000, thresholds, independent
    samples, mu selection, basic restarts, at a random elite. Two depart from what the paper
    prints, see docs/published-profile.md: the bandwidth of multi-lp is 5.12, sigma0 of cma-me on
    the arm 0.5;
  - an archive of 100 x 100 cells, or 10,000 CVT cells with the same centroids; where an algorithm
    ranks by something else, a passive archive of that kind beside it.

Not the same:
  - random numbers, so runs agree in distribution at best;
  - CMA-ES: Rarefy's default profile has the canonical one, sampling by Cholesky factors, and
    decomposes the covariance matrix more often; pyribs departs from it in the ways that
    docs/published-profile.md lists. --profile published departs alike;
  - DDS-KDE: the default profile ranks by log-density and keeps an exact uniform sample in the
    buffer; pyribs ranks by density, and its reservoir repeats rows. --profile published repeats
    them too, and restarts at x0, scores a batch after adding it, and counts empty slots;
  - ties: Rarefy ranks them at random, pyribs by their order. Where all of the first batch ties (an
    empty buffer or archive), pyribs restarts every emitter, the default profile need not;
  - precision: Rarefy sums kernels in single precision (in double where that would not do), or by
    tables in two dimensions; pyribs sums in double precision;
  - threads: Rarefy uses them throughout. pyribs uses them where its libraries do, and for the
    cells of the CVT, where this script asks for it. The rest of pyribs runs on one core;
  - the clock: pyribs is timed around ask, evaluate and tell. Rarefy's time is from its
    metrics.csv, so it contains the lines of that file (a few in the window).

--settings own gives Rarefy the defaults of its profile instead of the paper's parameters: in the
default profile, density descent then has mirrored samples, restarts and Scott's bandwidth.
"""

import argparse
import csv
import gc
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from machine import Others, processor
from settings import BATCH, BUFFER, DOMAINS, EMITTERS, FULL_BUFFER, LIKE_PYRIBS, PARAMETERS, SOLUTION_DIM

ROOT = pathlib.Path(__file__).resolve().parents[2]
RAREFY = ROOT / "build/release/rarefy"
CENTROIDS = ROOT / "build/peers/centroids.npy"

# Rarefy's clock has milliseconds: shorter windows are run again, with other seeds.
LEAST_SECONDS = 0.5
MOST_RUNS = 8


def names(choices):
    def parse(text):
        given = [name for name in text.replace(",", " ").split() if name]
        unknown = [name for name in given if name not in choices]
        if unknown or not given:
            raise argparse.ArgumentTypeError(f"expected some of {','.join(choices)}, not '{text}'")
        return given
    return parse


def arguments():
    parser = argparse.ArgumentParser(
        prog="bench/peers/compare", allow_abbrev=False,
        description=__doc__.split("\n\n")[0],
        epilog="The head of bench/peers/compare.py says what is the same in both and what is not.")
    parser.add_argument("--algorithms", type=names(PARAMETERS), default=list(PARAMETERS),
                        metavar="A,B,...", help=f"all: {','.join(PARAMETERS)}")
    parser.add_argument("--domains", type=names(DOMAINS), default=list(DOMAINS),
                        metavar="A,B,...", help=f"all: {','.join(DOMAINS)}")
    parser.add_argument("--iterations", type=int, default=200, help="timed in each round (200)")
    parser.add_argument("--warm-up", type=int, default=50, help="iterations before these (50)")
    parser.add_argument("--rounds", type=int, default=3, help="of either side, by turns (3)")
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--threads", type=int, default=min(2, cores),
                        help="of either side, and cores that it may use (2)")
    parser.add_argument("--profile", choices=("default", "published"), default="default",
                        help="of Rarefy (default)")
    parser.add_argument("--settings", choices=("same", "own"), default="same",
                        help="of Rarefy: those of pyribs, or those of its profile (same)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every round to it")
    parser.add_argument("--check-options", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    for option in ("iterations", "warm_up", "rounds", "threads"):
        if getattr(given, option) < 1:
            parser.error(f"--{option.replace('_', '-')}: expected a whole number > 0")
    if "dds-kde" in given.algorithms and given.warm_up < FULL_BUFFER:
        parser.error(f"--warm-up: dds-kde needs {FULL_BUFFER} iterations to fill its buffer")
    if given.threads > cores:
        parser.error(f"--threads: expected at most {cores}, the cores there are to use")
    if given.json and not given.json.resolve().parent.is_dir():
        parser.error(f"--json: there is no folder {given.json.resolve().parent}")
    return given


ARGUMENTS = arguments()
if ARGUMENTS.check_options:
    sys.exit(0)
# Both sides inherit the cores. Libraries read the variables when they are loaded.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:ARGUMENTS.threads])
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                 "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = str(ARGUMENTS.threads)
try:
    import numpy as np
    import ribs.archives
    import ribs.emitters
    import ribs.schedulers

    from domains import Domain
    from schedulers import Parts, make_scheduler
except ImportError as error:
    sys.exit(f"bench/peers/compare.py: {error}. Start it by bench/peers/compare, which installs "
             "pyribs")


def check_domain(domain, scratch):
    """Both sides must compute the same features, inside the box and out of it."""
    solutions = np.random.default_rng(1).normal(0, 4, (64, SOLUTION_DIM))
    np.save(scratch / "solutions.npy", solutions)
    rarefy("evaluate", domain.name, "--solutions", scratch / "solutions.npy",
           "--out", scratch / "features.npy")
    ours = np.load(scratch / "features.npy")[:, :domain.features]
    difference = np.abs(ours - domain.evaluate(solutions)).max()
    if not difference < 1e-6:
        sys.exit(f"bench/peers/compare.py: the two sides of {domain.name} differ by {difference}")


# ---- pyribs -------------------------------------------------------------------------------------

def run_pyribs(algorithm, domain, round_):
    centroids = np.load(CENTROIDS) if domain.is_cvt else None
    scheduler = make_scheduler(Parts(ribs, domain, centroids, ARGUMENTS.threads), algorithm, 1000 * round_)
    objectives = np.ones(EMITTERS * BATCH)

    def iterate(count):
        for _ in range(count):
            scheduler.tell(objectives, domain.evaluate(scheduler.ask()))

    iterate(ARGUMENTS.warm_up)
    if algorithm == "dds-kde" and len(scheduler.archive.buffer) < BUFFER:
        sys.exit("bench/peers/compare.py: pyribs' buffer is not full after the warm-up")
    began = time.perf_counter()
    iterate(ARGUMENTS.iterations)
    passed = time.perf_counter() - began
    coverage = float(scheduler.result_archive.stats.coverage)
    del scheduler, iterate
    gc.collect()  # schedulers and emitters refer to each other
    return {"milliseconds": 1e3 * passed / ARGUMENTS.iterations, "coverage": coverage}


# ---- Rarefy -------------------------------------------------------------------------------------

def rarefy(*words):
    try:
        done = subprocess.run([RAREFY, *map(str, words)], stdout=subprocess.PIPE, text=True,
                              check=False)
    except OSError as error:  # a build that goes on meanwhile replaces the command
        sys.exit(f"bench/peers/compare.py: rarefy cannot be started: {error}")
    if done.returncode != 0:
        sys.exit(f"bench/peers/compare.py: `rarefy {' '.join(map(str, words))}` failed")
    return done.stdout


def rarefy_settings(algorithm, domain):
    if ARGUMENTS.settings == "own":
        return {}
    settings = dict(PARAMETERS[algorithm][domain.name])
    if ARGUMENTS.profile == "default":
        settings |= LIKE_PYRIBS[algorithm]
    return settings


def rarefy_words(algorithm, domain):
    """The run's options but for its seed and folder."""
    total = ARGUMENTS.warm_up + ARGUMENTS.iterations
    options = {"algorithm": algorithm, "profile": ARGUMENTS.profile, "n": SOLUTION_DIM,
               "emitters": EMITTERS, "batch": BATCH, "threads": ARGUMENTS.threads,
               "iterations": total,
               # A line after the warm-up; there always is one at the end.
               "metrics-every": ARGUMENTS.warm_up, "checkpoint-seconds": 1e6,
               **rarefy_settings(algorithm, domain)}
    if domain.is_cvt:
        options["centroids"] = CENTROIDS
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    return ["run", domain.name, "--quiet", *words]


def run_rarefy_once(words, seed, folder):
    rarefy(*words, "--seed", seed, "--overwrite", "--out", folder)
    with open(folder / "metrics.csv", newline="", encoding="ascii") as file:
        lines = {int(line["iteration"]): line for line in csv.DictReader(file)}
    first = lines[ARGUMENTS.warm_up]
    last = lines[ARGUMENTS.warm_up + ARGUMENTS.iterations]
    return float(last["seconds"]) - float(first["seconds"]), float(last["coverage"])


def run_rarefy(algorithm, domain, round_, scratch):
    words = rarefy_words(algorithm, domain)
    seconds, coverages = [], []
    while not seconds or (sum(seconds) < LEAST_SECONDS and len(seconds) < MOST_RUNS):
        seed = 1000 * round_ + len(seconds)
        passed, coverage = run_rarefy_once(words, seed, scratch / "run")
        seconds.append(passed)
        coverages.append(coverage)
    return {"milliseconds": 1e3 * statistics.mean(seconds) / ARGUMENTS.iterations,
            "coverage": statistics.mean(coverages), "runs": len(seconds)}


def make_centroids(scratch):
    """Once for all comparisons: by Rarefy, whose archive has them."""
    if CENTROIDS.is_file():
        return
    print("making 10,000 centroids in ten dimensions", flush=True)
    rarefy("run", "multi-lp", "--iterations", 1, "--quiet", "--out", scratch / "cells")
    CENTROIDS.parent.mkdir(parents=True, exist_ok=True)
    # Renamed when it is whole: an interrupted comparison leaves no half of a file.
    partial = CENTROIDS.with_suffix(".partial.npy")
    np.save(partial, np.load(scratch / "cells/archive.npz")["centroids"])
    partial.rename(CENTROIDS)


# ---- the machine --------------------------------------------------------------------------------

def machine():
    return {"processor": processor(), "cores": os.cpu_count(), "threads": ARGUMENTS.threads,
            "python": sys.version.split()[0], "numpy": np.__version__, "ribs": ribs.__version__,
            "rarefy": rarefy("--version").split()[-1]}


# ---- the comparison -----------------------------------------------------------------------------

def summary(algorithm, domain, rounds):
    """One line of the table, with the rounds behind it."""
    line = {"algorithm": algorithm, "domain": domain.name}
    for side in ("pyribs", "rarefy"):
        line[side] = {
            "milliseconds": statistics.median(r[side]["milliseconds"] for r in rounds),
            "coverage": statistics.mean(r[side]["coverage"] for r in rounds),
        }
    line["ratio"] = line["pyribs"]["milliseconds"] / line["rarefy"]["milliseconds"]
    line["rounds"] = rounds
    return line


def caption():
    total = ARGUMENTS.warm_up + ARGUMENTS.iterations
    settings = ("the settings of pyribs" if ARGUMENTS.settings == "same" else
                "its own settings")
    return (f"Milliseconds an iteration of {EMITTERS * BATCH} solutions: iterations "
            f"{ARGUMENTS.warm_up + 1} to {total}, median of {ARGUMENTS.rounds} round(s).\n"
            f"Coverage after {total} iterations, mean of the rounds. pyribs {ribs.__version__}, "
            f"and Rarefy in its {ARGUMENTS.profile} profile\nwith {settings}; both on "
            f"{ARGUMENTS.threads} core(s).")


def print_header():
    print(f"\n{caption()}\n")
    print(f"{'':<27}|{'ms an iteration':^29}|{'coverage, %':^17}")
    print(f"{'algorithm':<16} {'domain':<10}|{'pyribs':>9} {'Rarefy':>9} {'ratio':>9}|"
          f"{'pyribs':>8} {'Rarefy':>8}", flush=True)


def print_line(line):
    theirs, ours = line["pyribs"], line["rarefy"]
    print(f"{line['algorithm']:<16} {line['domain']:<10}|{theirs['milliseconds']:9.2f} "
          f"{ours['milliseconds']:9.3f} {line['ratio']:8.1f}x|{100 * theirs['coverage']:8.2f} "
          f"{100 * ours['coverage']:8.2f}", flush=True)


def compare(algorithm, domain, scratch):
    rounds = []
    for round_ in range(1, ARGUMENTS.rounds + 1):
        theirs = run_pyribs(algorithm, domain, round_)
        # Threads of libraries wait actively for a moment before they sleep.
        time.sleep(0.3)
        ours = run_rarefy(algorithm, domain, round_, scratch)
        rounds.append({"pyribs": theirs, "rarefy": ours})
    return summary(algorithm, domain, rounds)


def write_json(about, lines, others):
    result = {"machine": about, "caption": caption().replace("\n", " "),
              "warm_up": ARGUMENTS.warm_up, "iterations": ARGUMENTS.iterations,
              "rounds": ARGUMENTS.rounds, "profile": ARGUMENTS.profile,
              "settings": ARGUMENTS.settings, "cores_used_by_others": others, "table": lines}
    ARGUMENTS.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def main():
    if not RAREFY.is_file():
        sys.exit("bench/peers/compare.py: build/release/rarefy is missing; run 'make build'")
    about = machine()
    print(f"{about['processor']}, {about['cores']} cores, {about['threads']} used; "
          f"Python {about['python']}, numpy {about['numpy']}, ribs {about['ribs']}, "
          f"rarefy {about['rarefy']}")
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        domains = [Domain(name) for name in ARGUMENTS.domains]
        if any(domain.is_cvt for domain in domains):
            make_centroids(scratch)
        for domain in domains:
            check_domain(domain, scratch)
        others = Others()
        print_header()
        lines = []
        for algorithm in ARGUMENTS.algorithms:
            for domain in domains:
                lines.append(compare(algorithm, domain, scratch))
                print_line(lines[-1])
    print(others.warning(), end="")
    if ARGUMENTS.json:
        write_json(about, lines, others.cores())
    return 0


if __name__ == "__main__":
    sys.exit(main())
