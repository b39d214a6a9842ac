"""Engines: an executor for one that has none of the usual kind, and what is special about others."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any


class RayExecutor(Executor):
    """Ray, as a ``concurrent.futures.Executor``: ``search.run(evaluate, 100, executor=RayExecutor())``.

    Uses the cluster that Ray is connected to, or starts one on this machine. Shutting it down leaves
    Ray as it is.
    """

    def __init__(self, workers: int | None = None, **remote_options: Any) -> None:
        """
        :param workers: how many there are; ``None``: one for each core of the cluster
        :param remote_options: those of ``ray.remote``, such as ``num_cpus=2``
        """
        ray: Any = importlib.import_module("ray")
        if not ray.is_initialized():
            ray.init(include_dashboard=False, log_to_driver=False)
        self._max_workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        call = ray.remote(**remote_options)(_call) if remote_options else ray.remote(_call)
        self._call: Any = call

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = self._call.remote(fn, args, kwargs).future()
        return future


def _call(fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    return fn(*args, **kwargs)


def count_workers(executor: Any) -> int | None:
    """How many rows an executor works on at a time, where it can be asked."""
    if _is_dask(executor):
        return int(sum(executor._client.nthreads().values()))
    for name in ("_max_workers", "num_workers"):  # those of concurrent.futures; mpi4py's
        if count := getattr(executor, name, None):
            return int(count)
    return None


def submit(executor: Any, fn: Callable[..., Any], *args: Any) -> Future[Any]:
    # Dask would answer what is tried again from memory, for it takes functions to be pure.
    special = {"pure": False} if _is_dask(executor) else {}
    future: Future[Any] = executor.submit(fn, *args, **special)
    return future


def _is_dask(executor: Any) -> bool:
    return type(executor).__module__.startswith("distributed.")
