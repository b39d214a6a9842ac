"""The directive ``parameter-table``: every parameter of a section, from the table that the package itself uses."""

from __future__ import annotations

import json
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import rarefy
from rarefy import _core
from rarefy._keywords import parameter_names

PROFILES = ("default", "published")
_OF_ANOTHER_ALGORITHM = "the algorithm is "


def configs(profile: str) -> dict[str, _core.Config]:
    """What each algorithm has for a problem of the reader's own, with two features."""
    found = {}
    for algorithm in rarefy.algorithms():
        config = _core.Config("lp", algorithm, profile)
        config.set_problem(rarefy.Problem(10, [(0, 1), (0, 1)]))
        found[algorithm] = config
    return found


def algorithms_of(name: str) -> list[str]:
    """Those that a parameter has a meaning for."""
    return [
        algorithm
        for algorithm, config in configs("default").items()
        if not config.reason_without_effect(name).startswith(_OF_ANOTHER_ALGORITHM)
    ]


def condition_of(name: str) -> str:
    """What else must be chosen for it to have an effect."""
    for config in configs("default").values():
        reason = config.reason_without_effect(name)
        if reason and not reason.startswith(_OF_ANOTHER_ALGORITHM):
            return reason.rpartition("; ")[2]
    return ""


def text_of(value: object) -> str:
    if isinstance(value, bool):
        return f"`{value}`"
    if isinstance(value, float):
        return f"`{value:g}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def default_of(name: str, profile: str) -> str:
    """The default; where algorithms differ, whose it is."""
    by_value: dict[str, list[str]] = {}
    algorithms = algorithms_of(name)
    for algorithm, config in configs(profile).items():
        if algorithm in algorithms:
            by_value.setdefault(text_of(config.get(name)), []).append(algorithm)
    if len(by_value) == 1:
        return next(iter(by_value))
    return "; ".join(f"{value} ({', '.join(owners)})" for value, owners in by_value.items())


def entry(keyword: str, row: dict[str, Any]) -> str:
    name, algorithms = str(row["name"]), algorithms_of(str(row["name"]))
    default, published = (default_of(name, profile) for profile in PROFILES)
    expected = str(row["expected"]) if row["expected"] != "text" else "a text, a number or several, as said below"
    lines = [f"````{{confval}} {keyword}", "---", f"type: {json.dumps(expected)}"]
    if name != "profile":
        default += f" · published: {published}" if published != default else ""
        lines.append(f"default: {json.dumps(default, ensure_ascii=False)}")
    lines.append("---")
    meaning = str(row["meaning"])
    lines += ["", meaning[0].upper() + meaning[1:] + "."]
    if condition := condition_of(name):
        lines.append(f"Condition: {condition}.")
    who = "all algorithms" if len(algorithms) == len(rarefy.algorithms()) else ", ".join(algorithms)
    lines += [f"*For:* {who}. *The command:* `--{name}`.", "````", ""]
    return "\n".join(lines)


class ParameterTable(SphinxDirective):
    """``parameter-table`` with the name of a section."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        section = self.arguments[0]
        keywords = {name: keyword for keyword, name in parameter_names().items()}
        rows = [row for row in rarefy.parameters() if row["section"] == section and row["name"] in keywords]
        if not rows:
            raise self.error(f"parameter-table: got '{section}', expected a section of rarefy.parameters()")
        return self.parse_text_to_nodes("\n".join(entry(keywords[str(row["name"])], row) for row in rows))


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("parameter-table", ParameterTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
