"""Signals, closed streams, full logs, readers and terminals that go away, limits."""

import fcntl
import os
import pty
import resource
import shutil
import signal
import time

import configurations
import run_folders
from cases import Case, Skip

TITLE = "signals, streams, terminals and limits end no run that they should not"

ENDLESS = 1_000_000_000
OFTEN = ("--checkpoint-seconds", "0", "--threads", "2")


def _words(iterations):
    return configurations.words("kde-lp", iterations, *OFTEN)


def _has_begun(folder):
    return lambda: (folder / "config.toml").exists()


def _goes_on_to_the_same(world, folder):
    """What a stopped run has left: whole, and as good as one that was not stopped."""
    world.whole(folder)
    if world.problems:
        return
    world.rarefy("show", folder)
    done = run_folders.iteration_in(folder)
    further = str(done + 3)
    world.rarefy("resume", folder, "--quiet", "--iterations", further)
    whole = world.place / "undisturbed"
    words = _words(done + 3)
    words[words.index("--checkpoint-seconds") + 1] = "1000"
    world.rarefy("run", *words, "--quiet", "--out", whole)
    # It was begun with other iterations and pauses, which are in config.toml.
    world.same(folder, whole, leave_out=["config.toml"])


def _stopped(closed, number, twice, begun):
    def function(world):
        folder = world.place / "run"
        process = world.start("run", *_words(ENDLESS), "--out", folder, closed=closed)
        if begun and not process.wait_until(_has_begun(folder)):
            world.check(False, f"does not begin: {process.wait()}")
            return
        time.sleep(world.random.uniform(0, 0.1))
        process.send(number)
        if twice:
            time.sleep(world.random.uniform(0, 0.02))
            if not process.is_over():
                process.send(number)
        end = process.wait()
        world.judge(end, (130,), () if begun else (number,))
        if end.signal is not None:
            world.check(not folder.exists(), f"a folder was made, and no signal was heeded: {end}")
        if (folder / "config.toml").exists():
            _goes_on_to_the_same(world, folder)
        elif begun:
            world.check(False, "config.toml is gone")
        if not closed and begun and not twice:
            world.check(b"rarefy resume" in end.err, f"does not say how to go on: {end}")
    return function


def _ignored(number):
    """As nohup starts a program, and a shell one in the background."""
    def function(world):
        folder = world.place / "run"
        process = world.start("run", *_words(ENDLESS), "--out", folder,
                              prepare=lambda: signal.signal(number, signal.SIG_IGN))
        process.wait_until(_has_begun(folder))
        for _ in range(3):
            process.send(number)
        seen = (folder / "checkpoint.bin").stat().st_mtime_ns
        went_on = process.wait_until(
            lambda: (folder / "checkpoint.bin").stat().st_mtime_ns > seen)
        world.check(went_on and not process.is_over(), "an ignored signal ended it")
        if not process.is_over():
            process.send(signal.SIGINT if number == signal.SIGTERM else signal.SIGTERM)
        world.judge(process.wait(), (130,))
        _goes_on_to_the_same(world, folder)
    return function


def _stopped_and_continued(world):
    folder = world.place / "run"
    process = world.start("run", *_words(ENDLESS), "--out", folder)
    process.wait_until(_has_begun(folder))
    for number in (signal.SIGSTOP, signal.SIGCONT, signal.SIGSTOP, signal.SIGCONT):
        process.send(number)
        time.sleep(world.random.uniform(0, 0.01))
    process.send(signal.SIGTERM)
    world.judge(process.wait(), (130,))
    _goes_on_to_the_same(world, folder)


def _full(number, what):
    """A full disk behind a stream."""
    def function(world):
        if not os.path.exists("/dev/full"):
            raise Skip("no /dev/full here")
        full = os.open("/dev/full", os.O_WRONLY)
        folder = world.place / "run"
        if what == "finish":
            expected = world.bench.reference(("full", 30), _words(30))
            end = world.start("run", *_words(30), "--out", folder, streams={number: full}).wait()
            world.judge(end, (0,) if number == 2 else (4,))
            world.same(folder, expected)
        elif what == "stop":
            process = world.start("run", *_words(ENDLESS), "--out", folder, streams={number: full})
            process.wait_until(_has_begun(folder))
            time.sleep(world.random.uniform(0, 0.05))
            process.send(signal.SIGINT)
            end = process.wait()
            world.check(end.code == 130, f"expected exit code 130: {end}")
            _goes_on_to_the_same(world, folder)
        else:
            code = 2 if what == "usage" else 4
            words = ["run", "nosuch"] if what == "usage" else ["show", "/nowhere"]
            end = world.start(*words, streams={2: full}).wait()
            world.check(end.code == code, f"expected exit code {code}: {end}")
        os.close(full)
    return function


def _reader_leaves(number, when):
    """rarefy run ... | head -1"""
    def function(world):
        folder = world.place / "run"
        reading, writing = os.pipe()
        if when == "before":
            os.close(reading)
        endless = when != "before"
        words = _words(ENDLESS if endless else 30)
        process = world.start("run", *words, "--out", folder, streams={number: writing})
        os.close(writing)
        if not endless:
            end = process.wait()
            world.check(end.signal is None, f"ended by a signal: {end}")
            world.check(end.code == 0, f"a reader that left ends a run: {end}")
            world.same(folder, world.bench.reference(("full", 30), _words(30)))
            return
        process.wait_until(_has_begun(folder))
        os.close(reading)
        time.sleep(world.random.uniform(0, 0.05))
        world.check(not process.is_over(), "a reader that left ended it")
        if not process.is_over():
            process.send(signal.SIGTERM)
        end = process.wait()
        world.check(end.code == 130, f"expected exit code 130: {end}")
        _goes_on_to_the_same(world, folder)
    return function


def _nobody_reads(world):
    """A pipe that is full and does not block: what cannot be said is not said."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETFL, os.O_NONBLOCK)
    try:
        while True:
            os.write(writing, bytes(4096))
    except BlockingIOError:
        pass
    folder = world.place / "run"
    end = world.start("run", *_words(30), "--out", folder, streams={2: writing}).wait()
    world.judge(end, (0,))
    world.same(folder, world.bench.reference(("full", 30), _words(30)))
    os.close(reading)
    os.close(writing)


def _terminal_closes(nohup):
    def function(world):
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            raise Skip(f"no terminal: {error}") from error
        folder = world.place / "run"

        def prepare():
            os.setsid()
            fcntl.ioctl(0, 0x540E, 0)  # TIOCSCTTY
            if nohup:
                signal.signal(signal.SIGHUP, signal.SIG_IGN)

        process = world.start("run", *_words(ENDLESS), "--out", folder, prepare=prepare,
                              streams={0: theirs, 1: theirs, 2: theirs})
        os.close(theirs)
        world.check(process.wait_until(_has_begun(folder)), "does not begin")
        time.sleep(world.random.uniform(0, 0.1))
        os.close(ours)
        if nohup:
            seen = (folder / "checkpoint.bin").stat().st_mtime_ns
            world.check(process.wait_until(
                lambda: (folder / "checkpoint.bin").stat().st_mtime_ns > seen), "ended by nohup")
            process.send(signal.SIGTERM)
        end = process.wait()
        world.check(end.code == 130, f"expected exit code 130: {end}")
        _goes_on_to_the_same(world, folder)
    return function


def _limited(limit, what):
    """ulimit -f"""
    def function(world):
        folder = world.place / "run"
        expected = world.bench.reference(("full", 30), _words(30))
        if what == "run":
            words = ["run", *_words(30), "--quiet", "--out", folder]
        else:
            half = world.bench.reference(("full", 15), _words(15))
            shutil.copytree(half, folder)
            words = ["resume", folder, "--iterations", "30"]
        end = world.rarefy(*words, codes=(4,), piped=True, limits={resource.RLIMIT_FSIZE: limit})
        world.check(b"File too large" in end.err, f"does not say why: {end}")
        world.whole(folder, temporaries=False)
        if (folder / "config.toml").exists():
            world.rarefy("resume", folder, "--quiet", "--iterations", "30")
        else:
            world.rarefy("run", *_words(30), "--quiet", "--overwrite", "--out", folder)
        world.same(folder, expected)
    return function


def cases(bench):
    found = []
    for what in ("full", 30), ("full", 15):
        bench.reference(what, _words(what[1]))
    kinds = {"TERM": signal.SIGTERM, "INT": signal.SIGINT, "HUP": signal.SIGHUP}
    for mask in range(8):
        closed = [stream for stream in range(3) if mask >> stream & 1]
        for name, number in kinds.items():
            for twice in (False, True):
                for begun in (True, False):
                    for i in range(1 if bench.quick else 2):
                        found.append(Case(
                            f"stop.closed{mask}.{name}.{'twice' if twice else 'once'}."
                            f"{'begun' if begun else 'early'}.{i}",
                            _stopped(closed, number, twice, begun)))
    if bench.quick:
        found = found[::16]
    for name, number in kinds.items():
        found.append(Case(f"ignored.{name}", _ignored(number)))
    found.append(Case("stop-and-continue", _stopped_and_continued))
    for what in ("finish", "stop", "usage", "refuse"):
        found.append(Case(f"full.stderr.{what}", _full(2, what)))
    for what in ("finish", "stop"):
        found.append(Case(f"full.stdout.{what}", _full(1, what)))
    for number in (1, 2):
        for when in ("before", "later"):
            found.append(Case(f"reader-leaves.{number}.{when}", _reader_leaves(number, when)))
    found.append(Case("nobody-reads", _nobody_reads))
    for i in range(1 if bench.quick else 5):
        found.append(Case(f"terminal-closes.{i}", _terminal_closes(False)))
        found.append(Case(f"terminal-closes.nohup.{i}", _terminal_closes(True)))
    for limit in (0, 1, 100, 1000, 5000, 10_000, 20_000, 40_000)[::5 if bench.quick else 1]:
        found.append(Case(f"limit.run.{limit}", _limited(limit, "run")))
        found.append(Case(f"limit.resume.{limit}", _limited(limit, "resume")))
    return found
