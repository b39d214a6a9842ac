"""Searches in files, and runs in folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import _core
from .searches import Search, search_of


def write_search(file: str | os.PathLike[str], search: Search) -> None:
    _core.write_checkpoint(os.fspath(file), search._native.save())


def holds_run(folder: str | os.PathLike[str]) -> bool:
    """Whether there is a run in a folder that :func:`rarefy.resume` can go on with."""
    return (Path(folder) / "config.toml").exists()


def load(place: str | os.PathLike[str], threads: int = 0) -> Search:
    """A search from a file that :meth:`Search.save` wrote, or from the folder of a run.

    Folders of the command can be read as well. A folder is only looked at: to go on in it, use
    :func:`rarefy.resume`.

    :param place: the file or the folder
    :param threads: of the search; 0: one for each core
    """
    path = Path(place)
    if path.is_dir():
        return search_of(_core._Run.look(str(path), threads).search)
    return search_of(_core._Search.load(_core.read_checkpoint(str(path)), _core.Team(threads)))


def metrics_of(run: _core._Run) -> Any:
    """The course of a run, one row for each line of its metrics.csv."""
    import pandas as pd

    return pd.DataFrame(run.metrics())
