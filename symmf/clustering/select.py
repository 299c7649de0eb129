"""How many clusters, and which lambda, without labels."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import silhouette_score

from symmf.labels import kmeans_rows, unit_rows
from symmf.linalg import solve_eigenpairs
from symmf.notation import FloatArray
from symmf.seeds import spawn_seed
from symmf.similarity import SymmetricOperator

#: the largest number of clusters that ``n_clusters="auto"`` tries
LARGEST = 20
# A larger number is preferred if its silhouette is within this of the best.
_WITHIN = 0.005
# The silhouette is measured on at most so many rows.
_SILHOUETTE_ROWS = 5000


def choose_n_clusters(A: SymmetricOperator, rng: np.random.Generator) -> int:
    """Return the number of clusters by the silhouette rule."""
    largest = min(LARGEST, A.shape[0] - 1)
    if largest < 2:
        return 1
    V = solve_eigenpairs(A, largest, rng).vectors
    candidates = list(range(2, largest + 1))
    scores = np.array([silhouette_of(V, k, rng) for k in candidates])
    return candidates[best_candidate(scores)]


def best_candidate(scores: FloatArray) -> int:
    """Return the last position within .005 of the best score.

    Examples
    --------
    >>> best_candidate(np.array([0.5, 0.9, 0.896, 0.7]))
    2
    """
    best = float(np.nanmax(scores))
    return int(np.flatnonzero(scores >= best - _WITHIN)[-1])


def silhouette_of(V: FloatArray, k: int, rng: np.random.Generator) -> float:
    """Return the silhouette of k clusters in the unit rows of k columns."""
    Z = unit_rows(V[:, :k])
    labels = kmeans_rows(Z, k, n_init=10, random_state=rng)
    found = len(np.unique(labels))
    if found < 2 or found >= len(Z):
        return -1.0
    size = _SILHOUETTE_ROWS if len(Z) > _SILHOUETTE_ROWS else None
    return float(
        silhouette_score(Z, labels, sample_size=size, random_state=spawn_seed(rng))
    )
