"""Checks the pages that were made: nothing that a browser loads may come from elsewhere, and what it loads is there.

    python docs/site/check_site.py build/docs/html
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself when it shows a page; links are followed by readers.
_LOADED = {
    "script": ("src",), "img": ("src", "srcset"), "iframe": ("src",), "source": ("src", "srcset"), "video": ("src", "poster"),
    "audio": ("src",), "embed": ("src",), "object": ("data",), "input": ("src",), "image": ("href", "xlink:href"),
}  # fmt: skip
_LOADED_LINKS = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "manifest"}
_CSS = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s;]+)""")


class Resources(HTMLParser):
    """Addresses of what a page loads, and of where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []
        self.names: set[str] = set()
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self._style = tag == "style"
        self.names |= {values[name] for name in ("id", "name") if name in values}
        self.loaded += [values[name] for name in _LOADED.get(tag, ()) if name in values]
        if tag == "link" and _LOADED_LINKS & set(values.get("rel", "").split()):
            self.loaded.append(values.get("href", ""))
        if tag == "a" and "href" in values:
            self.linked.append(values["href"])
        self.loaded += _CSS.findall(values.get("style", ""))

    def handle_data(self, data: str) -> None:
        if self._style:
            self.loaded += _CSS.findall(data)


def read(page: Path) -> Resources:
    resources = Resources()
    resources.feed(page.read_text(encoding="utf-8"))
    return resources


def problems_of(root: Path) -> list[str]:
    pages = {page: read(page) for page in sorted(root.rglob("*.html"))}
    problems = []
    for page, resources in pages.items():
        where = page.relative_to(root)
        problems += [f"{where}: {problem}" for problem in _loads(page, resources.loaded)]
        for target in resources.linked:
            if urlsplit(target).scheme:
                continue
            path, _, anchor = unquote(target).partition("#")
            place = (page.parent / path).resolve() if path else page
            if not place.exists():
                problems.append(f"{where}: leads to {target}, which is not there")
            elif anchor and place in pages and anchor not in pages[place].names:
                problems.append(f"{where}: leads to {target}, a page without such a place")
    for style in sorted(root.rglob("*.css")):
        loaded = _CSS.findall(style.read_text(encoding="utf-8"))
        problems += [f"{style.relative_to(root)}: {problem}" for problem in _loads(style, loaded)]
    return problems


def _loads(page: Path, loaded: list[str]) -> list[str]:
    problems = []
    for target in loaded:
        address = urlsplit(target)
        if address.scheme == "data" or target.startswith("#"):
            continue
        if address.scheme or address.netloc:
            problems.append(f"loads {target} from elsewhere")
        elif not (page.parent / unquote(address.path)).exists():
            problems.append(f"loads {target}, which is not there")
    return problems


def main() -> int:
    root = Path(sys.argv[1]).resolve()
    problems = problems_of(root)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"site: {len(list(root.rglob('*.html')))} pages, {len(problems)} problems; they load nothing from elsewhere" if not problems
          else f"site: {len(problems)} problems")  # fmt: skip
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
