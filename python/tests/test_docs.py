"""What the pages say is so: their Python runs, and their links lead somewhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import rarefy

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"
sys.path.insert(0, str(SITE))

import check_links  # noqa: E402
import check_site  # noqa: E402
import run_pages  # noqa: E402
from pages import read_page  # noqa: E402


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in run_pages.pages_to_run()])
def test_page_runs(page: str) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    report = run_pages.run_page(ROOT / page)
    for reason in report.left_out:
        print("not run:", reason)


def test_pages_have_examples_and_few_are_left_out() -> None:
    blocks = [
        block
        for page in run_pages.pages_to_run()
        for block in read_page(page).blocks
        if block.language in ("python", "pycon")
    ]
    never = [block for block in blocks if block.comment.startswith("not run: ")]
    assert len(blocks) >= 70
    assert len(never) <= 4, "clusters cannot run everywhere; what else?"


def test_links_lead_somewhere() -> None:
    pages = check_links.pages_with_links()
    assert ROOT / "README.md" in pages
    assert check_links.problems_of(pages) == []


def test_the_reference_has_every_name() -> None:
    pages = "\n".join(page.read_text() for page in (ROOT / "docs" / "python" / "api").glob("*.rst"))
    missing = [name for name in rarefy.__all__ if f":: {name}\n" not in pages and f":: {name}(" not in pages]
    assert missing == []


def page(folder: Path, text: str) -> Path:
    path = folder / "page.md"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# A\n\n```python\nx = 1\nraise ArithmeticError('no')\n```\n", "page.md:5: ArithmeticError: no"),
        ("```python\nx = 1\n```\n\n```pycon\n>>> x\n2\n```\n", "page.md:6:(?s:.*)Expected:(?s:.*)2(?s:.*)Got:(?s:.*)1"),
        ("```python\nx = (\n```\n", "page.md:2: SyntaxError"),
        ("<!-- later -->\n```python\nx = 1\n```\n", "page.md:3: comment 'later': expected 'not run: WHY'"),
        ("```python\nx = 1\n```\n![A](images/a.png)\n", "page.md:2: it drew 0 figures; the page shows 1"),
    ],
)
def test_a_page_that_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(run_pages.PageError, match=words):
        run_pages.run_page(page(tmp_path, text))


def test_blocks_share_names_and_may_be_left_out(tmp_path: Path) -> None:
    text = (
        "<!-- first: x = 1 -->\n```python\ny = x + 1\n```\n<!-- not run: why not -->\n```python\n1 / 0\n```\n"
        "<!-- needs no_such_module -->\n```python\n1 / 0\n```\n```pycon\n>>> y\n2\n```\n```text\n1 / 0\n```\n"
    )
    report = run_pages.run_page(page(tmp_path, text))
    assert report.ran == 2
    assert [reason.partition(": ")[2] for reason in report.left_out] == ["why not", "no_such_module is not installed"]


def test_links_that_lead_nowhere_are_told(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One `two`, three\n\n## Again\n\n## Again\n")
    text = (
        "[ok](other.md) [ok](other.md#one-two-three) [ok](other.md#again-1) [elsewhere](https://example.org/x)\n"
        "[in two\nlines](gone.md) `[code](nothing.md)` [here](#nowhere)\n\n```\n[code](nothing.md)\n```\n"
        "![picture](other.md#again-2)\n"
    )
    pages = [page(tmp_path, text)]
    assert check_links.problems_of(pages, tmp_path) == [
        "page.md:2: gone.md: there is no such file",
        "page.md:3: #nowhere: page.md has no such heading",
        "page.md:8: other.md#again-2: other.md has no such heading",
    ]
    assert check_links.external_links(pages) == {"https://example.org/x"}


def test_what_a_site_loads_from_elsewhere_is_told(tmp_path: Path) -> None:
    (tmp_path / "style.css").write_text("@import 'https://example.org/fonts.css'; a { background: url(data:x) }")
    (tmp_path / "index.html").write_text(
        "<link rel=stylesheet href=style.css><script src='//example.org/x.js'></script><p id=here>"
        "<a href='https://example.org'>fine</a> <a href='#here'>fine</a> <a href='gone.html'>gone</a> <a href='#there'>gone</a>"
    )
    assert check_site.problems_of(tmp_path) == [
        "index.html: loads //example.org/x.js from elsewhere",
        "index.html: leads to gone.html, which is not there",
        "index.html: leads to #there, a page without such a place",
        "style.css: loads https://example.org/fonts.css from elsewhere",
    ]
