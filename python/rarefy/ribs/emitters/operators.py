"""Handed over to pyribs' ribs.emitters.operators."""

from __future__ import annotations

from .._pyribs import hand_over

__getattr__ = hand_over(__name__)
