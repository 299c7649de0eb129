"""Rows of ``trials.csv``: what is kept of a trial where its record is not.

The committed study has rows and no records. A row is enough to run the trial again and
to tell whether the same came out: status, labels' digest, scores, iterations, stop.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from symmf.common.files import read_text
from symmf.errors import DataError
from symmf.experiment.store.folder import ExperimentStore
from symmf.experiment.store.layout import STORED_SCORES, TRIALS_FILE
from symmf.experiment.values import Outcome, Record, Status
from symmf.metrics import METRICS

#: A row as text, by column.
Row = Mapping[str, str]

SCORES = (*METRICS, *STORED_SCORES)
SCORE_SLACK = 1e-12
# What a trial computes; times and memory are measured, not computed.
COMPUTED = (
    "status",
    "labels_sha256",
    *SCORES,
    "n_iter",
    "stop",
    "solver",
    "matrix",
    "error",
    "n_samples",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A computed value that is not the same in two rows."""

    column: str
    kept: str
    new: str

    def __str__(self) -> str:
        if self.column == "labels_sha256":
            return "labels"
        return f"{self.column} {self.kept or 'none'} -> {self.new or 'none'}"


def read_rows(store: ExperimentStore) -> dict[str, Row]:
    """Return the rows of an experiment's ``trials.csv`` by key; none if it is missing.

    Raises
    ------
    DataError
        If the file is no table with the columns ``key`` and ``status``.
    """
    path = store.folder / TRIALS_FILE
    try:
        reader = csv.DictReader(io.StringIO(read_text(path), newline=""), restval="")
        columns = set(reader.fieldnames or ())
        rows = [{k: v for k, v in row.items() if k is not None} for row in reader]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, csv.Error) as error:
        raise DataError(f"{path} cannot be read: {error}.") from None
    if not {"key", "status"} <= columns:
        raise DataError(f"{path} is damaged: it lacks the columns key and status.")
    return {row["key"]: row for row in rows if row["key"]}


def all_rows(store: ExperimentStore) -> dict[str, Row]:
    """Return the rows of an experiment, also of records not yet in the table."""
    rows = read_rows(store)
    for key in store.list_keys():
        if key not in rows and (record := store.read(key)) is not None:
            rows[key] = row_of(record)
    return rows


def row_of(record: Record) -> Row:
    """Return the row that a record has in ``trials.csv``."""
    from symmf.experiment.store.export import trial_row

    found = trial_row(record.trial, record, {})
    return {column: _text(value) for column, value in found.items()}


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)


def outcome_of(row: Row) -> Outcome:
    """Return as much of the outcome as a row keeps: no labels, no trace."""
    try:
        status = Status(row["status"])
    except ValueError:
        status = Status.FAILED
    scores = {name: _number(row.get(name, "")) for name in SCORES}
    iterations = _number(row.get("n_iter", ""))
    samples = _number(row.get("n_samples", ""))
    return Outcome(
        status=status,
        message=row.get("message", ""),
        seconds=_number(row.get("seconds", "")),
        peak_memory_mb=_number(row.get("peak_memory_mb", "")),
        n_samples=None if samples is None else int(samples),
        scores={name: value for name, value in scores.items() if value is not None},
        n_iter=None if iterations is None else int(iterations),
        stop=row.get("stop", ""),
        solver=row.get("solver", ""),
        matrix=row.get("matrix", ""),
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def compare_rows(kept: Row, new: Row) -> tuple[Difference, ...]:
    """Return what was computed differently; columns that one row lacks do not count.

    A table of an earlier version has no digest of labels, no solver and no matrix.
    """
    return tuple(
        Difference(column=column, kept=kept[column], new=new[column])
        for column in COMPUTED
        if column in kept and column in new and not _same(column, kept, new)
    )


def _same(column: str, kept: Row, new: Row) -> bool:
    one, two = kept[column], new[column]
    if column in ("labels_sha256", "solver", "matrix") and not (one and two):
        return True
    left, right = _number(one), _number(two)
    if left is None or right is None:
        return one == two
    # The numbering of clusters is the order in which a score sums: its last bits.
    slack = SCORE_SLACK if column in SCORES else 0.0
    return abs(left - right) <= slack
