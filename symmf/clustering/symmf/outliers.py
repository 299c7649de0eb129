"""Rows that lie apart from all others: a score and a flag, never a reason to drop."""

from __future__ import annotations

import numpy as np

from symmf.common.notation import FloatArray
from symmf.similarity.scaling import distinct_rows

#: a score above this is flagged
THRESHOLD = 1.5
_NEIGHBOURS = 20


def outlier_scores(Z: FloatArray) -> FloatArray:
    """Return how much sparser the surroundings of each row are than its neighbours'.

    The local outlier factor of Breunig et al. (2000) with 20 neighbours, of the
    distinct rows; copies share the score of theirs. About 1: as the neighbours.

    Examples
    --------
    >>> rows = np.append(np.random.default_rng(0).normal(size=(99, 2)), [[9, 9]], 0)
    >>> scores = outlier_scores(rows)
    >>> int(scores.argmax()), bool(scores[99] > THRESHOLD)
    (99, True)
    """
    from sklearn.neighbors import LocalOutlierFactor

    first, copy_of = distinct_rows(Z)
    if len(first) < 3:
        return np.ones(len(Z))
    near = min(_NEIGHBOURS, len(first) - 1)
    found = LocalOutlierFactor(n_neighbors=near).fit(Z[first])
    return np.asarray(-found.negative_outlier_factor_)[copy_of]
