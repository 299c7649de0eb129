"""Sparse matrices from outside: their index arrays, checked before C code uses them."""

from __future__ import annotations

from symmf.common.notation import AnyMatrix
from symmf.errors import DataError


def check_sparse(X: AnyMatrix) -> None:
    """Raise ``DataError`` unless the index arrays of a sparse matrix are right.

    scipy's C code writes wherever they point, so that this comes before any arithmetic
    or conversion of a matrix from outside.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> X = sparse.csr_array(np.eye(3))
    >>> check_sparse(X)
    >>> X.indices[0] = 7
    >>> check_sparse(X)
    Traceback (most recent call last):
    symmf.errors.DataError: The sparse matrix of shape (3, 3) is damaged: ...
    """
    try:
        if X.format in ("csr", "csc", "bsr"):
            X.check_format(full_check=True)
        if X.format == "bsr":
            _check_blocks(X)
        elif X.format == "coo":
            _check_coordinates(X)
    except ValueError as error:
        raise DataError(
            f"The sparse matrix of shape {X.shape} is damaged: {error}."
        ) from error


def _check_blocks(X: AnyMatrix) -> None:
    rows, columns = X.blocksize
    if rows * columns == 0 or X.shape[0] % rows or X.shape[1] % columns:
        raise ValueError(f"blocks of {X.blocksize} do not fit")


def _check_coordinates(X: AnyMatrix) -> None:
    for index, size in zip((X.row, X.col), X.shape, strict=True):
        if index.shape != X.data.shape:
            raise ValueError("index and data arrays differ in length")
        if index.size and not 0 <= index.min() <= index.max() < size:
            raise ValueError("indices lie outside of the matrix")
