"""From trials to rows of cells: who is compared with whom, and where.

A *line* is an entry of an experiment at one lambda. A *cell* is a line at one K and
one metric: the scores of its good trials. A *row* collects the cells of one line
over data sets; the first line that stands for a row of the paper is that row's
*primary* reading, every other line is shown beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from symmf.paper.values import DATASET_TITLES, ROWS
from symmf.reporting.results import Experiment, Results, is_good
from symmf.reporting.selection.readings import (
    BLIND,
    REFERENCE_LAMBDA,
    Line,
    is_study,
    lines,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The scores of one line at one K: the good trials, and how many were planned."""

    line: Line
    n_clusters: int
    metric: str
    scores: tuple[tuple[int, float], ...]
    n_total: int
    lost: str = ""  # what became of the other trials: "2 timeout, 1 failed"

    @property
    def values(self) -> tuple[float, ...]:
        """The scores alone, in the order of the trials."""
        return tuple(score for _, score in self.scores)

    @property
    def n_good(self) -> int:
        """Number of trials that count."""
        return len(self.scores)

    @property
    def mean(self) -> float:
        """Mean over the good trials; NaN if there are none."""
        return float(np.mean(self.values)) if self.scores else float("nan")

    @property
    def std(self) -> float:
        """Sample standard deviation; NaN for fewer than two good trials."""
        return float(np.std(self.values, ddof=1)) if self.n_good > 1 else float("nan")


Place = tuple[str, int]  # data set, K


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a table: its title and its cells by (data set, K)."""

    key: str
    title: str
    paper_row: str | None
    primary: bool
    cells: Mapping[Place, Cell]

    @property
    def oracle(self) -> bool:
        """Whether lambda was chosen with the labels; such a row never competes."""
        return any(cell.line.oracle for cell in self.cells.values())


@lru_cache(maxsize=128)
def cells(experiment: Experiment, metric: str) -> tuple[Cell, ...]:
    """Return every cell of an experiment for one metric, empty ones included."""
    trials = experiment.trials
    good = is_good(trials, metric)
    tables = {
        (str(group["method"].iloc[0]), int(group["n_clusters"].iloc[0])): group
        for _, group in trials.groupby(["method", "n_clusters"])
    }
    out: list[Cell] = []
    for line in lines(experiment):
        for k in experiment.cluster_counts:
            group = tables.get((line.method, k), trials.iloc[:0])
            fine = group[good.loc[group.index]]
            if line.choice == BLIND:
                fine = _best_silhouettes(fine)
                group = fine
            elif line.oracle or line.lam is not None:
                lam = best_lambda(fine) if line.oracle else line.lam
                group, fine = (g[g["lambda"] == lam] for g in (group, fine))
            fine = fine.sort_values("trial")
            out.append(
                Cell(
                    line=line,
                    n_clusters=k,
                    metric=metric,
                    scores=tuple(
                        zip(fine["trial"].astype(int), fine[metric], strict=True)
                    ),
                    n_total=experiment.planned(k),
                    lost=_lost(group, len(fine), experiment.planned(k)),
                )
            )
    return tuple(out)


def _lost(trials: pd.DataFrame, n_good: int, n_total: int) -> str:
    if n_good == n_total:
        return ""
    bad = trials[trials["status"] != "ok"]["status"].value_counts()
    parts = [f"{int(bad[status])} {status}" for status in sorted(bad.index)]
    rest = n_total - n_good - int(bad.sum())
    if rest > 0:
        parts.append(f"{rest} not run")
    return ", ".join(parts)


def _best_silhouettes(trials: pd.DataFrame) -> pd.DataFrame:
    """Keep, of every trial, the run with the best silhouette: no labels needed."""
    known = trials[trials["silhouette"].notna()].sort_values(
        ["trial", "silhouette", "lambda"], ascending=[True, False, True]
    )
    return known.drop_duplicates("trial")


def best_lambda(trials: pd.DataFrame) -> float:
    """Return the lambda with the highest mean AC: a choice that peeks at labels."""
    means = trials.groupby("lambda")["ac"].mean()
    return float(str(means.idxmax())) if means.notna().any() else REFERENCE_LAMBDA


@lru_cache(maxsize=16)
def collect(results: Results, metric: str) -> tuple[Row, ...]:
    """Combine the table experiments into rows: the paper's, then further ones.

    Where two experiments give the same cell of the same row, the one named like the
    data set comes first and the other is shown as a further row of its own.
    """
    chosen = [e for e in results.experiments if not is_study(e)]
    chosen.sort(key=lambda e: (e.name != e.dataset, e.name))
    return tuple(combine([cell for e in chosen for cell in cells(e, metric)]))


def combine(found: Sequence[Cell]) -> list[Row]:
    """Gather cells into rows; see :func:`collect`."""
    by_line: dict[Line, list[Cell]] = {}
    for cell in found:
        by_line.setdefault(cell.line, []).append(cell)
    rows: dict[str, dict[Place, Cell]] = {}
    titles: dict[str, tuple[str, str | None, bool]] = {}
    for line, group in by_line.items():
        key, title = _identity(line)
        filled = {(c.line.dataset, c.n_clusters): c for c in group}
        if any(
            place in rows.get(key, {}) and rows[key][place].n_good and cell.n_good
            for place, cell in filled.items()
        ):
            # Named by what sets the experiment apart: coil20_shared -> shared.
            apart = line.experiment.removeprefix(f"{line.dataset}_")
            key = f"{_identity(replace(line, primary=False))[0]}|{apart}"
            title = f"{_identity(replace(line, primary=False))[1]} [{apart}]"
        primary = line.primary and "|" not in key
        titles.setdefault(key, (title, line.paper_row, primary))
        row = rows.setdefault(key, {})
        for place, cell in filled.items():
            if place not in row or not row[place].n_good:
                row[place] = cell
    made = [
        Row(key=key, title=title, paper_row=paper_row, primary=primary, cells=rows[key])
        for key, (title, paper_row, primary) in titles.items()
    ]
    order = list(ROWS)
    return sorted(
        made,
        key=lambda row: (
            (0, order.index(row.paper_row)) if row.primary and row.paper_row else (1, 0)
        ),
    )


def places(rows: Iterable[Row]) -> list[Place]:
    """Return the (data set, K) columns, in the paper's order, then by name."""
    order = list(DATASET_TITLES)
    found = {place for row in rows for place in row.cells}
    return sorted(
        found,
        key=lambda p: (order.index(p[0]) if p[0] in order else len(order), *p),
    )


def dataset_title(name: str, results: Results | None = None) -> str:
    """Return how a data set is called in tables and figures."""
    if name in DATASET_TITLES:
        return DATASET_TITLES[name]
    for experiment in results.experiments if results else ():
        block = experiment.sizes
        if block.get("name") == name and block.get("title"):
            return str(block["title"])
    return name


def _identity(line: Line) -> tuple[str, str]:
    if line.primary and line.paper_row:
        return f"paper:{line.paper_row}", ROWS[line.paper_row]
    return f"entry:{line.name}:{line.title}", line.title
