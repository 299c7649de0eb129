r"""Are there clusters at all? Two kinds of evidence, each held against chance.

**Depth.** With r_ij the distance of row i to its j-th neighbour and d the dimension
that these distances show, log-density is :math:`f_i = -d\,\overline{\log r_{ij}}`. Rows
are joined to their neighbours from the densest down; where two modes meet, the lower
one ends, and how far it stood above that saddle is the depth of the gap between them.
It is divided by what structureless data reach.

**Eigengap.** The largest gap of the spectra of two graphs of neighbours. It is beyond
chance if it is large, more so where no gap is deep. From three dimensions on, unless a
deep gap and a large eigengap meet, it is held against data drawn with the same
covariance and no clusters, without the sparsest tenth of the rows: a long tail has
small groups of its own.

Both together are clear evidence, one is weak, neither is none.

**Along a line.** Along a line or curve chance alone parts rows up to twice as deeply.
The spectrum shows it, :math:`1 - \mu_k \propto k^{2 / s}` with the spectral dimension s
(1 for a line). Gaps between strands, such as spirals, are no deeper than that; they are
weak evidence if two modes run beside each other, none if one follows the other.

**A single feature** has a dip in place of the eigengap, and no evidence without it.

Where false alarms and power cannot both be had, the thresholds prefer few false alarms:
groups less than four standard deviations apart are often missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import cdist, pdist

from symmf.common.notation import FloatArray
from symmf.linalg import solve_eigenpairs
from symmf.similarity.graphs.mutual import mutual_graph
from symmf.similarity.graphs.neighbours import nearest_neighbours

Verdict = Literal["clear", "weak", "none"]

#: of fewer distinct rows nothing can be said
FEWEST = 25
#: of more rows a sample is used
MOST = 2000
#: the largest number of clusters that is tried
LARGEST = 20
#: neighbours of the two graphs whose eigengaps are added
GRAPHS = (10, 15)
_NEIGHBOURS = (15, 30)
# Keeps the eigengap finite where eigenvalues are 1.
_GAP_FLOOR = 1e-4
# An eigengap above the first is large; one above the second is held against draws,
# which it has to exceed by the margin, without the sparsest rows.
_LARGE_GAP, _SMALL_GAP, _MARGIN, _DRAWS = 3.0, 1.5, 0.4, 10
_SPARSEST = 0.1
# Rows of a smaller spectral dimension run along a line: they lie twice as unevenly.
_ALONG_A_LINE = 1.3
# Strands are side by side if the distance to the other is less than this many times
# that between two rows of one, by medians; halves of a curve reach .9 to 3, turns of a
# spiral .6. How deep the gap between them has to be at least.
_BESIDE, _BESIDE_DEPTH = 0.55, 0.75
# Times 1 / sqrt n: one in a hundred uniform samples has a larger dip, of others fewer.
_DIP = 0.5


class _Gap(NamedTuple):
    """How deep a gap is, and the rows of the two modes that it parts."""

    depth: float
    low: list[int]
    high: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """Whether rows fall into clusters.

    Attributes
    ----------
    verdict : {"clear", "weak", "none"}
    depth : float
        Depth of the gap between density modes, in units of what chance reaches.
    eigengap : float
        The largest sum of the two logarithmic eigengaps.
    along : bool
        Whether the rows run along lines or curves.
    """

    verdict: Verdict
    depth: float
    eigengap: float
    along: bool = False


#: of rows that are all alike, or of a graph that is a single community
NONE = Structure(verdict="none", depth=0.0, eigengap=0.0)


def find_structure(Z: FloatArray, gaps: FloatArray | None = None) -> Structure | None:
    """Return the evidence that rows fall into clusters.

    Parameters
    ----------
    Z : (n, p) array
        Distinct rows, in the units in which they are compared.
    gaps : array, optional
        Sums of the eigengaps of Z, if they are known; see :func:`summed_eigengaps`.

    Returns
    -------
    Structure or None
        None for fewer than 25 rows.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> find_structure(rows).verdict
    'none'
    >>> rows[:100] += 10
    >>> find_structure(rows).verdict
    'clear'
    """
    if len(Z) < FEWEST:
        return None
    n, p = Z.shape
    found: list[_Gap] = []
    for q in sorted({min(q, n // 3) for q in _NEIGHBOURS}, reverse=True):
        dimension, f, own = _depths(Z, q)
        found += own
    gaps = summed_eigengaps(Z) if gaps is None else gaps
    gap, s = float(gaps.max()), spectral_dimension(gaps)
    along = s < _ALONG_A_LINE
    depth = max((float(one.depth) for one in found), default=0.0) / (1 + along)
    deep = depth >= 1
    if p == 1:
        apart = dip(Z[:, 0]) >= _DIP / np.sqrt(n)
        deep = deep and apart
    else:
        # Few rows have larger eigengaps by chance.
        large = max(_LARGE_GAP, 5.6 - 0.5 * np.log(n))
        apart = gap >= (large if deep else large + 1)
        if dimension >= 3 and gap > _SMALL_GAP and not (deep and apart):
            apart = _beats_chance(Z[f >= np.quantile(f, _SPARSEST)])
    some = deep or apart or (along and p > 1 and any(_beside(Z, one) for one in found))
    return Structure(
        verdict="clear" if deep and apart else "weak" if some else "none",
        depth=depth,
        eigengap=gap,
        along=along and p > 1,
    )


def summed_eigengaps(Z: FloatArray) -> FloatArray:
    """Return the sum of the eigengaps of two graphs for k = 2, 3, ... clusters."""
    rng = np.random.default_rng(0)
    k = min(LARGEST + 1, len(Z))
    each = [
        log_eigengaps(solve_eigenpairs(mutual_graph(Z, n_neighbors=q).S, k, rng).values)
        for q in GRAPHS
    ]
    return np.asarray(sum(each))[1:]


def spectral_dimension(gaps: FloatArray) -> float:
    """Return s of 1 - mu_k ~ k^(2 / s), from the sums of the eigengaps of two graphs.

    Examples
    --------
    >>> line = np.log(np.arange(2, 20) / np.arange(1, 19)) * 2
    >>> round(spectral_dimension(2 * line), 6)
    1.0
    """
    log_away = np.append(0.0, np.cumsum(gaps)) / len(GRAPHS)
    log_k = np.log(np.arange(1, len(log_away) + 1))
    slope = float(np.polyfit(log_k, log_away, 1)[0])
    return 2 / max(slope, 1e-12)


def log_eigengaps(values: FloatArray) -> FloatArray:
    """Return log (1 - mu_{k+1}) / (1 - mu_k) for k = 1, 2, ..., scaled to mu_1 = 1.

    Examples
    --------
    >>> log_eigengaps(np.array([1.0, 0.9999, 0.5])).round(2).tolist()
    [0.69, 7.82]
    """
    away = 1 - np.asarray(values) / max(float(values[0]), 1e-300)
    return np.diff(np.log(np.maximum(away, 0) + _GAP_FLOOR))


def dip(x: FloatArray) -> float:
    """Return how far the distribution of x is from those with a single mode.

    For each mode, the distance to a distribution that is convex up to it and concave
    from there on; half the smallest. It differs from the dip of Hartigan and Hartigan
    (1985) only in what is asked of the mode itself.

    Examples
    --------
    >>> x = np.linspace(0, 1, 50)
    >>> round(dip(x), 3), round(dip(np.append(x, x + 3)), 3)
    (0.01, 0.167)
    """

    def bend(x: FloatArray) -> float:
        width = np.maximum(np.diff(x), 1e-300)
        slopes = isotonic_regression(1 / width, weights=width).x
        convex = np.append(0.0, np.cumsum(slopes * width))
        return float(np.max(np.arange(1, len(x) + 1) - convex))

    x = np.sort(x)
    low, high, least = 1, len(x) - 2, float(len(x))
    while low <= high:
        mode = (low + high) // 2
        before, after = bend(x[: mode + 1]), bend(-x[mode:][::-1])
        least = min(least, max(before, after))
        low, high = (mode + 1, high) if before < after else (low, mode - 1)
    return least / 2 / len(x)


def _depths(Z: FloatArray, q: int) -> tuple[float, FloatArray, list[_Gap]]:
    """Return dimension and log-density, and gaps in units of what chance reaches."""
    n = len(Z)
    near = nearest_neighbours(Z, q)
    log_r = np.log(np.maximum(np.sqrt(near.squared_distance), 1e-300))
    away = float(np.mean(log_r[:, -1:] - log_r[:, :-1]))
    dimension = min(float(Z.shape[1]), 1 / max(away, 1e-12))
    f = -dimension * log_r[:, q // 3 :].mean(axis=1)
    usual = (0.35 - 0.06 * (min(dimension, 2.0) - 1)) * (np.log(n) - 2.5)
    unit = (15 / q) ** 0.8 * max(0.4, usual)
    gaps = _gaps(f, near.index, least=max(5, 0.05 * n))
    return dimension, f, [gap._replace(depth=gap.depth / unit) for gap in gaps]


def _gaps(f: FloatArray, index: npt.NDArray[np.intp], least: float) -> Iterator[_Gap]:
    """Yield by how much each mode of f stands above its saddle with a higher one.

    Vertices are added from the densest down. Where components meet, that of the lower
    peak ends; it counts if it has ``least`` rows.
    """
    n = len(f)
    links: list[list[int]] = [[] for _ in range(n)]
    for i, row in enumerate(index.tolist()):
        links[i] += row
        for j in row:
            links[j].append(i)
    # The root of a component is its peak.
    root = np.full(n, -1).tolist()
    rows, height = [[i] for i in range(n)], f.tolist()

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for x in np.argsort(-f, kind="stable").tolist():
        root[x] = x
        for y in links[x]:
            if root[y] < 0 or (a := find(y)) == (b := find(x)):
                continue
            high, low = (a, b) if height[a] >= height[b] else (b, a)
            if len(rows[low]) >= least:
                yield _Gap(height[low] - height[x], rows[low], rows[high].copy())
            root[low] = high
            rows[high] += rows[low]
    peaks = [i for i in range(n) if root[i] == i]
    peaks.sort(key=lambda i: (-len(rows[i]), -height[i]))
    floor = float(np.quantile(f, 0.05))
    for peak in peaks[1:]:
        if len(rows[peak]) >= least:
            yield _Gap(6 + height[peak] - floor, rows[peak], rows[peaks[0]])


def _beside(Z: FloatArray, gap: _Gap) -> bool:
    """Whether two modes are strands side by side, and not parts of one curve."""
    if gap.depth < _BESIDE_DEPTH:
        return False
    one, other = Z[gap.low], Z[gap.high]
    D = cdist(one, other)
    ratios = [
        np.median(D.min(axis=axis)) / max(np.median(pdist(rows)), 1e-300)
        for axis, rows in ((1, one), (0, other))
    ]
    return float(np.mean(ratios)) < _BESIDE


def _beats_chance(Z: FloatArray) -> bool:
    """Whether the eigengap exceeds all of draws with the covariance of the rows."""
    rng = np.random.default_rng(0)
    centred = Z - Z.mean(axis=0)
    n = len(Z)
    _, values, Vt = np.linalg.svd(centred, full_matrices=False)
    root = values[:, None] * Vt / np.sqrt(max(n - 1, 1))
    largest = float(summed_eigengaps(Z).max()) - _MARGIN
    for draw in range(_DRAWS):
        null = rng.normal(size=(n, len(root))) @ root
        if draw % 2:
            null = (null + centred[rng.integers(n, size=n)]) / np.sqrt(2)
        if summed_eigengaps(null).max() > largest:
            return False
    return True
