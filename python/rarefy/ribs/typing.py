"""Handed over to pyribs' ribs.typing."""

from __future__ import annotations

from ._pyribs import hand_over

__getattr__ = hand_over(__name__)
