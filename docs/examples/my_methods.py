"""A method and a data set of your own for a comparison, without changing the package.

    symmf run my_study.yaml --plugin my_methods.py

A method is a scikit-learn clusterer: it takes its parameters by name, and ``fit(X)``
sets ``labels_``. ``n_clusters`` and ``random_state`` are set for every trial. If it has
a ``history_`` (errors and seconds, one per iteration), convergence figures show it too.
"""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.datasets import make_blobs

__version__ = "1.0"


class SphericalKMeans(ClusterMixin, BaseEstimator):
    """k-means on the sphere: rows of unit length, centres of unit length."""

    def __init__(self, n_clusters=8, *, max_iter=50, random_state=None):
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y=None):  # noqa: ARG002 - as scikit-learn asks for
        """Assign rows to the nearest centre until nothing changes."""
        rng = np.random.default_rng(self.random_state)
        Z = X / np.linalg.norm(X, axis=1, keepdims=True)
        centres = Z[rng.choice(len(Z), self.n_clusters, replace=False)]
        labels, errors, seconds = None, [], []
        start = time.perf_counter()
        for _ in range(self.max_iter):
            similarity = Z @ centres.T
            new = similarity.argmax(axis=1)
            errors.append(1 - similarity.max(axis=1).mean())
            seconds.append(time.perf_counter() - start)
            if labels is not None and np.array_equal(new, labels):
                break
            labels = new
            for j in range(self.n_clusters):
                if np.any(labels == j):
                    centre = Z[labels == j].sum(axis=0)
                    centres[j] = centre / np.linalg.norm(centre)
        self.labels_ = labels
        self.n_iter_ = len(errors)
        self.history_ = SimpleNamespace(error=errors, seconds=seconds)
        return self


def blobs(n=120, k=4, noise=0.2):
    """Return points around k centres, and the centre of each."""
    centres = np.eye(k, 6)
    return make_blobs(n, centers=centres, cluster_std=noise, random_state=0)


METHODS = {"spherical_kmeans": SphericalKMeans}
DATASETS = {"blobs": blobs}
