"""make bench-engines: rows a second through each engine, by what a row costs, beside this process' own threads.

    python bench/python/engines.py [--engines NAME ...] [--costs MS ...]

A row is 100 numbers; to evaluate it is to sleep. Engines are started and have evaluated some rows before anything is
measured, and of some batches the fastest counts. Ideal are workers / cost rows a second, as of workers that never wait; a
batch has a multiple of the workers, so that all could be busy to its end. mpi4py runs under its mpiexec.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rarefy
from rarefy.evaluation import BatchEvaluator

SOLUTION, FEATURES = 100, 2
Make = Callable[[int], Any]  # a context in which an engine with so many workers can be used


@dataclass(frozen=True)
class Case:
    milliseconds: float
    workers: int
    rows: int  # of a batch
    batches: int


# At 1 ms, 16 workers would be more than two cores can wake up.
CASES = (Case(0, 2, 540, 20), Case(1, 4, 4000, 3), Case(100, 16, 480, 3))


def take_time(seconds: float, solution: np.ndarray) -> np.ndarray:
    if seconds:
        time.sleep(seconds)
    return solution[:FEATURES]


def number_of_process(_: int) -> int:
    time.sleep(0.05)
    return os.getpid()


def wait_for_all(executor: Any, workers: int) -> None:
    """Ray starts its workers while it works."""
    seen: set[int] = set()
    while len(seen) < workers:
        seen = {future.result() for future in [executor.submit(number_of_process, i) for i in range(4 * workers)]}


def rows_a_second(case: Case, executor: Any) -> float:
    search = rarefy.DensityDescent(SOLUTION, [(-2, 2)] * FEATURES)
    solutions = np.random.default_rng(1).normal(size=(case.rows, SOLUTION))
    evaluate = partial(take_time, case.milliseconds / 1000)
    with BatchEvaluator(search, evaluate, True, executor, case.workers, None, 0) as evaluator:
        evaluator(solutions[: 4 * case.workers])
        fastest = math.inf  # the others had to wait for something else on the machine
        for _ in range(case.batches):
            began = time.perf_counter()
            features, _, valid = evaluator(solutions)
            fastest = min(fastest, time.perf_counter() - began)
            assert valid is None and np.array_equal(features, solutions[:, :FEATURES])
    return case.rows / fastest


@contextmanager
def itself(name: str | None, workers: int) -> Iterator[str | None]:
    yield name


@contextmanager
def dask(workers: int) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with LocalCluster(
        n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster, Client(cluster) as client:
        client.wait_for_workers(workers)
        yield client.get_executor()


@contextmanager
def ray(workers: int) -> Iterator[Any]:
    import ray

    from rarefy.executors import RayExecutor

    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)  # its workers inherit it
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        executor = RayExecutor()
        wait_for_all(executor, workers)
        yield executor
    finally:
        ray.shutdown()


ENGINES: dict[str, Make] = {
    "none": partial(itself, None),
    "threads": partial(itself, "threads"),
    "processes": partial(itself, "processes"),
    "dask": dask,
    "ray": ray,
}


def through_mpi(case: Case) -> float:
    """In processes of their own: MPI has its own way to start them."""
    folder = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    mpiexec = shutil.which("mpiexec", path=folder)
    assert mpiexec, "mpi4py: there is no mpiexec"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    words = [mpiexec, "-n", str(case.workers + 1), "--oversubscribe", sys.executable, "-m", "mpi4py.futures", __file__]
    words += ["--inside-mpi", str(CASES.index(case))]
    end = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=600)
    if end.returncode != 0:
        raise RuntimeError(end.stderr)
    return float(end.stdout)


def inside_mpi(case: Case) -> None:
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor() as executor:
        print(rows_a_second(case, executor))


def measure(name: str, case: Case) -> float:
    if name == "mpi4py":
        return through_mpi(case)
    with ENGINES[name](case.workers) as executor:
        return rows_a_second(case, executor)


def main() -> None:
    names = [*ENGINES, "mpi4py"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", nargs="+", choices=names, default=names)
    parser.add_argument("--costs", nargs="+", type=float, default=[case.milliseconds for case in CASES])
    parser.add_argument("--inside-mpi", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside_mpi is not None:
        return inside_mpi(CASES[options.inside_mpi])
    missing = {name for name in ("distributed", "ray", "mpi4py") if importlib.util.find_spec(name) is None}
    print(f"| a row costs | engine | workers | rows | rows/s | of threads | of ideal |\n|{'---|' * 7}")
    for case in CASES:
        if case.milliseconds not in options.costs:
            continue
        threads = measure("threads", case)
        for name in options.engines:
            if {"dask": "distributed"}.get(name, name) in missing:
                print(f"{name} is not installed", file=sys.stderr)
                continue
            one = replace(case, workers=1, rows=case.rows // case.workers) if name == "none" else case
            rate = threads if name == "threads" else measure(name, one)
            ideal = f"{100 * rate * case.milliseconds / 1000 / one.workers:.1f} %" if case.milliseconds else "-"
            print(
                f"| {case.milliseconds:g} ms | {name} | {one.workers} | {one.rows} | {rate:.0f} "
                f"| {rate / threads:.3f} | {ideal} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
