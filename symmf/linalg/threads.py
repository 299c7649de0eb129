"""How many threads may work, and how many a stretch of small BLAS calls may wake."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import joblib
from threadpoolctl import ThreadpoolController

# Below this size changing the number of BLAS threads takes longer than it saves.
_THREADED_BLAS = 2000


def allowed_threads() -> int:
    """Return OMP_NUM_THREADS, as BLAS obeys it too, or the number of usable cores."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return int(joblib.cpu_count())


def blas_threads_for(M: Any) -> AbstractContextManager[Any]:
    """Return a context with one BLAS thread where more could only get in the way.

    Many small BLAS calls wake threads that then compete for the cores with sparse
    products: measured on two cores, up to six times slower.
    """
    if getattr(M, "dense_products", True) or M.shape[0] < _THREADED_BLAS:
        return nullcontext()
    limits: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limits


@cache
def _libraries() -> ThreadpoolController:
    """Look for BLAS once: going through all loaded libraries takes milliseconds."""
    return ThreadpoolController()
