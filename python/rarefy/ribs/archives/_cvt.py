"""An archive whose cells are those nearest to centroids."""

from __future__ import annotations

import numbers
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from ..._core import Cvt
from .._checks import check_batch_shape
from .._pyribs import counterpart
from ._base import dtypes_of
from ._cells import CellArchive

_RENAMED = {
    "cells": "centroids",
    "custom_centroids": "centroids",
    "centroid_method": "centroids, generated beforehand,",
    "use_kd_tree": "nearest_neighbors",
    "ckdtree_kwargs": "kdtree_kwargs",
}


# Options of others' searches that change how long they take, and never what they find.
_TREE_SPEED = {"leafsize", "compact_nodes", "copy_data", "balanced_tree"}
_QUERY_SPEED = {"workers"}
_SKLEARN_SPEED = {"algorithm", "leaf_size", "n_jobs"}


def _matters(options: dict[str, Any] | None, for_speed: set[str]) -> bool:
    return bool(options and options.keys() - for_speed)


def _nearest(lower: np.ndarray, upper: np.ndarray, centroids: np.ndarray) -> Any:
    box = list(zip(lower.tolist(), upper.tolist(), strict=True))
    return Cvt.of(box, np.ascontiguousarray(centroids, dtype=np.float64))


def _k_means(samples: np.ndarray, count: int, lower: np.ndarray, upper: np.ndarray, seed: Any) -> np.ndarray:
    """Lloyd's algorithm, from samples drawn at random, until nothing moves or 100 times."""
    samples = np.ascontiguousarray(samples, dtype=np.float64)
    distinct = np.unique(samples, axis=0)
    centroids = np.random.default_rng(seed).permutation(distinct)[:count]
    for _ in range(100):
        cells = _nearest(lower, upper, centroids).cells_of(samples)
        sizes = np.bincount(cells, minlength=len(centroids))[:, None]
        sums = [np.bincount(cells, weights=column, minlength=len(centroids)) for column in samples.T]
        moved = np.where(sizes > 0, np.stack(sums, axis=1) / np.maximum(sizes, 1), centroids)
        if np.array_equal(moved, centroids):
            break
        centroids = moved
    return centroids


def k_means_centroids(
    *,
    centroids: Any,
    ranges: Collection[tuple[float, float]],
    samples: Any = 100_000,
    dtype: Any = np.float64,
    seed: Any = None,
    k_means_kwargs: dict[str, Any] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Centroids spread evenly by k-means, and the samples they were made from.

    Where scikit-learn is installed they are those of pyribs. Elsewhere they are rarefy's own, and there are no
    k_means_kwargs.
    """
    lower, upper = np.array(list(zip(*ranges, strict=True)), dtype=dtype)
    if isinstance(samples, numbers.Integral):
        drawn = np.random.default_rng(seed).uniform(lower, upper, size=(samples, len(lower))).astype(dtype)
    else:
        drawn = np.asarray(samples, dtype=dtype)
        check_batch_shape(drawn, "samples", len(lower), "measure_dim", rows="num_samples")
    try:
        from sklearn.cluster import k_means
    except ImportError:
        if k_means_kwargs:
            raise ImportError("k_means_kwargs need scikit-learn, which is not installed") from None
        found = _k_means(drawn, centroids, lower, upper, seed).astype(dtype)
    else:
        options = {"n_init": 1, "init": "random", "algorithm": "lloyd", "random_state": seed} | (k_means_kwargs or {})
        found = k_means(drawn, centroids, **options)[0]
    if len(found) < centroids:
        raise RuntimeError(
            f"k-means clustering found {len(found)} centroids, but {centroids} are needed; "
            "there may be too few samples or too many cells."
        )
    return found, drawn


@counterpart("archives", "CVTArchive")
class CVTArchive(CellArchive):
    """Divides measure space by nearest centroid; see pyribs' CVTArchive."""

    def __init__(
        self,
        *,
        solution_dim: Any,
        centroids: Any = None,
        ranges: Collection[tuple[float, float]],
        learning_rate: float | None = None,
        threshold_min: float = -np.inf,
        qd_score_offset: float = 0.0,
        seed: Any = None,
        solution_dtype: Any = None,
        objective_dtype: Any = None,
        measures_dtype: Any = None,
        dtype: Any = None,
        extra_fields: dict[str, tuple[Any, Any]] | None = None,
        samples: Any = 100_000,
        k_means_kwargs: dict[str, Any] | None = None,
        nearest_neighbors: str = "scipy_kd_tree",
        kdtree_kwargs: dict[str, Any] | None = None,
        kdtree_query_kwargs: dict[str, Any] | None = None,
        chunk_size: int | None = None,
        sklearn_nn_kwargs: dict[str, Any] | None = None,
        **renamed: Any,
    ) -> None:
        for name, value in renamed.items():
            if name not in _RENAMED:
                raise TypeError(f"CVTArchive got an unexpected keyword argument '{name}'")
            if value is not None:
                raise ValueError(f"`{name}` is deprecated in pyribs 0.9.0. Please pass in {_RENAMED[name]} instead.")
        if centroids is None:
            raise TypeError("CVTArchive needs the keyword argument 'centroids'")
        dtypes = dtypes_of(dtype, solution_dtype, objective_dtype, measures_dtype)
        if isinstance(centroids, numbers.Integral):
            self._centroids, _ = k_means_centroids(
                centroids=centroids, ranges=ranges, samples=samples, dtype=dtypes[2], seed=seed,
                k_means_kwargs=k_means_kwargs,
            )  # fmt: skip
        else:
            given = np.load(centroids) if isinstance(centroids, (str, Path)) else centroids
            self._centroids = np.asarray(given, dtype=dtypes[2])
            check_batch_shape(self._centroids, "centroids", len(ranges), "measure_dim", rows="num_centroids")
        CellArchive.__init__(
            self,
            solution_dim=solution_dim,
            ranges=ranges,
            cells=len(self._centroids),
            learning_rate=learning_rate,
            threshold_min=threshold_min,
            qd_score_offset=qd_score_offset,
            seed=seed,
            dtypes=dtypes,
            extra_fields=extra_fields,
        )
        self._lookup: Any = None
        if nearest_neighbors == "scipy_kd_tree":
            if _matters(kdtree_kwargs, _TREE_SPEED) or _matters(kdtree_query_kwargs, _QUERY_SPEED):
                from scipy.spatial import KDTree

                self._lookup = KDTree(self._centroids, **(kdtree_kwargs or {}))
                self._query = dict(kdtree_query_kwargs or {})
        elif nearest_neighbors == "sklearn_nn":
            if _matters(sklearn_nn_kwargs, _SKLEARN_SPEED):
                from sklearn.neighbors import NearestNeighbors

                self._lookup = NearestNeighbors(**(sklearn_nn_kwargs or {})).fit(self._centroids)
        elif nearest_neighbors != "brute_force":
            raise ValueError(f"Unknown value `{nearest_neighbors}` for nearest_neighbors.")
        self._nearest_neighbors = nearest_neighbors
        self._set_native()

    def _set_native(self) -> None:
        self._native = _nearest(self._lower_bounds, self._upper_bounds, self._centroids)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_native"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._set_native()

    @property
    def centroids(self) -> np.ndarray:
        return self._centroids

    @property
    def samples(self) -> None:
        raise ValueError("CVTArchive.samples is deprecated in pyribs 0.9.0")

    def _cells_of(self, measures: np.ndarray) -> np.ndarray:
        if len(measures) == 0:
            return np.empty(0, dtype=np.int32)
        if self._lookup is None:
            found = self._native.cells_of(np.ascontiguousarray(measures, dtype=np.float64))
        elif self._nearest_neighbors == "sklearn_nn":
            found = self._lookup.kneighbors(measures, n_neighbors=1, return_distance=False)[:, 0]
        else:
            found = self._lookup.query(measures, **self._query)[1]
        return found.astype(np.int32)
