"""Handed over to pyribs' ribs.discount_models."""

from __future__ import annotations

from ._pyribs import hand_over

__getattr__ = hand_over(__name__)
