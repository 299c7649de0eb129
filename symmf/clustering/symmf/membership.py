"""How surely each row belongs to its cluster, calibrated by clustering parts again.

The margin of a row is by how much further the second nearest centre is than the nearest
(squared distances between rows of H). How often rows of a margin keep their cluster
when parts of the rows are clustered alone, an increasing function of the margin
(isotonic regression), is the membership in the nearest cluster. The other clusters
share the rest by their distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax
from sklearn.metrics.pairwise import euclidean_distances

from symmf.clustering.labels import unit_rows
from symmf.clustering.labels.assign import Assignment
from symmf.common.notation import FloatArray, LabelArray
from symmf.metrics import contingency

Parts = Sequence[tuple[Any, LabelArray]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """From squared distances to memberships.

    Attributes
    ----------
    margins, kept : arrays
        Which share of the rows of a margin keep their cluster; between these points
        a straight line.
    usual : float
        The median distance, by which the other clusters are weighed.
    """

    margins: FloatArray
    kept: FloatArray
    usual: float

    @classmethod
    def calibrated(cls, D: FloatArray, labels: LabelArray, parts: Parts) -> Self:
        """Fit to parts that were clustered again.

        Parameters
        ----------
        D : (n, K) array
            Squared distances to the clusters, K >= 2.
        labels : (n,) array
        parts : sequence of (rows, labels)
            Which rows, and the clusters they got alone.
        """
        from sklearn.isotonic import IsotonicRegression

        k = D.shape[1]
        rows = np.concatenate([part for part, _ in parts])
        found = np.concatenate([matched(labels[part], own, k) for part, own in parts])
        # Nobody is more certain than so many rows can show.
        fit = IsotonicRegression(y_min=1 / k, y_max=1 - 1 / (len(rows) + 2))
        fit.fit(_margins(D[rows]), found == labels[rows])
        return cls(
            margins=fit.X_thresholds_,
            kept=fit.y_thresholds_,
            usual=max(float(np.median(D)), 1e-300),
        )

    def of(self, D: FloatArray) -> FloatArray:
        """Return memberships of rows, which sum to 1, from squared distances."""
        every = np.arange(len(D))
        nearest = D.argmin(axis=1)
        own = np.interp(_margins(D), self.margins, self.kept)
        others = -D / self.usual
        others[every, nearest] = -np.inf
        P = softmax(others, axis=1) * (1 - own)[:, None]
        P[every, nearest] = own
        return np.asarray(P)


def _margins(D: FloatArray) -> FloatArray:
    two = np.partition(D, 1, axis=1)
    return np.asarray(two[:, 1] - two[:, 0])


def matched(labels: LabelArray, other: LabelArray, k: int) -> LabelArray:
    """Return other labels with the numbers of the clusters they agree with best.

    Examples
    --------
    >>> matched(np.array([0, 0, 1, 2]), np.array([2, 2, 0, 1]), 3).tolist()
    [0, 0, 1, 2]
    """
    C = contingency(np.append(labels, range(k)), np.append(other, range(k)))
    own, its = linear_sum_assignment(C, maximize=True)
    number = np.empty(k, dtype=np.int64)
    number[its] = own
    return number[other]


def centre_distances(assignment: Assignment, H: FloatArray, k: int) -> FloatArray:
    """Return squared distances of rows of H to k clusters, to their nearest centres.

    Where the largest entry of a row is its cluster, to the axes.
    """
    centres = assignment.centres
    if centres is None:
        centres, Z = np.eye(H.shape[1]), unit_rows(H)
    else:
        Z = unit_rows(H) if assignment.unit else H
    each = euclidean_distances(Z, centres, squared=True)
    # A cluster without a centre is further away than any.
    D = np.full((len(Z), k), 4 * each.max(initial=1.0))
    for column, c in enumerate(assignment.centre_labels):
        D[:, c] = np.minimum(D[:, c], each[:, column])
    return D
