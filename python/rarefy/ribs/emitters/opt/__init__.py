"""Evolution strategies: see pyribs' ribs.emitters.opt, of which what is not here is handed over."""

from __future__ import annotations

from typing import Any

from ..._pyribs import hand_over, loaded, pyribs_module
from ._base import EvolutionStrategyBase
from ._strategies import CMAEvolutionStrategy, LMMAEvolutionStrategy, SeparableCMAEvolutionStrategy

__all__ = [
    "CMAEvolutionStrategy",
    "EvolutionStrategyBase",
    "LMMAEvolutionStrategy",
    "SeparableCMAEvolutionStrategy",
]

_NAMED: dict[str, Any] = {
    "cma_es": CMAEvolutionStrategy,
    "lm_ma_es": LMMAEvolutionStrategy,
    "sep_cma_es": SeparableCMAEvolutionStrategy,
}
_NAMED |= {strategy.__name__: strategy for strategy in _NAMED.values()}
_ELSEWHERE = {"openai_es": "OpenAIEvolutionStrategy", "pycma_es": "PyCMAEvolutionStrategy"}


def make_strategy(es: Any, **options: Any) -> Any:
    """An evolution strategy of a name, or from a callable that takes the options."""
    if isinstance(es, str):
        name = _ELSEWHERE.get(es, es)
        if es in _NAMED:
            es = _NAMED[es]
        elif name in _ELSEWHERE.values():
            es = getattr(pyribs_module("ribs.emitters.opt", name), name)
        else:
            raise ValueError(f"`{es}` is not the full or abbreviated name of a valid evolution strategy")
    if not callable(es):
        raise ValueError(f"`{es}` is neither a callable nor a string")
    made = es(**options)
    if not isinstance(made, (EvolutionStrategyBase, *loaded("emitters.opt", "EvolutionStrategyBase"))):
        raise ValueError(f"Callable `{es}` did not return an instance of EvolutionStrategyBase.")
    return made


_get_es = make_strategy
__getattr__ = hand_over(__name__)
