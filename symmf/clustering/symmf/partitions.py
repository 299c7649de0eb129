"""Rows as the clusters they fall into, and how often two rows fall into the same.

A. L. N. Fred, A. K. Jain: Combining multiple clusterings using evidence accumulation,
IEEE TPAMI 27(6), 2005.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin

from symmf.common.notation import AnyMatrix, FloatArray, LabelArray
from symmf.common.seeds import spawn_seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions:
    """Rows as the clusters that several runs of k-means put them into.

    ``centres`` are those of all runs, one under the other; run r has those from
    ``ends[r]`` to ``ends[r + 1]``.
    """

    centres: FloatArray
    ends: npt.NDArray[np.intp]

    @classmethod
    def of(cls, X: FloatArray, n_clusters: int, count: int) -> Partitions:
        """Run k-means ``count`` times, with K to 4K clusters."""
        rng = np.random.default_rng(0)
        distinct = len(np.unique(X, axis=0))
        # Starts are drawn by position: rows in an order of their own give the same.
        X = X[np.lexsort(X.T[::-1])]
        sizes = np.linspace(n_clusters, 4 * n_clusters, count).round().astype(int)
        runs = [
            KMeans(k, n_init=1, max_iter=20, random_state=spawn_seed(rng))
            for k in np.minimum(sizes, distinct).tolist()
        ]
        with warnings.catch_warnings():
            # Twenty iterations are enough for partitions that are to differ.
            warnings.simplefilter("ignore", ConvergenceWarning)
            for run in runs:
                run.fit(X)
        centres = [run.cluster_centers_ for run in runs]
        ends = np.cumsum([0, *map(len, centres)])
        return cls(centres=np.vstack(centres), ends=ends)

    def rows(self, X: FloatArray) -> AnyMatrix:
        """Return B, with B B^T the share of runs that put two rows together."""
        pairs = zip(self.ends[:-1], self.ends[1:], strict=True)
        columns = [
            first + pairwise_distances_argmin(X, self.centres[first:last])
            for first, last in pairs
        ]
        return _indicators(np.column_stack(columns), len(self.centres))


def coassociation(partitions: LabelArray) -> Any:
    """Return B, sparse, with B B^T the share of partitions that join two samples.

    Examples
    --------
    >>> B = coassociation(np.array([[0, 0], [0, 1], [1, 1]]))
    >>> (B @ B.T).toarray().round(2)
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    columns, width = [], 0
    for labels in partitions.T:
        numbers = np.unique(labels, return_inverse=True)[1]
        columns.append(numbers + width)
        width += int(numbers.max()) + 1
    return _indicators(np.column_stack(columns), width)


def _indicators(columns: LabelArray, width: int) -> Any:
    """Return rows with 1 / sqrt(count) in their columns, one for each partition."""
    n, count = columns.shape
    data = np.full(n * count, 1 / np.sqrt(count))
    ends = np.arange(0, n * count + 1, count)
    return sparse.csr_array((data, columns.ravel(), ends), shape=(n, width))
