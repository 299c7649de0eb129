"""From data to a similarity operator, by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from symmf.errors import InputError
from symmf.notation import AnyMatrix
from symmf.similarity.operators import (
    DenseOperator,
    Gram,
    SymmetricOperator,
    as_operator,
)
from symmf.similarity.products import RowFeatures

# An explicit n x n matrix may take this many bytes.
_DENSE_BYTES = 2 * 2**30
# A multiply-add costs about this much more in a sparse product than in a dense one.
_SPARSE_PENALTY = 8


def gram(
    X: AnyMatrix, *, centre: bool = False, unit: bool = False
) -> SymmetricOperator:
    """Return A = F F^T for the (centred, unit) rows of X, explicit or implicit.

    The cheaper product is chosen: n^2 multiply-adds a column when explicit, 2 n m
    (dense X) or about 2 nnz (sparse X) when implicit, if n x n fits in memory at all.
    """
    features = RowFeatures(X, centre=centre, unit=unit)
    n, m = features.shape
    implicit = 2 * n * m if not features.sparse else _SPARSE_PENALTY * 2 * X.nnz
    bytes_needed = n * n * features.dtype.itemsize
    if (
        n * n <= implicit
        and bytes_needed <= _DENSE_BYTES
        and not (features.sparse and n > 4000)
    ):
        A = features.gram_rows(np.arange(n))
        # Rounding in the centring correction is not symmetric; the matrix is.
        return DenseOperator((A + A.T) / 2 if features.sparse else A)
    return Gram(features)


def _inner_product(X: AnyMatrix) -> SymmetricOperator:
    return gram(X)


def _cosine(X: AnyMatrix) -> SymmetricOperator:
    return gram(X, unit=True)


def _centred_cosine(X: AnyMatrix) -> SymmetricOperator:
    return gram(X, centre=True, unit=True)


def _precomputed(X: AnyMatrix) -> SymmetricOperator:
    return as_operator(X)


SIMILARITIES: dict[str, Callable[..., SymmetricOperator]] = {
    "centred_cosine": _centred_cosine,
    "cosine": _cosine,
    "inner_product": _inner_product,
    "precomputed": _precomputed,
}


def build_similarity(X: Any, name: str, **options: Any) -> SymmetricOperator:
    """Return the similarity called ``name`` of the rows of X.

    ``centred_cosine``: inner products of the rows after subtracting the column means
    and scaling to unit length (mixed signs; the authors' choice). ``cosine``: the same
    without centring. ``inner_product``: of the rows as they are. ``precomputed``: X
    is the similarity itself.
    """
    if name not in SIMILARITIES:
        near = difflib.get_close_matches(str(name), SIMILARITIES, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(
            f"There is no similarity {name!r}.{hint} Known: {', '.join(SIMILARITIES)}."
        )
    values = X.data if sparse.issparse(X) else X
    if np.asarray(values).dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError("The data have NaN or infinite entries; clean them first.")
    return SIMILARITIES[name](X, **options)
