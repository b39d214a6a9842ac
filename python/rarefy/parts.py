"""The parts of a search, each usable alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import Doubles, as_box, as_number, as_rows, as_seed, as_values, as_whole, as_wholes
from ._keywords import set_parameter
from .archive import Archive, Elite

Cvt = _core.Cvt
Grid = _core.Grid
Team = _core.Team
Problem = _core.Problem

Box = Sequence[tuple[float, float]]


class _Density:
    """A density over feature space, estimated from features."""

    _native: _core._Density
    feature_box: list[tuple[float, float]]  #: where features are expected; densities are computed fastest there

    def observe(self, features: Any) -> None:
        """Takes in more features."""
        self._native.observe(as_rows(features, "features", self._native.feature_dim))

    def log_density(self, features: Any) -> Doubles:
        """Natural logarithms of the density at rows of features; it integrates to 1."""
        if not self._native.informed:
            raise RuntimeError("there are no features to estimate a density from; call observe() first")
        return self._native.log_density(as_rows(features, "features", self._native.feature_dim))

    @property
    def samples(self) -> Doubles:
        """The features it is made of, or a sample where it has not kept all."""
        return self._native.samples()

    def __len__(self) -> int:
        """How many features it is made of."""
        return self._native.count


def _box_around(features: Doubles) -> list[tuple[float, float]]:
    low, high = features.min(axis=0), features.max(axis=0)
    return list(zip(low.tolist(), np.where(high > low, high, low + 1.0).tolist(), strict=True))


class KernelDensity(_Density):
    """Kernel density estimation, by tables where that is faster (1 or 2 features, Gaussian).

    ``KernelDensity(features).log_density(x)`` is all it takes.

    :param features: rows to estimate from; ``None``: none yet, see :meth:`observe`
    :param feature_box: a pair (low, high) for each feature; ``None``: what the features span
    :param bandwidth: in the units of the features: a number, ``"0.05 width"`` (of the box), or
        ``"scott"`` (Scott's rule for the box and the number of features), ``"auto"`` (the same,
        corrected for three features or more), ``"spread"`` (Scott's rule for how far the features
        spread), ``"likelihood"`` (that times a factor under which they are likeliest) or
        ``"local"`` (that of ``"auto"``, narrower for features in a crowd and wider for lonely ones)
    :param kernel: ``"gaussian"``, ``"triangular"`` or ``"epanechnikov"``
    :param method: ``"direct"``, a term for each feature; ``"panels"``, tables;
        ``"blocks"``, a term for each in blocks near enough to matter; ``"auto"``, the fastest
    :param capacity: how many features are kept, a uniform sample of all; ``None``: as many as are
        given, or 10,000
    :param seed: of that sample
    :param threads: 0: one for each core
    """

    def __init__(
        self,
        features: Any = None,
        *,
        feature_box: Box | None = None,
        bandwidth: float | str = "scott",
        kernel: str = "gaussian",
        method: str = "auto",
        capacity: int | None = None,
        seed: int = 1,
        threads: int = 0,
    ) -> None:
        rows = None if features is None else as_rows(features, "features")
        if feature_box is None:
            if rows is None or len(rows) == 0:
                raise ValueError("feature_box: needed where there are no features yet")
            feature_box = _box_around(rows)
        if capacity is None:
            capacity = 10_000 if rows is None else max(1, len(rows))
        self.feature_box = as_box(feature_box)
        self._native = _core._Density.kernel(
            self.feature_box, as_whole(capacity, "capacity"), str(bandwidth), str(kernel), str(method),
            as_seed(seed), as_whole(threads, "threads"),
        )
        if rows is not None:
            self.observe(rows)

    @property
    def bandwidths(self) -> list[float]:
        """One for each feature."""
        return self._native.bandwidths()

    @property
    def method(self) -> str:
        """How it is computed: by direct sums, blocks, or so many panels."""
        return self._native.description


class FlowDensity(_Density):
    """A continuous normalizing flow, trained some more with every batch that it observes.

    :param feature_box: a pair (low, high) for each feature
    :param layers: widths of the network's hidden layers
    :param activation: ``"elu"``, ``"silu"`` or ``"tanh"``
    :param steps: of training with every batch
    :param batch: features in a step of training
    :param rate: of learning
    :param capacity: how many features are kept to train on, a uniform sample of all
    :param seed: of that sample, of the network and of its training
    :param threads: 0: one for each core
    """

    def __init__(
        self,
        feature_box: Box,
        *,
        layers: Sequence[int] = (64, 64),
        activation: str = "elu",
        steps: int = 20,
        batch: int = 256,
        rate: float = 1e-3,
        capacity: int = 10_000,
        seed: int = 1,
        threads: int = 0,
    ) -> None:
        self.feature_box = as_box(feature_box)
        self._native = _core._Density.flow(
            self.feature_box, as_whole(capacity, "capacity"), as_wholes(layers, "layers"), str(activation),
            as_whole(steps, "steps"), as_whole(batch, "batch"), as_number(rate, "rate"),
            as_seed(seed), as_whole(threads, "threads"),
        )


class Reservoir:
    """A uniform sample, of fixed size, of all rows it was ever given (Li's algorithm L).

    :param feature_dim: how many numbers a row has
    :param capacity: the size of the sample
    :param seed: of the draw
    """

    def __init__(self, feature_dim: int, capacity: int = 10_000, seed: int = 1) -> None:
        self._feature_dim = as_whole(feature_dim, "feature_dim")
        self._native = _core._Reservoir(self._feature_dim, as_whole(capacity, "capacity"), as_seed(seed))

    def add(self, features: Any) -> None:
        """Takes in rows."""
        self._native.add(as_rows(features, "features", self._feature_dim))

    @property
    def contents(self) -> Doubles:
        """The sample: as many rows as it has room for, or all where there were fewer."""
        return self._native.contents()

    @property
    def seen(self) -> int:
        """How many rows it was ever given."""
        return self._native.seen

    def __len__(self) -> int:
        return len(self._native.contents())


class CmaEs:
    """CMA-ES, or a relative whose cost is linear in the dimension: ask, and tell values to minimise."""

    def __init__(
        self,
        mean: Any,
        sigma0: float,
        *,
        batch: int = 0,
        strategy: str = "cma-es",
        mirrored: bool = False,
        seed: int = 1,
    ) -> None:
        """
        :param mean: where to begin
        :param sigma0: the initial step size
        :param batch: solutions at a time; 0: 4 + 3 ln n
        :param strategy: ``"cma-es"``, ``"sep-cma-es"``, ``"lm-ma-es"``, or ``"auto"``: the last from 500 values on, the first below
        :param mirrored: sample in pairs, mean + s and mean - s
        :param seed: of the random numbers
        """
        self._native = _core._Optimizer(
            as_values(mean, "mean"), as_number(sigma0, "sigma0"), as_whole(batch, "batch"), str(strategy), bool(mirrored),
            as_seed(seed),
        )

    def ask(self) -> Doubles:
        """Solutions to evaluate, a row each."""
        return self._native.ask()

    def tell(self, values: Any) -> None:
        """What they are worth, one number each: lower is better."""
        self._native.tell(as_values(values, "values", self._native.batch))

    @property
    def mean(self) -> Doubles:
        """The middle of the distribution."""
        return self._native.mean()

    @property
    def sigma(self) -> float:
        """The step size."""
        return self._native.sigma

    @property
    def covariance(self) -> Doubles:
        """Of a step, without the step size. A ValueError for strategies that have no such matrix."""
        return self._native.covariance()

    @property
    def generation(self) -> int:
        """Batches told so far."""
        return self._native.generation

    @property
    def stop(self) -> str | None:
        """What speaks against going on, if anything: "condition", "step size" or "flat"."""
        return None if self._native.stop == "none" else self._native.stop


class EliteArchive:
    """An archive by itself: the best solution of every cell.

    :param tessellation: the cells: a :class:`rarefy.Grid` or a :class:`rarefy.Cvt`
    :param solution_dim: how many values a solution has

    ``archive[cell]`` is the elite of a cell, or ``None``; ``len(archive)`` how many there are.
    """

    def __init__(self, tessellation: _core.Tessellation, solution_dim: int) -> None:
        if not isinstance(tessellation, _core.Tessellation):
            raise TypeError(f"tessellation: got {tessellation!r}, expected a rarefy.Grid or a rarefy.Cvt")
        self._native = _core._Archive(tessellation, as_whole(solution_dim, "solution_dim"))

    def add(self, solutions: Any, features: Any, objectives: Any = None) -> Any:
        """Takes in solutions, one after the other.

        :param solutions: a row each
        :param features: a row each
        :param objectives: one each, greater is better; ``None``: all the same
        :returns: for each row: 0 rejected, 1 improved its cell, 2 found a new one
        """
        rows = as_rows(features, "features", self._native.feature_dim)
        values = np.ones(len(rows)) if objectives is None else as_values(objectives, "objectives", len(rows))
        if not np.all(np.isfinite(values)):
            raise ValueError(f"objectives: row {int(np.argmin(np.isfinite(values)))} is not finite")
        return self._native.record(
            as_rows(solutions, "solutions", self._native.solution_dim, len(rows)), rows, values
        )

    def __len__(self) -> int:
        return len(self._native)

    @property
    def coverage(self) -> float:
        """The part of all cells that are occupied, from 0 to 1."""
        return self._native.coverage()

    def view(self) -> Archive:
        """What it holds now, as the archive of a search is."""
        cells = self._native.tessellation
        box = list(zip(cells.lower, cells.upper, strict=True))
        arrays = {
            name: getattr(self._native, name)() for name in ("solutions", "features", "objectives", "cells", "visits")
        }
        return Archive._of(arrays | {"tessellation": cells}, Problem(self._native.solution_dim, box))

    def in_cell(self, cell: int) -> Elite | None:
        """The elite of a cell, if there is one."""
        return self.view().in_cell(cell)


class Domain:
    """A problem that comes with rarefy: ``Domain("arm", n=10)(solutions)`` gives features and objectives.

    It is a function to evaluate with, and describes itself to a search: ``DensityDescent(domain)``.
    """

    def __init__(self, name: str, *, threads: int = 0, team: Team | None = None, **parameters: Any) -> None:
        """
        :param name: ``"lp"``, ``"multi-lp"``, ``"arm"`` or ``"maze"``: see :func:`rarefy.domains`
        :param threads: to evaluate with; 0: one for each core
        :param team: threads to share with a search, instead
        :param parameters: those of the command: ``n``, ``m``, ``objective``; and of the maze ``maze``,
            ``walls``, ``start``, ``no_wall_reading``
        """
        self._name = name
        self._parameters = {keyword.replace("_", "-"): value for keyword, value in parameters.items()}
        self._native = _core.make_domain(self.config("dds-kde", "default"))
        self.team = team or _core.Team(threads)
        self.problem = self._native.problem

    def config(self, algorithm: str, profile: str) -> _core.Config:
        """That of a search for it, which the command would have."""
        config = _core.Config(self._name, algorithm, profile)
        for name, value in self._parameters.items():
            set_parameter(config, name, value)
        return config

    def __call__(self, solutions: Any) -> tuple[Doubles, Doubles]:
        """Features and objectives of rows of solutions."""
        return self._native.evaluate(as_rows(solutions, "solutions", self.problem.solution_dim), self.team)

    def trajectory(self, controller: Any) -> Doubles:
        """The path of a robot through a maze: x, y and heading, from the start on."""
        return self._native.trajectory(as_values(controller, "controller", self.problem.solution_dim))

    @property
    def solution_dim(self) -> int:
        """How many values a solution has."""
        return self.problem.solution_dim

    @property
    def feature_box(self) -> list[tuple[float, float]]:
        """A pair (low, high) for each feature."""
        return self.problem.feature_box
