"""Calls everything that the Python package offers with whatever comes to mind. Nothing may end the interpreter.

    PYTHONPATH=python python fuzz/python_api.py [--calls 20000] [--seed 1]

Arguments are drawn from numbers of all sizes, texts, arrays of all shapes, types, strides and orders, and
from what earlier calls returned. An exception is a fine answer, a crash or a hang is not: a call that
takes longer than a while, or an exception that nobody should see, is printed and counts as a finding.
The process limits its memory, so that sizes that no machine has must be refused rather than tried.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import inspect
import os
import re
import resource
import sys
import tempfile
import time
import warnings
from typing import Any

import numpy as np

import rarefy
from rarefy import _core

FINE = (ValueError, TypeError, RuntimeError, OSError, OverflowError, MemoryError, AttributeError, KeyError, IndexError,
        ImportError, NotImplementedError)  # fmt: skip
SLOW = 10.0  # seconds for one call
# Programs to run, what only holds values, and a switch for the whole process.
LEFT_OUT = {"RayExecutor", "run", "resume", "time_loop", "Failure", "RunResult", "Elite", "OwnDensity", "OwnEmitter",
            "pin_instruction_set"}  # fmt: skip


class Values:
    """Draws arguments."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.kept = beginnings()
        self.first = len(self.kept)  # those before are there to stay

    def pick(self, choices: Any) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def array(self) -> Any:
        shape = tuple(int(n) for n in self.random.choice([0, 1, 2, 3, 4, 24], size=int(self.random.integers(4))))
        kind = self.pick([np.float64, np.float64, np.float64, np.float32, np.float16, np.int64, np.uint8, bool, complex, object, "U3"])
        if kind in (object, "U3"):
            array = np.zeros(shape, dtype=kind)
        else:
            array = self.random.normal(scale=self.pick([1, 1, 1e-300, 1e300]), size=shape).astype(kind)
        if array.dtype == np.float64 and array.size and self.random.random() < 0.2:
            array.flat[0] = self.pick([np.nan, np.inf, -np.inf])
        if array.ndim == 2 and self.random.random() < 0.4:
            array = self.pick([array.T, array[::-1], array[:, ::-1], np.asfortranarray(array), np.broadcast_to(array[:1], array.shape)])
        if self.random.random() < 0.2 and array.flags.owndata:
            array.flags.writeable = False
        return array

    def any(self) -> Any:
        kind = self.random.random()
        if kind < 0.35:
            return self.array()
        if kind < 0.55 and self.kept:
            return self.pick(self.kept)
        return self.pick([
            0, 1, 2, 3, 7, -1, 24, 1000, 2**31, 2**62, 2**63, -(2**63), 10**30, 0.0, 0.5, 1e-300, 1e300, -1.5, float("nan"),
            float("inf"), True, False, None, "", "lp", "arm", "maze", "kde", "flow", "gaussian", "cma-es", "scott", "\0", "é" * 50,
            b"", b"bytes", (), [], {}, [(0, 1)], [(0, 1), (-2, 2)], [(1, 0)], [(0, float("nan"))], [[1, 2], [3]], [10, 10], [0],
            [10**9, 10**9], object(), len, print, np.float64(2), np.int32(3), "nowhere", ".",
        ])  # fmt: skip


def parameters_of(callable_: Any) -> list[inspect.Parameter] | None:
    """What it takes; for a native function, by the first line of its documentation."""
    try:
        return list(inspect.signature(callable_).parameters.values())
    except (ValueError, TypeError):
        pass
    documented = getattr(callable_, "__doc__", None) or getattr(getattr(callable_, "__init__", None), "__doc__", None) or ""
    found = re.match(r"\w+\((.*?)\) ->", documented)
    if found is None:
        return None
    names = re.findall(r"(\w+):[^,=]*(=)?", found.group(1))
    return [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD,
                          default=0 if has_default else inspect.Parameter.empty)
        for name, has_default in dict(names).items()
    ]  # fmt: skip


def arguments_for(callable_: Any, values: Values) -> tuple[list[Any], dict[str, Any]]:
    """Mostly as many as it takes, of which some are what their names suggest."""
    given: list[Any] = []
    named: dict[str, Any] = {}
    parameters = parameters_of(callable_)
    if parameters is None:
        return [values.any() for _ in range(int(values.random.integers(4)))], {}
    odd = values.pick([0.0, 0.0, 0.3, 1.0])  # how many of them are not as one would expect
    for parameter in parameters:
        value = values.any() if values.random.random() < odd else likely(parameter.name, values)
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            if parameter.default is parameter.empty:
                given.append(value)
            elif values.random.random() < 0.3:
                named[parameter.name] = value
        elif parameter.kind == parameter.KEYWORD_ONLY and values.random.random() < 0.15:
            named[parameter.name] = value
        elif parameter.kind == parameter.VAR_KEYWORD and values.random.random() < 0.3:
            named[values.pick(["seed", "emitters", "batch", "sigma0", "grid", "threads", "bounds", "buffer"])] = values.any()
    if given and values.random.random() < 0.03:
        given.pop()
    return given, named


def likely(name: str, values: Values) -> Any:
    small = int(values.random.integers(1, 5))
    if "box" in name:
        return [(-2.0, 2.0)] * 2
    if name in ("name", "domain"):
        return values.pick(["lp", "arm", "maze", "multi-lp"])
    if name in ("file", "folder", "place"):
        return values.pick(["file", "folder", "folder/deep", "."])
    if name == "shape":
        return [small, small]
    if name in ("solution_dim", "n"):
        return 4
    if name == "feature_dim":
        return 2
    if name in ("cells", "capacity", "batch", "threads", "samples", "count", "seed", "cell", "iterations"):
        return small
    if name in ("objectives", "values", "mean", "controller", "objective"):
        return values.random.normal(size=values.pick([ROWS, ROWS, 4]))
    if name == "solutions":
        return values.random.normal(size=(ROWS, 4))
    if name == "valid":
        return values.random.random(ROWS) < 0.8
    if name in ("features", "centroids", "measures", "feature"):
        return values.random.normal(size=values.pick([(ROWS, 2), (ROWS, 2), (2,)]))
    if name == "team":
        return _core.Team(small)
    if name == "tessellation":
        return rarefy.Grid([(-2.0, 2.0)] * 2, [small, small])
    if name == "config":
        return _core.Config("lp", "dds-kde", "default")
    if name == "problem":
        return rarefy.Problem(4, [(-2.0, 2.0)] * 2)
    return values.any()


ROWS = 8  # candidates of the searches below


def beginnings() -> list[Any]:
    """One of everything, to call methods of."""
    box = [(-2.0, 2.0)] * 2
    few: dict[str, Any] = {"emitters": 2, "batch": 4, "seed": 1, "threads": 2}
    searches = [kind(4, box, **few) for kind in
                (rarefy.DensityDescent, rarefy.NoveltySearch, rarefy.CmaMae, rarefy.DiscountModelSearch, rarefy.CmaMe, rarefy.MapElites)]  # fmt: skip
    flow = rarefy.DensityDescent(4, box, density="flow", **few)
    grid = rarefy.Grid(box, [3, 3])
    rows = np.random.default_rng(1).normal(size=(50, 2))
    return [
        *searches, flow, *[search._native for search in searches], grid, rarefy.Cvt(box, 8),
        rarefy.KernelDensity(rows), rarefy.FlowDensity(box, layers=[4], steps=1), rarefy.Reservoir(2, 5),
        rarefy.CmaEs(np.zeros(4), 0.5), rarefy.EliteArchive(grid, 4), rarefy.Domain("arm", n=4), rarefy.Team(2),
        rarefy.KernelDensity(rows)._native, searches[0].archive, searches[0].config, searches[0].problem,
    ]  # fmt: skip


def public(thing: Any) -> list[str]:
    return [name for name in dir(thing) if not name.startswith("_") or name in ("__len__", "__getitem__", "__deepcopy__", "_repr_html_")]


def one_call(values: Values, roots: list[Any]) -> str | None:
    """A finding, or nothing."""
    if values.random.random() < 0.75:
        of = values.pick(values.kept)
        names = public(of)
        if not names:
            return None
        name = values.pick(names)
        label = f"{type(of).__name__}.{name}"
        if name in LEFT_OUT:
            return None
        try:
            target = getattr(of, name)
        except FINE:
            return None
    else:
        target = values.pick(roots)
        label = getattr(target, "__name__", str(target))
    given: list[Any] = []
    named: dict[str, Any] = {}
    began = time.monotonic()
    try:
        if callable(target):
            given, named = arguments_for(target, values)
            result = target(*given, **named)
        else:
            result = target
    except FINE:
        result = None
    except BaseException as error:  # what nobody should see
        return f"{label}{given!r:.300} {named!r:.200}: {type(error).__name__}: {error}"
    passed = time.monotonic() - began
    if passed > SLOW:
        return f"{label}{given!r:.300} {named!r:.200}: took {passed:.0f} s"
    if type(result).__module__.startswith("rarefy") and len(values.kept) < 60:
        values.kept.append(result)
    elif type(result).__module__.startswith("rarefy"):
        values.kept[int(values.random.integers(values.first, 60))] = result
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faulthandler.enable()
    memory = 6 << 30
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    roots = [getattr(rarefy, name) for name in rarefy.__all__ if callable(getattr(rarefy, name)) and name not in LEFT_OUT]
    roots += [getattr(_core, name) for name in dir(_core) if callable(getattr(_core, name)) and name not in LEFT_OUT]
    makers = [made for cls in (_core._Search, _core._Density, _core.Cvt, _core.Config)
              for name in dir(cls) if not name.startswith("__") and callable(made := getattr(cls, name)) and name not in LEFT_OUT]  # fmt: skip
    roots += makers
    values = Values(options.seed)
    findings = 0
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nothing:
        os.chdir(folder)
        for _ in range(options.calls):
            faulthandler.dump_traceback_later(10 * SLOW, exit=True)  # where it hangs
            with contextlib.redirect_stdout(nothing):
                found = one_call(values, roots)
            if found:
                findings += 1
                print(found, flush=True)
        os.chdir("/")
    print(f"{options.calls} calls, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
