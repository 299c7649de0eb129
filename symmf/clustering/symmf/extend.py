r"""Rows of H for new points (Nystrom), on the similarity that was factored.

A row m of M between a new point and the training rows has (1 + lambda) a, with a its
similarities, and on the diagonal -lambda d. Its row h of the factor solves

.. math:: h (H^T H + \lambda d I) = (1 + \lambda)\, a H ,

which for the closed form, H^T H = diag(eigenvalues), is the eigenvector equation: a
training row of an inner-product similarity gets its own row of H.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.distributed.operators import DistributedGram
from symmf.similarity.graphs.mutual import MutualGraph, few_rows
from symmf.similarity.graphs.neighbours import nearest_neighbours
from symmf.similarity.row_features import RowFeatures


class Extension(Protocol):
    """What relates new rows to the rows of a fit."""

    def extend(self, X: AnyMatrix, weight: float) -> FloatArray:
        """Return rows of H for new rows, at this lambda."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphExtension:
    """New rows as further vertices, joined to their nearest training rows."""

    rows: AnyMatrix
    graph: MutualGraph
    H: FloatArray
    n_neighbors: int
    local_neighbor: int
    weight_floor: float

    def extend(self, X: AnyMatrix, weight: float) -> FloatArray:
        """Weigh neighbours as the graph does; a copy gets the row of its original.

        The degree of a vertex in D^-1/2 W D^-1/2 is taken as 1.
        """
        if sparse.issparse(self.rows):
            X = sparse.csr_array(X)
        elif sparse.issparse(X):
            X = X.toarray()
        q, local = few_rows(self.rows.shape[0], self.n_neighbors, self.local_neighbor)
        near = nearest_neighbours(self.rows, q, X)
        index, squares = near.index, near.squared_distance
        s = self.graph.local_scale
        own = near.local_scales(local, floor=float(s.min()))
        w = np.exp(-squares / (own[:, None] * s[index]))
        w = np.maximum(w, self.weight_floor) * self.graph.counts[index]
        w /= np.sqrt(w.sum(axis=1, keepdims=True) * self.graph.degrees[index])
        H = self.H / np.sqrt(self.graph.counts)[:, None]
        aH = np.einsum("ij,ijk->ik", w, H[index])
        G = self.H.T @ self.H
        found = solve_rows(aH, np.ones(X.shape[0]), G, weight)
        # Distances may be products that round; the rows themselves decide.
        nearest = index[:, 0]
        if sparse.issparse(X):
            same = np.diff((self.rows[nearest] != X).indptr) == 0
        else:
            same = (self.rows[nearest] == X).all(axis=1)
        found[same] = H[nearest[same]]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class GramExtension:
    """Inner products of rows, centred and scaled as the training rows were.

    Attributes
    ----------
    FH, F1 : (m, k) and (m,) arrays
        F^T H and F^T 1: all that is kept of the training rows F.
    G : (k, k) array
        H^T H.
    mean : (m,) array or None
        What is subtracted from rows.
    unit : bool
        Rows are scaled to unit length.
    sums, least
        For ``scaled_gram``: the sum of the training rows, the smallest degree.
    """

    FH: FloatArray
    F1: FloatArray
    G: FloatArray
    mean: FloatArray | None = None
    unit: bool = False
    sums: FloatArray | None = None
    least: float = 0.0

    @classmethod
    def of(cls, X: AnyMatrix, similarity: str, floor: float, *, H: FloatArray) -> Self:
        """Learn from rows in memory."""
        unit = similarity in ("cosine", "centred_cosine")
        start = cls(FH=np.empty(0), F1=np.empty(0), G=H.T @ H, unit=unit)
        if similarity == "centred_cosine":
            start = replace(start, mean=np.asarray(X.mean(axis=0)).ravel())
        if similarity == "scaled_gram":
            sums = np.asarray(X.sum(axis=0)).ravel()
            least = max(floor * float(np.median(X @ sums)), 1e-12)
            start = replace(start, sums=sums, least=least)
        FV = start.features(X).tdot(np.column_stack([H, np.ones(len(H))]))
        return replace(start, FH=FV[:, :-1], F1=FV[:, -1])

    @classmethod
    def distributed(cls, A: DistributedGram, *, H: FloatArray) -> Self:
        """Learn from rows on a cluster, which have been centred and scaled."""
        FV = A.transposed_product(np.column_stack([H, np.ones(len(H), H.dtype)]))
        return cls(FH=FV[:, :-1], F1=FV[:, -1], G=H.T @ H, mean=A.mean, unit=A.unit)

    def features(self, X: AnyMatrix) -> RowFeatures:
        """Return rows centred and scaled as the training rows were."""
        centre = self.mean is not None
        F = RowFeatures(X, centre=centre, unit=self.unit, mean=self.mean)
        if self.sums is None:
            return F
        degrees = np.maximum(X @ self.sums, self.least)
        return F.with_scaled_rows(np.asarray(1 / np.sqrt(degrees)))

    def extend(self, X: AnyMatrix, weight: float) -> FloatArray:
        """Take a H = f F^T H, and its sum over the training rows."""
        aV = self.features(X).dot(np.column_stack([self.FH, self.F1]))
        return solve_rows(aV[:, :-1], aV[:, -1], self.G, weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenExtension:
    """Similarities of new rows to the training rows, given.

    Attributes
    ----------
    H : (n, k) array
    columns : (n,) array of int or None
        The column of similarities of every row of H, where rows count several times.
    """

    H: FloatArray
    columns: npt.NDArray[np.intp] | None = None

    def extend(self, X: AnyMatrix, weight: float) -> FloatArray:
        """Take a H from the similarities a, and their sum."""
        X = X if self.columns is None else X[:, self.columns]
        d = np.asarray(X.sum(axis=1)).ravel()
        return solve_rows(np.asarray(X @ self.H), d, self.H.T @ self.H, weight)


def solve_rows(
    aH: FloatArray, d: FloatArray, G: FloatArray, weight: float
) -> FloatArray:
    """Solve h (G + weight d I) = (1 + weight) a H for every new row, G = H^T H."""
    values, Q = np.linalg.eigh(np.asarray(G, dtype=np.float64))
    below = values[None, :] + weight * d[:, None]
    # Directions without weight in H say nothing about a new row.
    tiny = 1e-10 * max(float(values[-1]), 1e-300)
    known = (values > tiny)[None, :] & (below > tiny)
    right = (1 + weight) * (aH @ Q)
    h = np.divide(right, below, out=np.zeros_like(right), where=known)
    return np.asarray((h @ Q.T).astype(G.dtype))
