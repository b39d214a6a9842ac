"""The notebooks of the examples are in step with their sources, fit for readers, and run."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "python" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module")
def tool() -> Any:
    """scripts/notebooks, as a module."""
    loader = importlib.machinery.SourceFileLoader("notebooks", str(ROOT / "scripts" / "notebooks"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_notebooks_are_in_step_with_their_sources(tool: Any) -> None:
    sources = sorted(FOLDER.glob("*.py"))
    assert [source.stem for source in sources] == [notebook.stem for notebook in NOTEBOOKS] != []
    for source, notebook in zip(sources, NOTEBOOKS, strict=True):
        assert tool.in_step(source, notebook), f"run scripts/notebooks {source.stem}"


def test_a_notebook_that_is_behind_is_found(tool: Any, tmp_path: Path) -> None:
    source, notebook = (Path(shutil.copy(FOLDER / f"lander.{kind}", tmp_path)) for kind in ("py", "ipynb"))
    assert tool.in_step(source, notebook)
    source.write_text(source.read_text().replace("seed=1", "seed=2"))
    assert not tool.in_step(source, notebook)
    assert not tool.in_step(source, tmp_path / "none.ipynb")
    # Neither is one that nobody executed.
    notebook.write_text(json.dumps(tool.notebook_of(source)))
    assert not tool.in_step(source, notebook)


def test_cells_are_text_code_and_definitions(tool: Any, tmp_path: Path) -> None:
    source = tmp_path / "some.py"
    source.write_text("# %% [markdown]\n# # Title\n#\n# text\n\n# %%\nx = 1\n\n# %% from objective.py: JOINTS, reach\n")
    text, code, taken = tool.cells_of(source)
    assert (text, code) == (("markdown", "# Title\n\ntext"), ("code", "x = 1"))
    assert taken[0] == "code" and taken[1].startswith("JOINTS = 10\n\n\ndef reach(joints):\n")
    for wrong, words in (("from objective.py: nobody", "no definition of 'nobody'"), ("[text]", "got '# %% .text.'")):
        source.write_text(f"# %% {wrong}\n")
        with pytest.raises(SystemExit, match=words):
            tool.cells_of(source)


def test_notebooks_are_fit_for_readers() -> None:
    assert sum(notebook.stat().st_size for notebook in NOTEBOOKS) < 2_000_000
    for notebook in NOTEBOOKS:
        document = json.loads(notebook.read_text())
        assert set(document["metadata"]) == {"kernelspec", "language_info"}
        outputs = [output for cell in document["cells"] for output in cell.get("outputs", [])]
        assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
        assert [output for output in outputs if "image/png" in output.get("data", {})], f"{notebook.name}: no picture"
        texts = json.dumps([output.get("text", output.get("data", {}).get("text/plain")) for output in outputs])
        assert not [place for place in ("/tmp", "/home", "/usr", "/root", "site-packages") if place in texts]


def test_a_notebook_runs(tool: Any) -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pandas")
    done = tool.execute(tool.notebook_of(FOLDER / "arm.py"))
    kept = json.loads((FOLDER / "arm.ipynb").read_text())

    def kinds(document: Any) -> list[list[str]]:
        return [sorted(out.get("data", [])) for cell in document["cells"] for out in cell.get("outputs", [])]

    assert kinds(done) == kinds(kept)
    assert ["image/png", "text/plain"] in kinds(done) and ["text/html", "text/plain"] in kinds(done)
