"""Explicit tables that show a pair of mean scores to be possible.

A witness is a list of integer contingency tables, one per run, with admissible class
sizes, whose mean AC and mean NMI both round to the published numbers. The search is
among mixtures of simple tables (own clusters, merged and blended groups of classes,
noise), and then scored again from expanded labels by :mod:`symmf.metrics`, which shares
no code with the search. A witness says that a pair is possible, not that it is likely.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.spatial import cKDTree

from symmf.audit.contingency import AVERAGES, expand, table_scores
from symmf.audit.setting import Setting
from symmf.common.notation import FloatArray
from symmf.common.seeds import generator
from symmf.metrics import accuracy, nmi

LIBRARY_SIZE = 1000
# Part of the rounding interval that a witness may use.
SAFETY = 0.96
REFINEMENT_STEPS = 1500

# A contingency table as plain numbers: a row per class, a column per cluster.
Contingency = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """Tables with the number of runs each stands for, and their verified means."""

    tables: tuple[tuple[int, Contingency], ...]
    ac: float
    nmi: float

    @property
    def runs(self) -> int:
        """Number of runs in all."""
        return sum(count for count, _ in self.tables)

    def deviation(self, ac: float, value: float) -> float:
        """Return the larger distance of the two means from a published pair."""
        return max(abs(self.ac - ac), abs(self.nmi - value))


def independent_scores(C: Contingency, average: str) -> tuple[float, float]:
    """Return AC and NMI of a table by way of labels and :mod:`symmf.metrics`."""
    y_true, y_pred = expand(C)
    if average == "harmonic":  # 1 / harmonic mean = (1 / larger + 1 / smaller) / 2
        value = (nmi(y_true, y_pred, "max") + nmi(y_true, y_pred, "min")) / 2
    else:
        value = nmi(y_true, y_pred, average)
    return accuracy(y_true, y_pred), value


def verified(
    tables: Sequence[tuple[int, Contingency]], setting: Setting, average: str
) -> Witness | None:
    """Return the witness if every table is admissible, with independent means."""
    total_ac = total_nmi = 0.0
    runs = 0
    for count, C in tables:
        sizes = Counter(sum(row) for row in C)
        used = sum(any(column) for column in zip(*C, strict=True))
        drawn_from_pool = all(Counter(setting.pool)[s] >= k for s, k in sizes.items())
        if not drawn_from_pool or len(C) != setting.n_classes:
            return None
        if used > setting.n_clusters:
            return None
        if min(min(row) for row in C) < 0:
            return None
        ac, value = independent_scores(C, average)
        total_ac, total_nmi = total_ac + count * ac, total_nmi + count * value
        runs += count
    return Witness(tuple(tables), total_ac / runs, total_nmi / runs)


def find_witness(
    setting: Setting,
    *,
    ac: float,
    nmi: float,
    tolerance: float,
    average: str = "arithmetic",
) -> Witness | None:
    """Look for tables, one a run, whose means are within ``tolerance`` of a pair.

    Parameters
    ----------
    setting : Setting
        Of ten runs where it allows any number.
    ac, nmi, tolerance : float
    average : str

    Returns
    -------
    Witness or None
        None says only that this search found nothing.

    Examples
    --------
    >>> setting = Setting(pool=(72,) * 10, n_classes=10, n_clusters=10)
    >>> found = find_witness(setting, ac=0.674, nmi=0.624, tolerance=5e-4)
    >>> found.runs, round(found.ac, 3), round(found.nmi, 3)
    (10, 0.674, 0.624)
    """
    pool, n_clusters = list(setting.pool), setting.n_clusters
    library = _library(setting.pool, setting.n_classes, n_clusters)
    target = np.array([ac, nmi])
    points = library.points(average)
    allowed = SAFETY * tolerance
    parts = pool, setting.n_classes, n_clusters, ac, nmi
    rng = generator("audit refinement", *parts)
    for mixture in _mixtures(points, target, setting.runs or 10, allowed):
        tables = [(count, library.tables[i]) for count, i in mixture]
        if _distance(tables, target, average) > allowed:
            tables = _refined(tables, target, average, allowed, n_clusters, rng)
        if _distance(tables, target, average) > allowed:
            continue
        frozen = [(count, tuple(map(tuple, C.tolist()))) for count, C in tables]
        witness = verified(frozen, setting, average)
        if witness is not None and witness.deviation(ac, nmi) <= tolerance:
            return witness
    return None


def _mixtures(
    points: FloatArray, target: FloatArray, runs: int, allowed: float
) -> list[list[tuple[int, int]]]:
    """Return the best mixtures of a few tables, as lists of (count, index).

    Some runs use table 0 (all classes found); the others are two tables, of which the
    second must make up for what the first leaves. The first good mixture ends the
    search.
    """
    tree = cKDTree(points)
    found: list[tuple[float, list[tuple[int, int]]]] = []
    for clean in range(runs):
        rest = runs - clean
        total = runs * target - clean * points[0]
        for count in _spread(rest):
            wanted = (total - count * points) / (rest - count)
            distances, nearest = tree.query(wanted if count else wanted[:1], p=np.inf)
            first = int(np.argmin(distances))
            parts = [(clean, 0), (count, first), (rest - count, int(nearest[first]))]
            distance = float(distances[first]) * (rest - count) / runs
            found.append((distance, [part for part in parts if part[0]]))
            if distance <= allowed:
                return [found[-1][1]]
    found.sort(key=lambda item: item[0])
    return [parts for _, parts in found[:3]]


def _spread(rest: int) -> list[int]:
    """Return up to twenty counts below ``rest``, 0 first and then the larger ones."""
    counts = np.unique(np.linspace(0, rest - 1, min(rest, 20)).astype(int)).tolist()
    return [0, *counts[:0:-1]]


def _distance(
    tables: Sequence[tuple[int, np.ndarray]], target: FloatArray, average: str
) -> float:
    counts = np.array([count for count, _ in tables])
    scores = table_scores(np.stack([C for _, C in tables]))
    means = (counts[:, None] * scores).sum(axis=0) / counts.sum()
    return float(np.abs(means[[0, 1 + AVERAGES.index(average)]] - target).max())


def _refined(
    tables: list[tuple[int, np.ndarray]],
    target: FloatArray,
    average: str,
    allowed: float,
    n_clusters: int,
    rng: np.random.Generator,
) -> list[tuple[int, np.ndarray]]:
    """Move samples between clusters while that brings the means no farther away."""
    best = _distance(tables, target, average)
    for _ in range(REFINEMENT_STEPS):
        if best <= allowed:
            break
        which = int(rng.integers(len(tables)))
        count, C = tables[which]
        i, j = int(rng.integers(C.shape[0])), int(rng.integers(n_clusters))
        source = int(rng.choice(np.flatnonzero(C[i])))
        moved = int(min(C[i, source], 1 + rng.integers(3)))
        D = C.copy()
        D[i, source] -= moved
        D[i, j] += moved
        candidate = [*tables[:which], (count, D), *tables[which + 1 :]]
        distance = _distance(candidate, target, average)
        if distance <= best:
            tables, best = candidate, distance
    return tables


@dataclass(frozen=True, slots=True)
class Library:
    """Tables with their scores: AC first, then NMI by average."""

    tables: list[np.ndarray]
    scores: FloatArray

    def points(self, average: str) -> FloatArray:
        """Return (AC, NMI) of every table."""
        return self.scores[:, [0, 1 + AVERAGES.index(average)]]


@lru_cache(maxsize=32)
def _library(pool: tuple[int, ...], n_classes: int, n_clusters: int) -> Library:
    """Return tables that spread over the possible (AC, NMI), the same at every call."""
    rng = generator("audit witnesses", list(pool), n_classes, n_clusters)
    tables = []
    for k in range(LIBRARY_SIZE):
        sizes = rng.choice(pool, n_classes, replace=False)
        if n_classes == n_clusters == 2 and k % 3:
            tables.append(_two_class_table(sizes, rng))
        else:
            weights = _class_weights(n_classes, n_clusters, rng, plain=k < 3)
            tables.append(_rounded(weights, sizes))
    return Library(tables, table_scores(np.stack(tables)))


def _class_weights(
    K: int, m: int, rng: np.random.Generator, *, plain: bool
) -> FloatArray:
    """Return how each class is shared out among clusters, rows summing to one."""
    own: FloatArray = np.zeros((K, m))
    own[np.arange(max(K, m)) % K, np.arange(max(K, m)) % m] = 1.0
    if m > K:
        evenness = 10 ** rng.uniform(-0.5, 2)
        own *= rng.gamma(evenness, size=own.shape) + 1e-9
    own = own / own.sum(axis=1, keepdims=True)
    if plain:
        return own
    group = np.arange(K) // rng.integers(1, K + 1)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    means = np.add.reduceat(own, first, axis=0) / np.bincount(group)[:, None]
    blended, merged = means[group], own[first][group]
    parts = [own, blended, merged, np.full((K, m), 1 / m)]
    mixed: FloatArray = np.tensordot(rng.dirichlet([0.4] * 4), np.stack(parts), axes=1)
    clean = rng.integers(0, K) if rng.random() < 0.5 else 0
    mixed[:clean] = own[:clean]
    return mixed


def _rounded(weights: FloatArray, sizes: np.ndarray) -> np.ndarray:
    """Return integer rows with the given sums, by largest remainders."""
    exact = weights * sizes[:, None]
    C: np.ndarray = np.floor(exact + 1e-9).astype(np.int64)
    missing = sizes - C.sum(axis=1)
    rank = np.argsort(np.argsort(C - exact, axis=1, kind="stable"), axis=1)
    C += rank < missing[:, None]
    return C


def _two_class_table(sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a 2 x 2 table, often an extreme one: an end of its segment or AC = 1/2."""
    s1, s2 = (int(s) for s in sizes)
    t = int(rng.integers(0, s1 + s2 + 1))
    low, high = max(0, t - s2), min(s1, t)
    kink = min(max(((s1 + s2) // 2 - s2 + t) // 2, low), high)
    x = int(rng.choice([low, high, kink, int(rng.integers(low, high + 1))]))
    return np.array([[x, s1 - x], [t - x, s2 - (t - x)]])
