"""Records as tidy tables: ``trials.csv`` and ``traces.csv``."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symmf.common.files import read_text
from symmf.experiment.config.grid import expand
from symmf.experiment.store.folder import ExperimentStore, set_aside
from symmf.experiment.store.layout import (
    OPTIONS_COLUMN,
    TRACE_COLUMNS,
    TRACES_FILE,
    TRIALS_FILE,
    trial_columns,
)
from symmf.experiment.values import Outcome, Record, Trial, canonical_json
from symmf.metrics import METRICS, score

TRACE_POINTS = 200
MESSAGE_LENGTH = 300


# Scores by key of records, where they are known to be those of the metrics as they are.
Scores = dict[str, Mapping[str, float]]


def trial_row(trial: Trial, record: Record, known: Scores) -> dict[str, Any]:
    """Return the row of a trial; names come from the config as it is now."""
    outcome = record.outcome
    if trial.key not in known or not known[trial.key].keys() >= METRICS.keys():
        known[trial.key] = scores_of(outcome)
    message = " ".join(outcome.message.split())
    if len(message) > MESSAGE_LENGTH:
        message = message[: MESSAGE_LENGTH - 4] + " ..."
    return {
        **_place(trial),
        "estimator": trial.estimator,
        "label": trial.label,
        "paper_row": trial.paper_row,
        "status": outcome.status.value,
        **known[trial.key],
        "seconds": outcome.seconds,
        "n_iter": outcome.n_iter,
        "stop": outcome.stop,
        "solver": outcome.solver,
        "matrix": outcome.matrix,
        "error": None if not _length(outcome.error) else float(outcome.error[-1]),  # type: ignore[index]
        "n_samples": outcome.n_samples,
        "classes": " ".join(map(str, trial.classes)),
        "preprocess": "+".join(trial.preprocess) or "none",
        "parameters": canonical_json(trial.parameters),
        "peak_memory_mb": outcome.peak_memory_mb,
        "attempts": outcome.attempts,
        "message": message,
        "labels_sha256": _labels_digest(outcome),
        "key": trial.key,
        OPTIONS_COLUMN: canonical_json(trial.options),
    }


def _columns(trials: Iterable[Trial]) -> list[str]:
    # Only the members of a collection have options of their own.
    options = {canonical_json(trial.options) for trial in trials}
    return list(trial_columns(collection=len(options) > 1))


def scores_of(outcome: Outcome) -> dict[str, float]:
    """Return the scores of an outcome: of its labels, by every metric there is now.

    So a metric that is added is there for old records too. A score that needs more
    than labels is the one the trial kept.
    """
    if not outcome.ok or outcome.labels is None or outcome.y is None:
        return dict(outcome.scores)
    return {**outcome.scores, **score(outcome.y, outcome.labels)}


def _labels_digest(outcome: Outcome) -> str:
    from symmf.clustering.labels import labels_digest

    return "" if outcome.labels is None else labels_digest(outcome.labels)


def trace_rows(trial: Trial, record: Record) -> list[dict[str, Any]]:
    """Return the thinned trace of a trial, one row per kept iteration."""
    outcome = record.outcome
    place = _place(trial)
    rows = []
    for i in thin(_length(outcome.error)):
        row = dict(place, iteration=i)
        for column, values in (
            ("error", outcome.error),
            ("split_error", outcome.split_error),
            ("seconds", outcome.trace_seconds),
        ):
            row[column] = float(values[i]) if i < _length(values) else None  # type: ignore[index]
        rows.append(row)
    return rows


def _place(trial: Trial) -> dict[str, Any]:
    return {
        "experiment": trial.experiment,
        "dataset": trial.dataset,
        "n_clusters": trial.n_clusters,
        "trial": trial.trial,
        "method": trial.method,
        "lambda": trial.laplacian_weight,
    }


def _length(values: Any) -> int:
    return 0 if values is None else len(values)


def thin(n: int, points: int = TRACE_POINTS) -> list[int]:
    """Choose about ``points`` of n iterations: half evenly, half dense at the start.

    Examples
    --------
    >>> thin(5)
    [0, 1, 2, 3, 4]
    >>> kept = thin(100_000)
    >>> kept[:3], kept[-1], len(kept) <= 200
    ([0, 1, 2], 99999, True)
    """
    if n <= points:
        return list(range(n))
    even = np.linspace(0, n - 1, points // 2)
    early = np.geomspace(1, n - 1, points - points // 2)
    return [int(i) for i in np.unique(np.concatenate([[0], even, early]).round())][:n]


def sort_trials(trials: Iterable[Trial]) -> list[Trial]:
    """Sort by K, method in config order, lambda, trial."""
    trials = list(trials)
    order = {name: i for i, name in enumerate(dict.fromkeys(t.method for t in trials))}

    def place(t: Trial) -> tuple[float, ...]:
        return (t.n_clusters, order[t.method], t.laplacian_weight or 0.0, t.trial)

    return sorted(trials, key=place)


def frames(
    trials: Iterable[Trial],
    records: Mapping[str, Record],
    known: Scores | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables of trials and of traces for the records there are."""
    rows, traces = [], []
    known = {} if known is None else known
    trials = sort_trials(trials)
    for trial in trials:
        record = records.get(trial.key)
        if record is not None:
            rows.append(trial_row(trial, record, known))
            traces.extend(trace_rows(trial, record))
    return (
        pd.DataFrame(rows, columns=_columns(trials), dtype=object),
        pd.DataFrame(traces, columns=list(TRACE_COLUMNS), dtype=object),
    )


def csv_text(frame: pd.DataFrame) -> str:
    """Return a table as CSV, with floats that read back to the same bits."""
    return str(frame.to_csv(index=False, lineterminator="\n"))


def tables_are_whole(
    store: ExperimentStore, trials: Iterable[Trial], records: Mapping[str, Record]
) -> bool:
    """Tell whether the CSV files have the rows they ought to have, without scoring.

    A table that was cut, emptied, replaced or never written is found; a number that
    was changed by hand is not.
    """
    trials = sort_trials(trials)
    shown = [trial for trial in trials if trial.key in records]
    points = sum(len(thin(_length(records[t.key].outcome.error))) for t in shown)
    traces = store.folder / TRACES_FILE
    try:
        rows = _rows(store.folder / TRIALS_FILE, _columns(trials))
        keys = [(row["key"], row["trial"]) for row in rows]
        if keys != [(trial.key, str(trial.trial)) for trial in shown]:
            return False
        if not points:
            return not os.path.lexists(traces)
        return len(_rows(traces, list(TRACE_COLUMNS))) == points
    except (OSError, ValueError, csv.Error):
        return False


def _rows(path: Path, columns: list[str]) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""))
    rows = list(reader)
    whole = all(None not in row and None not in row.values() for row in rows)
    if reader.fieldnames != columns or not whole:
        raise ValueError(f"{path} has other columns")
    return rows


def export_store(
    store: ExperimentStore,
    trials: Iterable[Trial] | None = None,
    records: Mapping[str, Record] | None = None,
    known: Scores | None = None,
) -> None:
    """Write the tables of an experiment; ``traces.csv`` only if there are traces.

    ``trials`` and ``records`` are read from the folder if they are not given;
    ``known`` keeps scores from one call to the next. Only the holder of the folder's
    lock calls this.
    """
    tables = make_tables(store, trials, records, known)
    for name, text in tables.items():
        path = store.folder / name
        if text:
            store.write_file(path, text)
        elif path.is_dir():
            set_aside(path)
        else:
            path.unlink(missing_ok=True)


def make_tables(
    store: ExperimentStore,
    trials: Iterable[Trial] | None = None,
    records: Mapping[str, Record] | None = None,
    known: Scores | None = None,
) -> dict[str, str]:
    """Return the texts of ``trials.csv`` and ``traces.csv``, empty without traces."""
    if trials is None:
        described = store.described()
        grid = expand(*described)
        beside = store.read_beside(*described, grid)
        read = ((key, store.read(key)) for key in {trial.key for trial in grid})
        found = {key: record for key, record in read if record is not None}
        trials, records = [*grid, *beside.trials], {**beside.records, **found}
    table, traces = frames(trials, records or {}, known)
    return {
        TRIALS_FILE: csv_text(table),
        TRACES_FILE: csv_text(traces) if len(traces) else "",
    }
