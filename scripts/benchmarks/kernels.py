"""Sparse times dense, X V with 20 columns: scipy, our threads, numba, MKL."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from scripts.benchmarks.corpus import corpus
from symmf.datasets import load_dataset
from symmf.errors import InputError
from symmf.features.preprocess import preprocess
from symmf.similarity import build_similarity
from symmf.similarity.sparse_kernels import SparseProducts, mkl_product

COLUMNS = 20


def matrices() -> dict[str, sparse.csr_array]:
    """Return a graph, a corpus, and one large enough for several threads."""
    X = load_dataset("reuters21578").X
    graph = build_similarity(preprocess(X, ["tfidf"]), "cosine_knn").M
    large, _ = corpus(100_000)
    named = {"Reuters graph": graph, "Reuters": X, "corpus of 100,000 rows": large}
    return {
        f"{name} ({M.nnz:,} entries)": sparse.csr_array(M) for name, M in named.items()
    }


def measure(
    alternate: Callable[..., pd.DataFrame],
    ratios: Callable[..., dict[str, float]],
    repeats: int,
) -> tuple[pd.DataFrame, list[str]]:
    """Time every kernel that is installed; name those that are not."""
    rows, absent = [], []
    for name, X in matrices().items():
        V = np.random.default_rng(0).standard_normal((X.shape[1], COLUMNS))
        V = V.astype(X.dtype)
        ours = SparseProducts(X)
        tasks: dict[str, Callable[[], Any]] = {
            "scipy": lambda X=X, V=V: X @ V,
            "symmf": lambda ours=ours, V=V: ours.dot(V),
        }
        absent = []
        for kernel, make in (("numba", _numba), ("sparse_dot_mkl", _mkl)):
            product = make()
            if product is None:
                absent.append(kernel)
                continue
            np.testing.assert_allclose(product(X, V), X @ V, rtol=1e-3, atol=1e-3)
            tasks[kernel] = lambda product=product, X=X, V=V: product(X, V)
        tasks = {kernel: _ten_times(task) for kernel, task in tasks.items()}
        # Wall clock: processor seconds would count the second core as a loss.
        frame = alternate(tasks, repeats, time.perf_counter)
        for kernel in tasks:
            entry = ratios(frame, kernel, "scipy")
            rows.append({"matrix": name, "kernel": kernel, **entry})
    return pd.DataFrame(rows), absent


def _ten_times(task: Callable[[], Any]) -> Callable[[], None]:
    def go() -> None:
        for _ in range(10):
            task()

    return go


def _numba() -> Callable[[Any, Any], Any] | None:
    if importlib.util.find_spec("numba") is None:
        return None
    import numba

    @numba.njit(parallel=True)
    def rows(indptr, indices, data, V, out):  # type: ignore[no-untyped-def]
        for i in numba.prange(len(indptr) - 1):
            out[i] = 0
            for entry in range(indptr[i], indptr[i + 1]):
                weight, source = data[entry], V[indices[entry]]
                for c in range(V.shape[1]):
                    out[i, c] += weight * source[c]

    def product(X: Any, V: Any) -> Any:
        out = np.empty((X.shape[0], V.shape[1]), X.dtype)
        rows(X.indptr, X.indices, X.data, V, out)
        return out

    return product


def _mkl() -> Callable[[Any, Any], Any] | None:
    try:
        return mkl_product()
    except InputError:
        return None
