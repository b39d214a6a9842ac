"""Nothing that a user does ends the interpreter."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
from conftest import project, small

import rarefy


def test_threads_that_call_at_once_are_told() -> None:
    search = small("kde", batch=64, emitters=8)
    search.tell(project(search.ask()))  # there is a density from here on
    unexpected: list[BaseException] = []
    stop = threading.Event()

    def use(what: object) -> None:
        while not stop.is_set():
            try:
                what()  # type: ignore[operator]
            except RuntimeError as error:
                if "in use" not in str(error) and "ask()" not in str(error):
                    unexpected.append(error)
            except BaseException as error:
                unexpected.append(error)

    def loop() -> None:
        search.tell(project(search.ask()))

    uses = [loop, loop, search.metrics, lambda: search.archive.solutions.sum(), lambda: search.log_density([[0, 0]]),
            lambda: search._native.save(), search.scores]  # fmt: skip
    threads = [threading.Thread(target=use, args=(what,)) for what in uses]
    for thread in threads:
        thread.start()
    for _ in range(200):
        loop_done = search.iteration
        threading.Event().wait(0.005)
        if loop_done > 100:
            break
    stop.set()
    for thread in threads:
        thread.join()
    assert not unexpected, unexpected[:3]


def test_whatever_is_called_with_whatever() -> None:
    fuzzer = Path(__file__).parents[2] / "fuzz" / "python_api.py"
    done = subprocess.run([sys.executable, fuzzer, "--calls", "2000"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_odd_arguments_raise() -> None:
    random = np.random.default_rng(1)
    shapes = [(), (0,), (1,), (24,), (0, 0), (0, 2), (24, 0), (24, 1), (24, 2), (25, 2), (2, 24), (24, 2, 1)]
    types = [np.float16, np.float32, np.float64, np.int8, np.uint64, bool, complex, "U3", object, "M8[s]"]
    for _ in range(2000):
        shape = shapes[random.integers(len(shapes))]
        kind = types[random.integers(len(types))]
        array = np.zeros(shape, dtype=kind)
        if array.ndim == 2 and random.random() < 0.5:
            array = array[::-1, ::-1]
        if random.random() < 0.3:
            array.flags.writeable = False
        search = small()
        search.ask()
        try:
            search.tell(array, array if random.random() < 0.2 else None, array if random.random() < 0.2 else None)
        except (ValueError, TypeError):
            continue
        assert search.iteration == 1
    for nothing in (None, 3, "text", b"bytes", object(), {}, [[]], np.nan):
        for call in (rarefy.KernelDensity, rarefy.load, rarefy.Domain, rarefy.resume):
            try:
                call(nothing)  # type: ignore[operator]
            except (ValueError, TypeError, OSError):
                continue
            raise AssertionError((call, nothing))
