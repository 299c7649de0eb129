"""From trials to rows of cells: who is compared with whom, and where.

A *reading* is an entry of an experiment at one lambda. A :class:`Cell` is a reading at
one K and one metric: the scores of its good trials. A *row* collects the cells of one
reading over data sets; the reading that stands for a row of the paper is that row's
*primary* one, every other is shown beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from symmf.paper.roles import ARM_TITLES, Role
from symmf.paper.values import DATASET_TITLES, PROPOSED, ROWS, published_values
from symmf.reporting.results import Experiment, Results, is_good, made_once
from symmf.reporting.selection.readings import (
    REFERENCE_WEIGHT,
    Choice,
    Reading,
    readings,
)

# With fewer good trials a mean is shown, but nothing is concluded from it.
ENOUGH_TRIALS = 5


class CellKey(NamedTuple):
    """Where scores are compared: a data set and a number of clusters."""

    dataset: str
    n_clusters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The scores of one reading at one K: good trials, and how many were planned."""

    reading: Reading
    n_clusters: int
    metric: str
    scores: tuple[tuple[int, float], ...]
    n_total: int
    keys: tuple[str, ...] = ()  # of the trials' records, in the same order
    #: whether all trials used the same classes and gave one score: copies, no sample
    copies: bool = False
    lost: str = ""  # what became of the other trials: "2 timeout, 1 failed"

    @property
    def key(self) -> CellKey:
        """Data set and K."""
        return CellKey(self.reading.dataset, self.n_clusters)

    @property
    def values(self) -> tuple[float, ...]:
        """The scores alone, in the order of the trials."""
        return tuple(score for _, score in self.scores)

    @property
    def n_good(self) -> int:
        """Number of trials that count."""
        return len(self.scores)

    @property
    def enough(self) -> bool:
        """Whether there are enough good trials to judge by."""
        return self.n_good >= ENOUGH_TRIALS

    @property
    def record(self) -> dict[str, Any]:
        """What the line of a file says of it."""
        return {
            "experiment": self.reading.experiment,
            "dataset": self.reading.dataset,
            "n_clusters": self.n_clusters,
            "metric": self.metric,
            "entry": self.reading.name,
            "method": self.reading.method,
            "label": self.reading.label,
            "lambda": self.reading.weight,
            "mean": self.mean,
            "std": self.std,
            "n_good": self.n_good,
            "n_total": self.n_total,
        }

    @property
    def mean(self) -> float:
        """Mean over the good trials; NaN if there are none."""
        return float(np.mean(self.values)) if self.scores else float("nan")

    @property
    def std(self) -> float:
        """Sample standard deviation; NaN for fewer than two good trials."""
        return float(np.std(self.values, ddof=1)) if self.n_good > 1 else float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKey:
    """What makes a row of a table one row.

    A row of the paper is known by its name there. Any other is known by the entry, its
    title and, where an experiment gives a second row for the same cells, by what sets
    that experiment apart.
    """

    paper_row: str = ""
    entry: str = ""
    title: str = ""
    apart: str = ""

    def __str__(self) -> str:
        """Return the key as it stands in files."""
        if self.paper_row:
            return f"paper:{self.paper_row}"
        text = f"entry:{self.entry}:{self.title}"
        return f"{text}|{self.apart}" if self.apart else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a table: its title and its cells by (data set, K)."""

    key: RowKey
    title: str
    paper_row: str | None
    cells: dict[CellKey, Cell]

    @classmethod
    def absent(cls, paper_row: str) -> Row:
        """Return a row of the paper that was not run."""
        key = RowKey(paper_row=paper_row)
        return cls(key=key, title=ROWS[paper_row], paper_row=paper_row, cells={})

    @property
    def primary(self) -> bool:
        """Whether the row is one of the paper's, by its primary reading."""
        return bool(self.key.paper_row)

    @property
    def proposed(self) -> bool:
        """Whether it is compared with all others."""
        return any(cell.reading.proposed for cell in self.cells.values())

    @property
    def arm(self) -> str:
        """The input on which it stands for its row of the paper, beside the main."""
        return next((cell.reading.arm for cell in self.cells.values()), "")

    @property
    def oracle(self) -> bool:
        """Whether lambda was chosen with the labels; such a row never competes."""
        return any(cell.reading.oracle for cell in self.cells.values())


class _Trial(NamedTuple):
    """What a cell needs to know of a trial."""

    trial: int
    weight: float
    score: float
    ac: float
    silhouette: float
    status: str
    key: str
    classes: str
    good: bool


@made_once
def cells(experiment: Experiment, metric: str) -> tuple[Cell, ...]:
    """Return every cell of an experiment for one metric, empty ones included."""
    frame = experiment.trials.sort_values("trial", kind="stable")
    frame = frame.assign(
        weight=frame["lambda"], score=frame[metric], good=is_good(frame, metric)
    )
    columns = [frame[name].tolist() for name in _Trial._fields]
    found: dict[tuple[str, int], list[_Trial]] = {}
    for method, k, *values in zip(
        frame["method"], frame["n_clusters"], *columns, strict=True
    ):
        found.setdefault((method, k), []).append(_Trial(*values))
    return tuple(
        _cell(reading, k, metric, found.get((reading.method, k), []), planned)
        for reading in readings(experiment)
        for k in experiment.cluster_counts
        for planned in [experiment.planned(k)]
    )


def _cell(
    reading: Reading, k: int, metric: str, found: list[_Trial], n_total: int
) -> Cell:
    good = [t for t in found if t.good]
    if reading.choice is Choice.BLIND:
        found = good = _best_silhouettes(good)
    elif reading.oracle or reading.weight is not None:
        weight = best_weight(good) if reading.oracle else reading.weight
        found = [t for t in found if t.weight == weight]
        good = [t for t in found if t.good]
    bad = Counter(t.status for t in found if t.status != "ok")
    if (rest := n_total - len(good) - bad.total()) > 0:
        bad["not run"] = rest
    order = sorted(bad, key=lambda status: (status == "not run", status))
    return Cell(
        reading=reading,
        n_clusters=k,
        metric=metric,
        scores=tuple((t.trial, t.score) for t in good),
        n_total=n_total,
        keys=tuple(t.key for t in good),
        copies=len(good) > 1 and len({(t.classes, t.score) for t in good}) == 1,
        lost=", ".join(f"{bad[status]} {status}" for status in order),
    )


def _best_silhouettes(trials: list[_Trial]) -> list[_Trial]:
    """Keep, of every trial, the run with the best silhouette: no labels needed."""
    best: dict[int, _Trial] = {}
    known = [t for t in trials if not np.isnan(t.silhouette)]
    for t in sorted(known, key=lambda t: (t.trial, -t.silhouette, t.weight)):
        best.setdefault(t.trial, t)
    return list(best.values())


def best_weight(trials: list[_Trial]) -> float:
    """Return the lambda with the highest mean AC: a choice that peeks at labels."""
    weights = sorted({t.weight for t in trials})
    means = {w: np.mean([t.ac for t in trials if t.weight == w]) for w in weights}
    return max(weights, key=means.__getitem__, default=REFERENCE_WEIGHT)


@made_once
def collect(results: Results, metric: str) -> tuple[Row, ...]:
    """Combine the table experiments into rows: the paper's, then further ones.

    Entries stand for rows of the paper in comparisons alone. Where two experiments give
    the same cell of the same row, the one named like the data set comes first and the
    other is shown as a further row of its own.
    """
    found: list[Cell] = []
    for experiment in results.in_tables:
        here = cells(experiment, metric)
        if experiment.role is not Role.COMPARISON:
            # Beside the paper's rows; choices of lambda are in their own tables.
            here = tuple(
                replace(c, reading=_beside(c.reading, experiment.role))
                for c in here
                if c.reading.choice is None
            )
        found += here
    return tuple(combine(found))


def _beside(reading: Reading, role: Role) -> Reading:
    """Return a reading of another arm, named after its input if it stands for a row."""
    stands = reading.primary and reading.paper_row is not None
    arm = ARM_TITLES.get(role, "") if stands else ""
    return replace(reading.set_apart, arm=arm)


def without_primaries(found: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return the cells with readings that stand for no row of the paper."""
    return tuple(
        replace(c, reading=replace(c.reading, primary=False, proposed=False))
        for c in found
    )


def combine(found: Sequence[Cell]) -> list[Row]:
    """Gather cells into rows; see :func:`collect`."""
    by_reading: dict[Reading, list[Cell]] = {}
    for cell in found:
        by_reading.setdefault(cell.reading, []).append(cell)
    rows: dict[RowKey, Row] = {}
    for reading, group in by_reading.items():
        key, title = _identity(reading)
        if key in rows and _taken(rows[key].cells, group):
            key, title = _identity(reading.set_apart)
        new = Row(key=key, title=title, paper_row=reading.paper_row, cells={})
        row = rows.setdefault(key, new)
        for cell in group:
            if cell.key not in row.cells or not row.cells[cell.key].n_good:
                row.cells[cell.key] = cell
    order = list(ROWS)

    def place(row: Row) -> int:
        # The proposed method on other inputs stands next to its row of the paper.
        if row.primary:
            return order.index(row.key.paper_row)
        return len(order) + (not (row.arm and row.paper_row == PROPOSED))

    return sorted(rows.values(), key=place)


def _taken(row: Mapping[CellKey, Cell], group: Iterable[Cell]) -> bool:
    """Tell whether a row has scores already where these cells have some."""
    return any(c.n_good and c.key in row and row[c.key].n_good for c in group)


def _identity(reading: Reading) -> tuple[RowKey, str]:
    if reading.primary and reading.paper_row:
        return RowKey(paper_row=reading.paper_row), ROWS[reading.paper_row]
    key = RowKey(entry=reading.name, title=reading.title, apart=reading.apart)
    if reading.arm and reading.paper_row:
        return key, f"{ROWS[reading.paper_row]}, {reading.arm}"
    return key, f"{key.title} [{key.apart}]" if key.apart else key.title


def cell_keys(rows: Iterable[Row]) -> list[CellKey]:
    """Return the (data set, K) columns, in the paper's order, then by name."""
    order = {name: index for index, name in enumerate(DATASET_TITLES)}
    found = {key for row in rows for key in row.cells}
    return sorted(found, key=lambda key: (order.get(key.dataset, len(order)), *key))


def published_by_cell() -> dict[tuple[str, str, CellKey], float]:
    """Return the 216 published values by metric, row of the paper and cell."""
    values = published_values().itertuples(index=False)
    return {
        (metric, row, CellKey(d, int(k))): float(v) for metric, row, d, k, v in values
    }


def published_cells() -> list[CellKey]:
    """Return the cells of the paper's tables, in its order."""
    return list(dict.fromkeys(key for *_, key in published_by_cell()))


def dataset_title(name: str, results: Results | None = None) -> str:
    """Return how a data set is called in tables and figures."""
    loaded = [e.sizes for e in results.experiments] if results else []
    given = (str(s["title"]) for s in loaded if s["name"] == name and s.get("title"))
    return DATASET_TITLES.get(name) or next(given, name)
