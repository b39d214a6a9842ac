"""A switch: what rarefy.ribs does better than pyribs, or what pyribs does and its figures were published with."""

from __future__ import annotations

import os

_VARIABLE = "RAREFY_RIBS"


def _from_environment() -> bool:
    text = os.environ.get(_VARIABLE, "")
    if text not in ("", "published"):
        raise ValueError(f"environment variable {_VARIABLE}: got {text!r}, expected 'published', or nothing")
    return text == "published"


_on = _from_environment()


def published(on: bool | None = None) -> bool:
    """Whether evolution strategies and density archives that are made from now on are those of pyribs.

    ``published(True)`` and ``published(False)`` set it; the environment variable RAREFY_RIBS=published sets it
    from the start. What has been made already stays as it is. Gives what holds after the call.
    """
    global _on
    if on is not None:
        _on = bool(on)
    return _on


def resolve(given: bool | None) -> bool:
    """What an argument says, or the switch where it is None."""
    return _on if given is None else bool(given)
