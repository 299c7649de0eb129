"""What is asked of matrices from outside: entries, index arrays, symmetry."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symmf.common.notation import AnyMatrix
from symmf.errors import DataError, InputError


def largest_entry(X: AnyMatrix) -> float:
    """Return the largest absolute value of X, 0 if it has none; NaN and inf show.

    Examples
    --------
    >>> largest_entry(np.array([[1.0, -3.0], [0.0, 2.0]]))
    3.0
    """
    values = X.data if sparse.issparse(X) else X
    return max(float(values.max(initial=0)), -float(values.min(initial=0)))


def first_not_finite(X: AnyMatrix) -> int | None:
    """Return the first row of X with a NaN or infinite entry, if there is one.

    Examples
    --------
    >>> first_not_finite(np.array([[1.0, 2.0], [0.0, np.inf]]))
    1
    """
    if np.isfinite(largest_entry(X)):
        return None
    if sparse.issparse(X):
        at = int(np.argmin(np.isfinite(X.data)))
        return int(np.searchsorted(X.indptr, at, side="right")) - 1
    return int(np.argmin(np.isfinite(X).all(axis=1)))


def check_sparse(X: AnyMatrix, *, argument: str = "") -> None:
    """Raise ``DataError`` unless the index arrays of a sparse matrix are right.

    scipy's C code writes wherever they point, so that this comes before any arithmetic
    or conversion of a matrix from outside. Where X is an ``argument``, which is named,
    it is an ``InputError``.

    Examples
    --------
    >>> X = sparse.csr_array(np.eye(3))
    >>> check_sparse(X)
    >>> X.indices[0] = 7
    >>> check_sparse(X)
    Traceback (most recent call last):
    symmf.errors.DataError: The sparse matrix of shape (3, 3) is damaged: ...
    """
    try:
        if X.format == "bsr":
            rows, columns = X.blocksize
            if rows * columns == 0 or X.shape[0] % rows or X.shape[1] % columns:
                raise ValueError(f"blocks of {X.blocksize} do not fit")
        if X.format in ("csr", "csc", "bsr"):
            X.check_format(full_check=True)
        elif X.format == "coo":
            # Made anew, which checks; nothing is copied.
            sparse.coo_array((X.data, (X.row, X.col)), shape=X.shape)
    except ValueError as error:
        sentence = f"The sparse matrix of shape {X.shape} is damaged: {error}."
        if argument:
            raise InputError(f"{argument}: {sentence}") from error
        raise DataError(sentence) from error


def check_square(shape: tuple[int, ...]) -> None:
    """Raise InputError unless it is the shape of a square matrix with rows."""
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise InputError(
            f"M must be a square matrix with at least one row; its shape is {shape}. "
            "For data with one sample per row use symmf.SymMF, "
            "or build a similarity first."
        )


def symmetry_slack(dtype: Any) -> float:
    """Return how far, relative to the largest, entries may be from the transpose."""
    # A few hundred roundings: what (1 + w) A - w D of a symmetric A can show.
    return 1e-4 if dtype == np.float32 else 1e-10


def not_symmetric(gap: float) -> str:
    """Return the sentence for a matrix that differs from its transpose."""
    return (
        f"M is not symmetric (entries differ by up to {gap:.3g} from its transpose). "
        "If that is meant, factor (M + M.T) / 2 instead."
    )


def check_symmetric_products(M: Any) -> None:
    """<u, M v> = <v, M u> for random u, v: what can be asked of an operator."""
    uv = np.random.default_rng(0).standard_normal((M.shape[0], 2)).astype(M.dtype)
    ritz = uv.T @ M.matmat(uv)
    if not np.isfinite(ritz).all():
        raise InputError("Products with M give NaN or infinite values.")
    gap = abs(float(ritz[0, 1] - ritz[1, 0]))
    if gap > symmetry_slack(M.dtype) * max(1e-300, float(np.abs(ritz).max())) * 100:
        raise InputError(not_symmetric(gap))
