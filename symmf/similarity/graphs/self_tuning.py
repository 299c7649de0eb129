r"""Graphs of the rows of X: Gaussian, self-tuning, cosine and GNMF's neighbour graph.

Every graph is nonnegative, symmetric and has a zero diagonal. Two rows are neighbours
if one is among the q nearest of the other.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.common.validation import check_number_or_name
from symmf.similarity.graphs.neighbours import (
    Neighbours,
    check_ranks,
    either_way,
    nearest_neighbours,
    squared_distance_blocks,
)
from symmf.similarity.graphs.normalise import THIN_FEATURES
from symmf.similarity.operators import (
    DenseOperator,
    SparseOperator,
    SymmetricOperator,
)
from symmf.similarity.row_features import RowFeatures
from symmf.similarity.transforms import check_fits, normalised_cut

# Smallest local scale: duplicates would give 0.
_TINY = 1e-12
# A typical distance is measured on at most this many rows, evenly spaced.
_SCALE_ROWS = 3000


def default_neighbours(n: int) -> int:
    """Return floor(log2 n) + 1, the neighbours that the SymNMF program takes.

    Examples
    --------
    >>> default_neighbours(1440)
    11
    """
    return int(np.floor(np.log2(n))) + 1


def gaussian(
    X: AnyMatrix, *, scale: float | Literal["median"] = "median"
) -> SymmetricOperator:
    r"""Return the full Gaussian graph, explicit.

    .. math:: A_{ij} = \exp\!\big(-\|x_i - x_j\|^2 / (2 s^2)\big), \qquad A_{ii} = 0

    Parameters
    ----------
    X : (n, m) array or scipy sparse matrix
    scale : float or "median"
        s; the median distance between two rows by default (measured on at most 3000).

    Examples
    --------
    >>> gaussian(np.array([[0.0], [1.0]]), scale=1.0).toarray().round(3)
    array([[0.   , 0.607],
           [0.607, 0.   ]])
    """
    check_number_or_name("scale", scale, ["median"], above=0)
    s = _typical_distance(X, "median") if scale == "median" else scale
    A = _dense_distances(X)
    A *= -1 / (2 * s * s)
    return _hollow_exp(A)


def self_tuning(
    X: AnyMatrix,
    *,
    n_neighbors: int | Literal["all"] | None = None,
    local_neighbor: int = 7,
    ncut: bool = True,
) -> SymmetricOperator:
    r"""Return the graph with a scale of its own for every row.

    .. math:: W_{ij} = \exp\!\big(-\|x_i - x_j\|^2 / (s_i s_j)\big), \qquad W_{ii} = 0

    between neighbours, with s_i the distance from row i to its 7th nearest.

    Parameters
    ----------
    X : (n, m) array or scipy sparse matrix
    n_neighbors : int or "all", optional
        q; floor(log2 n) + 1 by default. ``"all"`` joins all pairs, explicitly.
    local_neighbor : int
        Which neighbour gives s_i.
    ncut : bool
        Scale to D^-1/2 W D^-1/2, as SymNMF and SymHALS do.

    References
    ----------
    L. Zelnik-Manor and P. Perona, "Self-tuning spectral clustering", NIPS 2004;
    D. Kuang, C. Ding, H. Park, "Symmetric nonnegative matrix factorization for graph
    clustering", SDM 2012.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> A = self_tuning(X, n_neighbors=2, local_neighbor=1, ncut=False).toarray()
    >>> A[0].round(3)
    array([0.   , 0.368, 0.018, 0.   , 0.   , 0.   ])
    """
    check_ranks(local_neighbor=local_neighbor)
    every = n_neighbors == "all"
    q = 0 if every else _check_neighbours(n_neighbors, X.shape[0])
    near = nearest_neighbours(X, max(q, local_neighbor))
    if every:
        s = near.local_scales(local_neighbor, floor=_TINY)
        W = _dense_distances(X)
        W /= -np.multiply.outer(s, s)
        graph: SymmetricOperator = _hollow_exp(W)
    else:
        graph = SparseOperator(near.self_tuning(q, local_neighbor, floor=_TINY))
        graph.thin_factor = True if X.shape[1] <= THIN_FEATURES else None
    return normalised_cut(graph) if ncut else graph


def cosine_knn(
    X: AnyMatrix, *, n_neighbors: int | None = None, ncut: bool = True
) -> SymmetricOperator:
    """Return the graph of cosines between neighbours, meant for text.

    Parameters
    ----------
    X : (n, m) array or scipy sparse matrix
        Rows are scaled to unit length; neighbours are those of the scaled rows, and
        negative cosines are left out.
    n_neighbors : int, optional
        q; floor(log2 n) + 1 by default.
    ncut : bool
        Scale to D^-1/2 W D^-1/2.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [0.1, 3.0]])
    >>> cosine_knn(X, n_neighbors=1).toarray().round(2)
    array([[0., 1., 0., 0.],
           [1., 0., 0., 0.],
           [0., 0., 0., 1.],
           [0., 0., 1., 0.]])
    """
    q = _check_neighbours(n_neighbors, X.shape[0])
    unit = RowFeatures(X.astype(np.float64), unit=True)
    near = nearest_neighbours(unit.X, q)
    graph = SparseOperator(either_way(near.index, _cosines(unit.X, near)))
    return normalised_cut(graph) if ncut else graph


def neighbour_graph(
    X: AnyMatrix,
    *,
    n_neighbors: int = 5,
    weighting: Literal["binary", "heat", "cosine"] = "binary",
    heat_scale: float | None = None,
) -> SparseOperator:
    r"""Return GNMF's graph W of p nearest neighbours.

    Parameters
    ----------
    X : (n, m) array or scipy sparse matrix
    n_neighbors : int
        p.
    weighting : {"binary", "heat", "cosine"}
        1, :math:`\exp(-\|x_i - x_j\|^2 / (2t^2))`, or the cosine of the two rows
        (negative ones are left out).
    heat_scale : float, optional
        t; the mean distance by default (on at most 3000 rows, a row's distance to
        itself included, as published).

    Examples
    --------
    >>> neighbour_graph(np.array([[0.0], [1.0], [5.0]]), n_neighbors=1).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    near = nearest_neighbours(X, _check_neighbours(n_neighbors, X.shape[0]))
    if weighting == "binary":
        weights: FloatArray = np.ones(near.index.shape)
    elif weighting == "heat":
        t = _typical_distance(X, "mean") if heat_scale is None else heat_scale
        weights = np.exp(-near.squared_distance / (2 * t * t))
    else:
        weights = _cosines(X, near)
    return SparseOperator(either_way(near.index, weights))


def _check_neighbours(asked: Any, n: int) -> int:
    """Return the number of neighbours to look for, at most n - 1."""
    if asked is None:
        return min(default_neighbours(n), n - 1)
    check_ranks(n_neighbors=asked)
    return min(int(asked), n - 1)


def _hollow_exp(D: FloatArray) -> DenseOperator:
    """Return exp(D), computed in place, with zeros on the diagonal."""
    np.exp(D, out=D)
    np.fill_diagonal(D, 0)
    return DenseOperator(D)


def _cosines(X: AnyMatrix, near: Neighbours) -> FloatArray:
    """max(0, cosine) of every row with its neighbours."""
    if sparse.issparse(X):
        # 2 <x_i, x_j> = ||x_i||^2 + ||x_j||^2 - ||x_i - x_j||^2, in the very sums that
        # gave the distance, so that rows without a common word are at exactly 0.
        squares = RowFeatures(X.astype(np.float64)).squared_norms()
        own, others = squares[:, None], squares[near.index]
        inner = (own + others - near.squared_distance) / 2
        size = np.sqrt(own) * np.sqrt(others)
        cosines = np.divide(inner, size, out=np.zeros_like(inner), where=size > 0)
    else:
        unit = RowFeatures(X.astype(np.float64), unit=True).X
        cosines = np.empty(near.index.shape)
        for j, column in enumerate(near.index.T):
            # One neighbour of every row at a time: n products of rows.
            cosines[:, j] = np.einsum("ij,ij->i", unit, unit[column])
    return np.asarray(np.clip(cosines, 0.0, 1.0))


def _dense_distances(X: AnyMatrix) -> FloatArray:
    """All squared distances; symmetric to the last bit."""
    n = X.shape[0]
    check_fits(n, "This similarity", "Use self_tuning or cosine_knn.")
    D = np.empty((n, n))
    for rows, block in squared_distance_blocks(X):
        first, end = int(rows[0]), int(rows[-1]) + 1
        # The products of a pair may round differently in its two places.
        block[:, :first] = D[:first, first:end].T
        square = block[:, first:end]
        block[:, first:end] = np.triu(square) + np.triu(square, 1).T
        D[first:end] = block
    return D


def _typical_distance(X: AnyMatrix, kind: Literal["median", "mean"]) -> float:
    """Median distance of two rows, or the mean over all pairs with i = j; never 0."""
    n = X.shape[0]
    if n > _SCALE_ROWS:
        X = X[np.linspace(0, n - 1, _SCALE_ROWS).astype(int)]
    distance = np.sqrt(_dense_distances(X))
    if kind == "mean":
        typical = float(distance.mean())
    else:
        typical = float(np.median(distance[np.triu_indices_from(distance, 1)]))
    if typical > 0:
        return typical
    # Mostly duplicates: any positive distance will do, and 1 if there is none.
    positive = distance[distance > 0]
    return float(np.median(positive)) if positive.size else 1.0
