"""Spectral clustering after Ng, Jordan and Weiss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from symmf.clustering.base import NonnegativeSymmetric
from symmf.clustering.labels import kmeans_rows, unit_rows
from symmf.common.notation import AnyMatrix, FloatArray
from symmf.linalg import top_eigenpairs
from symmf.similarity import as_operator
from symmf.similarity.transforms import normalised_cut, without_diagonal


def njw_embedding(
    A: Any, n_clusters: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return the top eigenvalues of D^-1/2 A D^-1/2 and unit rows of eigenvectors.

    ``A`` is nonnegative and symmetric (array, sparse matrix or operator). A row of
    zeros stays zero. Repeated eigenvalues, one per connected component, are all
    found.
    """
    values, E = top_eigenpairs(normalised_cut(as_operator(A)), n_clusters, rng)
    return values, unit_rows(E)


@dataclass(eq=False, repr=False, kw_only=True)
class Spectral(NonnegativeSymmetric):
    r"""Normalised spectral clustering.

    The rows of the k leading eigenvectors E of

    .. math:: N = D^{-1/2} A D^{-1/2}, \qquad A_{ii} = 0,

    which minimise the relaxed normalised cut

    .. math:: \min_{E^TE = I} \mathrm{tr}\big(E^T (I - N) E\big),

    are scaled to unit length and clustered by k-means.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, and of eigenvectors.
    similarity : str
        How A is built from X; negative entries are clipped at zero. By default the
        self-tuning graph of nearest neighbours.
    similarity_options : dict, optional
        Passed to the similarity. The graphs are built without normalised-cut scaling
        unless it is asked for: N scales already.
    n_init : int
        Starts of k-means, the first from pivoted QR, the others by k-means++.
    random_state : int, Generator, RandomState or None
        Seeds Lanczos and k-means.

    Attributes
    ----------
    labels_ : (n,) array
        Cluster of each sample.
    H_ : (n, n_clusters) array
        The embedding that is clustered, unit rows.
    eigenvalues_ : (n_clusters,) array
        The leading eigenvalues of N, descending; 1 once per connected component.
    objective_ : float
        The relaxed normalised cut, the sum of 1 - eigenvalue.
    matrix_ : str
        What was factored, in words.
    solver_ : str
        Always ``"eigen"``.
    n_iter_ : int
        Always 1: there is no iteration but Lanczos.
    stop_ : str
        Always ``"tolerance"``.

    Notes
    -----
    Lanczos can miss copies of a repeated eigenvalue, and a graph with several
    components has the eigenvalue 1 once for each; copies are searched for until there
    are no more. A sample without neighbours has a zero row. X may be sparse, and the
    similarity implicit.

    References
    ----------
    A. Ng, M. Jordan, Y. Weiss, "On spectral clustering: analysis and an algorithm",
    NIPS 2001.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.03, random_state=0)
    >>> labels = Spectral(n_clusters=2, random_state=0).fit_predict(X)
    >>> len(set(labels[y == 0])), len(set(labels[y == 1]))
    (1, 1)
    """

    n_init: int = 4

    def _fit(self, X: AnyMatrix, rng: np.random.Generator) -> None:
        graph = self.similarity in ("self_tuning", "cosine_knn")
        usual = {"ncut": False} if graph else {}
        A = without_diagonal(self._similarity(X, usual, symbol="N"))
        self.eigenvalues_, self.H_ = njw_embedding(A, self.n_clusters, rng)
        self.objective_ = float(np.sum(1 - self.eigenvalues_))
        self.solver_ = "eigen"
        self.n_iter_ = 1
        self.stop_ = "tolerance"
        self.labels_ = kmeans_rows(
            self.H_,
            self.n_clusters,
            n_init=self.n_init,
            random_state=rng,
            max_iter=1000,
            init="cluster_qr",
        )
