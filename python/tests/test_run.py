"""run: who evaluates, what goes wrong, and folders."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import go, project, project_row, small

import rarefy

FILES = ["archive.npz", "checkpoint.bin", "config.toml", "metrics.csv"]


def with_objective(solution: np.ndarray) -> tuple[tuple[float, float], float]:
    return project_row(solution), -float(np.sum(solution**2))


def fails_now_and_then(solution: np.ndarray) -> tuple[float, float]:
    if solution[0] > 0.5:
        raise ArithmeticError(f"no solution with {solution[0]}")
    return project_row(solution)


def dies_now_and_then(solution: np.ndarray) -> tuple[float, float]:
    if solution[0] > 1.5:
        os._exit(3)
    return project_row(solution)


def hangs_now_and_then(solution: np.ndarray) -> tuple[float, float]:
    if solution[0] > 1.5:
        time.sleep(1000)
    return project_row(solution)


class Unpicklable(Exception):
    def __init__(self) -> None:
        super().__init__("cannot travel")
        self.handle = open(os.devnull)  # noqa: SIM115


def raises_what_cannot_travel(solution: np.ndarray) -> tuple[float, float]:
    if solution[0] > 0.5:
        raise Unpicklable
    return project_row(solution)


def same(a: rarefy.Search, b: rarefy.Search) -> bool:
    return all(np.array_equal(getattr(a.archive, n), getattr(b.archive, n)) for n in ("solutions", "features", "visits"))


def test_the_loop_is_ask_evaluate_tell() -> None:
    search = small()
    result = search.run(project, 12, progress=False)
    assert result.finished
    assert result.search is search
    assert same(search, go(small(), 12))
    assert result.metrics["iteration"].tolist() == [12]
    assert result.metrics["coverage"].iloc[-1] == search.coverage


@pytest.mark.parametrize("executor", [None, "threads", "processes"])
@pytest.mark.parametrize("rowwise", [False, True])
def test_whoever_evaluates_gives_the_same_bits(executor: str | None, rowwise: bool) -> None:
    search = small()
    search.run(project_row if rowwise else project, 6, rowwise=rowwise, executor=executor, workers=2, progress=False)
    # Sums of a row and of a matrix are rounded alike here: both add from the left.
    assert same(search, go(small(), 6))


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor_serves_and_is_left_open(kind: type) -> None:
    with kind(2) as executor:
        search = small()
        search.run(project, 5, executor=executor, progress=False)
        assert same(search, go(small(), 5))
        assert executor.submit(abs, -1).result() == 1


def test_objectives_come_along() -> None:
    search = small("cma-mae", objective_range=(-1000, 0))
    search.run(with_objective, 5, rowwise=True, executor="threads", workers=2, progress=False)
    assert np.allclose(search.archive.objectives, -np.sum(search.archive.solutions**2, axis=1))


@pytest.mark.parametrize("executor", [None, "threads", "processes"])
def test_rows_that_raise_are_marked_and_kept(executor: str | None) -> None:
    search = small()
    result = search.run(fails_now_and_then, 10, rowwise=True, executor=executor, workers=2, progress=False)
    assert result.finished
    assert search.failed == len(result.failures) > 0
    failure = result.failures[0]
    assert isinstance(failure.exception, ArithmeticError)
    assert failure.solution[0] > 0.5
    assert str(failure.solution[0]) in str(failure.exception)
    assert np.all(search.archive.solutions[:, 0] <= 0.5)


def test_a_batch_that_raises_is_tried_row_by_row() -> None:
    calls = []

    def evaluate(solutions: np.ndarray) -> np.ndarray:
        calls.append(len(solutions))
        if np.any(solutions[:, 0] > 0.5):
            raise ArithmeticError("one of them")
        return project(solutions)

    search = small()
    result = search.run(evaluate, 5, progress=False)
    assert search.failed == len(result.failures)
    assert 1 in calls
    assert np.all(search.archive.solutions[:, 0] <= 0.5)
    assert search.archive.visits.sum() + search.failed == search.evaluations


def test_what_fails_once_is_tried_again() -> None:
    tried: dict[bytes, int] = {}

    def evaluate(solution: np.ndarray) -> tuple[float, float]:
        tried[solution.tobytes()] = tried.get(solution.tobytes(), 0) + 1
        if tried[solution.tobytes()] == 1:
            raise ConnectionError("for the first time")
        return project_row(solution)

    search = small()
    search.run(evaluate, 3, rowwise=True, progress=False)
    assert search.failed == 0
    assert set(tried.values()) == {2}
    with pytest.raises(RuntimeError, match="none of the first 24 solutions could be evaluated.*ConnectionError"):
        tried.clear()
        small().run(evaluate, 3, rowwise=True, retries=0, progress=False)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda x: np.zeros((len(x), 3)), "features: got an array of shape"),
        (lambda x: np.full((len(x), 2), np.nan), "expected finite numbers"),
        (lambda x: (project(x), np.full(len(x), np.inf)), "expected a finite number"),
        (lambda x: (project(x), [1.0]), "objectives: got 1 values, expected"),
        (lambda x: None, "features"),
        (lambda x: "nonsense", "features"),
    ],
)
def test_nonsense_is_a_failure(answer: object, words: str) -> None:
    with pytest.raises(RuntimeError, match="none of the first 24 solutions") as error:
        small().run(answer, 3, progress=False, retries=0)  # type: ignore[arg-type]
    assert words in str(error.value)


def test_arrays_of_the_user_are_not_written_to() -> None:
    mine: list[np.ndarray] = []

    def evaluate(solutions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        features, objectives = project(solutions), np.full(len(solutions), 2.0)
        features[::3] = np.nan
        for array in (features, objectives):
            array.flags.writeable = False
            mine.append(array.copy())
        kept.append((features, objectives))
        return features, objectives

    kept: list[tuple[np.ndarray, np.ndarray]] = []
    search = small()
    search.run(evaluate, 3, progress=False)
    assert search.failed > 0
    for array, before in zip((a for pair in kept for a in pair), mine, strict=True):
        assert np.array_equal(array, before, equal_nan=True)


def test_workers_that_die_are_replaced() -> None:
    search = small(sigma0=0.5)
    result = search.run(dies_now_and_then, 6, rowwise=True, executor="processes", workers=2, progress=False)
    assert result.finished
    assert all(failure.solution[0] <= 1.5 or search.failed for failure in result.failures)
    assert len(search.archive) > 0


def test_workers_that_hang_are_ended() -> None:
    search = small(sigma0=0.6, emitters=1)
    result = search.run(
        hangs_now_and_then, 3, rowwise=True, executor="processes", workers=2, timeout=20.0, retries=0, progress=False
    )
    assert result.finished
    assert all(isinstance(failure.exception, Exception) for failure in result.failures)


def test_exceptions_that_cannot_travel_come_as_text() -> None:
    result = small().run(
        raises_what_cannot_travel, 4, rowwise=True, executor="processes", workers=2, progress=False
    )
    assert result.failures
    assert "Unpicklable: cannot travel" in str(result.failures[0].exception)


def test_callbacks_see_the_search_and_stop_it() -> None:
    seen = []

    def callback(search: rarefy.Search) -> bool:
        seen.append((search.iteration, search.coverage, len(search.archive)))
        return search.iteration == 4

    result = small().run(project, 10, callback=callback, progress=False)
    assert not result.finished
    assert [iteration for iteration, _, _ in seen] == [1, 2, 3, 4]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Where somebody has started us with interrupts ignored, Python ignores them, too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_leaves_a_usable_search(tmp_path: Path) -> None:
    for folder in (None, tmp_path / "run"):
        search = small()

        def evaluate(solutions: np.ndarray, search: rarefy.Search = search) -> np.ndarray:
            if search.iteration == 3:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
            return project(solutions)

        with pytest.raises(KeyboardInterrupt):
            search.run(evaluate, 10, folder=folder, progress=False)
        assert search.iteration in (3, 4)
        go(search, 10 - search.iteration)
        assert same(search, go(small(), 10))
    resumed = rarefy.resume(tmp_path / "run", project, progress=False)
    assert same(resumed.search, go(small(), 10))


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"iterations": -1}, ValueError, "iterations: got -1"),
        ({"executor": "magic"}, ValueError, "executor: got 'magic', expected 'threads', 'processes'"),
        ({"executor": 3}, TypeError, "executor: got a int"),
        ({"timeout": 1.0}, ValueError, "timeout: needs an executor"),
        ({"retries": -1}, ValueError, "retries: got -1"),
        ({"evaluate": None}, TypeError, "evaluate: got a NoneType"),
    ],
)
def test_options_are_checked(options: dict[str, object], kind: type[Exception], words: str) -> None:
    arguments = {"evaluate": project, "iterations": 3, "progress": False} | options
    with pytest.raises(kind, match=words):
        small().run(**arguments)  # type: ignore[arg-type]


def test_a_function_that_cannot_travel_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(ValueError, match="evaluate: cannot be sent to other processes"):
        small().run(lambda x: project(x), 2, executor="processes", progress=False)


def out_of_reach() -> None:
    raise LookupError("not here")


class ComesApart:
    """Can be pickled, but nothing can be made of the pickle."""

    def __reduce__(self) -> Any:
        return out_of_reach, ()

    def __call__(self, solutions: Any) -> Any:
        return project(solutions)


def test_a_function_that_does_not_arrive_is_told() -> None:
    with pytest.raises(RuntimeError, match="evaluate: did not arrive in another process .*Error"):
        small().run(ComesApart(), 1, executor="processes", workers=1)


# ---- folders ---------------------------------------------------------------------------------


def test_a_folder_can_be_gone_on_with(tmp_path: Path) -> None:
    whole = small().run(project, 20, folder=tmp_path / "whole", progress=False)
    assert sorted(os.listdir(tmp_path / "whole")) == FILES
    assert not rarefy.holds_run(tmp_path / "parts")
    small().run(project, 12, folder=tmp_path / "parts", progress=False)
    assert rarefy.holds_run(tmp_path / "parts")
    loaded = rarefy.load(tmp_path / "parts")
    assert loaded.iteration == 12
    rest = rarefy.resume(tmp_path / "parts", project, 20, progress=False)
    assert same(rest.search, whole.search)
    assert (tmp_path / "parts" / "archive.npz").read_bytes() == (tmp_path / "whole" / "archive.npz").read_bytes()
    assert rest.metrics["coverage"].tolist() == whole.metrics["coverage"].tolist()
    with pytest.raises(ValueError, match="evaluate: needed"):
        rarefy.resume(tmp_path / "parts")


def test_a_folder_in_which_there_is_something_is_not_replaced(tmp_path: Path) -> None:
    small().run(project, 2, folder=tmp_path / "run", progress=False)
    with pytest.raises(ValueError, match="holds a run already"):
        small().run(project, 2, folder=tmp_path / "run", progress=False)
    small().run(project, 3, folder=tmp_path / "run", overwrite=True, progress=False)
    assert rarefy.load(tmp_path / "run").iteration == 3


def test_a_search_under_way_can_be_put_into_a_folder(tmp_path: Path) -> None:
    search = go(small(), 5)
    search.run(project, 10, folder=tmp_path / "run", progress=False)
    assert same(rarefy.load(tmp_path / "run"), go(small(), 10))


def test_the_command_reads_our_folders_and_we_read_its(command: str, tmp_path: Path) -> None:
    small(title="Mine").run(project, 5, folder=tmp_path / "ours", progress=False)
    shown = subprocess.run([command, "show", str(tmp_path / "ours")], check=True, capture_output=True, text=True)
    assert "Mine, dds-kde" in shown.stdout
    assert (tmp_path / "ours" / "heatmap.png").exists()

    words = [command, "run", "arm", "--n", "6", "--algorithm", "cma-mae", "--seed", "3", "--quiet", "--iterations"]
    subprocess.run([*words, "10", "--out", str(tmp_path / "theirs")], check=True)
    search = rarefy.load(tmp_path / "theirs")
    assert isinstance(search, rarefy.CmaMae)
    assert search.iteration == 10
    rarefy.resume(tmp_path / "theirs", iterations=20, progress=False)
    subprocess.run([*words, "20", "--out", str(tmp_path / "whole")], check=True)
    for name in ("solutions", "visits"):
        theirs, whole = (np.load(tmp_path / run / "archive.npz")[name] for run in ("theirs", "whole"))
        assert np.array_equal(theirs, whole)


KILLED = """
import sys, rarefy
from conftest import project, small
search = small(checkpoint_seconds=0)
def tell(search):
    if search.iteration == 5:
        print("five", flush=True)
search.run(project, 100000, folder=sys.argv[1], progress=False, callback=tell)
"""


def test_a_killed_run_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "run")], stdout=subprocess.PIPE, env=environment
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"five\n"
    process.kill()
    process.wait()
    process.stdout.close()
    done = rarefy.load(tmp_path / "run").iteration
    assert done >= 4
    resumed = rarefy.resume(tmp_path / "run", project, done + 20, progress=False)
    assert same(resumed.search, go(small(checkpoint_seconds=0), done + 20))


def test_a_run_on_a_domain_is_the_commands_own(command: str, tmp_path: Path) -> None:
    arm = rarefy.Domain("arm", n=6)
    rarefy.CmaMae(arm, seed=3).run(arm, 10, folder=tmp_path / "ours", progress=False)
    subprocess.run([command, "resume", str(tmp_path / "ours"), "--iterations", "20", "--quiet"], check=True)
    words = ["run", "arm", "--n", "6", "--algorithm", "cma-mae", "--seed", "3", "--iterations", "20", "--quiet"]
    subprocess.run([command, *words, "--out", str(tmp_path / "theirs")], check=True)
    ours, theirs = (tmp_path / run / "archive.npz" for run in ("ours", "theirs"))
    assert ours.read_bytes() == theirs.read_bytes()
