"""Pictures of archives, runs and densities, with matplotlib.

>>> import rarefy.plot                              # doctest: +SKIP
>>> rarefy.plot.heatmap(search)                     # doctest: +SKIP
>>> rarefy.plot.curves({"dds": runs})               # doctest: +SKIP

Every function draws into the axes it is given, or into a figure of its own, and returns the axes.
"""

from __future__ import annotations

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError as _problem:
    raise ImportError("rarefy.plot needs matplotlib: pip install rarefy[plot]") from _problem

from ._corner import corner
from ._curves import curves
from ._density import density
from ._heatmap import heatmap
from ._parallel import parallel

__all__ = ["corner", "curves", "density", "heatmap", "parallel"]
