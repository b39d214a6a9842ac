"""One thread for linear algebra: the matrices here are too small for more, which wait for each other."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager, nullcontext
from typing import Any


@functools.cache
def _controller() -> Any:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS has one thread, where threadpoolctl is installed."""
    controller = _controller()
    return nullcontext() if controller is None else controller.limit(limits=1, user_api="blas")
