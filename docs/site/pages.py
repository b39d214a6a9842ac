"""Reads Markdown pages as a code host shows them: code blocks, links and anchors, each with its line."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(?P<indent>\s*)(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
_COMMENT = re.compile(r"^\s*<!--\s*(?P<text>.*?)\s*-->\s*$")
_INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"(?P<image>!?)\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?(?P<target>[^()\s<>]+(?:\([^()\s]*\))?)>?(?:\s+\"[^\"]*\")?\s*\)")
_DEFINITION = re.compile(r"^\s{0,3}\[[^\]]+\]:\s*(?P<target>\S+)", re.MULTILINE)
_BARE = re.compile(r"<?(?P<target>https?://[^\s<>()\[\]`]+[^\s<>()\[\]`.,;:])")
_HEADING = re.compile(r"^#{1,6}\s+(?P<text>.*?)\s*#*$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of code."""

    line: int  #: that of its first line of code, from 1
    language: str
    code: str
    comment: str  #: what an HTML comment on the line above says


@dataclass(frozen=True)
class Link:
    line: int
    target: str
    image: bool


@dataclass(frozen=True)
class Page:
    path: Path
    text: str
    blocks: list[Block]
    links: list[Link]
    anchors: set[str]


def read_page(path: Path) -> Page:
    text = path.read_text(encoding="utf-8")
    blocks, prose = _split(text)
    return Page(path, text, blocks, list(_links(_without_code(prose))), _anchors(prose))


def _split(text: str) -> tuple[list[Block], str]:
    """The blocks of a page; and the page with empty lines in their place."""
    lines = text.splitlines()
    blocks: list[Block] = []
    prose: list[str] = []
    above, at = "", 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None:
            comment = _COMMENT.match(lines[at])
            if lines[at].strip():
                above = comment["text"] if comment else ""
            prose.append(lines[at])
            at += 1
            continue
        end = at + 1
        while end < len(lines) and not _closes(lines[end], opening["fence"]):
            end += 1
        language = opening["info"].strip().split(" ")[0]
        blocks.append(Block(at + 2, language, textwrap.dedent("\n".join(lines[at + 1 : end])) + "\n", above))
        prose.extend([""] * (end + 1 - at))
        above, at = "", end + 1
    return blocks, "\n".join(prose)


def _closes(line: str, fence: str) -> bool:
    line = line.strip()
    return len(line) >= len(fence) and set(line) == {fence[0]}


def _without_code(prose: str) -> str:
    return _INLINE_CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), prose)


def _links(prose: str) -> Iterator[Link]:
    seen: set[tuple[int, str]] = set()
    for pattern in (_LINK, _DEFINITION, _BARE):
        for found in pattern.finditer(prose):
            link = Link(prose.count("\n", 0, found.start()) + 1, found["target"], found[0].startswith("!"))
            if (link.line, link.target) not in seen:
                seen.add((link.line, link.target))
                yield link


def _anchors(prose: str) -> set[str]:
    """What headings are called in addresses, by the rule of the common code hosts."""
    anchors: set[str] = set()
    for heading in _HEADING.finditer(prose):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading["text"]).replace("`", "").replace("*", "")
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        name, times = slug, 0
        while name in anchors:
            times += 1
            name = f"{slug}-{times}"
        anchors.add(name)
    return anchors
