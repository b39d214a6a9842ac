"""Schedulers: see pyribs' ribs.schedulers, of which what is not here is handed over."""

from __future__ import annotations

from .._pyribs import hand_over
from ._scheduler import Scheduler

__all__ = ["Scheduler"]

__getattr__ = hand_over(__name__)
