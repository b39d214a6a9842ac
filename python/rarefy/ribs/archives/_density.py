"""An archive that knows how densely measure space has been visited."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core import _Density, _Reservoir
from .._checks import as_measures, read_only
from .._published import resolve
from .._pyribs import counterpart
from ._base import ArchiveBase, dtypes_of
from ._flow import FlowEstimate
from ._published_reservoir import PublishedReservoir

# With no more pairs of points than this, the plain formula is fast enough.
_FEW_PAIRS = 50_000


@counterpart("archives", "DensityArchive")
class DensityArchive(ArchiveBase):
    """Keeps a sample of the measures and estimates their density; see pyribs' DensityArchive.

    ``density_method="cnf"`` is rarefy's own flow, which needs no torch. ``bandwidth=None`` is Scott's rule. With
    ``published`` (None: what ``rarefy.ribs.published()`` says) the buffer is that of pyribs.
    """

    def __init__(
        self,
        *,
        measure_dim: int,
        buffer_size: int = 10_000,
        density_method: str = "kde",
        bandwidth: float | None = None,
        sklearn_kwargs: dict[str, Any] | None = None,
        cnf_kwargs: Any = None,
        cnf_lr: float = 1e-3,
        cnf_train_steps: int = 20,
        cnf_batch_size: int = 256,
        cnf_min_buffer_size: int = 128,
        cnf_device: Any = "cpu",
        seed: Any = None,
        measures_dtype: Any = None,
        dtype: Any = None,
        published: bool | None = None,
    ) -> None:
        *_, self._measures_dtype = dtypes_of(dtype, None, None, measures_dtype)
        ArchiveBase.__init__(self, solution_dim=0, objective_dim=(), measure_dim=measure_dim)
        if density_method not in ("kde", "kde_sklearn", "cnf"):
            raise ValueError(f"Unknown density_method '{density_method}'")
        self._density_method = density_method
        self._bandwidth = bandwidth
        self._sklearn_kwargs = dict(sklearn_kwargs or {})
        self._buffer_size = buffer_size
        self._seed = int(np.random.default_rng(seed).integers(2**63))
        self._published = resolve(published)
        self._reservoir: Any = (
            PublishedReservoir(measure_dim, buffer_size, seed)
            if self._published
            else _Reservoir(measure_dim, buffer_size, self._seed)
        )
        self._native: Any = None
        self._flow: FlowEstimate | None = None
        if density_method == "cnf":
            self._flow = FlowEstimate(
                measure_dim, cnf_kwargs, cnf_lr, cnf_train_steps, cnf_batch_size, cnf_min_buffer_size, cnf_device,
                self._seed,
            )  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        reservoir = self._reservoir if self._published else self._reservoir.save()
        return self.__dict__ | {"_reservoir": reservoir, "_native": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._published:
            return
        self._reservoir = _Reservoir(self.measure_dim, self._buffer_size, self._seed)
        self._reservoir.load(state["_reservoir"])

    @property
    def empty(self) -> bool:
        """False: there are no elites to lack."""
        return False

    @property
    def buffer(self) -> np.ndarray:
        """The measures kept: a uniform sample of all that were added (but for ``published``)."""
        return read_only(self._reservoir.contents().astype(self._measures_dtype))

    def _width(self, buffer: np.ndarray) -> float:
        if self._bandwidth is not None:
            return float(self._bandwidth)
        spread = float(buffer.std(axis=0, ddof=1).mean()) if len(buffer) > 1 else 1.0
        return (spread or 1.0) * len(buffer) ** (-1 / (self.measure_dim + 4))

    def _log_density(self, measures: np.ndarray, buffer: np.ndarray, width: float) -> np.ndarray:
        """Logarithms of the density that integrates to 1."""
        if len(measures) * len(buffer) <= _FEW_PAIRS:
            exponents = -0.5 * np.sum(((measures[:, None] - buffer) / width) ** 2, axis=2)
            highest = exponents.max(axis=1)
            sums = np.log(np.exp(exponents - highest[:, None]).sum(axis=1)) + highest
            return sums - np.log(len(buffer)) - self.measure_dim * np.log(width * np.sqrt(2 * np.pi))
        if self._native is None:
            box = [(0.0, 1.0)] * self.measure_dim
            self._native = _Density.kernel(box, len(buffer), repr(width), "gaussian", "direct", 1, 1)
            self._native.observe(buffer)
        return self._native.log_density(np.ascontiguousarray(measures))

    def compute_density(self, measures: Any) -> np.ndarray:
        """The density ("kde", which divides by n h whatever the dimension) or its logarithm ("kde_sklearn", "cnf")."""
        measures = np.asarray(measures, dtype=self._measures_dtype)
        if self._flow is not None:
            return self._flow.log_density(measures).astype(self._measures_dtype)
        buffer = self._reservoir.contents()
        if len(buffer) == 0 or len(measures) == 0:
            return np.zeros(len(measures), dtype=self._measures_dtype)
        width = self._width(buffer)
        if self._sklearn_kwargs and self._density_method == "kde_sklearn":
            from sklearn.neighbors import KernelDensity

            found = KernelDensity(bandwidth=width, **self._sklearn_kwargs).fit(buffer).score_samples(measures)
        else:
            found = self._log_density(measures.astype(np.float64), buffer, width)
            if self._density_method == "kde":
                found = np.exp(found + (self.measure_dim - 1) * np.log(width * np.sqrt(2 * np.pi)))
        return found.astype(self._measures_dtype)

    def add(self, solution: Any, objective: Any, measures: Any, **fields: Any) -> dict[str, np.ndarray]:
        """Takes in measures; ``density`` is that before they came, and ``status`` 2 for all."""
        measures = as_measures(measures, self._measures_dtype, self.measure_dim)
        info = {"status": np.full(len(measures), 2, dtype=np.int32), "density": self.compute_density(measures)}
        self._reservoir.add(np.ascontiguousarray(measures, dtype=np.float64))
        self._native = None
        if self._flow is not None:
            self._flow.fit(self._reservoir.contents())
        return info
