"""Keywords: the parameters of the command by their names, with underscores for hyphens."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from . import _core

# What the constructors, or run(), have arguments of their own for, or what only the command has.
_NOT_KEYWORDS = {
    "domain", "algorithm", "n", "m", "objective", "maze", "walls", "start", "no-wall-reading",
    "iterations", "centroids", "initial-solutions", "asynchronous", "order",
}  # fmt: skip


@cache
def parameter_names() -> dict[str, str]:
    """Keywords, and the parameters they stand for."""
    # A program evaluates for the command; here it is a function.
    names = [str(row["name"]) for row in _core.parameters() if row["section"] != "program"]
    return {name.replace("-", "_"): name for name in names if name not in _NOT_KEYWORDS}


def make_config(
    start: Callable[[str], _core.Config], caller: str, own: list[str], keywords: dict[str, Any]
) -> _core.Config:
    """A configuration with what the keywords change.

    `start` gives that of a profile.

    `own` are the caller's other arguments, which a misspelt keyword may have meant.
    """
    config = start(keywords.pop("profile", "default"))
    names = parameter_names()
    for keyword, value in keywords.items():
        if keyword not in names:
            nearest = _core.nearest_name(keyword, [*names, *own])
            hint = f"; did you mean '{nearest}'?" if nearest else ""
            raise TypeError(f"{caller}() got an unexpected keyword argument '{keyword}'{hint}")
        set_parameter(config, names[keyword], value)
    for keyword, value in keywords.items():
        if value is not None and (reason := config.reason_without_effect(names[keyword])):
            raise ValueError(f"{keyword}: {reason}")
    return config


def set_parameter(config: _core.Config, name: str, value: Any) -> None:
    if value is None:
        return
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:  # a number of numpy's
        value = value.item()
    if isinstance(value, (list, tuple)):
        config.set_text(name, ",".join(str(part) for part in value))
        return
    if not isinstance(value, (bool, int, float, str)):
        raise TypeError(f"{name}: got a {type(value).__name__}, expected a number or a text")
    config.set(name, value)
