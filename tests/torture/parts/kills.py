"""SIGKILL at random moments, and at every single call to the system that changes something."""

import signal
import time

import configurations
import preload
import scenarios
from cases import Case, Skip

TITLE = "killed, at random and at every call, and resumed to the same bytes"

# Between two of these nothing changes on the disk.
CHANGES = ("open", "write", "fsync", "rename", "unlink", "rmdir", "mkdir", "link", "ftruncate",
           "fchmod")


def _at_random(name, kills, iterations, bench):
    often = ("--checkpoint-seconds", "0", "--threads", "2")
    words = configurations.words(name, iterations, *often)
    expected = bench.reference((name, iterations, often), words)
    longest = bench.seconds_of((name, iterations, often))

    def function(world):
        folder = world.place / "run"
        for _ in range(kills):
            if (folder / "config.toml").exists():
                process = world.start("resume", folder, "--quiet", "--threads", "2")
            else:
                process = world.start("run", *words, "--overwrite", "--quiet", "--out", folder)
            time.sleep(world.random.uniform(0, longest))
            process.send(signal.SIGKILL)
            world.judge(process.wait(), (0,), (signal.SIGKILL,))
            world.whole(folder)
        if (folder / "config.toml").exists():
            world.rarefy("resume", folder, "--quiet")
        else:
            world.rarefy("run", *words, "--overwrite", "--quiet", "--out", folder)
        world.same(folder, expected)
    return function


def calls_of(bench, scenario, kinds, **options):
    """The calls of an undisturbed run, of some kinds."""
    world = bench.world(f"log-{scenario.name}")
    scenario.prepare(world.place / "below")
    log = world.place / "log"
    end = world.start(*scenario.command(world.place / "below"),
                      env=world.fault(world.place / "below", log=log, **options)).wait()
    if end.code != 0:
        raise RuntimeError(f"with fault.c that does nothing: {end}")
    found = [call for call in preload.calls_in(log) if call.kind in kinds]
    world.done()
    return found


def _at_call(scenario, number):
    def function(world):
        place = world.place / "below"
        scenario.prepare(place)
        end = world.start(*scenario.command(place), env=world.fault(
            place, do="kill", at=number, calls=CHANGES)).wait()
        world.check(end.signal == signal.SIGKILL, f"should have been killed: {end}")
        world.whole(place / scenarios.OUT)
        scenario.finish(world, place)
    return function


def _at_two_calls(scenario, most):
    """Killed, and killed again while it goes on."""
    def function(world):
        place = world.place / "below"
        scenario.prepare(place)
        command = scenario.command(place)
        for _ in range(3):
            at = world.random.randint(1, most)
            end = world.start(*command, env=world.fault(
                place, do="kill", at=at, calls=CHANGES)).wait()
            world.judge(end, (0,), (signal.SIGKILL,))
            world.whole(place / scenarios.OUT)
            if scenario.begins and (place / scenarios.OUT / "config.toml").exists():
                command = ["resume", place / scenarios.OUT, "--quiet"]
            elif scenario.begins and "--overwrite" not in command:
                command.append("--overwrite")
        scenario.finish(world, place)
    return function


def _no_compiler(world):
    raise Skip("no C compiler for fault.c: no kills at single calls")


def cases(bench):
    found = []
    for name in configurations.names(bench.quick):
        for i in range(1 if bench.quick else 8):
            found.append(Case(f"random.{name}.{i}", _at_random(name, 2 if bench.quick else 5, 40,
                                                               bench)))
    if bench.library is None:
        return [*found, Case("call", _no_compiler)]
    for scenario in scenarios.all_scenarios(bench).values():
        most = len(calls_of(bench, scenario, CHANGES))
        step = max(1, most // 2) if bench.quick else 1
        for number in range(1, most + 1, step):
            found.append(Case(f"call.{scenario.name}.{number}", _at_call(scenario, number)))
        for i in range(0 if bench.quick else 30):
            found.append(Case(f"calls.{scenario.name}.{i}", _at_two_calls(scenario, most)))
    return found
