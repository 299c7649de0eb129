"""Bounds that the AC and NMI of a clustering must obey, each with its proof.

Notation: K classes with shares p_1 .. p_K, at most m clusters with shares q_1 .. q_m,
M = max(K, m), P the joint table; see :mod:`symmf.audit.contingency`. T1 to T8 name
the theorems. T4, the reduction for two classes, is in
:mod:`symmf.audit.two_classes`; T6 and T7 are in
:mod:`symmf.audit.relaxation`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symmf.audit.contingency import AVERAGES, xlogx
from symmf.common.notation import FloatArray

# Longest array of the exact-runs programme before its grid is made coarser.
LONGEST_PROGRAMME = 60_000


def accuracy_floor(sizes: Sequence[int], n_clusters: int) -> float:
    """Return the smallest AC any clustering of these classes can have (T1).

    T1. AC >= 1 / max(K, m); with m <= K clusters even AC >= (p_1 + ... + p_m) / m for
    the m largest shares. Proof: pad the table with zeros to M x M. Over all M!
    permutations the matched mass averages to 1 / M, and the best one is no worse. For
    the second form note that AC is convex and does not change when columns are
    permuted, so averaging over column permutations cannot raise it; the average has
    entries p_i / m and its AC is the stated one. It falls when m grows, so it also
    covers fewer than m clusters. Counts are integers, hence the rounding up.

    Examples
    --------
    >>> accuracy_floor([300, 300, 300], 3)
    0.3333333333333333
    >>> accuracy_floor([30, 10], 1), accuracy_floor([30, 10], 4)
    (0.75, 0.25)
    """
    n, K = sum(sizes), len(sizes)
    if n_clusters <= K:
        largest = sum(sorted(sizes, reverse=True)[:n_clusters])
        return -(-largest // n_clusters) / n
    return -(-n // n_clusters) / n


@dataclass(frozen=True, slots=True)
class Envelope:
    """The least concave, nondecreasing function above a set of points (T2).

    T2. If every run has its (AC, NMI) in a set F, the mean of any number of runs lies
    in the convex hull of F. So mean NMI <= E(mean AC) with E the least concave majorant
    of F, or of any set that contains F. E is taken nondecreasing, which makes E(a) a
    bound for every mean AC up to a.
    """

    ac: FloatArray
    nmi: FloatArray

    def __call__(self, ac: Any) -> FloatArray:
        """Return E at ``ac``; -inf below the smallest AC of any point."""
        ac = np.asarray(ac, dtype=float)
        value = np.interp(ac, self.ac, self.nmi)
        return np.where(ac < self.ac[0] - 1e-12, -np.inf, value)


def concave_majorant(ac: Any, nmi: Any) -> Envelope:
    """Return the nondecreasing least concave majorant of points, as its vertices.

    Examples
    --------
    >>> E = concave_majorant([0.5, 0.75, 0.75, 1.0], [0.0, 0.3, 0.6, 1.0])
    >>> E.ac, E.nmi
    (array([0.5 , 0.75, 1.  ]), array([0. , 0.6, 1. ]))
    """
    ac, nmi = np.asarray(ac, dtype=float), np.asarray(nmi, dtype=float)
    order = np.lexsort((-nmi, ac))
    x, y = ac[order], nmi[order]
    # A point no higher than one to its left is below every nondecreasing majorant.
    kept = np.concatenate(([True], y[1:] > np.maximum.accumulate(y)[:-1]))
    hull: list[tuple[float, float]] = []
    for point in zip(x[kept].tolist(), y[kept].tolist(), strict=True):
        while len(hull) > 1 and _is_below(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    vertices = np.array(hull)
    return Envelope(vertices[:, 0], vertices[:, 1])


def _is_below(
    a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]
) -> bool:
    """Say whether b lies on or below the line from a to c (up to rounding)."""
    cross = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return cross >= -1e-15


def best_means(best: FloatArray, runs: int, ac: Sequence[float]) -> FloatArray:
    """Return the largest mean NMI of exactly ``runs`` runs with mean AC <= ``ac`` (T3).

    T3. Let f(d) be the largest NMI of a run with 1 - AC >= d. Then the mean NMI of R
    runs with mean AC <= a is at most the maximum of (f(d_1) + ... + f(d_R)) / R over
    d_1 + ... + d_R >= R (1 - a): a (max, +) programme, and the maximum is attained if f
    is exact. It is tighter than T2, because R runs cannot split a run. If AC is rounded
    down to a grid, every d grows, the condition weakens, and the bound stays a bound.

    Parameters
    ----------
    best : array of shape (..., unit + 1)
        ``best[..., i]`` bounds the NMI of runs whose AC, rounded down to a multiple of
        1 / unit, is i / unit; -inf where there is none.
    runs : int
    ac : sequence of upper limits of the mean AC

    Returns
    -------
    array of shape (..., len(ac))

    Examples
    --------
    Runs are perfect (AC 1, NMI 1) or useless (AC 1/2, NMI 0); of three, a mean AC of
    at most 0.8 allows one perfect run, where the line through both would allow 0.6.

    >>> best = np.array([-np.inf, 0.0, 1.0])
    >>> best_means(best, 3, [0.8]).round(4)
    array([0.3333])
    """
    unit = best.shape[-1] - 1
    limits = np.array([runs * (1 - a) for a in ac])
    while unit * max(limits.max(), 0) > LONGEST_PROGRAMME and unit > 100:
        best = _coarser(best)
        unit = best.shape[-1] - 1
    # Index by deficit, and let f(d) admit every larger deficit.
    f = np.maximum.accumulate(best, axis=-1)[..., ::-1]
    possible = (f > -np.inf).any(axis=tuple(range(f.ndim - 1)))
    f = f[..., : int(np.flatnonzero(possible).max(initial=0)) + 1]
    totals = np.maximum(np.ceil(limits * unit - 1e-6), 0).astype(int)
    longest = int(min(totals.max(), runs * unit))
    half = _power(f, runs // 2, longest)
    rest = half if runs % 2 == 0 else _max_plus(half, f, longest)
    result = np.full((*best.shape[:-1], len(totals)), -np.inf)
    for k, total in enumerate(totals):
        if total > runs * unit:
            continue
        d = np.arange(total + 1)
        d = d[(d < half.shape[-1]) & (total - d < rest.shape[-1])]
        if d.size:
            result[..., k] = (half[..., d] + rest[..., total - d]).max(axis=-1)
    return result / runs


def common_grid(profiles: Iterable[FloatArray], unit: int) -> FloatArray:
    """Return the largest values of profiles on one grid, AC rounded down.

    A profile is of shape (averages, its own unit + 1), as ``best`` of
    :func:`best_means`.
    """
    best: FloatArray = np.full((len(AVERAGES), unit + 1), -np.inf)
    for profile in profiles:
        i = np.arange(profile.shape[1]) * unit // (profile.shape[1] - 1)
        for line, values in zip(best, profile, strict=True):
            np.maximum.at(line, i, values)
    return best


def _coarser(best: FloatArray) -> FloatArray:
    """Halve the grid, rounding AC down."""
    unit = best.shape[-1] - 1
    target = np.arange(unit + 1) * (unit // 2) // unit
    starts = np.searchsorted(target, np.arange(unit // 2 + 1))
    return np.maximum.reduceat(best, starts, axis=-1)


def _power(f: FloatArray, runs: int, longest: int) -> FloatArray:
    """Return the best total of ``runs`` runs for every total deficit up to a limit."""
    result = np.zeros((*f.shape[:-1], 1))
    while runs:
        if runs % 2:
            result = _max_plus(result, f, longest)
        runs //= 2
        if runs:
            f = _max_plus(f, f, longest)
    return result


def _max_plus(f: FloatArray, g: FloatArray, longest: int) -> FloatArray:
    """Return max over i of f[i] + g[s - i] for s = 0 .. longest.

    Neither function increases. So on a step of f the last i is the best, for it leaves
    the least to g; where the step reaches beyond s, that is i = s itself.
    """
    if f.shape[-1] > g.shape[-1]:
        f, g = g, f
    length = min(f.shape[-1] + g.shape[-1] - 1, longest + 1)
    out = np.full((*f.shape[:-1], length), -np.inf)
    reached = min(f.shape[-1], length)
    out[..., :reached] = f[..., :reached] + g[..., :1]
    falls = (f[..., 1:] < f[..., :-1]).any(axis=tuple(range(f.ndim - 1)))
    step_ends = np.flatnonzero(np.append(falls, True))
    for i in step_ends[step_ends < length].tolist():
        stop = min(i + g.shape[-1], length)
        window = out[..., i:stop]
        np.maximum(window, f[..., i, None] + g[..., : stop - i], out=window)
    return out


def balanced_pair_line(*, lifted: float = 0.0) -> Envelope:
    """Return 2 AC - 1, a bound on NMI for two equal classes and two clusters (T5).

    ``lifted`` is the value at the left end, if something else raises it.

    T5. For p = (1/2, 1/2) and at most two clusters, NMI (arithmetic) <= 2 AC - 1 for
    every n, and NMI (max) is smaller still; the bound is linear, so it holds for means.
    Proof: exchange rows and columns until the rows are (x, 1/2 - x) and (y, 1/2 - y)
    with q = x + y <= 1/2 and d = x - y >= 0; then AC = 1/2 + d. For fixed q the NMI is
    convex in d and 0 at d = 0, hence at most d / q times its value at y = 0. There, in
    bits, I = u(q) := H_b(q) - H_b(2 q) / 2. The power series of u(q) - q starts with
    q^2 and has no negative coefficient, so (u - q) / q^2 increases up to its value 2 at
    q = 1/2, and u <= q (1 + 2 q) <= q (1 + H_b(q)): that is 2 u / (1 + H_b(q)) <= 2 q.

    Neither the other normalisations nor unequal classes obey this line.

    Examples
    --------
    >>> round(float(balanced_pair_line()(0.975)), 6)
    0.95
    """
    return Envelope(np.array([0.5, 1.0]), np.array([lifted, 1.0]))


def fano_floor(ac: float, sizes: Sequence[int], n_clusters: int) -> float:
    """Return the smallest NMI, in any normalisation, at a (mean) AC (T8).

    T8 (Fano). The matching predicts the class from the cluster with error at most
    e = 1 - AC, so H(class | cluster) <= H_b(e) + e ln(K - 1) while e <= 1 - 1/K, and
    I >= h - H_b(e) - e ln(K - 1). Every normaliser is at most max(h, ln m). The result
    is convex and nondecreasing in AC, so by Jensen it holds for means over runs of
    classes of these sizes.

    Examples
    --------
    >>> round(fano_floor(0.9205, [72, 72], 2), 4)
    0.5996
    """
    p = np.array(sizes) / sum(sizes)
    K = len(sizes)
    if K < 2:
        return 0.0
    h = float(-xlogx(p).sum())
    e = min(max(1 - ac, 0.0), 1 - 1 / K)
    noise = -float(xlogx([e, 1 - e]).sum()) + e * math.log(K - 1)
    return max(0.0, (h - noise) / max(h, math.log(max(n_clusters, 1))))
