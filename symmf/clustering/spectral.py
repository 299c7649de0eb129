"""Spectral clustering after Ng, Jordan and Weiss."""

from __future__ import annotations

from typing import Any

import numpy as np

from symmf.clustering.base import Clusterer, similarity_of
from symmf.labels import kmeans_rows
from symmf.linalg import top_eigenpairs
from symmf.notation import AnyMatrix, FloatArray
from symmf.seeds import RandomState
from symmf.similarity import as_operator
from symmf.similarity.graphs import normalised_cut, without_diagonal


def njw_embedding(A: Any, n_clusters: int, rng: np.random.Generator) -> FloatArray:
    """Return the row-normalised top eigenvectors of D^-1/2 A D^-1/2.

    ``A`` is nonnegative and symmetric (array, sparse matrix or operator). A row of
    zeros stays zero. Repeated eigenvalues, one per connected component, are all
    found.
    """
    N = normalised_cut(as_operator(A))
    _, E = top_eigenpairs(N, n_clusters, rng)
    norms = np.linalg.norm(E, axis=1, keepdims=True)
    return np.divide(E, norms, out=np.zeros_like(E), where=norms > 1e-12)


class Spectral(Clusterer):
    r"""Normalised spectral clustering.

    The rows of the k leading eigenvectors of

    .. math:: N = D^{-1/2} A D^{-1/2}, \qquad A_{ii} = 0,

    are scaled to unit length and clustered by k-means.

    Parameters
    ----------
    n_clusters : int
    similarity : str
        A nonnegative graph; a similarity with negative entries is clipped at zero.
    similarity_options : dict, optional
    n_init : int
        Restarts of k-means.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    labels_ : (n,) array
    H_ : (n, n_clusters) array
        The embedding that is clustered.
    n_iter_ : int
        Always 1: there is no iteration but Lanczos.

    References
    ----------
    A. Ng, M. Jordan, Y. Weiss, "On spectral clustering: analysis and an algorithm",
    NIPS 2001.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from symmf.clustering.spectral import Spectral
    >>> X, y = make_moons(100, noise=0.03, random_state=0)
    >>> len(set(Spectral(n_clusters=2, random_state=0).fit_predict(X)))
    2
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        similarity: str = "self_tuning",
        similarity_options: dict[str, Any] | None = None,
        n_init: int = 20,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.similarity = similarity
        self.similarity_options = similarity_options
        self.n_init = n_init
        self.random_state = random_state

    def _fit(self, X: AnyMatrix, rng: np.random.Generator) -> None:
        A = similarity_of(X, self.similarity, self.similarity_options, nonnegative=True)
        self.H_: FloatArray = njw_embedding(without_diagonal(A), self.n_clusters, rng)
        self.n_iter_ = 1
        self.labels_ = kmeans_rows(
            self.H_,
            self.n_clusters,
            n_init=self.n_init,
            random_state=rng,
            max_iter=1000,
        )
