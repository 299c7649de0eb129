"""How many threads may work, and on what: the one owner of that decision.

A fit is made of thousands of small dense steps (products with K columns, Cholesky,
QR, k-means), on which threads of BLAS and OpenMP wait for each other: with the default
threads of an idle machine of two cores a fit took up to six times as long as with one
thread, on a busy one twelve times. So these libraries get one thread wherever symmf
computes. What is large is cut into blocks of rows, which share the cores; the cuts do
not depend on the number of threads, and neither do the bits.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

from symmf.common.notation import FloatArray

T = TypeVar("T")
# A block of a product, in multiply-adds, and its least rows; of the threads' own cost a
# block of a fifth of a millisecond is the smallest that is worth its while.
_BLOCK_WORK, _BLOCK_ROWS = 2**22, 128
_lock = threading.Lock()
_worker = threading.local()
_inside = 0
_limit: Any = None


def allowed_threads() -> int:
    """Return OMP_NUM_THREADS, as BLAS obeys it too, or the number of usable cores."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return _usable_cores()


@cache
def _usable_cores() -> int:
    """Count once: files of the system are read for it, longer than a block takes."""
    return int(joblib.cpu_count())


@contextmanager
def one_thread() -> Iterator[None]:
    """Give BLAS and OpenMP one thread each, until the outermost such block ends."""
    global _inside, _limit
    with _lock:
        _inside += 1
        if _inside == 1:
            _limit = _libraries().limit(limits=1)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limit.restore_original_limits()


def limit_threads(count: int) -> None:
    """Limit BLAS, OpenMP and PyTorch, as far as they are loaded, in this process."""
    # A new controller: it sees what has been loaded since.
    ThreadpoolController().limit(limits=count)
    torch = sys.modules.get("torch")
    if torch is not None and torch.get_num_threads() != count:
        torch.set_num_threads(count)


def in_threads(work: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
    """Return ``work`` of every item, in their order, computed on all cores.

    Each has one thread of BLAS. Work that asks for threads again is done where it is.
    """
    items = list(items)
    threads = allowed_threads()
    if min(threads, len(items)) <= 1 or hasattr(_worker, "started"):
        return [work(item) for item in items]
    with one_thread():
        return list(_pool(threads).map(work, items))


def product(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return A B; blocks of rows of a large A share the cores.

    Examples
    --------
    >>> product(np.eye(2), np.array([[1.0], [2.0]])).ravel()
    array([1., 2.])
    """
    rows = max(_BLOCK_ROWS, _BLOCK_WORK // max(1, A.shape[1] * B.shape[1]))
    if len(A) <= rows:
        return np.asarray(A @ B)
    out = np.empty((len(A), B.shape[1]), np.result_type(A, B))

    def fill(first: int) -> None:
        np.matmul(A[first : first + rows], B, out=out[first : first + rows])

    in_threads(fill, range(0, len(A), rows))
    return out


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Start threads once: to start them costs as much as a small product."""
    return ThreadPoolExecutor(threads, initializer=_begin)


def _begin() -> None:
    """Give OpenMP, which counts for every thread by itself, one in this thread."""
    _worker.started = True
    _libraries().limit(limits=1, user_api="openmp")


# Threads do not outlive a fork; the child starts its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _libraries() -> ThreadpoolController:
    """Return the libraries, with those of PyTorch once it is loaded."""
    return _controller(sys.modules.get("torch") is not None)


@cache
def _controller(_with_torch: bool) -> ThreadpoolController:
    """Look for the libraries once: going through all that is loaded takes long."""
    import sklearn.cluster  # noqa: F401 loads OpenMP, which the controller must see

    return ThreadpoolController()
