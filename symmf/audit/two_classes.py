"""Two classes and at most two clusters: every table, exactly.

The rows of a table of sizes (s1, s2) are (x, s1 - x) and (y, s2 - y). Exchanging the
columns leaves the scores alone, so the matching of class 1 with column 1 may be taken
as the best one, and n AC = x + s2 - y. All tables of one AC thus lie on one diagonal
x - y, and on it everything else depends on x, y and t = x + y alone. That makes the
complete enumeration a few array operations per pair of sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided

from symmf.audit.bounds import Envelope, common_grid, concave_majorant
from symmf.audit.contingency import AVERAGES, inverse_means, table_scores, xlogx
from symmf.common.notation import FloatArray

# Tables held in memory at once during an enumeration.
BLOCK = 400_000


def best_by_accuracy(s1: int, s2: int, *, smoothing: bool = True) -> FloatArray:
    """Return the largest NMI of all tables of sizes s1, s2 for every value of AC.

    Parameters
    ----------
    s1, s2 : int
        Samples of the two classes.
    smoothing : bool
        Also admit, for a single cluster, the NMI of the table with one more sample per
        class on the diagonal: a widely copied MATLAB function computes that.

    Returns
    -------
    array of shape (5, s1 + s2 + 1)
        A line per average; entry i is for AC = i / n, -inf where AC cannot be i / n.

    Examples
    --------
    >>> best_by_accuracy(2, 2, smoothing=False)[1].round(3)
    array([ -inf,  -inf, 0.   , 0.344, 1.   ])
    """
    s1, s2 = max(s1, s2), min(s1, s2)
    n = s1 + s2
    log = xlogx(np.arange(n + 1))
    p = np.array([s1, s2]) / n
    h = -xlogx(p).sum()
    lowest = -(-n // 2)
    # Index d counts from x - y = first; y from 0 to s2; x = y + first + d.
    first, width = lowest - s2, n - lowest + 1
    x = np.arange(first, first + width + s2)
    inside = x <= s1
    row1 = np.where(inside, log[np.minimum(x, s1)] + log[s1 - np.minimum(x, s1)], -1e9)
    row2 = log[: s2 + 1] + log[: s2 + 1][::-1] - log[s1] - log[s2] + log[n]
    t = np.minimum(np.arange(first, first + width + 2 * s2), n)
    columns = log[t] + log[n - t]
    weights = inverse_means(h, -xlogx(t / n) - xlogx(1 - t / n)) / n
    best = np.full((len(AVERAGES), n + 1), -np.inf)
    step = max(1, BLOCK // width)
    for y0 in range(0, s2 + 1, step):
        height = min(step, s2 + 1 - y0)
        mutual = (
            _diagonals(row1[y0:], height, width, 1)
            + row2[y0 : y0 + height, None]
            - _diagonals(columns[2 * y0 :], height, width, 2)
        )
        for line, weight in zip(best, weights, strict=True):
            nmi = (mutual * _diagonals(weight[2 * y0 :], height, width, 2)).max(axis=0)
            np.maximum(line[lowest:], nmi, out=line[lowest:])
    best[:, lowest:] = np.clip(best[:, lowest:], 0.0, 1.0)
    if smoothing:
        best[:, s1] = np.maximum(best[:, s1], smoothed_single_cluster(s1, s2))
    return best


def _diagonals(values: FloatArray, height: int, width: int, slope: int) -> FloatArray:
    """Return the view with entry (i, j) = values[slope i + j]."""
    values = np.ascontiguousarray(values)
    stride = values.strides[0]
    strides = (slope * stride, stride)
    return as_strided(values, (height, width), strides, writeable=False)


def smoothed_single_cluster(s1: int, s2: int) -> FloatArray:
    """Return the NMI values of one cluster after adding a sample per class."""
    tables = [[[s1 + 1, 0], [s2, 1]], [[1, s1], [0, s2 + 1]]]
    return np.asarray(table_scores(tables)[:, 1:].max(axis=0))


def vertex_points(s1: int, s2: int) -> tuple[FloatArray, FloatArray]:
    """Return AC and NMI of the tables that decide the hull (T4).

    T4. With row and column sums fixed, h and H are fixed and I is convex in the table,
    while AC is the largest of finitely many linear functions. On a piece where one
    matching is best, NMI - c AC is therefore convex and largest at a vertex. For 2 x 2
    tables the piece is a segment: only its ends, and the point where both matchings
    give 1/2, matter. That point need not be an integer table, so the hull of these
    points may be slightly too large, never too small.

    Returns
    -------
    ac : array of shape (3 (n + 1),)
    nmi : array of shape (5, 3 (n + 1))
    """
    n = s1 + s2
    t = np.arange(n + 1)
    ends = np.maximum(0, t - s2), np.minimum(s1, t)
    x = np.concatenate([*ends, np.clip((n / 2 - s2 + t) / 2, *ends)])
    t = np.tile(t, 3)
    y = t - x
    matched = x + s2 - y
    cells = xlogx(x) + xlogx(s1 - x) + xlogx(y) + xlogx(s2 - y)
    margins = xlogx(s1) + xlogx(s2) + xlogx(t) + xlogx(n - t)
    mutual = np.maximum((cells - margins) / n + np.log(n), 0.0)
    H = -xlogx(t / n) - xlogx(1 - t / n)
    h = -xlogx(np.array([s1, s2]) / n).sum()
    nmi = np.clip(mutual * inverse_means(h, H), 0.0, 1.0)
    return np.maximum(matched, n - matched) / n, nmi


def union_profile(
    sizes: Iterable[Sequence[int]], *, smoothing: bool = True
) -> tuple[FloatArray, list[Envelope]]:
    """Return the best NMI by AC, and the hulls, over several pairs of class sizes.

    The grid of AC is exact (1 / n) if all pairs have the same n; otherwise AC is
    rounded down to multiples of 1e-4, which keeps bounds valid (see T3). The hulls are
    exact.
    """
    pairs = sorted({(max(pair), min(pair)) for pair in sizes})
    totals = {a + b for a, b in pairs}
    unit = totals.pop() if len(totals) == 1 else 10_000
    profiles = [best_by_accuracy(*pair, smoothing=smoothing) for pair in pairs]
    # No AC is below 1/2.
    possible = [np.arange(-(-sum(pair) // 2), sum(pair) + 1) for pair in pairs]
    ac = np.concatenate([i / i[-1] for i in possible])
    nmi = np.hstack([best[:, i] for best, i in zip(profiles, possible, strict=True)])
    hulls = [concave_majorant(ac, line) for line in nmi]
    return common_grid(profiles, unit), hulls


def union_hulls(
    sizes: Iterable[Sequence[int]], *, smoothing: bool = True
) -> list[Envelope]:
    """Return hulls from T4 alone (never too small), where tables are too many."""
    ac, nmi = [], []
    for s1, s2 in {(max(pair), min(pair)) for pair in sizes}:
        points = vertex_points(s1, s2)
        ac.append(points[0])
        nmi.append(points[1])
        if smoothing:
            ac.append(np.array([s1 / (s1 + s2)]))
            nmi.append(smoothed_single_cluster(s1, s2)[:, None])
    all_ac = np.concatenate(ac)
    return [concave_majorant(all_ac, line) for line in np.concatenate(nmi, axis=1)]
