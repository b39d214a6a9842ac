"""What the command is doing when a kill, a power cut or a fault meets it; how to go on after it, and
what must come out in the end."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import numpy

import configurations
import run_folders

OUT = Path("new", "folders", "run")  # below a place: two folders on the way are made as well


@dataclass
class Scenario:
    name: str
    words: list  # before the name of the folder is put in place of OUT
    expected: Path  # the folder in the end
    template: Path | None = None  # what is there at the beginning
    begins: bool = False  # whether it begins a run, so that a folder may be without one
    also: list = field(default_factory=list)  # other ends that `resume` may come to

    def prepare(self, place):
        if self.template is not None:
            (place / OUT).parent.mkdir(parents=True)
            shutil.copytree(self.template, place / OUT)

    def command(self, place):
        return [place / OUT if word is OUT else word for word in self.words]

    def finish(self, world, place):
        """Goes on as a user would, undisturbed, and compares."""
        folder = place / OUT
        again = self.command(place)
        if self.begins:
            if (folder / "config.toml").exists():
                end = world.rarefy("resume", folder, "--quiet")
                if end.code == 0 and self.also:
                    ends = [run_folders.differences(folder, one)
                            for one in (self.expected, *self.also)]
                    world.check(not all(ends), f"resumed to neither the old run nor the new: {ends}")
                if end.code == 0 and not self.also:
                    world.same(folder, self.expected)
                    return
            else:
                end = world.rarefy("resume", folder, "--quiet", codes=(4,))
                world.check(b"config.toml" in end.err or not folder.exists(),
                            f"does not say that there is no run: {end}")
            if "--overwrite" not in again:
                again.append("--overwrite")
        if world.rarefy(*again).code == 0:
            world.same(folder, self.expected)


def all_scenarios(bench, iterations=2):
    """Those of one bench; their undisturbed runs are made here, once."""
    if iterations in bench.scenarios:
        return bench.scenarios[iterations]
    often = ["--checkpoint-seconds", "0", "--threads", "1"]

    def undisturbed(name, count, *more):
        words = configurations.words(name, count, *often, *more)
        return words, bench.reference((name, count, more), words)

    def shown(name, template, *more):
        """A finished run that `show` has been asked about."""
        folder = bench.root / "references" / f"{name}-{iterations}"
        shutil.copytree(template, folder)
        end = bench.world(name).start("show", folder, *more).wait()
        if end.code != 0:
            raise RuntimeError(f"an undisturbed show fails: {end}")
        return folder

    found = []
    lp_words, lp = undisturbed("kde-lp", iterations)
    found.append(Scenario("begin", ["run", *lp_words, "--quiet", "--out", OUT], lp, begins=True))
    kept_words, kept = undisturbed("kde-lp", iterations, "--journal", "on")
    found.append(Scenario("journal", ["run", *kept_words, "--quiet", "--out", OUT], kept,
                          begins=True))
    solutions = bench.root / "initial.npy"
    numpy.save(solutions, numpy.linspace(-1, 1, 100).reshape(5, 20))
    cvt_words, cvt = undisturbed("kde-multi", iterations, "--initial-solutions", str(solutions))
    found.append(Scenario("begin-cvt", ["run", *cvt_words, "--quiet", "--out", OUT], cvt,
                          begins=True))
    _, further = undisturbed("kde-lp", iterations + 2)
    found.append(Scenario("further", ["resume", OUT, "--quiet", "--iterations",
                                      str(iterations + 2)], further, template=lp))
    found.append(Scenario("overwrite", ["run", *lp_words, "--quiet", "--overwrite", "--out", OUT],
                          lp, template=cvt, begins=True, also=[cvt]))
    found.append(Scenario("show", ["show", OUT], lp, template=lp))
    found.append(Scenario("density", ["show", OUT, "--density"],
                          shown("density", lp, "--density"), template=lp))
    _, maze = undisturbed("kde-maze", iterations)
    cell = numpy.load(maze / "archive.npz")["cells"][0]
    found.append(Scenario("trajectory", ["show", OUT, "--trajectory", str(cell)],
                          shown("trajectory", maze, "--trajectory", str(cell)), template=maze))
    bench.scenarios[iterations] = {one.name: one for one in found}
    return bench.scenarios[iterations]
