"""What is assumed about the runs behind a pair, and the bounds that follow from it."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Self

import numpy as np

from symmf.audit.bounds import (
    Envelope,
    accuracy_floor,
    balanced_pair_line,
    common_grid,
    concave_majorant,
    fano_floor,
)
from symmf.audit.contingency import AVERAGES
from symmf.audit.relaxation import FINEST_GRID, relaxed_profile
from symmf.audit.two_classes import union_hulls, union_profile
from symmf.common.notation import FloatArray
from symmf.common.validation import check_number
from symmf.errors import InputError

# More than these is a slip of the keyboard, and would be computed run by run.
MOST_CLASSES, MOST_SAMPLES, MOST_RUNS = 10_000, 10**12, 10_000
# Above these, two classes are not enumerated table by table, or not scanned at all.
MOST_TABLES = 120_000_000
MOST_COLUMN_SUMS = 4_000_000
# Different draws of three or more classes for which T7 is evaluated.
MOST_DRAWS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The assumptions under which a pair is judged.

    Attributes
    ----------
    pool : tuple of int
        Sizes of all classes; whole classes are used.
    n_classes : int
        Classes in every run, any of the pool, possibly others in each run.
    n_clusters : int
        The largest number of clusters in a run.
    runs : int or None
        Runs averaged; None stands for any number.
    smoothing : bool
        Also admit NMI computed on a table with one more sample per class on the
        diagonal when clusters and classes differ in number.
    """

    pool: tuple[int, ...]
    n_classes: int
    n_clusters: int
    runs: int | None = 10
    smoothing: bool = True

    def __post_init__(self) -> None:
        if len(self.pool) < 2 or min(self.pool) < 1:
            raise InputError(
                "Class sizes must be at least two whole numbers, each at least 1; "
                f"got {list(self.pool)}."
            )
        if len(self.pool) > MOST_CLASSES or sum(self.pool) > MOST_SAMPLES:
            raise InputError(
                f"There may be up to {MOST_CLASSES:,} classes and {MOST_SAMPLES:,} "
                "samples in all."
            )
        most = len(self.pool)
        check_number("classes of a run", self.n_classes, least=2, most=most, whole=True)
        check_number("clusters", self.n_clusters, least=1, whole=True)
        if self.runs is not None:
            check_number("runs", self.runs, least=1, most=MOST_RUNS, whole=True)

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """Class sizes of every run, or None if they depend on the draw."""
        if self.n_classes == len(self.pool) or len(set(self.pool)) == 1:
            return self.pool[: self.n_classes]
        return None

    @property
    def ac_floor(self) -> float:
        """Smallest possible AC of a run (T1), hence of a mean."""
        if self.sizes is not None:
            return accuracy_floor(self.sizes, self.n_clusters)
        return 1 / max(self.n_classes, self.n_clusters)

    def nmi_floor(self, ac: float) -> float:
        """Return the smallest possible mean NMI at mean AC >= ``ac`` (T8), or 0.

        For two classes drawn from a pool the most unequal pair has the smallest
        entropy and so the lowest bound; for more than two no bound is given. With
        smoothing the matching keeps at least its n AC samples of n + K.
        """
        sizes = self.sizes
        if sizes is None:
            if self.n_classes > 2:
                return 0.0
            sizes = (max(self.pool), min(self.pool))
        n_clusters = self.n_clusters
        if self.smoothing:
            n = sum(sorted(self.pool)[: self.n_classes])
            ac *= n / (n + self.n_classes)
            n_clusters = max(n_clusters, self.n_classes)
        return fano_floor(ac, sizes, n_clusters)


class NamedKind(StrEnum):
    """A word for files, with what it says to a reader."""

    meaning: str

    def __new__(cls, word: str, meaning: str = "") -> Self:
        """Make a member that equals its word."""
        member = str.__new__(cls, word)
        member._value_, member.meaning = word, meaning
        return member


class Method(NamedKind):
    """How the upper bounds of a setting were found."""

    TABLES = "tables", "enumeration of every table"
    HULL = "hull", "hull of all tables (T4)"
    LINE = "line", "NMI <= 2 AC - 1 (T5)"
    COLUMNS = "columns", "column relaxation (T7)"
    NONE = "none", "no bound"


@dataclass(frozen=True, slots=True)
class Profile:
    """Upper bounds on NMI by AC for one setting.

    Attributes
    ----------
    method : Method
    best : array of shape (5, unit + 1) or None
        Input of :func:`symmf.audit.bounds.best_means`.
    hulls : list of Envelope, one per average, or None
    """

    method: Method
    best: FloatArray | None = None
    hulls: list[Envelope] | None = None


def profile(setting: Setting) -> Profile:
    """Return the upper bounds of a setting; computed once per process."""
    pool = tuple(sorted(setting.pool, reverse=True))
    return _profile(replace(setting, pool=pool, runs=None))


@lru_cache(maxsize=32)
def _profile(setting: Setting) -> Profile:
    pool, smoothing = setting.pool, setting.smoothing
    if setting.n_classes == setting.n_clusters == 2:
        return _two_classes(pool, smoothing)
    draws = _draws(pool, setting.n_classes)
    if draws is None:
        return Profile(Method.NONE)
    profiles = [
        relaxed_profile(draw, setting.n_clusters, smoothing=smoothing) for draw in draws
    ]
    known = [best for best in profiles if best is not None]
    if len(known) < len(draws):
        return Profile(Method.NONE)
    best = known[0] if len(known) == 1 else common_grid(known, FINEST_GRID)
    i = np.flatnonzero(best.max(axis=0) > -np.inf)
    unit = best.shape[1] - 1
    return Profile(
        Method.COLUMNS, best, [concave_majorant(i / unit, b[i]) for b in best]
    )


def _two_classes(pool: tuple[int, ...], smoothing: bool) -> Profile:
    pairs = sorted(set(itertools.combinations(pool, 2)))
    if sum((a + 1) * (b + 1) for a, b in pairs) <= MOST_TABLES:
        return Profile(Method.TABLES, *union_profile(pairs, smoothing=smoothing))
    if sum(a + b for a, b in pairs) <= MOST_COLUMN_SUMS:
        return Profile(Method.HULL, None, union_hulls(pairs, smoothing=smoothing))
    if len(set(pool)) > 1:
        return Profile(Method.NONE)
    # T5 covers max and arithmetic; smoothing lifts its left end a little.
    line = balanced_pair_line(
        lifted=union_hulls([(1000, 1000)])[1].nmi[0] if smoothing else 0.0
    )
    nothing = Envelope(np.array([0.5]), np.array([1.0]))
    covered = ("max", "arithmetic")
    return Profile(
        Method.LINE, None, [line if a in covered else nothing for a in AVERAGES]
    )


def _draws(pool: tuple[int, ...], n_classes: int) -> list[tuple[int, ...]] | None:
    """Return the different size vectors of a run, or None if there are too many."""
    kinds = Counter(pool)
    if math.comb(len(kinds) + n_classes - 1, n_classes) > 10_000:
        return None
    draws = [
        draw
        for draw in itertools.combinations_with_replacement(sorted(kinds), n_classes)
        if all(kinds[size] >= k for size, k in Counter(draw).items())
    ]
    return draws if len(draws) <= MOST_DRAWS else None
