"""Diversity optimization by density descent, at native speed.

>>> import rarefy
>>> arm = rarefy.Domain("arm", n=10)
>>> search = rarefy.DensityDescent(arm, seed=1)
>>> result = search.run(arm, iterations=20, progress=False)
>>> round(search.coverage, 1) > 0.2
True
"""

from __future__ import annotations

from . import _core
from ._core import instruction_set, pin_instruction_set
from .archive import Archive, Elite
from .evaluation import Failure
from .folders import holds_run, load
from .own_parts import OwnDensity, OwnEmitter
from .parts import (
    CmaEs,
    Cvt,
    Domain,
    EliteArchive,
    FlowDensity,
    Grid,
    KernelDensity,
    Problem,
    Reservoir,
    Team,
)
from .running import RunResult, resume
from .searches import (
    CmaMae, CmaMe, DensityDescent, DiscountModelSearch, MapElites, NoveltySearch, QualityDescent, Search,
)

__version__ = _core.version()


def __getattr__(name: str) -> object:
    if name == "plot":  # only where it is used: it needs matplotlib
        import importlib

        return importlib.import_module("rarefy.plot")
    raise AttributeError(f"module 'rarefy' has no attribute '{name}'")


def algorithms() -> dict[str, str]:
    """The algorithms by the command's names, and what they are."""
    return _core.algorithms()


def domains() -> dict[str, str]:
    """The domains that come with rarefy, and what they are."""
    return _core.domains()


def parameters() -> list[dict[str, object]]:
    """Every parameter of a search: name, type, meaning, range. Keywords have underscores."""
    return _core.parameters()


__all__ = [
    "Archive", "CmaEs", "CmaMae", "CmaMe", "Cvt", "DensityDescent", "DiscountModelSearch", "Domain", "Elite",
    "EliteArchive", "Failure", "FlowDensity", "Grid", "KernelDensity", "MapElites", "NoveltySearch", "OwnDensity",
    "OwnEmitter", "Problem", "QualityDescent",
    "Reservoir", "RunResult", "Search", "Team", "__version__", "algorithms", "domains", "holds_run",
    "instruction_set", "load", "parameters", "pin_instruction_set", "resume",
]  # fmt: skip
