"""A continuous normalizing flow behind the keywords that pyribs has for one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core import _Density

# Those of the flow that pyribs builds on, where only one of the two is given.
_RELATIVE, _ABSOLUTE = 1e-5, 1e-6
_REACH = 8.0
_ACTIVATIONS = ("elu", "silu", "tanh")


def _activation(given: Any) -> str:
    """By a name, or by a class of torch."""
    name = given if isinstance(given, str) else getattr(given, "__name__", str(given))
    if name.lower() not in _ACTIVATIONS:
        raise ValueError(f"cnf_kwargs: activation: got {name!r}, expected one of {', '.join(_ACTIVATIONS)}")
    return name.lower()


def _network(cnf_kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """What cnf_kwargs say, in our words."""
    given = dict(cnf_kwargs or {})
    if "features" in given:
        raise ValueError("cnf_kwargs: features follows from measure_dim and cannot be given")
    options = {
        "layers": [int(width) for width in given.pop("hidden_features", (64, 64))],
        "activation": _activation(given.pop("activation", "elu")),
        "frequencies": int(given.pop("freqs", 3)),
        "relative_error": 0.0,
        "absolute_error": 0.0,
    }
    if "rtol" in given or "atol" in given:
        options["relative_error"] = float(given.pop("rtol", _RELATIVE))
        options["absolute_error"] = float(given.pop("atol", _ABSOLUTE))
    for name, only in (("context", 0), ("exact", True)):
        if given.pop(name, only) != only:
            raise ValueError(f"cnf_kwargs: {name} must be {only!r} here")
    if given:
        known = "hidden_features, activation, freqs, rtol, atol, context, exact"
        raise ValueError(f"cnf_kwargs: {', '.join(map(repr, given))} has no counterpart here; expected some of {known}")
    return options


class FlowEstimate:
    """Is trained some more at every fit(); flat before there are enough measures."""

    def __init__(
        self,
        dims: int,
        cnf_kwargs: Any,
        lr: float,
        train_steps: int,
        batch_size: int,
        least: int,
        device: Any,
        seed: int,
    ) -> None:
        if str(device) != "cpu":
            raise ValueError(f"cnf_device: got {str(device)!r}, expected 'cpu', where rarefy's flow runs")
        self._options = {
            "dims": dims,
            "steps": int(train_steps),
            "batch": int(batch_size),
            "rate": float(lr),
            "seed": seed,
            "threads": 0,
            **_network(cnf_kwargs),
        }
        self._least = int(least)
        self._centre, self._unit = np.zeros(dims), np.ones(dims)
        self._native = _Density.unbounded_flow(**self._options)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_native": self._native.save()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._native = _Density.unbounded_flow(**self._options)
        self._native.load(state["_native"])

    def _coordinates(self, measures: np.ndarray) -> np.ndarray:
        """Of mean 0 and deviation 1 over the buffer; what is far off counts as being at the limit."""
        return np.ascontiguousarray(np.clip((measures - self._centre) / self._unit, -_REACH, _REACH))

    def fit(self, buffer: np.ndarray) -> None:
        if len(buffer) < max(1, self._least):
            return
        # A few strays must not make the deviation so large that all others come to lie on one point.
        low, high = np.percentile(buffer, (25, 75), axis=0)
        reach = np.where(high > low, _REACH * (high - low), np.inf)
        near = np.clip(buffer, low - reach, high + reach)
        self._centre = near.mean(axis=0)
        deviation = near.std(axis=0)
        self._unit = np.where(deviation > 0, deviation, 1.0)
        self._native.observe(self._coordinates(buffer))

    def log_density(self, measures: np.ndarray) -> np.ndarray:
        if not self._native.informed:
            return np.zeros(len(measures))
        return self._native.log_density(self._coordinates(measures)) - np.log(self._unit).sum()
