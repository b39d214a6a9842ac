"""Every example runs as it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "python"


@pytest.mark.parametrize("script", sorted(path.name for path in FOLDER.glob("*.py")))
def test_example(script: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    environment = os.environ | {"MPLBACKEND": "Agg"}
    end = subprocess.run(
        [sys.executable, str(FOLDER / script)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert end.returncode == 0, end.stderr
    assert end.stdout
