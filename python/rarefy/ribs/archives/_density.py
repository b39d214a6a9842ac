"""An archive that knows how densely measure space has been visited."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core import _Density, _Reservoir
from .._checks import as_measures, read_only
from .._pyribs import counterpart, pyribs_module
from ._base import ArchiveBase, dtypes_of

# With no more pairs of points than this, the plain formula is fast enough.
_FEW_PAIRS = 50_000


@counterpart("archives", "DensityArchive")
class DensityArchive(ArchiveBase):
    """Keeps a sample of the measures and estimates their density; see pyribs' DensityArchive.

    ``density_method="cnf"`` makes an archive of pyribs. ``bandwidth=None`` is Scott's rule.
    """

    def __new__(cls, *, density_method: str = "kde", **options: Any) -> Any:
        if density_method == "cnf" and cls is DensityArchive:
            theirs = pyribs_module("ribs.archives", "DensityArchive with density_method='cnf'").DensityArchive
            return theirs(density_method="cnf", **options)
        return super().__new__(cls)

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
        cnf_train_steps: int = 5,
        cnf_batch_size: int = 32,
        cnf_min_buffer_size: int = 128,
        cnf_device: Any = "cpu",
        seed: Any = None,
        measures_dtype: Any = None,
        dtype: Any = None,
    ) -> None:
        *_, self._measures_dtype = dtypes_of(dtype, None, None, measures_dtype)
        ArchiveBase.__init__(self, solution_dim=0, objective_dim=(), measure_dim=measure_dim)
        if density_method not in ("kde", "kde_sklearn"):
            raise ValueError(f"Unknown density_method '{density_method}'")
        self._density_method = density_method
        self._bandwidth = bandwidth
        self._sklearn_kwargs = dict(sklearn_kwargs or {})
        self._buffer_size = buffer_size
        self._seed = int(np.random.default_rng(seed).integers(2**63))
        self._reservoir = _Reservoir(measure_dim, buffer_size, self._seed)
        self._native: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_reservoir": self._reservoir.save(), "_native": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reservoir = _Reservoir(self.measure_dim, self._buffer_size, self._seed)
        self._reservoir.load(state["_reservoir"])

    @property
    def empty(self) -> bool:
        """False: there are no elites to lack."""
        return False

    @property
    def buffer(self) -> np.ndarray:
        """The measures kept: a uniform sample of all that were added."""
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
        """The density ("kde", which divides by n h whatever the dimension) or its logarithm ("kde_sklearn")."""
        measures = np.asarray(measures, dtype=self._measures_dtype)
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
        return info
