"""Runs the Python of README.md and of the guide, so that what they say is so.

    python docs/site/run_pages.py [--pictures FOLDER] [PAGE...]

The blocks of a page run in order, in one namespace and in an empty folder. Of blocks with ``>>>``, what is
shown must be what comes out (``...`` stands for anything). An image in ``images/`` is a picture of what
the block above it drew; with ``--pictures`` it is saved in a folder. A comment above a block says what is special:

    <!-- not run: needs a cluster -->     never run, and counted
    <!-- needs distributed -->            run where such a module is installed
    <!-- first: import numpy -->          run before it
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import importlib.util
import io
import os
import re
import sys
import tempfile
import time
import traceback
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pages import Block, Link, Page, read_page

ROOT = Path(__file__).resolve().parents[2]
_DPI = 90


class PageError(Exception):
    """A block that fails: which page, which line, and why."""


@dataclass
class Report:
    ran: int = 0
    pictures: int = 0
    left_out: list[str] = field(default_factory=list)


def pages_to_run(root: Path = ROOT) -> list[Path]:
    return [root / "README.md", root / "docs" / "index.md", *sorted((root / "docs" / "python").rglob("*.md"))]


def run_page(path: Path, pictures: Path | None = None) -> Report:
    os.environ.setdefault("MPLBACKEND", "Agg")
    page, report = read_page(path), Report()
    runs = [block for block in page.blocks if block.language in ("python", "pycon")]
    # As in a script of the reader's: functions and classes are pickled as those of __main__.
    with _in_place_of_main() as module, tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for block, after in zip(runs, [*runs[1:], None], strict=False):
            if reason := _reason_to_leave_out(page, block):
                report.left_out.append(f"{_where(page, block.line)}: {reason}")
                continue
            if first := re.fullmatch(r"first: (.+)", block.comment):
                _run(page, Block(block.line - 2, "python", first[1], ""), module.__dict__)
            _run(page, block, module.__dict__)
            report.ran += 1
            images = _images_between(page, block, after)
            report.pictures += len(images)
            _take_pictures(page, block, images, pictures)
    return report


def _reason_to_leave_out(page: Page, block: Block) -> str:
    if found := re.fullmatch(r"not run: (.+)", block.comment):
        return found[1]
    if found := re.fullmatch(r"needs ([\w.]+)", block.comment):
        return "" if importlib.util.find_spec(found[1]) else f"{found[1]} is not installed"
    if block.comment and not block.comment.startswith("first: "):
        raise PageError(
            f"{_where(page, block.line)}: comment '{block.comment}': expected 'not run: WHY', 'needs MODULE' or 'first: CODE'"
        )
    return ""


def _run(page: Page, block: Block, names: dict[str, Any]) -> None:
    if ">>> " in block.code:
        _compare(page, block, names)
        return
    code = "\n" * (block.line - 1) + block.code  # so that tracebacks have the lines of the page
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, str(page.path), "exec"), names)
    except Exception as problem:
        lines = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == str(page.path)]
        line = lines[-1] if lines else getattr(problem, "lineno", None)
        raise PageError(f"{_where(page, line or block.line)}: {type(problem).__name__}: {problem}") from problem


def _compare(page: Page, block: Block, names: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(block.code, names, page.path.name, str(page.path), block.line - 1)
    test.globs = names  # not a copy: later blocks go on with what it defines
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    said = io.StringIO()
    runner.run(test, out=said.write, clear_globs=False)
    if runner.failures:
        line = re.search(r"line (\d+)", said.getvalue())
        raise PageError(f"{_where(page, int(line[1]) if line else block.line)}:\n{said.getvalue()}")


def _images_between(page: Page, block: Block, after: Block | None) -> list[Link]:
    last = after.line if after else sys.maxsize
    return [link for link in page.links if link.image and link.target.startswith("images/") and block.line < link.line < last]


def _take_pictures(page: Page, block: Block, images: list[Link], folder: Path | None) -> None:
    if "matplotlib.pyplot" not in sys.modules:
        figures = []
    else:
        import matplotlib.pyplot as plt

        figures = plt.get_fignums()
    if images and len(images) != len(figures):
        raise PageError(f"{_where(page, block.line)}: it drew {len(figures)} figures; the page shows {len(images)}")
    if images and folder is not None:
        for image, number in zip(images, figures, strict=True):
            _save(plt.figure(number), folder / Path(image.target).name)
    if figures:
        plt.close("all")


def _save(figure: Any, file: Path) -> None:
    from PIL import Image  # which matplotlib needs, too

    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=_DPI, bbox_inches="tight")
    file.parent.mkdir(parents=True, exist_ok=True)
    # A palette is enough for such pictures, and a third of the size.
    Image.open(drawn).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)


@contextlib.contextmanager
def _in_place_of_main() -> Iterator[types.ModuleType]:
    before, module = sys.modules["__main__"], types.ModuleType("__main__")
    sys.modules["__main__"] = module
    try:
        yield module
    finally:
        sys.modules["__main__"] = before
        module.__dict__.clear()


def _where(page: Page, line: int) -> str:
    path = page.path
    return f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name}:{line}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the Python of README.md and of the guide.")
    parser.add_argument("--pictures", type=Path, help="a folder for the pictures that the pages show")
    parser.add_argument("pages", nargs="*", type=Path, help="README.md and docs/python, if none is given")
    given = parser.parse_args()
    pictures = given.pictures.resolve() if given.pictures else None
    total, failed = Report(), 0
    for path in [page.resolve() for page in given.pages] or pages_to_run():
        began = time.perf_counter()
        try:
            report = run_page(path, pictures)
        except PageError as problem:
            failed += 1
            print(problem, file=sys.stderr)
            continue
        print(f"  {path.relative_to(ROOT)!s:34}{report.ran:3} blocks {time.perf_counter() - began:6.1f} s")
        total.ran += report.ran
        total.pictures += report.pictures
        total.left_out += report.left_out
    print(f"examples: {total.ran} blocks ran, {total.pictures} pictures, {len(total.left_out)} blocks not run", end="")
    print("".join(f"\n  {line}" for line in total.left_out))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
