"""Engines that exist, as they are: real local clusters, whose workers are killed in the middle."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pytest
from conftest import go, project, project_row, small

import rarefy
from rarefy._pieces import Pieces
from rarefy.executors import RayExecutor, count_workers

HERE = Path(__file__).parent
ITERATIONS = 5
ROWS = 24


def same(a: rarefy.Search, b: rarefy.Search) -> bool:
    names = ("solutions", "features", "visits")
    return all(np.array_equal(getattr(a.archive, name), getattr(b.archive, name)) for name in names)


def name_of(solution: np.ndarray) -> str:
    return hashlib.sha256(solution.tobytes()).hexdigest()


class Deadly:
    """Kills the process that evaluates, in the middle of a batch, until that has happened so many times."""

    def __init__(self, folder: Path, deaths: int) -> None:
        self.folder, self.deaths = str(folder), deaths

    def __call__(self, solution: np.ndarray) -> tuple[float, float]:
        if solution[0] > 0.5:
            for death in range(self.deaths):
                try:
                    os.close(os.open(os.path.join(self.folder, str(death)), os.O_CREAT | os.O_EXCL))
                except FileExistsError:  # somebody else's
                    continue
                os.kill(os.getpid(), signal.SIGKILL)
        return project_row(solution)


class Reluctant:
    """Raises whenever it sees a solution for the first or second time."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def __call__(self, solution: np.ndarray) -> tuple[float, float]:
        with open(os.path.join(self.folder, name_of(solution)), "ab", buffering=0) as file:
            file.write(b".")
            if file.tell() < 3:
                raise RuntimeError("not yet")
        return project_row(solution)


def check_engine(executor: Any, folder: Path) -> None:
    """The same bits as with threads, whatever happens to two of the workers; and what fails is tried again."""
    threads = small()
    threads.run(project, ITERATIONS, executor="threads", workers=2, progress=False)
    assert count_workers(executor) == 2
    search = small()
    search.run(project, ITERATIONS, executor=executor, progress=False)
    assert same(search, threads)

    (folder / "deaths").mkdir()
    search = small()
    deadly = Deadly(folder / "deaths", 2)
    result = search.run(deadly, ITERATIONS, rowwise=True, executor=executor, retries=5, progress=False)
    assert len(os.listdir(folder / "deaths")) == 2
    assert result.failures == []
    assert same(search, threads)

    (folder / "seen").mkdir()
    search = small()
    reluctant = Reluctant(folder / "seen")
    result = search.run(reluctant, 2, rowwise=True, executor=executor, retries=2, timeout=600, progress=False)
    assert result.failures == []
    assert same(search, go(small(), 2))


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What workers inherit, so that they find these modules."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), *filter(None, sys.path)]))
    yield


def test_dask(paths: None, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        check_engine(client.get_executor(), tmp_path)


def test_ray(paths: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        check_engine(RayExecutor(), tmp_path)
    finally:
        ray.shutdown()


MPI = """
import sys
from mpi4py import MPI
from mpi4py.futures import MPICommExecutor, MPIPoolExecutor
from conftest import go, project, small
from test_executors import ITERATIONS, same
from rarefy.executors import count_workers

def check(executor):
    search = small()
    search.run(project, ITERATIONS, executor=executor, progress=False)
    assert same(search, go(small(), ITERATIONS))

if sys.argv[1] == "pool" and __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        assert count_workers(executor) == 2
        check(executor)
        print("the same")
if sys.argv[1] == "comm":
    with MPICommExecutor(MPI.COMM_WORLD, root=0) as executor:
        if executor is not None:
            check(executor)
            print("the same")
"""

MPI_KILLED = """
import sys
from pathlib import Path
from mpi4py.futures import MPIPoolExecutor
from conftest import small
from test_executors import Counted, ITERATIONS
from test_journal import OPTIONS

if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        small(**OPTIONS).run(Counted(sys.argv[2], 60), ITERATIONS, rowwise=True, executor=executor, folder=sys.argv[1],
                             progress=False)
"""


class Counted:
    """Adds a byte to a file for every evaluation, and kills its process when there are so many."""

    def __init__(self, tally: str, most: int) -> None:
        self.tally, self.most = tally, most

    def __call__(self, solution: np.ndarray) -> tuple[float, float]:
        with open(self.tally, "ab", buffering=0) as file:
            file.write(b".")
            if file.tell() == self.most:
                os.kill(os.getpid(), signal.SIGKILL)
        return project_row(solution)


def mpiexec(script: str, folder: Path, *words: str, futures: bool = True) -> subprocess.CompletedProcess[str]:
    """Three ranks; pip's Open MPI, where it is installed, else the system's."""
    pytest.importorskip("mpi4py")
    program = which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if program is None:
        pytest.skip("there is no mpiexec")
    (folder / "script.py").write_text(script)
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    python = [sys.executable, "-m", "mpi4py.futures"] if futures else [sys.executable]
    line = [program, "-n", "3", "--oversubscribe", *python, str(folder / "script.py"), *words]
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("kind", ["pool", "comm"])
def test_mpi4py(kind: str, paths: None, tmp_path: Path) -> None:
    end = mpiexec(MPI, tmp_path, kind, futures=kind == "pool")
    assert end.returncode == 0, end.stderr
    assert "the same" in end.stdout


def test_the_script_of_the_page_on_mpi4py_runs(paths: None, tmp_path: Path) -> None:
    page = (HERE.parents[1] / "docs" / "python" / "mpi4py.md").read_text()
    script = page.partition("```python\n")[2].partition("```")[0]
    end = mpiexec(script, tmp_path)
    assert end.returncode == 0, end.stderr
    assert "DensityDescent" in end.stdout


def test_a_rank_that_is_killed_ends_the_job_and_the_run_goes_on_from_its_folder(paths: None, tmp_path: Path) -> None:
    from test_journal import OPTIONS

    tally = tmp_path / "tally"
    end = mpiexec(MPI_KILLED, tmp_path, str(tmp_path / "run"), str(tally))
    assert end.returncode != 0
    before = tally.stat().st_size
    assert 60 <= before < ITERATIONS * ROWS
    assert rarefy.load(tmp_path / "run").iteration == 0  # so that only the journal knows of them
    result = rarefy.resume(tmp_path / "run", Counted(str(tally), -1), rowwise=True, progress=False)
    assert same(result.search, go(small(**OPTIONS), ITERATIONS))
    # Two batches were told; at most the third is made again.
    assert ITERATIONS * ROWS <= tally.stat().st_size <= ITERATIONS * ROWS + ROWS


class Breaking(ThreadPoolExecutor):
    """Refuses its third piece, as a pool does one of whose processes has just died."""

    count = 0

    def submit(self, *words: Any, **keywords: Any) -> Any:
        self.count += 1
        if self.count == 3:
            raise BrokenExecutor("a process died")
        return super().submit(*words, **keywords)


def test_an_executor_may_break_while_a_batch_is_handed_out() -> None:
    search = small()
    with Breaking(2) as executor:
        result = search.run(project_row, ITERATIONS, rowwise=True, executor=executor, progress=False)
        assert executor.count > 3
    assert result.failures == []
    assert same(search, go(small(), ITERATIONS))


def test_processes_may_die_while_a_batch_is_handed_out(tmp_path: Path) -> None:
    """With so many rows, the first deaths come while others are still handed over."""
    (tmp_path / "deaths").mkdir()
    search, expected = (small(emitters=20, batch=50) for _ in range(2))
    deadly = Deadly(tmp_path / "deaths", 2)
    result = search.run(
        deadly, 1, rowwise=True, executor="processes", workers=2, retries=5, timeout=600, progress=False
    )
    assert len(os.listdir(tmp_path / "deaths")) == 2
    assert result.failures == []
    assert same(search, go(expected, 1))


def sizes(pieces: Pieces, rows: int, seconds_a_row: float) -> list[int]:
    """Of the pieces of a batch; each row must be in one."""
    every: list[int] = []
    found: list[int] = []
    for some in pieces.of(rows, alone=False):
        for piece in some:
            pieces.learn(len(piece), seconds_a_row * len(piece))
            every.extend(piece)
            found.append(len(piece))
    assert every == list(range(rows))
    return found


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 64, 65, 480, 541])
@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.1, 30.0])
def test_rows_that_take_long_go_out_in_small_pieces(rows: int, seconds: float) -> None:
    pieces = Pieces(16, rowwise=True)
    for _ in range(3):  # what the first batch teaches holds for the second
        found = sizes(pieces, rows, seconds)
        assert max(found) * seconds <= max(0.5, seconds)
        assert found[-1] * seconds <= max(0.05, seconds)
    if seconds == 0.0 and rows >= 64:
        assert len(found) <= 64


def test_functions_of_batches_get_batches() -> None:
    pieces = Pieces(2, rowwise=False)
    assert [sizes(pieces, 24, 30.0) for _ in range(2)] == [[3] * 8] * 2
