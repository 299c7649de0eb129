"""Intervals of means and of paired differences, by the bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from symmf.common.seeds import generator
from symmf.reporting.selection.cells import Cell

RESAMPLES = 10_000
LEVEL = 0.95
INTERVAL_METHOD = (
    f"{LEVEL:.0%} percentile bootstrap of the mean over trials "
    f"({RESAMPLES} resamples, fixed seed)"
)


@lru_cache(maxsize=8)
def _draws(n: int) -> NDArray[np.int64]:
    """Return the resamples of n values, the same for all who have n values."""
    return generator("bootstrap", n).integers(n, size=(RESAMPLES, n))


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean.

    Equal values have equal intervals, wherever they are shown.

    Parameters
    ----------
    values : sequence of float
        One score per trial. Fewer than two give an undefined interval (NaN).

    Examples
    --------
    >>> bootstrap_interval([0.5, 0.5, 0.5])
    (0.5, 0.5)
    """
    if len(values) < 2:
        return float("nan"), float("nan")
    data = np.asarray(values, dtype=float)
    means = np.sort(data[_draws(len(data))].mean(axis=1))
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """Mean difference of two cells over the trials both have, and its interval."""

    mean: float
    low: float
    high: float
    n_pairs: int

    def __str__(self) -> str:
        return f"{signed(self.mean)} ({bounds(self.low, self.high)})"

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


def paired_difference(first: Cell, second: Cell) -> PairedDifference:
    """Return ``first`` minus ``second``, trial by trial."""
    left, right = paired_values(first, second)
    differences = np.subtract(left, right)
    low, high = bootstrap_interval(differences.tolist())
    mean = float(differences.mean()) if len(differences) else float("nan")
    return PairedDifference(mean=mean, low=low, high=high, n_pairs=len(differences))


def paired_values(first: Cell, second: Cell) -> tuple[list[float], list[float]]:
    """Return the scores of the trials that are good in both cells."""
    left, right = dict(first.scores), dict(second.scores)
    common = sorted(left.keys() & right.keys())
    return [left[t] for t in common], [right[t] for t in common]


def signed(value: float) -> str:
    """Return a difference with its sign; what is printed as zero has none.

    Examples
    --------
    >>> signed(0.12), signed(-0.0004)
    ('+0.120', '0.000')
    """
    text = f"{value:+.3f}"
    return text[1:] if not float(text) else text


def bounds(low: float, high: float) -> str:
    """Return the ends of an interval of differences.

    Examples
    --------
    >>> bounds(-0.01, 0.0)
    '-0.010 to 0.000'
    """
    return f"{signed(low)} to {signed(high)}"
