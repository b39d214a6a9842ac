"""Engines that exist, as they are: real local clusters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import go, project, small

import rarefy


def dies_in_the_first_worker(solutions: np.ndarray) -> np.ndarray:
    """Ends one worker, once."""
    marker = Path(os.environ["RAREFY_TEST_MARKER"])
    if not marker.exists() and np.any(solutions[:, 0] > 0):
        marker.touch()
        os._exit(1)
    return project(solutions)


def same(a: rarefy.Search, b: rarefy.Search) -> bool:
    return np.array_equal(a.archive.solutions, b.archive.solutions) and np.array_equal(a.archive.visits, b.archive.visits)


def test_dask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("RAREFY_TEST_MARKER", str(tmp_path / "marker"))
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        search = small()
        search.run(project, 5, executor=client.get_executor(), workers=2, progress=False)
        assert same(search, go(small(), 5))
        # A worker that dies takes nothing with it.
        other = small()
        other.run(dies_in_the_first_worker, 5, executor=client.get_executor(), workers=2, progress=False)
        assert (tmp_path / "marker").exists()
        assert same(other, go(small(), 5))


def test_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    from rarefy.executors import RayExecutor

    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": paths}})
    try:
        search = small()
        search.run(project, 5, executor=RayExecutor(), progress=False)
        assert same(search, go(small(), 5))
    finally:
        ray.shutdown()


MPI = """
from mpi4py.futures import MPIPoolExecutor
from conftest import go, project, small
import numpy as np
if __name__ == "__main__":
    with MPIPoolExecutor(2) as executor:
        search = small()
        search.run(project, 5, executor=executor, workers=2, progress=False)
        assert np.array_equal(search.archive.solutions, go(small(), 5).archive.solutions)
        print("the same")
"""


def test_mpi4py(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    from shutil import which

    folder = Path(sys.executable).parent
    mpiexec = which("mpiexec", path=os.pathsep.join([str(folder), os.environ.get("PATH", "")]))
    if mpiexec is None:
        pytest.skip("there is no mpiexec")
    (tmp_path / "script.py").write_text(MPI)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    words = [mpiexec, "-n", "3", "--oversubscribe", sys.executable, "-m", "mpi4py.futures", str(tmp_path / "script.py")]
    end = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=600)
    assert end.returncode == 0, end.stderr
    assert "the same" in end.stdout
