"""Cases: what is tried, each in a place of its own; and what was found."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import shutil
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

import processes
import run_folders


@dataclass
class Case:
    """`function(world)` tries something. The name is unique in its part, and seeds the case."""

    name: str
    function: object


class Skip(Exception):
    """This machine cannot do it; says why."""


@dataclass
class Outcome:
    case: str
    problems: list
    skipped: str = ""
    seconds: float = 0.0
    cases: int = 1


@dataclass
class Bench:
    """What all parts share: the options, the command and a place to work in."""

    rarefy: Path
    root: Path
    seed: int
    quick: bool
    jobs: int
    keep: bool
    all: bool
    library: Path | None
    references: dict = field(default_factory=dict)
    scenarios: dict = field(default_factory=dict)

    def world(self, name):
        return World(self, name)

    def reference(self, key, words):
        """The folder of a run that nothing disturbs; made once. `words` are those of `run` without
        --out."""
        key = str(key)
        if key not in self.references:
            # Cases are tried in processes of their own, which make references, too.
            folder = self.root / "references" / f"{os.getpid()}-{len(self.references)}"
            folder.parent.mkdir(exist_ok=True)
            end = processes.Process([self.rarefy, "run", *words, "--out", folder, "--quiet"]).wait()
            if end.code != 0:
                raise RuntimeError(f"an undisturbed run fails: {end}")
            self.references[key] = (folder, end.seconds)
        return self.references[key][0]

    def seconds_of(self, key):
        return self.references[str(key)][1]


class World:
    """The surroundings of one case."""

    def __init__(self, bench, name):
        self.bench = bench
        self.name = name
        self.random = random.Random(f"{bench.seed} {name}")
        self.problems = []
        self.cases = 1
        self._place = None
        self._processes = []

    @property
    def place(self):
        if self._place is None:
            safe = "".join(c if c.isalnum() or c in "-._" else "_" for c in self.name)[:150]
            self._place = self.bench.root / "cases" / safe
            shutil.rmtree(self._place, ignore_errors=True)
            self._place.mkdir(parents=True)
        return self._place

    def check(self, well, problem):
        if not well:
            self.problems.append(str(problem))
        return bool(well)

    def start(self, *words, **options):
        self._processes.append(processes.Process([self.bench.rarefy, *words], **options))
        return self._processes[-1]

    def judge(self, end, codes=None, signals=()):
        """What holds for every process: no crash, no hang, nothing odd in what it says."""
        self.check(not end.hung, f"hangs: {end}")
        if end.signal is not None and not end.hung:
            self.check(end.signal in signals, f"ended by a signal: {end}")
        if end.signal is None and codes is not None:
            self.check(end.code in codes, f"expected exit code {sorted(codes)}: {end}")
        for text in (end.out, end.err):
            odd = processes.unprintable(text)
            self.check(not odd, f"prints {odd}: {end}")
        for phrase in (b"No error", b"Success", b"  missing", b"std::", b"terminate called",
                       b"basic_string", b"vector::", b"filesystem error"):
            self.check(phrase not in end.err, f"says {phrase.decode()!r}: {end}")
        if end.code not in (0, None) and not end.mute:
            self.check(end.err.strip(), f"fails without a word: {end}")
        return end

    def rarefy(self, *words, codes=(0,), signals=(), **options):
        """Runs the command to its end, and judges that."""
        return self.judge(self.start(*words, **options).wait(), codes, signals)

    def whole(self, folder, temporaries=True):
        for problem in run_folders.damages(folder, temporaries):
            self.check(False, problem)

    def same(self, folder, expected, leave_out=()):
        found = run_folders.differences(folder, expected, leave_out)
        return self.check(not found, f"not the bytes of an undisturbed run: {'; '.join(found)}")

    def fault(self, under, **options):
        """The environment in which fault.c is at work."""
        import preload
        return preload.environment(self.bench.library, under, **options)

    def done(self):
        for process in self._processes:
            process.drop()
        if self._place is not None and not (self.problems and self.bench.keep):
            for path, _, _ in os.walk(self._place):
                try:
                    os.chmod(path, 0o700)
                except OSError:
                    pass
            shutil.rmtree(self._place, ignore_errors=True)


def try_one(bench, part, case):
    world = bench.world(f"{part}.{case.name}")
    began = time.monotonic()
    outcome = Outcome(case.name, world.problems)
    try:
        case.function(world)
    except Skip as reason:
        outcome.skipped = str(reason)
    except Exception:  # a finding, be it in the harness itself
        world.problems.append("the case broke off: " + traceback.format_exc(limit=-4).strip())
    world.done()
    outcome.cases = world.cases
    outcome.seconds = time.monotonic() - began
    return outcome


def try_all(bench, part, cases):
    """The outcomes, in the order of the cases. Each job is a process with one thread, so that
    starting others from it is safe."""
    if bench.jobs <= 1:
        return [try_one(bench, part, case) for case in cases]
    following = multiprocessing.Value("l", 0)
    results, children = [], []
    for job in range(min(bench.jobs, len(cases))):
        result = bench.root / f"outcomes-{job}"
        child = os.fork()
        if child == 0:
            with open(result, "wb") as out:
                while True:
                    with following.get_lock():
                        index = following.value
                        following.value += 1
                    if index >= len(cases):
                        break
                    pickle.dump((index, try_one(bench, part, cases[index])), out)
            os._exit(0)
        results.append(result)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    outcomes = {}
    for result in results:
        with open(result, "rb") as source:
            try:
                while True:
                    index, outcome = pickle.load(source)
                    outcomes[index] = outcome
            except EOFError:
                pass
    return [outcomes.get(i) or Outcome(case.name, ["the harness lost this case"])
            for i, case in enumerate(cases)]
