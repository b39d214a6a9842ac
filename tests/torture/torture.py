#!/usr/bin/python3
"""Tries to break what README.md promises. docs/torture.md tells what each part does.

    tests/torture/torture.py --rarefy build/release/rarefy
    tests/torture/torture.py --rarefy build/release/rarefy --part faults --case 'write.*'

Exits with 1 where something was found, with 77 where it cannot be run here.
"""

import argparse
import fnmatch
import importlib
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

PARTS = ("kills", "powercut", "faults", "signals", "crafted", "determinism", "links", "text")


def options():
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rarefy", type=Path, default=root / "build" / "release" / "rarefy",
                        help="the command [build/release/rarefy]")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS),
                        help="which parts [all]")
    parser.add_argument("--case", default="*", help="only cases whose names fit this pattern")
    parser.add_argument("--quick", action="store_true", help="a small fixed sample of every part")
    parser.add_argument("--all", action="store_true",
                        help="every crafted folder, not a sample by seed (an hour)")
    parser.add_argument("--seed", type=int, default=1, help="names the random choices [1]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1,
                        help="cases at the same time [one a core]")
    parser.add_argument("--keep", action="store_true",
                        help="keep the folders of cases that found something")
    parser.add_argument("--list", action="store_true", help="list the cases")
    return parser.parse_args()


def make_place():
    """In memory where there is such a place: every write is brought to the disk, one by one."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="rarefy-torture-", dir=memory if os.access(
        memory, os.W_OK) else None)).resolve()


def repeat(given, part, case):
    words = ["tests/torture/torture.py", "--rarefy", str(given.rarefy), "--part", part, "--case",
             f"'{case}'", "--seed", str(given.seed), "--keep"]
    return " ".join(words + (["--quick"] if given.quick else []))


def groups(findings):
    """Those whose first problems differ only in names and numbers."""
    alike = {}
    for one in findings:
        first = one.problems[0]
        what = first.split(":")[0] + first.split("it said:")[-1]
        alike.setdefault(re.sub(r"/[^ ]*|[0-9a-f.+-]*[0-9][0-9a-f.+-]*", "#", what), []).append(one)
    return list(alike.values())


def try_part(bench, given, name):
    """Prints what a part finds; returns its line of the table."""
    import cases
    part = importlib.import_module(f"parts.{name}")
    print(f"== {name}: {part.TITLE}", flush=True)
    began = time.monotonic()
    chosen = [case for case in part.cases(bench)
              if case.name == given.case or fnmatch.fnmatchcase(case.name, given.case)]
    if given.list:
        for case in chosen:
            print(f"   {case.name}")
        return (name, len(chosen), 0, 0, 0.0)
    outcomes = cases.try_all(bench, name, chosen)
    skipped = [one for one in outcomes if one.skipped]
    for reason in sorted({one.skipped for one in skipped}):
        print(f"   skipped: {reason}")
    findings = [one for one in outcomes if one.problems]
    for alike in groups(findings):
        one = alike[0]
        print(f"   FOUND {name}.{one.case}")
        for problem in one.problems[:4]:
            print("      " + problem.replace("\n", "\n      "))
        if len(one.problems) > 4:
            print(f"      and {len(one.problems) - 4} more")
        print(f"      again: {repeat(given, name, one.case)}")
        if len(alike) > 1:
            print(f"      likewise: {' '.join(other.case for other in alike[1:])}")
    seconds = time.monotonic() - began
    tried = sum(one.cases for one in outcomes if not one.skipped)
    print(f"   {tried} cases, {len(findings)} findings, {seconds:.0f} s", flush=True)
    return (name, tried, len(skipped), len(findings), seconds)


def main():
    given = options()
    if not os.access(given.rarefy, os.X_OK):
        print(f"torture: {given.rarefy} is missing; run 'make build'", file=sys.stderr)
        return 2
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("torture: skipped, for NumPy is missing (Debian: python3-numpy)")
        return 77
    import cases
    import preload
    place = make_place()
    os.umask(0o022)
    bench = cases.Bench(rarefy=given.rarefy.resolve(), root=place, seed=given.seed,
                        quick=given.quick, jobs=given.jobs, keep=given.keep,
                        all=given.all or given.case != "*",
                        library=preload.build(place))
    if bench.library is None and given.quick:
        print("torture: skipped, for there is no C compiler (cc) here")
        return 77
    lines = []
    try:
        lines = [try_part(bench, given, name) for name in given.part]
    finally:
        if given.keep and any(line[3] for line in lines):
            print(f"folders are kept in {place / 'cases'}")
        else:
            shutil.rmtree(place, ignore_errors=True)
    lines.append(("all", *(sum(line[i] for line in lines) for i in range(1, 5))))
    print(f"\n{'part':<12} {'cases':>7} {'skipped':>8} {'findings':>9} {'seconds':>8}")
    for name, tried, skipped, findings, seconds in lines:
        print(f"{name:<12} {tried:>7} {skipped:>8} {findings:>9} {seconds:>8.0f}")
    return 1 if lines[-1][3] else 0


if __name__ == "__main__":
    sys.exit(main())
