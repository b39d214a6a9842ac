"""Power cuts: on a model of a disk at every moment, and on a real file system in an image."""

import hashlib
import os
import random
import shutil
import subprocess

import configurations
import disks
import preload
import run_folders
import scenarios
from cases import Case, Skip

TITLE = "the power fails: whatever a disk may hold then goes on to the same bytes"


class Recorded:
    """The calls of a scenario and the disk before them."""

    def __init__(self, bench, scenario, **fault):
        world = bench.world(f"record-{scenario.name}-{os.getpid()}")
        below = world.place / "below"
        below.mkdir()
        scenario.prepare(below)
        self.disk = disks.Disk(below)
        log = world.place / "log"
        end = world.start(*scenario.command(below), env=world.fault(below, log=log, **fault)).wait()
        if end.code != 0:
            raise RuntimeError(f"with fault.c: {end}")
        self.calls = preload.calls_in(log)
        world.done()

    def when_begun(self):
        """The number of calls after which the run must be there for ever: its configuration has its
        name, and the next file is being made."""
        named = False
        for number, call in enumerate(self.calls):
            if call.kind == "rename" and call.other.endswith("/config.toml"):
                named = True
            elif named and call.kind == "open" and call.first & os.O_CREAT:
                return number
        return len(self.calls)

    def cuts(self, scenario, seed, samples):
        """(name, tree, must the run be there, is it over) for every different outcome."""
        begun = self.when_begun()
        chance = random.Random(f"{seed} {scenario.name}")
        seen = set()
        for number in range(len(self.calls) + 1):
            over = number == len(self.calls)
            if number > 0 and not self.disk.apply(self.calls[number - 1]) and not over:
                if number != begun:
                    continue
            must = number >= begun or (scenario.template is not None and not scenario.begins)
            for i, (order, tree) in enumerate(self.disk.states(chance, samples)):
                key = _digest(tree, f"{must} {over}")
                if key in seen:
                    continue
                seen.add(key)
                yield f"{scenario.name}.{order}.{number}.{i}", tree, must, over


def _digest(tree, more):
    sum_of_all = hashlib.sha1(more.encode())
    for path, data in sorted(tree.items()):
        sum_of_all.update(f"{path} {-1 if data is None else len(data)} ".encode())
        sum_of_all.update(data or b"")
    return sum_of_all.hexdigest()


def _after_cut(scenario, tree, must_be_there, over):
    def function(world):
        place = world.place / "below"
        disks.restore(tree, place)
        folder = place / scenarios.OUT
        for problem in run_folders.damages(folder):
            # Without a configuration there is no run, and nobody reads the rest.
            world.check(not (folder / "config.toml").exists(), f"after the cut: {problem}")
        if must_be_there:
            world.check((folder / "config.toml").exists(), "the run had begun, and is gone")
        if over:
            world.same(folder, scenario.expected)
        scenario.finish(world, place)
    return function


def _sees_what_is_not_synced(which):
    """The harness itself: where files or folders are not synced, it must find something."""
    def function(world):
        scenario = scenarios.all_scenarios(world.bench)["begin"]
        recorded = Recorded(world.bench, scenario)
        recorded.calls = [call for call in recorded.calls if not (
            call.kind == "fsync" and which(call))]
        found = 0
        for name, tree, must, over in recorded.cuts(scenario, world.bench.seed, 0):
            other = world.bench.world(f"powercut.blind.{world.name}.{name}")
            folder = other.place / "below" / scenarios.OUT
            disks.restore(tree, other.place / "below")
            config = (folder / "config.toml").exists()
            found += (must and not config) or (config and bool(run_folders.damages(folder)))
            other.done()
        world.check(found > 0, "nothing is found where nothing is synced: the model is blind")
    return function


# ---- a real file system ------------------------------------------------------------------------

_IN_IMAGE = """
set -e
mount -o loop "$1/image" "$1/disk"
"$2" run $3 --quiet --out "$1/disk/new/folders/run" &
run=$!
sleep "$4"
kill -STOP $run || true
# The system may be writing still: a copy is of one moment if the next is the same.
for attempt in 1 2 3 4 5 6 7 8 9; do
  cp --sparse=always "$1/image" "$1/copy"
  cp --sparse=always "$1/image" "$1/again"
  if cmp -s "$1/copy" "$1/again"; then break; fi
done
kill -KILL $run || true
wait $run || true
umount "$1/disk"
mount -o loop "$1/copy" "$1/disk"
[ ! -d "$1/disk/new" ] || cp -r "$1/disk/new" "$1/new"
umount "$1/disk"
"""


def _image_works(place):
    if os.geteuid() != 0 or not all(map(shutil.which, ("mkfs.ext4", "mount", "unshare", "losetup"))):
        return False
    (place / "disk").mkdir()
    with open(place / "image", "wb") as image:
        image.truncate(24 << 20)
    made = subprocess.run(["mkfs.ext4", "-q", place / "image"], capture_output=True).returncode == 0
    return made and subprocess.run(
        ["unshare", "--mount", "sh", "-c", 'mount -o loop "$1/image" "$1/disk" && umount "$1/disk"',
         "sh", place], capture_output=True).returncode == 0


def _real():
    """What the image holds at a moment, without what the system has not yet written to it. (No
    outcome of a sync is forgotten: this is milder than the model, but real.)"""
    def function(world):
        if not _image_works(world.place):
            raise Skip("no real file system: images cannot be mounted here")
        words = configurations.words("kde-lp", 400, "--checkpoint-seconds", "0", "--threads", "1")
        expected = world.bench.reference("image", words)
        end = subprocess.run(
            ["unshare", "--mount", "sh", "-c", _IN_IMAGE, "sh", world.place, world.bench.rarefy,
             " ".join(words), f"{world.random.uniform(0, 0.6):.3f}"], capture_output=True)
        if end.returncode != 0:
            raise Skip(f"no real file system: {end.stderr.decode(errors='replace')[-200:]}")
        folder = world.place / "new" / "folders" / "run"
        if (folder / "config.toml").exists():
            world.whole(folder)
            world.rarefy("resume", folder, "--quiet")
        else:
            world.rarefy("resume", folder, "--quiet", codes=(4,))
            world.rarefy("run", *words, "--quiet", "--overwrite", "--out", folder)
        world.same(folder, expected)
    return function


def _no_compiler(world):
    raise Skip("no C compiler for fault.c: no model of a disk")


def cases(bench):
    if bench.library is None:
        return [Case("model", _no_compiler)]
    found = [
        Case("model-sees.files", _sees_what_is_not_synced(
            lambda call: os.path.basename(call.path).startswith("."))),
        Case("model-sees.folder", _sees_what_is_not_synced(
            lambda call: call.path.endswith(str(scenarios.OUT)))),
        Case("model-sees.parents", _sees_what_is_not_synced(
            lambda call: call.path.endswith(("/below", "/new", "/folders")))),
    ]
    for name, scenario in scenarios.all_scenarios(bench).items():
        cuts = list(Recorded(bench, scenario).cuts(scenario, bench.seed, 0 if bench.quick else 4))
        if bench.quick:
            cuts = random.Random(bench.seed).sample(cuts, min(2, len(cuts)))
        for cut, tree, must, over in cuts:
            found.append(Case(cut, _after_cut(scenario, tree, must, over)))
    for number in range(0 if bench.quick else 20):
        found.append(Case(f"image.{number}", _real()))
    return found
