"""Every example runs, finds what a search that does not work would not find, and leaves its picture."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rarefy

FOLDER = Path(__file__).parents[2] / "examples" / "python"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)


def run(script: str | Path, *arguments: object, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the script defines, after it has run in this process: a new one takes a second to begin."""
    monkeypatch.setattr(sys, "argv", [str(script), *map(str, arguments)])
    names = runpy.run_path(str(FOLDER / script), run_name="__main__")
    import matplotlib.pyplot as plt

    plt.close("all")
    return names


def run_alone(script: str, *arguments: object) -> str:
    """What the script prints in a process of its own, which those that it starts can import."""
    command = [sys.executable, str(FOLDER / script), *map(str, arguments)]
    end = subprocess.run(command, capture_output=True, text=True)
    assert end.returncode == 0, end.stderr
    return end.stdout


def number_after(words: str, text: str) -> float:
    found = re.search(re.escape(words) + r"\s*([-0-9.,]*[0-9])", text)
    assert found, f"no number after {words!r} in: {text}"
    return float(found[1].replace(",", ""))


def assert_picture(file: str) -> None:
    from matplotlib.image import imread

    pixels = imread(file)
    assert min(pixels.shape[:2]) > 200
    colours = np.unique((255 * pixels[..., :3]).astype(int).reshape(-1, 3), axis=0)
    assert len(colours) > 100  # axes alone have shades of grey


def test_throws() -> None:
    assert 80 < number_after("coverage", run_alone("throws.py")) < 83  # normal solutions reach 79, and 82.5 is all there is
    assert_picture("throws.png")


def test_arm(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run("arm.py", "--iterations", 60, "--out", "hand.png", monkeypatch=monkeypatch)
    assert 60 < number_after("coverage", capsys.readouterr().out) < 81  # normal solutions reach 31
    assert_picture("hand.png")


def test_lander(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run("lander.py", "--iterations", 20, "--out", "moon", monkeypatch=monkeypatch)
    first = number_after("landings,", capsys.readouterr().out)
    run("lander.py", "--iterations", 40, "--out", "moon", monkeypatch=monkeypatch)  # it goes on
    assert rarefy.load("moon").iteration == 40
    assert number_after("landings,", capsys.readouterr().out) > max(first, 60)  # normal solutions reach 50
    assert_picture("moon/heatmap.png")


def test_lander_flies_as_gravity_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    import lander

    off, upright = np.tile([-9.0, 0.0], 6), np.tile([0.0, 0.0], 6)  # thrust and tilt
    fallen, lifted, short = lander.land(np.stack([off, upright, np.r_[0.0, 0.3, off[2:]]]))
    np.testing.assert_allclose(fallen, [0, np.sqrt(2 * 1.62 * 150)], atol=0.2)
    # Half thrust for 30 seconds, then it falls; without air, energy says how fast.
    height, up = 150 + (2.5 - 1.62) * 30**2 / 2, (2.5 - 1.62) * 30
    np.testing.assert_allclose(lifted, [0, np.sqrt(up**2 + 2 * 1.62 * height)], rtol=0.01)
    assert short[0] > 50


def test_objective(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # Density descent has the greatest score at first: by its coverage, before the others catch up.
    run("objective.py", "--iterations", 120, monkeypatch=monkeypatch)
    lines = capsys.readouterr().out.splitlines()[1:]
    table = {line.split()[0]: [float(word.replace(",", "")) for word in re.findall(r"[\d.,]+", line)] for line in lines}
    assert set(table) == {"DensityDescent", "CmaMae", "CmaMe", "MapElites"}
    coverage, score, mean = zip(*table.values(), strict=True)
    assert max(coverage) == coverage[0] > 65  # density descent is told of nothing else
    assert min(score[1:]) > score[0] > 3000  # normal solutions have 1,900
    assert min(mean[1:]) > 0.85 > mean[0]
    assert_picture("objective.png")


def test_from_pyribs_and_the_same_with_pyribs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ribs")
    text = (FOLDER / "from_pyribs.py").read_text()
    line = "\nimport rarefy.ribs as ribs\n"
    assert text.count(line) == 1
    original = tmp_path / "original.py"
    original.write_text(text.replace(line, "\nimport ribs\n"))
    coverages = []
    for script, module in ("from_pyribs.py", "rarefy:"), (original, "ribs:"):
        run(script, "--iterations", 25, monkeypatch=monkeypatch)
        out = capsys.readouterr().out
        assert out.startswith(module)
        coverages.append(number_after("coverage", out))
    # Other evolution strategies (docs/python/pyribs.md), so not the same figures, but as good.
    ours, theirs = coverages
    assert theirs > 20 and 0.8 * theirs < ours < 1.25 * theirs
    assert_picture("from_pyribs.png")


def test_half_cheetah() -> None:
    pytest.importorskip("mujoco", reason="optional: pip install rarefy[mujoco]")
    pytest.importorskip("gymnasium", reason="optional: pip install rarefy[mujoco]")
    out = run_alone("half_cheetah.py", "--iterations", 1, "--workers", 2)
    gaits, best = number_after("", out), number_after("best return is", out)
    assert 40 < gaits <= 100  # out of 100
    assert best > 50  # torques alone cost: without any skill it is below 0
    assert_picture("half_cheetah.png")
    assert not Path("MUJOCO_LOG.TXT").exists()


def test_dask_cluster() -> None:
    pytest.importorskip("distributed")
    out = run_alone("dask_cluster.py", "--iterations", 10)
    assert number_after("coverage", out) > 15
    assert "the same as without Dask: True" in out


def test_examples_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for script, module in (
        ("half_cheetah.py", "gymnasium"), ("dask_cluster.py", "dask.distributed"), ("optuna_sampler.py", "optuna"),
    ):  # fmt: skip
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(SystemExit, match="this example needs .*: pip install"):
            run(script, monkeypatch=monkeypatch)


def test_every_example_has_a_test_and_a_line_in_the_index() -> None:
    tests, index = Path(__file__).read_text(), (FOLDER / "README.md").read_text()
    for script in FOLDER.glob("*.py"):
        tested = script.name in tests or (Path(__file__).parent / f"test_{script.name}").exists()
        assert tested and f"({script.name})" in index, script.name
