"""Products with a sparse matrix: scipy's kernel, on several cores if it pays, or MKL.

scipy releases the interpreter lock in its kernel, so threads can work on row blocks.
Every row of the result is computed as one thread would: the bits are the same.

``SYMMF_SPARSE=mkl`` takes Intel's kernels instead (extra ``mkl``): 1.5 to 3 times
faster in ``scripts/benchmark kernels``, equal to rounding, at the price of a transposed
copy of the data.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.errors import InputError
from symmf.linalg.threads import allowed_threads, in_threads

# Fewer stored entries than this are multiplied sooner than a second thread has begun.
_LARGE = 4_000_000
# Several, so that a part of the result takes little memory beside the whole.
_BLOCKS_PER_THREAD = 4
KERNELS = ("scipy", "mkl")


class SparseProducts:
    """X V and X^T V for one sparse matrix.

    Threads share out X V only. X^T V would need a sum of partial results as large as
    the features; measured on two cores, it gained nothing reliable.

    Parameters
    ----------
    X : scipy CSR array
    """

    def __init__(self, X: AnyMatrix) -> None:
        self.X = X
        self._mkl = mkl_product() if kernel() == "mkl" else None
        pieces = 1
        if self._mkl is None and X.nnz >= _LARGE and allowed_threads() > 1:
            pieces = _BLOCKS_PER_THREAD * allowed_threads()
        # Equal numbers of entries, not of rows.
        cuts = np.searchsorted(X.indptr, np.linspace(0, X.nnz, pieces + 1)[1:-1])
        bounds = [0, *(int(cut) for cut in cuts), X.shape[0]]
        self._slices = [slice(*ends) for ends in itertools.pairwise(bounds)]
        self.blocks = [_rows(X, rows) for rows in self._slices]

    def dot(self, V: FloatArray) -> FloatArray:
        """Return X V."""
        if len(self.blocks) == 1:
            return self._product(self.X, V)
        out = np.empty((self.X.shape[0], *V.shape[1:]), np.result_type(self.X, V))

        def fill(rows: slice, block: AnyMatrix) -> None:
            out[rows] = block @ V

        in_threads(
            lambda part: fill(*part), zip(self._slices, self.blocks, strict=True)
        )
        return out

    def tdot(self, V: FloatArray) -> FloatArray:
        """Return X^T V."""
        return self._product(self._transposed, V)

    @cached_property
    def _transposed(self) -> AnyMatrix:
        # MKL's kernel is slow on a transposed view, scipy's is not.
        return self.X.T if self._mkl is None else sparse.csr_array(self.X.T)

    def _product(self, X: AnyMatrix, V: FloatArray) -> FloatArray:
        if self._mkl is not None and X.dtype == V.dtype and X.nnz:
            return np.asarray(self._mkl(X, np.ascontiguousarray(V)))
        return np.asarray(X @ V)


def kernel() -> str:
    """Return what SYMMF_SPARSE asks for: ``scipy`` unless it says ``mkl``."""
    name = os.environ.get("SYMMF_SPARSE", "") or "scipy"
    if name not in KERNELS:
        raise InputError(
            f"SYMMF_SPARSE is {name!r}; it must be one of {', '.join(KERNELS)}."
        )
    return name


def mkl_product() -> Callable[[Any, Any], Any]:
    """Return MKL's sparse times dense, or say what is missing."""
    # pip puts the library where the loader does not look by itself.
    found = sorted(Path(sys.prefix, "lib").glob("libmkl_rt.so*"))
    if found:
        os.environ.setdefault("MKL_RT", str(found[-1]))
    try:
        from sparse_dot_mkl import dot_product_mkl
    except ImportError as error:
        raise InputError(
            "SYMMF_SPARSE=mkl needs Intel's library: pip install 'symmf[mkl]', "
            f"or unset it. ({error})"
        ) from error
    product: Callable[[Any, Any], Any] = dot_product_mkl
    return product


def _rows(X: AnyMatrix, rows: slice) -> AnyMatrix:
    """Return the rows as a matrix on the same memory."""
    begin, end = X.indptr[rows.start], X.indptr[rows.stop]
    part = sparse.csr_array((rows.stop - rows.start, X.shape[1]), dtype=X.dtype)
    # Assigned, because the constructor copies slices of larger arrays.
    part.data, part.indices = X.data[begin:end], X.indices[begin:end]
    part.indptr = X.indptr[rows.start : rows.stop + 1] - begin
    return part
