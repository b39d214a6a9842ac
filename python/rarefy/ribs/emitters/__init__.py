"""Emitters: see pyribs' ribs.emitters, of which what is not here is handed over."""

from __future__ import annotations

from .._pyribs import hand_over
from . import opt, rankers
from ._base import EmitterBase
from ._mutation import GaussianEmitter, IsoLineEmitter
from ._strategy import EvolutionStrategyEmitter

__all__ = ["EmitterBase", "EvolutionStrategyEmitter", "GaussianEmitter", "IsoLineEmitter", "opt", "rankers"]

__getattr__ = hand_over(__name__)
