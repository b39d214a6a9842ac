"""Rankers: orders of solutions, the best first. What is not here (nslc) is handed over to pyribs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from .._pyribs import counterpart, hand_over, link, loaded, pyribs_module

Ranking = tuple[np.ndarray, np.ndarray]


@counterpart("emitters.rankers", "RankerBase")
class RankerBase(ABC):
    """rank() gives the order of the solutions, and the values it is by."""

    def __init__(self, seed: Any = None) -> None:
        link()
        self._rng = np.random.default_rng(seed)

    @abstractmethod
    def rank(self, emitter: Any, archive: Any, data: dict[str, Any], add_info: dict[str, Any]) -> Ranking: ...

    def reset(self, emitter: Any, archive: Any) -> None:
        pass


def _highest_first(values: np.ndarray) -> Ranking:
    return np.flip(np.argsort(values)), values


def _by_status(add_info: dict[str, Any], values: np.ndarray) -> Ranking:
    status = add_info["status"]
    return np.flip(np.lexsort((values, status))), np.stack((status, values), axis=-1)


class ImprovementRanker(RankerBase):
    """By the improvement of the archive."""

    def rank(self, emitter: Any, archive: Any, data: dict[str, Any], add_info: dict[str, Any]) -> Ranking:
        return _highest_first(add_info["value"])


class TwoStageImprovementRanker(RankerBase):
    """New cells first, then improved ones, each by the improvement."""

    def rank(self, emitter: Any, archive: Any, data: dict[str, Any], add_info: dict[str, Any]) -> Ranking:
        return _by_status(add_info, add_info["value"])


class ObjectiveRanker(RankerBase):
    """By the objective."""

    def rank(self, emitter: Any, archive: Any, data: dict[str, Any], add_info: dict[str, Any]) -> Ranking:
        return _highest_first(data["objective"])


class TwoStageObjectiveRanker(RankerBase):
    """New cells first, then improved ones, each by the objective."""

    def rank(self, emitter: Any, archive: Any, data: dict[str, Any], add_info: dict[str, Any]) -> Ranking:
        return _by_status(add_info, data["objective"])


class NoveltyRanker(RankerBase):
    """By the novelty that the archive reports."""

    def rank(self, emitter: Any, archive: Any, data: dict[str, Any], add_info: dict[str, Any]) -> Ranking:
        return _highest_first(add_info["novelty"])


class DensityRanker(RankerBase):
    """By the density that the archive reports, the lowest first."""

    def rank(self, emitter: Any, archive: Any, data: dict[str, Any], add_info: dict[str, Any]) -> Ranking:
        return np.argsort(add_info["density"]), add_info["density"]


class RandomDirectionRanker(RankerBase):
    """By how far the measures go in a random direction, drawn anew at every reset."""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed)
        self.target_measure_dir: np.ndarray | None = None

    def _projections(self, data: dict[str, Any]) -> np.ndarray:
        if self.target_measure_dir is None:
            raise RuntimeError("target measure direction not set")
        return np.dot(data["measures"], self.target_measure_dir)

    def rank(self, emitter: Any, archive: Any, data: dict[str, Any], add_info: dict[str, Any]) -> Ranking:
        return _highest_first(self._projections(data))

    def reset(self, emitter: Any, archive: Any) -> None:
        extent = archive.upper_bounds - archive.lower_bounds
        self.target_measure_dir = self._rng.standard_normal(len(extent)) * extent


class TwoStageRandomDirectionRanker(RandomDirectionRanker):
    """New cells first, then improved ones, each by how far the measures go in a random direction."""

    def rank(self, emitter: Any, archive: Any, data: dict[str, Any], add_info: dict[str, Any]) -> Ranking:
        return _by_status(add_info, self._projections(data))


_SHORT = {
    "density": DensityRanker,
    "imp": ImprovementRanker,
    "nov": NoveltyRanker,
    "obj": ObjectiveRanker,
    "rd": RandomDirectionRanker,
    "2imp": TwoStageImprovementRanker,
    "2obj": TwoStageObjectiveRanker,
    "2rd": TwoStageRandomDirectionRanker,
}
_ELSEWHERE = {"nslc": "NSLCRanker", "nslc_classic": "NSLCClassicRanker"}
_NAMED: dict[str, type[RankerBase]] = _SHORT | {ranker.__name__: ranker for ranker in _SHORT.values()}

__all__ = ["RankerBase", *(ranker.__name__ for ranker in _SHORT.values())]


def make_ranker(ranker: Any, seed: Any) -> Any:
    """A ranker of a name, or from a callable that takes a seed."""
    if isinstance(ranker, str):
        if ranker in _NAMED:
            return _NAMED[ranker](seed)
        name = _ELSEWHERE.get(ranker, ranker)
        if name in _ELSEWHERE.values():
            return getattr(pyribs_module("ribs.emitters.rankers", name), name)(seed)
        raise ValueError(f"`{ranker}` is not the full or abbreviated name of a valid ranker")
    if not callable(ranker):
        raise ValueError(f"`{ranker}` is neither a callable nor a string")
    made = ranker(seed)
    if not isinstance(made, (RankerBase, *loaded("emitters.rankers", "RankerBase"))):
        raise ValueError(f"Callable `{ranker}` did not return an instance of RankerBase.")
    return made


_get_ranker = make_ranker
__getattr__ = hand_over(__name__)
