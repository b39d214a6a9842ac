"""Executors for engines that have none of the usual kind."""

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
