"""What each cluster is: its typical members, its centre, its terms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from symmf.app.task import Task
from symmf.common.notation import FloatArray, LabelArray
from symmf.features.text import top_terms

_TYPICAL = 5
_TRAITS = 4


class Trait(NamedTuple):
    """How a cluster differs in a column: its mean, and how many deviations it is off.

    ``shown`` is the mean as people read it; of a category, how often it occurs.
    """

    name: str
    mean: float
    off: float
    shown: str

    @property
    def shown_off(self) -> str:
        """The deviations with a sign; zero has none but a plus."""
        return f"{round(self.off, 1) + 0.0:+.1f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One cluster.

    Attributes
    ----------
    number, size : int
    typical : list of int
        The samples nearest to its middle, nearest first.
    centre : array or None
        Means of the columns, in the units of the data.
    traits : list of Trait
        Columns in which it differs most.
    terms : list of str
        Terms that weigh more in it than elsewhere.
    """

    number: int
    size: int
    typical: list[int]
    centre: FloatArray | None = None
    traits: list[Trait] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)


def describe_groups(
    task: Task, labels: LabelArray, k: int, Z: FloatArray | None
) -> list[Group]:
    """Describe clusters 0 to k - 1."""
    terms: list[list[str]] = [[] for _ in range(k)]
    if task.weights is not None:
        found = top_terms(task.weights, labels, task.terms)
        terms = [*found, *terms][:k]
    plain = task.data.kind == "rows" and not task.square and k > 1
    X = task.data.X if plain and isinstance(task.data.X, np.ndarray) else None
    spread = None if X is None else np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    groups = []
    for number in range(k):
        rows = np.flatnonzero(labels == number)
        centre, traits = None, []
        if X is not None and spread is not None and len(rows):
            centre = X[rows].mean(axis=0)
            traits = _traits(task, centre, (centre - X.mean(axis=0)) / spread)
        groups.append(
            Group(
                number=number,
                size=len(rows),
                typical=_typical(Z, rows),
                centre=centre,
                traits=traits,
                terms=terms[number],
            )
        )
    return groups


def shown_number(value: float) -> str:
    """Return a number with four digits that count, without an exponent if it can be.

    Examples
    --------
    >>> shown_number(77850.4), shown_number(3.97), shown_number(1e-9)
    ('77,850', '3.97', '1e-09')
    """
    size = abs(value)
    if size != 0 and not 1e-4 <= size < 1e9:
        return f"{value:.3g}"
    digits = 0 if size == 0 else max(0, 3 - int(np.floor(np.log10(size))))
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _typical(Z: FloatArray | None, rows: Any) -> list[int]:
    if Z is None or not len(rows):
        return [int(i) for i in rows[:_TYPICAL]]
    middle = Z[rows].mean(axis=0)
    distance = ((Z[rows] - middle) ** 2).sum(axis=1)
    order = np.argsort(distance, kind="stable")[:_TYPICAL]
    return [int(i) for i in rows[order]]


def _traits(task: Task, centre: FloatArray, off: FloatArray) -> list[Trait]:
    names, encodings = task.column_names, getattr(task.features, "encodings_", ())
    levels = {name for e in encodings if e.levels is not None for name in e.names}
    found = []
    for j in np.argsort(-np.abs(off), kind="stable")[:_TRAITS]:
        mean = float(centre[j])
        shown = f"{mean:.0%}" if names[j] in levels else shown_number(mean)
        if names[j] in task.data.dates and int(mean):  # else times of a day
            shown = str(np.datetime64(int(mean), "D"))
        found.append(Trait(names[j], mean, float(off[j]), shown))
    return found
