"""Parts of a search that are written in Python, and plug into the native loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from ._arrays import Doubles
from .archive import Integers


@runtime_checkable
class OwnDensity(Protocol):
    """What a search descends: how crowded feature space is.

    ``DensityDescent(..., density=MyDensity())``. Candidates with low scores come first. What its
    attributes hold is pickled with the search.
    """

    def score(self, features: Doubles) -> Any:
        """A number for each row: lower is sparser. Not called before the first :meth:`observe`."""

    def observe(self, features: Doubles, objectives: Doubles) -> None:
        """Takes in a batch: rows of features, and their objectives. Rows that failed are left out."""


@runtime_checkable
class OwnEmitter(Protocol):
    """Where candidates come from: ``CmaMae(..., own_emitters=[MyEmitter(), MyEmitter()])``."""

    batch: int  #: how many solutions it proposes at a time

    def ask(self, iteration: int) -> Any:
        """Solutions, a row each. To be repeatable, draw random numbers from a generator that is seeded
        with the iteration, or keep one in an attribute."""

    def tell(
        self, solutions: Doubles, features: Doubles, objectives: Doubles, scores: Doubles, order: Integers
    ) -> Any:
        """Learns from a ranking: ``order`` has the rows to learn from, the best first. True: it cannot
        usefully go on, and wants to be restarted."""

    def restart(self, solution: Doubles) -> None:
        """Starts anew at a solution."""


def check_parts(density: OwnDensity | None, emitters: Sequence[OwnEmitter]) -> None:
    if density is not None and not isinstance(density, OwnDensity):
        raise TypeError(
            f"density: got a {type(density).__name__}, expected 'kde', 'flow' or an object with score() and observe()"
        )
    for emitter in emitters:
        if not isinstance(emitter, OwnEmitter):
            raise TypeError(
                f"own_emitters: got a {type(emitter).__name__}, expected objects with batch, ask(), tell() "
                "and restart()"
            )
