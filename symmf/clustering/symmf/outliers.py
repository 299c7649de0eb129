"""Rows that lie apart from all others: a score and a flag, never a reason to drop."""

from __future__ import annotations

import numpy as np

from symmf.common.notation import FloatArray
from symmf.similarity.scaling import distinct_rows

#: a score above this is flagged
THRESHOLD = 1.5
_NEIGHBOURS = (10, 15, 20)


def outlier_scores(Z: FloatArray) -> FloatArray:
    """Return how much sparser the surroundings of each row are than its neighbours'.

    The largest of the local outlier factors with 10, 15 and 20 neighbours, as Breunig
    et al. (2000) advise, of the distinct rows; copies share the score of theirs. About
    1: as the neighbours.

    Examples
    --------
    >>> rows = np.append(np.random.default_rng(0).normal(size=(99, 2)), [[9, 9]], 0)
    >>> scores = outlier_scores(rows)
    >>> int(scores.argmax()), bool(scores[99] > THRESHOLD)
    (99, True)
    """
    from sklearn.neighbors import KNeighborsTransformer, LocalOutlierFactor

    first, copy_of = distinct_rows(Z)
    if len(first) < 3:
        return np.ones(len(Z))
    numbers = sorted({min(q, len(first) - 1) for q in _NEIGHBOURS})
    # One search serves all three.
    near = KNeighborsTransformer(n_neighbors=numbers[-1]).fit_transform(Z[first])
    factors = [
        LocalOutlierFactor(n_neighbors=q, metric="precomputed").fit(near)
        for q in numbers
    ]
    scores = np.max([-found.negative_outlier_factor_ for found in factors], axis=0)
    return np.asarray(scores[copy_of])
