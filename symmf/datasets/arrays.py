"""Checks and the digest that every data set goes through."""

from __future__ import annotations

import hashlib

import numpy as np
from scipy import sparse

from symmf.common.notation import AnyMatrix, LabelArray
from symmf.errors import DataError
from symmf.linalg.checks import check_sparse, first_not_finite, largest_entry

# Sums of fourth powers of numbers within this factor of one are finite and not zero.
RANGE = 1e60


def as_matrix(X: AnyMatrix) -> AnyMatrix:
    """Return ``X`` as a C-ordered array or canonical csr array of float64."""
    if not sparse.issparse(X):
        return np.ascontiguousarray(X, dtype=np.float64)
    check_sparse(X)
    X = sparse.csr_array(X, dtype=np.float64)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def check_values(X: AnyMatrix, name: str) -> None:
    """Raise ``DataError`` if X holds NaN, infinity or numbers beyond computing."""
    row = first_not_finite(X)
    if row is not None:
        raise DataError(
            f"The data set {name!r} holds entries that are NaN or infinite, the first "
            f"in row {row} (counted from 0). Remove or replace them first."
        )
    largest = largest_entry(X)
    if largest and not 1 / RANGE <= largest <= RANGE:
        raise DataError(
            f"The largest value of the data set {name!r} is {largest:.3g} in size; "
            f"methods can compute with {1 / RANGE:g} to {RANGE:g}. Multiply all by a "
            "constant: the clusters stay the same."
        )


def digest_arrays(X: AnyMatrix, y: LabelArray) -> str:
    """Return the SHA-256 over shapes, types and bytes, the same on every machine."""
    sha = hashlib.sha256()
    if sparse.issparse(X):
        sha.update(f"csr {X.shape[0]} {X.shape[1]}".encode())
        parts = [(X.data, "<f8"), (X.indices, "<i8"), (X.indptr, "<i8"), (y, "<i8")]
    else:
        sha.update(f"dense {X.shape[0]} {X.shape[1]}".encode())
        parts = [(X, "<f8"), (y, "<i8")]
    for array, dtype in parts:
        sha.update(f" {dtype} {array.size} ".encode())
        sha.update(np.ascontiguousarray(array, dtype=dtype).data)
    return sha.hexdigest()
