"""A stand-in for pyribs: ``import rarefy.ribs as ribs``.

GridArchive, CVTArchive, DensityArchive, the evolution strategy, Gaussian and Iso+Line emitters, the
rankers and the scheduler are rarefy's own. Every other name is handed over to pyribs where it is
installed, and is an ImportError that says so where it is not.
"""

from __future__ import annotations

from . import archives, emitters, schedulers
from ._published import published
from ._pyribs import hand_over, link

__version__ = "0.12.0"
__all__ = ["archives", "emitters", "published", "schedulers"]

__getattr__ = hand_over(__name__)
link()
