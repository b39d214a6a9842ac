"""The way to an installed pyribs: names that are not here are taken from there."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

# Our classes, and the classes of pyribs they stand in for: isinstance() says so in both directions
# that pyribs asks about.
_counterparts: list[tuple[type, str, str]] = []
_linked = False


def counterpart(module: str, name: str) -> Any:
    """Marks a class as standing in for ``ribs.MODULE.NAME``."""

    def mark(ours: type) -> type:
        _counterparts.append((ours, f"ribs.{module}", name))
        return ours

    return mark


def link() -> None:
    """Tells pyribs, where it is loaded, that our classes are kinds of its own."""
    global _linked
    if _linked or "ribs.schedulers" not in sys.modules:
        return
    for ours, module, name in _counterparts:
        theirs = getattr(sys.modules.get(module), name, None)
        if theirs is not None and hasattr(theirs, "register") and not issubclass(ours, theirs):
            theirs.register(ours)
    _linked = True


def loaded(module: str, name: str) -> tuple[type, ...]:
    """The class of pyribs, for isinstance(): empty where pyribs is not loaded."""
    theirs = getattr(sys.modules.get(f"ribs.{module}"), name, None)
    return () if theirs is None else (theirs,)


def pyribs_module(name: str, wanted: str) -> ModuleType:
    """A module of pyribs. ``wanted`` is what the error says is missing."""
    try:
        importlib.import_module("ribs")
    except ModuleNotFoundError as error:
        if error.name != "ribs":
            raise
        raise ImportError(
            f"{wanted} is not part of rarefy.ribs and is taken from pyribs, which is not installed (pip install ribs)"
        ) from None
    module = importlib.import_module(name)
    link()
    return module


def hand_over(ours: str) -> Any:
    """The ``__getattr__`` of module ``ours`` (rarefy.ribs...), which looks in pyribs."""
    theirs = ours.removeprefix("rarefy.")

    def __getattr__(name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {ours!r} has no attribute {name!r}")
        module = pyribs_module(theirs, f"{ours}.{name}")
        try:
            return getattr(module, name)
        except AttributeError:
            try:
                return importlib.import_module(f"{theirs}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{theirs}.{name}":
                    raise
        raise AttributeError(f"neither {ours} nor {theirs} has {name!r}")

    return __getattr__
