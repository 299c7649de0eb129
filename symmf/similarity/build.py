"""From data to a similarity operator, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from symmf.common.notation import AnyMatrix
from symmf.common.validation import (
    check_columns,
    check_name,
    check_number,
    check_options,
    option_names,
)
from symmf.errors import InputError
from symmf.similarity.graphs.diffusion import diffusion
from symmf.similarity.graphs.mutual import mutual_knn
from symmf.similarity.graphs.self_tuning import cosine_knn, gaussian, self_tuning
from symmf.similarity.operators import (
    DenseOperator,
    Gram,
    SymmetricOperator,
    as_operator,
)
from symmf.similarity.row_features import RowFeatures
from symmf.similarity.share import shared
from symmf.similarity.transforms import (
    DENSE_BYTES,
    clip_nonnegative,
    normalised_cut,
)

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
        and bytes_needed <= DENSE_BYTES
        and not (features.sparse and n > 4000)
    ):
        A = features.gram_rows(np.arange(n))
        # Rounding in the centring correction is not symmetric; the matrix is.
        return DenseOperator((A + A.T) / 2 if features.sparse else A)
    return Gram(features)


def inner_product(X: AnyMatrix) -> SymmetricOperator:
    """Return inner products of the rows as they are."""
    return gram(X)


def cosine(X: AnyMatrix) -> SymmetricOperator:
    """Return cosines of the rows: inner products after scaling to unit length."""
    return gram(X, unit=True)


def centred_cosine(X: AnyMatrix) -> SymmetricOperator:
    """Return cosines after subtracting the column means (the authors' choice)."""
    return gram(X, centre=True, unit=True)


def scaled_gram(X: AnyMatrix, *, floor: float = 0.1) -> Gram:
    r"""Return D^-1/2 Z Z^T D^-1/2 for the rows Z of X, never formed.

    D holds the row sums of Z Z^T, floored at a share of their median: sums of mixed
    signs can be small, or negative.

    Examples
    --------
    >>> Z = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> scaled_gram(Z).toarray().round(3)
    array([[0.5, 0.5, 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    check_number("floor", floor, least=0)
    features = RowFeatures(X)
    degrees = Gram(features).degrees
    least = max(floor * float(np.median(degrees)), 1e-12)
    return Gram(features.with_scaled_rows(1 / np.sqrt(np.maximum(degrees, least))))


def cosine_power(
    X: AnyMatrix, *, power: float = 2.0, ncut: bool = True
) -> SymmetricOperator:
    """Return max(cos, 0)^power of all pairs, explicit, with normalised-cut scaling.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> cosine_power(X, ncut=False).toarray().round(3)
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    check_number("power", power, above=0)
    A = clip_nonnegative(Gram(RowFeatures(X, unit=True)))
    M = np.asarray(A.toarray())
    W = DenseOperator(np.minimum(M, 1.0) ** power)
    return normalised_cut(W) if ncut else W


def precomputed(X: AnyMatrix) -> SymmetricOperator:
    """Take X as the similarity itself: square, symmetric, any signs."""
    return as_operator(X)


#: each returns an operator, or a sparse or dense matrix
SIMILARITIES: dict[str, Callable[..., SymmetricOperator | AnyMatrix]] = {
    "centred_cosine": centred_cosine,
    "cosine": cosine,
    "inner_product": inner_product,
    "gaussian": gaussian,
    "self_tuning": self_tuning,
    "cosine_knn": cosine_knn,
    "mutual_knn": mutual_knn,
    "scaled_gram": scaled_gram,
    "cosine_power": cosine_power,
    "diffusion": diffusion,
    "precomputed": precomputed,
}

# For editors, which offer these where a name is asked for.
SimilarityName: TypeAlias = Literal[
    "centred_cosine",
    "cosine",
    "inner_product",
    "gaussian",
    "self_tuning",
    "cosine_knn",
    "mutual_knn",
    "scaled_gram",
    "cosine_power",
    "diffusion",
    "precomputed",
]


def build_similarity(
    X: Any, name: SimilarityName | str, **options: Any
) -> SymmetricOperator:
    """Return the similarity called ``name`` of the rows of X.

    Parameters
    ----------
    X : (n, m) array, frame or scipy sparse matrix
        One sample per row; the (n, n) similarity itself for ``precomputed``.
    name : str
        ``centred_cosine``: inner products of the rows after subtracting the column
        means and scaling to unit length (mixed signs; the authors' choice).
        ``cosine``: the same without centring. ``inner_product``: of the rows as they
        are. ``gaussian``: exp(-||x_i - x_j||^2 / (2 s^2)) of all pairs.
        ``self_tuning``: a sparse graph of nearest neighbours with local scales and
        normalised-cut scaling. ``cosine_knn``: cosines of nearest neighbours, scaled
        likewise. ``mutual_knn``: mutual neighbours joined by a spanning tree, with
        self-tuning weights (the default for dense rows). ``scaled_gram``:
        inner products with normalised-cut scaling, never formed (for text features).
        ``cosine_power``: max(cos, 0)^power of all pairs. ``diffusion``: X holds
        similarities (of images), from which a graph is built and walked a few steps.
        ``precomputed``: X is the similarity.
    **options
        ``gaussian``: ``scale``. ``self_tuning``: ``n_neighbors``, ``local_neighbor``,
        ``ncut``. ``cosine_knn``: ``n_neighbors``, ``ncut``. ``mutual_knn``:
        ``n_neighbors``, ``local_neighbor``, ``weight_floor``, ``tree``.
        ``scaled_gram``: ``floor``. ``cosine_power``: ``power``, ``ncut``.
        ``diffusion``: ``n_neighbors``, ``local_neighbor``, ``steps``.

    Raises
    ------
    InputError
        If the name or an option is not known, or X does not fit.

    Examples
    --------
    >>> X = np.array([[3.0, 4.0], [0.0, 2.0]])
    >>> build_similarity(X, "cosine").toarray()
    array([[1. , 0.8],
           [0.8, 1. ]])
    """
    build = SIMILARITIES[check_name("similarity", name, SIMILARITIES)]
    check_options(f"The similarity {name!r}", options, option_names(build, skip=1))
    if hasattr(X, "columns"):
        check_columns(X)
        X = np.asarray(X, dtype=np.float64)
    values = np.asarray(X.data if sparse.issparse(X) else X)
    if values.dtype.kind not in "fiub":
        raise InputError(f"The data must be numbers; their type is {values.dtype}.")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError("The data have NaN or infinite entries; clean them first.")
    return as_operator(shared(build, X, **options))
