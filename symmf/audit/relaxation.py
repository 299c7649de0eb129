"""Any number of classes: an upper bound on NMI from a bound on single cells.

T6. Let P be a table of K classes and m clusters, M = max(K, m). Then every cell obeys
P_ij <= [(M - 1) AC - 1 + p_i + q_j] / M. Proof: pad with zeros to M x M and average the
matched mass over the (M - 1)! permutations that match i with j: the best matching has
AC >= P_ij + (1 - p_i - q_j + P_ij) / (M - 1). Rearrange. So AC near 1 / M forces P to
be nearly independent.

T7. I is the sum over columns j of sum_i P_ij ln(P_ij / (p_i q_j)), and each of these is
at most its maximum G(q_j) over x >= 0 with sum x = q_j and x_i below the cap of T6, p_i
and q_j. That maximum is of a convex function, so it is attained where all x_i but one
are at a bound: K 2^(K - 1) candidates. Hence I <= min(G(q_1) + ... + G(q_m), h, H),
and the largest NMI that this allows over all column sums q bounds every table whose AC
is no larger.

Column sums are either all integer compositions of n or, for large n, boxes that cover
them. In a box each quantity takes its worst value, which only loosens the bound; for
the geometric, harmonic and min normalisations it then says nothing, since a box may
hold a clustering with H near 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symmf.audit.bounds import accuracy_floor
from symmf.audit.contingency import AVERAGES, mean_entropy, xlogx
from symmf.common.notation import FloatArray

# Limits of the computation, beyond which there is no bound from T7.
MOST_COMPOSITIONS = 150_000
MOST_CLASSES = 5
FEWEST_BOXES = 40
FINEST_GRID = 1_000


@dataclass(frozen=True, slots=True)
class Columns:
    """All admissible column sums: cells [low, high] and which cells go together."""

    low: FloatArray
    high: FloatArray
    members: np.ndarray  # (compositions, columns), indices of cells


def compositions(total: int, parts: int) -> np.ndarray:
    """Return all nonincreasing lists of ``parts`` counts >= 0 that sum to ``total``.

    Examples
    --------
    >>> compositions(4, 3).tolist()
    [[2, 1, 1], [2, 2, 0], [3, 1, 0], [4, 0, 0]]
    """
    lists = np.zeros((1, 0), dtype=np.int64)
    rest, last = np.array([total]), np.array([total])
    for left in range(parts, 0, -1):
        smallest = -(-rest // left)
        largest = np.minimum(rest, last) if left > 1 else smallest
        count = np.maximum(largest - smallest + 1, 0)
        parent = np.repeat(np.arange(len(rest)), count)
        offset = np.arange(len(parent)) - np.repeat(np.cumsum(count) - count, count)
        part = smallest[parent] + offset
        lists = np.column_stack([lists[parent], part])
        rest, last = rest[parent] - part, part
    return lists


def count_compositions(total: int, parts: int) -> int:
    """Return how many lists :func:`compositions` would make."""
    ways = [1] + [0] * total
    for part in range(1, parts + 1):
        for s in range(part, total + 1):
            ways[s] += ways[s - part]
    return ways[total]


def exact_columns(n: int, n_clusters: int) -> Columns:
    """Return every way to share n samples among at most ``n_clusters`` clusters."""
    q = np.arange(n + 1) / n
    return Columns(q, q, compositions(n, n_clusters))


def boxed_columns(boxes: int, n_clusters: int) -> Columns:
    """Return boxes of side 1 / ``boxes`` that together cover all column sums."""
    low = np.arange(boxes) / boxes
    totals = range(max(boxes - n_clusters, 0), boxes + 1)
    members = np.concatenate([compositions(total, n_clusters) for total in totals])
    return Columns(low, low + 1 / boxes, members[members[:, 0] < boxes])


def choose_columns(n: int, n_clusters: int) -> Columns | None:
    """Return exact columns if there are few enough, else boxes, else nothing."""
    if n <= 5_000 and count_compositions(n, n_clusters) <= MOST_COMPOSITIONS:
        return exact_columns(n, n_clusters)
    boxes = 400
    while boxes >= FEWEST_BOXES:
        if count_compositions(boxes, n_clusters) * (n_clusters + 1) < MOST_COMPOSITIONS:
            return boxed_columns(boxes, n_clusters)
        boxes = boxes * 4 // 5
    return None


def column_gains(
    low: FloatArray, high: FloatArray, p: FloatArray, ac: float, size: int
) -> FloatArray:
    """Return G of T7 for columns with sum in [low, high]; -inf if none can exist.

    With y = x / q the gain is q KL(y || p) under y_i <= min(cap_i(q), p_i, q) / q. Each
    of these ratios is monotone in q, so the largest is at an end of the interval.
    """
    slack = (size - 1) * ac - 1 + p + 1e-12
    # No cap may be negative; with more clusters than classes the padding has p = 0.
    smallest = slack.min() if len(p) == size else slack.min() - p.min()
    feasible = smallest + high >= 0
    caps = np.ones((len(p), len(low)))
    for i, line in enumerate(caps):
        end = low if slack[i] >= 0 else high
        positive = end > 0
        np.divide(slack[i] + end, size * end, out=line, where=positive)
        np.minimum(line, p[i] / np.where(low > 0, low, p[i]), out=line)
        np.clip(line, 0.0, 1.0, out=line)
    full = xlogx(caps) - caps * np.log(p)[:, None]
    best = np.full(len(low), -np.inf)
    K = len(p)
    for chosen in itertools.product((False, True), repeat=K):
        at_cap = np.array(chosen)
        rest = 1 - caps[at_cap].sum(axis=0)
        base = full[at_cap].sum(axis=0)
        entropy = xlogx(np.clip(rest, 0.0, 1.0))
        for r in np.flatnonzero(~at_cap):
            fits = (rest >= -1e-12) & (rest <= caps[r] + 1e-12)
            value = base + entropy - np.clip(rest, 0.0, 1.0) * math.log(p[r])
            np.maximum(best, value, out=best, where=fits)
    gains = np.where(high > 0, high * np.where(best > -np.inf, best, 0.0), 0.0)
    possible = feasible & ((best > -np.inf) | (high == 0))
    return np.where(possible, np.maximum(gains, 0.0), -np.inf)


def _relaxed_nmi(
    sizes: Sequence[int], columns: Columns, limits: FloatArray, n_clusters: int
) -> FloatArray:
    """Return the bound of T7 at every AC limit (increasing), one line per average."""
    p = np.array(sizes) / sum(sizes)
    size = max(len(sizes), n_clusters)
    h = float(-xlogx(p).sum())
    ends = -xlogx(columns.low), -xlogx(columns.high)
    inside = (columns.low < math.exp(-1)) & (columns.high > math.exp(-1))
    most = np.where(inside, math.exp(-1), np.maximum(*ends))
    H_low = np.minimum(*ends)[columns.members].sum(axis=1)
    H_high = most[columns.members].sum(axis=1)
    ceiling = np.minimum(h, np.minimum(H_high, math.log(size)))
    means = [np.maximum(mean_entropy(h, H_low, a), 1e-300) for a in AVERAGES]
    members = np.ascontiguousarray(columns.members.T)
    result = np.full((len(AVERAGES), len(limits)), 1.0)
    for k, ac in enumerate(limits):
        gains = column_gains(columns.low, columns.high, p, float(ac), size)
        mutual = gains[members[0]]
        for member in members[1:]:
            mutual = mutual + gains[member]
        np.minimum(mutual, ceiling, out=mutual)
        result[:, k] = [(mutual / mean).max() for mean in means]
        if result[:, k].min() >= 1 - 1e-12:
            break  # every larger limit gives 1 as well
    return np.maximum.accumulate(np.minimum(result, 1.0), axis=1)


def relaxed_profile(
    sizes: Sequence[int], n_clusters: int, *, smoothing: bool = True
) -> FloatArray | None:
    """Return bounds on NMI by AC from T7, or None if the problem is too large.

    Parameters
    ----------
    sizes : sequence of int
        Samples of each class.
    n_clusters : int
        The largest admitted number of clusters.
    smoothing : bool
        Also admit NMI computed with one more sample per class on the diagonal. The
        larger table has sizes s_i + 1 and n AC grows by at most K.

    Returns
    -------
    array of shape (5, unit + 1) or None
        Entry i bounds the NMI of tables whose AC, rounded down to a multiple of
        1 / unit, is i / unit; -inf where there is no table.
    """
    n, K = sum(sizes), len(sizes)
    if K > MOST_CLASSES or min(sizes) < 1:
        return None
    unit = min(n, FINEST_GRID)
    start = math.floor(accuracy_floor(sizes, n_clusters) * unit + 1e-9)
    # With a coarse grid a table of bin i can have an AC just below (i + 1) / unit.
    bins = np.arange(start, unit + 1)
    limits = np.minimum((bins if unit == n else bins + 1) / unit, 1.0)
    variants = [(list(sizes), n_clusters, limits)]
    if smoothing:
        larger = [s + 1 for s in sizes]
        limits = np.minimum((limits * n + K) / (n + K), 1.0)
        variants.append((larger, max(n_clusters, K), limits))
    best = np.full((len(AVERAGES), unit + 1), -np.inf)
    for shares, m, limit in variants:
        columns = choose_columns(sum(shares), m)
        if columns is None:
            return None
        values = _relaxed_nmi(shares, columns, limit, m)
        best[:, start:] = np.maximum(best[:, start:], values)
    return best
