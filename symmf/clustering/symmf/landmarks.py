r"""Many rows: a fit learns from some of them, and then every row gets its place.

Up to 20,000 rows in memory all are learned from. Of more, or of those on a cluster,
rows are drawn by their numbers, so that neither blocks nor workers decide anything:

1. Dense rows: T, ten times as many as there are landmarks. Scaling is learned from T.
   The first p distinct rows of T become landmarks by one step of Lloyd's algorithm, the
   mean of the rows of T nearest to each; copies are one landmark, and each counts its
   rows. The graph, its eigenvectors and the clusters are those of the landmarks, by
   their counts.
   Text: 20,000 rows, from which weights of terms, their directions and the micro-
   clusters are learned.
2. Every row, of the fit or new, is joined to its 5 nearest landmarks
   (:class:`~symmf.clustering.symmf.extend.GraphExtension`), or gets its row of H from
   inner products, a block of rows at a time, and the nearest centre decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from symmf.clustering.labels.rows import cluster_means
from symmf.common.notation import AnyMatrix, FloatArray
from symmf.distributed.rows import DistributedRows
from symmf.linalg.threads import in_threads
from symmf.similarity.graphs.neighbours import nearest_neighbours
from symmf.similarity.graphs.normalise import THIN_FEATURES
from symmf.similarity.scaling import distinct_rows

#: up to so many rows in memory, all are learned from
MANY_ROWS = 20_000
# Landmarks: for each cluster, and at least. For few features, whose graphs are cheap,
# the most there can be: a gap narrower than the distance of landmarks is not found.
_PER_CLUSTER, _FEWEST = 100, 5000
# Rows drawn for each landmark.
_DRAWN = 10
# Rows that get their places at a time.
_BLOCK_ROWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What a fit learns from.

    Attributes
    ----------
    rows : (t, m) array, scipy sparse matrix, or what the fit was given
    n_landmarks : int or None
        How many landmarks to make of the rows; None: every row is one.
    others : array, matrix, DistributedRows or None
        All rows, if they are still to get their places.
    """

    rows: Any
    n_landmarks: int | None = None
    others: Any = None


def learned_from(
    X: Any,
    n_clusters: int,
    asked: int | None,
    rng: np.random.Generator,
    *,
    condensed: bool,
) -> Learned:
    """Draw what a fit learns from.

    Parameters
    ----------
    X : (n, m) array, scipy sparse matrix or DistributedRows
    n_clusters : int
    asked : int or None
        How many landmarks; None: by the rule above.
    rng
    condensed : bool
        Whether landmarks are means of rows.
    """
    n, far = X.shape[0], isinstance(X, DistributedRows)
    if asked is None:
        p = MANY_ROWS
        if condensed and n > MANY_ROWS and X.shape[1] > THIN_FEATURES:
            p = min(max(_FEWEST, _PER_CLUSTER * n_clusters), MANY_ROWS)
    else:
        p = max(int(asked), n_clusters)
    if n <= p:
        return Learned(rows=take_rows(X, np.arange(n)) if far else X)
    size = min(n, _DRAWN * p) if condensed else p
    drawn = rng.choice(n, size, replace=False)
    if not condensed:
        drawn.sort()
    X = X.kept() if far else X
    return Learned(
        rows=take_rows(X, drawn), n_landmarks=p if condensed else None, others=X
    )


def take_rows(X: Any, rows: npt.NDArray[np.intp]) -> AnyMatrix:
    """Return rows by their numbers, in memory."""
    if isinstance(X, DistributedRows):
        return X.take(rows)
    return sparse.csr_array(X)[rows] if sparse.issparse(X) else X[rows]


def condense(T: FloatArray, p: int) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Return landmarks of the rows of T, and how many rows each stands for.

    Parameters
    ----------
    T : (t, m) array
        Its rows stand in no order.
    p : int

    Examples
    --------
    >>> B, counts = condense(np.array([[0.0], [9.0], [1.0], [8.0]]), 2)
    >>> B.ravel(), counts
    (array([0.5, 8.5]), array([2, 2]))
    """
    start = T[np.sort(distinct_rows(T)[0])[:p]]
    nearest = in_blocks(lambda rows: nearest_neighbours(start, 1, rows).index[:, 0], T)
    # Every start is nearest to itself, so none is empty.
    means = cluster_means(T, nearest, len(start)).astype(T.dtype, copy=False)
    counts = np.bincount(nearest)
    first, copy_of = distinct_rows(means)
    together = np.bincount(copy_of, weights=counts).astype(np.intp)
    return np.asarray(means[first]), together


def in_blocks(function: Callable[[AnyMatrix], Any], X: Any) -> Any:
    """Return an array that belongs to rows, from blocks of them: here, or on workers.

    Parameters
    ----------
    function
        Rows -> an array with as many rows.
    X : (n, m) array, scipy sparse matrix or DistributedRows
    """
    if isinstance(X, DistributedRows):
        parts = X.each(lambda block: in_blocks(function, block))
    else:
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        starts = range(0, X.shape[0], _BLOCK_ROWS)
        if len(starts) <= 1:
            return function(X)
        parts = in_threads(lambda i: function(X[i : i + _BLOCK_ROWS]), starts)
    return np.concatenate(parts)
