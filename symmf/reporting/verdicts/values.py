"""Means beside the 216 published values, with a verdict for each.

A mean is *close* to a published value if it is within the stated tolerance of it, and
*not distinguishable* if only the 95 % bootstrap interval holds the value. Otherwise it
is *higher* or *lower*. A cell without good trials is *not run*; below a stated number
of trials nothing is concluded.

Beside it stands what classifiers with labels reach in its cell, as a ceiling of
evidence. A published value above all of them is no proof of an error, since another
classifier or other features might reach more; it says how far out of reach it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pandas as pd

from symmf.common.shipped import packaged
from symmf.paper.roles import Role
from symmf.paper.values import METRIC_TITLES, ROWS
from symmf.reporting.results import Results, made_once, run_command
from symmf.reporting.selection.arms import cells_of_role
from symmf.reporting.selection.cells import (
    ENOUGH_TRIALS,
    Cell,
    CellKey,
    cells,
    collect,
    published_by_cell,
)
from symmf.reporting.selection.studies import Study
from symmf.reporting.statistics.intervals import INTERVAL_METHOD, bootstrap_interval

TOLERANCE = 0.02
ROUNDING = 0.0005  # the paper prints three decimals


class ValueVerdict(StrEnum):
    """Our mean beside a published value."""

    CLOSE = "close"
    UNCLEAR = "not distinguishable"
    HIGHER = "higher"
    LOWER = "lower"
    TOO_FEW = "too few trials"
    NOT_RUN = "not run"


TEXTS: dict[str, Any] = packaged("symmf.reporting.verdicts", "words.yaml")
CEILING_RULE: str = TEXTS["ceilings"]
RULE: str = TEXTS["values"].format(
    tolerance=TOLERANCE,
    interval=INTERVAL_METHOD,
    rounding=ROUNDING,
    enough=ENOUGH_TRIALS,
)
COLUMNS = (
    *("metric", "row", "dataset", "n_clusters", "published", "reading", "method"),
    *("label", "lambda", "experiment", "mean", "std", "low", "high", "difference"),
    *("n_good", "n_total", "verdict", "ceiling", "ceiling_high", "ceiling_label"),
    *("ceiling_classifiers", "beside_ceiling", "reason", "command", "keys"),
)
KEY_LENGTH = 12  # as much of a trial's key as `symmf info` needs


class Reach(StrEnum):
    """A published value beside the classifiers of its cell."""

    WITHIN = "within reach"
    ABOVE = "above every mean"
    CLEARLY_ABOVE = "clearly above"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The best classifier of a cell by its mean, and the highest end of an interval."""

    best: Cell
    high: float
    n_classifiers: int

    def stands(self, published: float) -> Reach:
        """Tell how a published value stands to all the classifiers."""
        if published - ROUNDING > self.high:
            return Reach.CLEARLY_ABOVE
        above = published - ROUNDING > self.best.mean
        return Reach.ABOVE if above else Reach.WITHIN


def _beside_ceiling(ceiling: Ceiling | None, published: float) -> dict[str, object]:
    """Return what a table shows of a ceiling beside a published value."""
    if ceiling is None:
        return {"ceiling_label": "", "ceiling_classifiers": 0, "beside_ceiling": ""}
    return {
        "ceiling": ceiling.best.mean,
        "ceiling_high": ceiling.high,
        "ceiling_label": ceiling.best.reading.label,
        "ceiling_classifiers": ceiling.n_classifiers,
        "beside_ceiling": ceiling.stands(published),
    }


@made_once
def ceilings(results: Results, metric: str) -> dict[CellKey, Ceiling]:
    """Return the ceiling of every cell in which classifiers were run often enough."""
    out = {}
    for key, found in cells_of_role(results, Role.CEILING, metric).items():
        group = [cell for cell in found if cell.enough]
        if group:
            out[key] = Ceiling(
                best=max(group, key=lambda cell: cell.mean),
                high=max(bootstrap_interval(cell.values)[1] for cell in group),
                n_classifiers=len(group),
            )
    return out


def decide(published: float, mean: float, low: float, high: float) -> ValueVerdict:
    """Return the verdict on one published value from enough trials.

    Examples
    --------
    >>> str(decide(0.80, 0.79, 0.75, 0.785)), str(decide(0.80, 0.70, 0.65, 0.75))
    ('close', 'lower')
    """
    if abs(mean - published) <= TOLERANCE + 1e-12:
        return ValueVerdict.CLOSE
    if low - ROUNDING <= published <= high + ROUNDING:
        return ValueVerdict.UNCLEAR
    return ValueVerdict.HIGHER if mean > published else ValueVerdict.LOWER


def judge(cell: Cell, published: float) -> ValueVerdict:
    """Return the verdict of a cell on the published value."""
    if not cell.n_good:
        return ValueVerdict.NOT_RUN
    if not cell.enough:
        return ValueVerdict.TOO_FEW
    return decide(published, cell.mean, *bootstrap_interval(cell.values))


@made_once
def compare(results: Results) -> pd.DataFrame:
    """Return one line per published value and reading of it.

    Each of the 216 values has exactly one line whose ``reading`` is ``primary``;
    further entries that stand for the same row of the paper follow as ``further``,
    each set of trials once.
    """
    found: dict[tuple[str, str, CellKey], list[Cell]] = {}
    for metric in METRIC_TITLES:
        for row in collect(results, metric):
            for key, cell in row.cells.items():
                if row.paper_row:
                    found.setdefault((metric, row.paper_row, key), []).append(cell)
    records: list[dict[str, object]] = []
    for (metric, name, key), value in published_by_cell().items():
        ceiling = ceilings(results, metric).get(key)
        shared: dict[str, object] = {
            **dict(zip(COLUMNS[:5], [metric, name, *key, value], strict=True)),
            **_beside_ceiling(ceiling, value),
        }
        # Trials that two experiments share are those of the main one.
        known = found.get((metric, name, key), [])
        here = _once(sorted(known, key=lambda cell: cell.reading.apart != ""))
        first = next((cell for cell in here if cell.reading.primary), None)
        records.append(
            shared | {"reading": "primary"} | _beside(first, value, key.dataset)
        )
        records += [
            shared | {"reading": "further"} | _beside(cell, value, key.dataset)
            for cell in here
            if cell is not first and cell.n_good
        ]
    return pd.DataFrame(records, columns=list(COLUMNS))


def _once(found: Iterable[Cell]) -> list[Cell]:
    """Leave out cells that hold the very trials of an earlier one."""
    seen: set[tuple[str, ...]] = set()
    out = []
    for cell in found:
        if not any(cell.keys) or cell.keys not in seen:
            out.append(cell)
        seen.add(cell.keys)
    return out


def _beside(cell: Cell | None, published: float, name: str) -> dict[str, object]:
    """Return a cell beside a published value; without good trials, what is lacking.

    ``name`` is what to run where there is no cell.
    """
    if cell is None or not cell.n_good:
        return {
            "n_good": 0,
            "n_total": cell.n_total if cell else 0,
            "verdict": ValueVerdict.NOT_RUN,
            "reason": cell.lost if cell else "",
            "command": run_command(cell.reading.experiment if cell else name),
        }
    low, high = bootstrap_interval(cell.values)
    reading = cell.reading
    return {
        "method": reading.name,
        "label": reading.title if reading.choice else reading.label,
        "lambda": reading.weight if reading.weight is not None else "",
        "experiment": reading.experiment,
        "mean": cell.mean,
        "std": cell.std,
        "low": low,
        "high": high,
        "difference": cell.mean - published,
        "n_good": cell.n_good,
        "n_total": cell.n_total,
        "verdict": judge(cell, published),
        "reason": cell.lost,
        "command": run_command(reading.experiment),
        "keys": " ".join(key[:KEY_LENGTH] for key in cell.keys),
    }


def compare_study(study: Study) -> pd.DataFrame:
    """Return one line per value that the files of a study give as published.

    A value stands beside the entry that its file names, or else the proposed one.
    """
    records: list[dict[str, object]] = []
    for e in study.experiments:
        for value in e.config.published.values if e.config.published else ():
            entry = value.entry or e.config.proposed or ""
            found = [
                cell
                for cell in cells(e, value.metric)
                if cell.reading.method == entry and cell.n_clusters == value.n_clusters
            ]
            found.sort(key=lambda cell: not cell.reading.proposed)
            beside = _beside(found[0] if found else None, value.value, e.name)
            nothing = {"label": entry, "mean": math.nan, "difference": math.nan}
            records.append(
                {
                    "experiment": e.name,
                    "dataset": e.dataset,
                    "n_clusters": value.n_clusters,
                    "metric": value.metric,
                    "published_for": value.method,
                    "published": value.value,
                    **(beside if beside["n_good"] else nothing | beside),
                }
            )
    return pd.DataFrame(records)


def primary(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return the 216 lines of the primary reading."""
    return comparison[comparison["reading"] == "primary"]


def counts(comparison: pd.DataFrame) -> dict[str, int]:
    """Count the verdicts of the primary reading, in a fixed order."""
    found = primary(comparison)["verdict"].value_counts()
    return {str(verdict): int(found.get(verdict, 0)) for verdict in ValueVerdict}


def listed(tally: Mapping[str, int]) -> str:
    """Return counts with their names, those that occur.

    Examples
    --------
    >>> listed({"close": 3, "higher": 0, "lower": 2})
    '3 close, 2 lower'
    """
    return ", ".join(f"{n} {name}" for name, n in tally.items() if n)


def by_row(comparison: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts of the primary reading for every row of the paper."""
    table = pd.crosstab(primary(comparison)["row"], primary(comparison)["verdict"])
    table = table.reindex(index=list(ROWS), columns=[*ValueVerdict], fill_value=0)
    table.insert(0, "method", [ROWS[str(key)] for key in table.index])
    return table.reset_index(drop=True)
