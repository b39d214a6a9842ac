"""Checks the links of the Markdown pages as a code host shows them: files and anchors must be there.

    python docs/site/check_links.py

Nothing is fetched: links to other sites are counted only (`make docs-links` visits them).
"""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import unquote

from pages import Page, read_page

ROOT = Path(__file__).resolve().parents[2]


def pages_with_links(root: Path = ROOT) -> list[Path]:
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]


def is_external(target: str) -> bool:
    return "://" in target or target.startswith("mailto:")


def problems_of(pages: list[Path], root: Path = ROOT) -> list[str]:
    """A line for each link that leads nowhere."""
    read: dict[Path, Page] = {}

    def page_at(path: Path) -> Page:
        if path not in read:
            read[path] = read_page(path)
        return read[path]

    problems = []
    for path in pages:
        for link in page_at(path).links:
            if is_external(link.target):
                continue
            name, _, anchor = unquote(link.target).partition("#")
            place = (path.parent / name).resolve() if name else path
            where = f"{path.relative_to(root)}:{link.line}: {link.target}:"
            if not place.exists():
                problems.append(f"{where} there is no such file")
            elif not place.is_relative_to(root):
                problems.append(f"{where} outside of the repository")
            elif anchor and place.suffix == ".md" and anchor not in page_at(place).anchors:
                problems.append(f"{where} {place.relative_to(root)} has no such heading")
    return problems


def external_links(pages: list[Path]) -> set[str]:
    return {link.target for path in pages for link in read_page(path).links if is_external(link.target)}


def main() -> int:
    pages = pages_with_links()
    problems = problems_of(pages)
    for problem in problems:
        print(problem, file=sys.stderr)
    links = sum(not is_external(link.target) for path in pages for link in read_page(path).links)
    print(f"links: {links} between {len(pages)} pages and files, {len(problems)} of them broken; ", end="")
    print(f"{len(external_links(pages))} addresses elsewhere, not visited (make docs-links does)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
