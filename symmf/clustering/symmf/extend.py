r"""Rows of H for new points (Nystrom), on the similarity that was factored.

A row m of M between a new point and the training rows has (1 + lambda) a, with a its
similarities, and on the diagonal -lambda d. Its row h of the factor solves

.. math:: h (H^T H + \lambda d I) = (1 + \lambda)\, a H ,

which for the closed form, H^T H = diag(eigenvalues), is the eigenvector equation: a
training row of an inner-product similarity gets its own row of H.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.errors import InputError
from symmf.similarity.build import gram_scale
from symmf.similarity.graphs.mutual import MutualGraph, few_rows
from symmf.similarity.graphs.neighbours import nearest_rows


class Extension(Protocol):
    """Products a H and degrees d of new rows."""

    def products(self, X: AnyMatrix) -> tuple[FloatArray, FloatArray]:
        """Return a H (one row per new point) and d."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphExtension:
    """New rows as further vertices, joined to their nearest training rows."""

    rows: FloatArray
    graph: MutualGraph
    H: FloatArray
    n_neighbors: int
    local_neighbor: int
    weight_floor: float

    def products(self, X: AnyMatrix) -> tuple[FloatArray, FloatArray]:
        """Weights are those of the graph; its degree in D^-1/2 W D^-1/2 is 1."""
        n = self.rows.shape[0]
        q, local = few_rows(n, self.n_neighbors, self.local_neighbor)
        distance, index = nearest_rows(self.rows, X, q)
        last = min(local, q) - 1
        least = float(self.graph.local_scale.min())
        own = np.maximum(distance[:, last], least)
        scales = own[:, None] * self.graph.local_scale[index]
        w = np.maximum(np.exp(-(distance**2) / scales), self.weight_floor)
        w /= np.sqrt(w.sum(axis=1, keepdims=True) * self.graph.degrees[index])
        return np.einsum("ij,ijk->ik", w, self.H[index]), np.ones(X.shape[0])

    def as_stored(self, X: AnyMatrix) -> AnyMatrix:
        """Return X dense or sparse, as the training rows are."""
        if sparse.issparse(self.rows):
            return sparse.csr_array(X)
        return X.toarray() if sparse.issparse(X) else X

    def copies(self, X: AnyMatrix) -> tuple[Any, FloatArray]:
        """Return which new rows are copies of training rows, and the H of those."""
        nearest = nearest_rows(self.rows, X, 1)[1][:, 0]
        # Distances may be products that round; the rows themselves decide.
        if sparse.issparse(X):
            same = np.diff((self.rows[nearest] != X).indptr) == 0
        else:
            same = (self.rows[nearest] == X).all(axis=1)
        return same, self.H[nearest[same]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GramExtension:
    """Inner products of rows, centred and scaled as the training rows were."""

    FH: FloatArray
    F1: FloatArray
    mean: FloatArray | None = None
    unit: bool = False
    #: for scaled_gram: sums of the unscaled rows, their median degree, the floor
    sums: FloatArray | None = None
    least: float = 0.0

    @classmethod
    def of(cls, X: AnyMatrix, H: FloatArray, similarity: str, floor: float) -> Any:
        """Learn means and sums; F^T H is all that is kept of the training rows."""
        mean = None
        if similarity == "centred_cosine":
            mean = np.asarray(X.mean(axis=0)).ravel()
        start = cls(
            FH=np.empty(0),
            F1=np.empty(0),
            mean=mean,
            unit=similarity in ("cosine", "centred_cosine"),
        )
        sums, least = None, 0.0
        scale = start.scale(X)
        if similarity == "scaled_gram":
            sums = np.asarray(X.sum(axis=0)).ravel()
            degrees = np.asarray(X @ sums)
            scale = gram_scale(degrees, floor)
            least = max(floor * float(np.median(degrees)), 1e-12)
        G = np.column_stack([H, np.ones(len(H))]) * scale[:, None]
        FG = np.asarray(X.T @ G)
        if mean is not None:
            FG = FG - np.outer(mean, G.sum(axis=0))
        return cls(
            FH=FG[:, :-1],
            F1=FG[:, -1],
            mean=mean,
            unit=start.unit,
            sums=sums,
            least=least,
        )

    def scale(self, X: AnyMatrix) -> FloatArray:
        """Return what every row is multiplied by, after centring."""
        n = X.shape[0]
        if self.sums is not None:
            d = np.maximum(np.asarray(X @ self.sums), self.least)
            return np.asarray(1 / np.sqrt(d))
        if not self.unit:
            return np.ones(n)
        if sparse.issparse(X):
            squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        else:
            squares = np.einsum("ij,ij->i", X, X)
        if self.mean is not None:
            squares = squares - 2 * np.asarray(X @ self.mean) + self.mean @ self.mean
        norms = np.sqrt(np.maximum(squares, 0))
        return np.asarray(np.divide(1.0, norms, out=np.zeros(n), where=norms > 1e-12))

    def products(self, X: AnyMatrix) -> tuple[FloatArray, FloatArray]:
        """Return (s x - mean) F^T H and its sum over the training rows."""
        G = np.column_stack([self.FH, self.F1])
        out = np.asarray(X @ G)
        if self.mean is not None:
            out = out - self.mean @ G
        out = out * self.scale(X)[:, None]
        return out[:, :-1], out[:, -1]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenExtension:
    """Similarities of new rows to the training rows, given."""

    H: FloatArray

    def products(self, X: AnyMatrix) -> tuple[FloatArray, FloatArray]:
        """Return A H and A 1."""
        if X.shape[1] != len(self.H):
            raise InputError(
                f"For a precomputed similarity give the similarities of the new rows "
                f"to the {len(self.H)} training rows; X has {X.shape[1]} columns."
            )
        return np.asarray(X @ self.H), np.asarray(X.sum(axis=1)).ravel()


def extend(
    products: tuple[FloatArray, FloatArray], H: FloatArray, weight: float
) -> FloatArray:
    """Solve h (H^T H + weight d I) = (1 + weight) a H for every new row."""
    aH, d = products
    values, Q = np.linalg.eigh(np.asarray(H.T @ H, dtype=np.float64))
    below = values[None, :] + weight * d[:, None]
    # Directions without weight in H say nothing about a new row.
    tiny = 1e-10 * max(float(values[-1]), 1e-300)
    known = (values > tiny)[None, :] & (below > tiny)
    right = (1 + weight) * (aH @ Q)
    h = np.divide(right, below, out=np.zeros_like(right), where=known)
    return np.asarray((h @ Q.T).astype(H.dtype))
