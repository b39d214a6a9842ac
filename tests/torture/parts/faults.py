"""Every call to the system fails once, or from some moment on; some are only cut short."""

import errno
import os
import re

import preload
import run_folders
import scenarios
from cases import Case, Skip
from parts import kills

TITLE = "the system refuses, call by call: told, nothing torn, and resumed to the same bytes"

ERRORS = {
    "open": ("EMFILE", "ENFILE", "EIO", "ENOSPC", "EACCES"),
    "write": ("ENOSPC", "EIO", "EDQUOT"),
    "read": ("EIO",),
    "fsync": ("EIO", "ENOSPC", "EDQUOT"),
    "rename": ("ENOSPC", "EIO", "EACCES"),
    "unlink": ("EIO", "EACCES"),
    "rmdir": ("EIO",),
    "mkdir": ("ENOSPC", "EACCES", "EMLINK"),
    "ftruncate": ("EIO",),
    "fchmod": ("EPERM", "EIO"),
    "flock": ("ENOLCK", "EOPNOTSUPP"),
    "close": ("EIO", "ENOSPC"),
    "look": ("EIO", "EACCES"),
}
# What a signal, or a slow disk, may do to a call at any time: nobody may notice.
INVISIBLE = {
    "write": ("short", "one", "EINTR"),
    "read": ("short", "one", "EINTR"),
    "open": ("EINTR",),
    "fsync": ("EINTR",),
    "flock": ("EINTR",),
}
# Without these there is no file on the disk: to go on would be to lie.
MUST_BE_TOLD = ("write", "fsync", "rename")


def _what_to_do(name):
    return str(getattr(errno, name)) if name.startswith("E") else name


def _refused(scenario, kind, number, name, lasts):
    def function(world):
        place = world.place / "below"
        scenario.prepare(place)
        log = world.place / "calls"
        end = world.rarefy(*scenario.command(place), codes=(0, 4), env=world.fault(
            place, log=log, do=_what_to_do(name), at=number, lasts=lasts, calls=(kind,)))
        refused = [call for call in preload.calls_in(log)
                   if call.kind == kind and call.error == getattr(errno, name)]
        if not refused and end.code == 0:
            raise Skip("the call did not come this time: a journal is synced by the clock")
        folder = place / scenarios.OUT
        # A temporary stays only where deleting it is what failed.
        world.whole(folder, temporaries=kind == "unlink")
        if end.code == 0:
            # What was in a journal, and did not reach the disk, was soon in a checkpoint.
            needless = kind == "fsync" and not (folder / "journal.bin").exists() and all(
                call.path.endswith("journal.bin") for call in refused)
            world.check(kind not in MUST_BE_TOLD or needless, f"{name} of {kind} is not told: {end}")
            left = [p.name for p in folder.iterdir() if run_folders.TEMPORARY.fullmatch(p.name)]
            world.same(folder, scenario.expected, leave_out=left if kind == "unlink" else ())
        elif end.code == 4:
            reason = os.strerror(getattr(errno, name))
            world.check(reason.encode() in end.err, f"does not say why ({reason}): {end}")
            world.check(str(place).encode() in end.err, f"does not name the file: {end}")
        world.check(not re.search(rb"rarefy: [^\n]*\n[^\n]*rarefy: ", end.err) or end.code == 0,
                    f"says more than one thing: {end}")
        scenario.finish(world, place)
    return function


def _cut_short(scenario, kind, number, name, lasts):
    def function(world):
        place = world.place / "below"
        scenario.prepare(place)
        end = world.rarefy(*scenario.command(place), env=world.fault(
            place, do=_what_to_do(name), at=number, lasts=lasts, calls=(kind,)))
        if end.code == 0:
            world.same(place / scenarios.OUT, scenario.expected)
    return function


def _spread(numbers, most):
    """At most so many of them, from the first to the last."""
    if len(numbers) <= most:
        return numbers
    return sorted({numbers[round(i * (len(numbers) - 1) / (most - 1))] for i in range(most)})


def _no_compiler(world):
    raise Skip("no C compiler for fault.c")


def cases(bench):
    if bench.library is None:
        return [Case("all", _no_compiler)]
    found = []
    for scenario in scenarios.all_scenarios(bench, iterations=2 if bench.quick else 1).values():
        calls = kills.calls_of(bench, scenario, tuple(ERRORS))
        for kind in ERRORS:
            number = sum(call.kind == kind for call in calls)
            for name in ERRORS[kind]:
                # Every call fails with the first of them, some with the others.
                every = range(1, number + 1)
                for at in every if name == ERRORS[kind][0] else _spread(every, 6):
                    found.append(Case(f"{kind}.{name}.once.{scenario.name}.{at}",
                                      _refused(scenario, kind, at, name, 1)))
                for at in _spread(range(1, number + 1), 4):
                    found.append(Case(f"{kind}.{name}.from.{scenario.name}.{at}",
                                      _refused(scenario, kind, at, name, 0)))
            for name in INVISIBLE.get(kind, ()):
                for at in _spread(range(1, number + 1), 6):
                    found.append(Case(f"{kind}.{name}.once.{scenario.name}.{at}",
                                      _cut_short(scenario, kind, at, name, 1)))
                if name == "short" and number:
                    found.append(Case(f"{kind}.{name}.always.{scenario.name}",
                                      _cut_short(scenario, kind, 1, name, 0)))
    if bench.quick:
        found = found[::max(1, len(found) // 20)]
    return found
