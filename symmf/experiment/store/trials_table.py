"""The tables of an experiment: their columns, their one reader and their one writer.

``trials.csv`` has a row per finished trial, ``traces.csv`` the errors by iteration of
those that have any. A run writes both from its records, each minute and at its end.
Whoever reads sees what the records hold: where they are newer than the tables (a run
was killed, or goes on) the rows are made from them in memory, and nothing is written.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symmf.common.files import damaged, own_file, read_text
from symmf.common.notation import FloatArray
from symmf.errors import SymmfError
from symmf.experiment.store.folder import ExperimentStore
from symmf.experiment.store.layout import (
    EXPERIMENT_FILE,
    RECORD_SUFFIX,
    RECORDS_FOLDER,
    TRACES_FILE,
    TRIALS_FILE,
)
from symmf.experiment.values import Outcome, Record, Trial, canonical_json
from symmf.metrics import METRICS, score

TRACE_POINTS = 200
MESSAGE_LENGTH = 300

#: Of a column: text, whole numbers, numbers. Where a number is missing the cell is
#: empty.
Kind = type[str] | type[int] | type[float]
#: Scores by key of records.
Scores = dict[str, Mapping[str, float]]

_BEFORE_SCORES: dict[str, Kind] = {
    "experiment": str,
    "dataset": str,
    "n_clusters": int,
    "trial": int,
    "method": str,
    "estimator": str,
    "label": str,
    "paper_row": str,
    "lambda": float,
    "status": str,
}
#: Scores that need more than labels: kept as the trial computed them.
STORED_SCORES = ("silhouette",)
_AFTER_SCORES: dict[str, Kind] = {
    "seconds": float,
    "similarity_seconds": float,
    "n_iter": int,
    "stop": str,
    "solver": str,
    "matrix": str,
    "error": float,
    "n_samples": int,
    "options": str,
    "classes": str,
    "preprocess": str,
    "parameters": str,
    "peak_memory_mb": float,
    "attempts": int,
    "message": str,
    "labels_sha256": str,
    "key": str,
}
#: What says which trial a row is of; without it a table is damaged. Other columns came
#: or may come later, and are empty where a table lacks them.
REQUIRED = frozenset(
    {"experiment", "dataset", "n_clusters", "trial", "method", "status", "ac", "key"}
)
TRACE_COLUMNS: dict[str, Kind] = {
    "experiment": str,
    "dataset": str,
    "n_clusters": int,
    "trial": int,
    "method": str,
    "lambda": float,
    "iteration": int,
    "error": float,
    "split_error": float,
    "seconds": float,
}
# Without these a row belongs nowhere.
_WHOLE = {"n_clusters": 1, "trial": 0}


def trial_columns() -> dict[str, Kind]:
    """Return the columns of ``trials.csv`` with their kinds, a score per metric.

    A function because metrics are a registry: one that is added gets its column here
    and, from the labels in the records, its values.
    """
    scores = dict.fromkeys((*METRICS, *STORED_SCORES), float)
    return {**_BEFORE_SCORES, **scores, **_AFTER_SCORES}


# Reading


def read_trials(folder: Path, problems: list[str] | None = None) -> pd.DataFrame:
    """Return the finished trials of an experiment, one row each.

    Parameters
    ----------
    folder : Path
        The folder of the experiment.
    problems : list of str, optional
        Takes a sentence for whatever cannot be read and is therefore left out.

    Returns
    -------
    DataFrame
        The columns of :func:`trial_columns`: text, or numbers with NaN where there is
        none. No rows where nothing is finished.

    Raises
    ------
    DataError
        If the table is damaged and ``problems`` is not given.
    """
    if (made := _from_records(folder, problems)) is not None:
        return made[0]
    return _read(folder / TRIALS_FILE, trial_columns(), problems)


def read_tables(
    folder: Path, problems: list[str] | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return trials and traces; see :func:`read_trials`."""
    made = _from_records(folder, problems)
    return _read_files(folder, problems) if made is None else made


def _read_files(
    folder: Path, problems: list[str] | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    return (
        _read(folder / TRIALS_FILE, trial_columns(), problems),
        _read(folder / TRACES_FILE, TRACE_COLUMNS, problems),
    )


def is_current(folder: Path) -> bool:
    """Tell whether the table of trials shows all that the records hold.

    It does not if records or the config are newer, or if it has other columns than it
    would get now (a metric was added). Without records there is nothing it could lack.
    """
    records, config = folder / RECORDS_FOLDER, folder / EXPERIMENT_FILE
    table = folder / TRIALS_FILE
    with own_file(table):
        if not config.is_file() or not any(records.glob(f"[!.]*{RECORD_SUFFIX}")):
            return True
        if not table.is_file():
            return False
        with table.open(encoding="utf-8", errors="replace") as lines:
            header = lines.readline().rstrip("\n").split(",")
        written = table.stat().st_mtime_ns
        # A folder is touched by every record that is written to it or removed.
        newer = [p for p in (records, config) if p.stat().st_mtime_ns >= written]
        return header == list(trial_columns()) and not newer


def _from_records(
    folder: Path, problems: list[str] | None
) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """Return the tables as the records give them; None if the files are current."""
    try:
        if is_current(folder):
            return None
        trials, traces = make_tables(*ExperimentStore(folder).finished())
    except SymmfError as error:
        if problems is None:
            raise
        problems.append(f"The tables of {folder.name} may lack trials. {error}")
        return None
    return _typed(trials, trial_columns()), _typed(traces, TRACE_COLUMNS)


def _read(
    path: Path, columns: Mapping[str, Kind], problems: list[str] | None
) -> pd.DataFrame:
    """Parse a file; complain of what is missing in it, and leave misfits out."""
    found, complaints = pd.DataFrame(columns=list(columns), dtype=object), []
    if path.exists():
        try:
            with own_file(path):
                found = pd.read_csv(
                    io.StringIO(read_text(path)),
                    usecols=columns.__contains__,
                    dtype=object,
                    keep_default_na=False,
                )
        except SymmfError as error:
            complaints.append(error)
    absent = [c for c in columns if c in REQUIRED and c not in found]
    if absent:
        complaints.append(damaged(path, f"it lacks the columns {', '.join(absent)}"))
    frame = _typed(found, columns)
    if len(frame) < len(found):
        complaints.append(
            damaged(
                path,
                f"{len(found) - len(frame)} of its rows are left out, in which "
                "n_clusters or trial is not a whole number or a score not in [0, 1]",
            )
        )
    if complaints and problems is None:
        raise complaints[0]
    if problems is not None:
        problems.extend(map(str, complaints))
    return frame


def _typed(frame: pd.DataFrame, columns: Mapping[str, Kind]) -> pd.DataFrame:
    """Give cells their kinds; a number that is none is NaN, an absent column empty."""
    full = frame.reindex(columns=list(columns), fill_value="")
    numbers = [name for name, kind in columns.items() if kind is not str]
    full = full.assign(**{name: _numbers(full[name]) for name in numbers})
    fits = pd.Series(True, index=full.index)
    for name, least in _WHOLE.items():
        fits &= (full[name] % 1 == 0) & (full[name] >= least) & (full[name] < 2**31)
    for name in {"ac", "nmi"} & columns.keys():
        fits &= full[name].isna() | full[name].between(-1e-9, 1 + 1e-9)
    return full[fits].reset_index(drop=True).astype(dict.fromkeys(_WHOLE, int))


def _numbers(cells: pd.Series[Any]) -> FloatArray:
    # Not pandas' own parser: its last bits depend on its version.
    return np.array([_number(text) for text in cells], dtype=float)


def _number(text: object) -> float:
    try:
        return float(str(text))
    except ValueError:
        return float("nan")


# Writing


def write_trials(
    store: ExperimentStore,
    trials: Iterable[Trial],
    records: Mapping[str, Record],
    scores: Scores | None = None,
) -> None:
    """Write the tables of an experiment; ``traces.csv`` only if there are traces.

    ``scores`` keeps scores from one call to the next. Only the holder of the folder's
    lock calls this.
    """
    table, traces = make_tables(trials, records, scores)
    store.write_file(store.folder / TRIALS_FILE, _csv(table))
    if len(traces):
        store.write_file(store.folder / TRACES_FILE, _csv(traces))
    else:
        (store.folder / TRACES_FILE).unlink(missing_ok=True)


def _csv(frame: pd.DataFrame) -> str:
    """Return a table as CSV, with floats that read back to the same bits."""
    return str(frame.to_csv(index=False, lineterminator="\n"))


def is_whole(
    folder: Path, trials: Iterable[Trial], records: Mapping[str, Record]
) -> bool:
    """Tell whether the tables are current and have the rows they ought to have.

    A table that was cut, emptied, replaced or never written is found; a number that
    was changed by hand is not.
    """
    shown = [trial for trial in _sorted(trials) if trial.key in records]
    points = sum(len(thin(_length(records[t.key].outcome.error))) for t in shown)
    names = [TRIALS_FILE, TRACES_FILE] if points else [TRIALS_FILE]
    try:
        table, traces = _read_files(folder)
        return (
            is_current(folder)
            and list(table["key"]) == [trial.key for trial in shown]
            and len(traces) == points
            and all(read_text(folder / name).endswith("\n") for name in names)
        )
    except (OSError, SymmfError):
        return False


# Rows


def make_tables(
    trials: Iterable[Trial],
    records: Mapping[str, Record],
    scores: Scores | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables of trials and of traces for the records there are."""
    rows, traces = [], []
    scores = {} if scores is None else scores
    for trial in _sorted(trials):
        if trial.key not in records:
            continue
        outcome = records[trial.key].outcome
        if not scores.get(trial.key, {}).keys() >= METRICS.keys():
            scores[trial.key] = _scores(outcome)
        rows.append(_trial_row(trial, outcome, scores[trial.key]))
        traces.extend(_trace_rows(trial, outcome))
    return (
        pd.DataFrame(rows, columns=list(trial_columns()), dtype=object),
        pd.DataFrame(traces, columns=list(TRACE_COLUMNS), dtype=object),
    )


def row_of(record: Record) -> dict[str, Any]:
    """Return the row that a record has in the table of trials, as it is read."""
    table, _ = make_tables([record.trial], {record.key: record})
    return rows_by_key(_typed(table, trial_columns()))[record.key]


def rows_by_key(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return the rows of a table of trials by the keys of the trials."""
    rows: list[Any] = table.to_dict("records")
    return {row["key"]: row for row in rows}


def time_spent(table: pd.DataFrame) -> float:
    """Return the seconds that trials took; a similarity they share counts once.

    Examples
    --------
    >>> columns = {"seconds": [5.0, 4.0, 1.0], "similarity_seconds": [3.0, 3.0, None]}
    >>> time_spent(pd.DataFrame(columns))
    7.0
    """
    built = table["similarity_seconds"].dropna()
    # Whoever takes a similarity again has the seconds of who built it, to the last bit.
    return float(table["seconds"].sum() - built[built.duplicated()].sum())


def _sorted(trials: Iterable[Trial]) -> list[Trial]:
    """Sort by K, method in config order, lambda, trial."""
    trials = list(trials)
    order = {name: i for i, name in enumerate(dict.fromkeys(t.method for t in trials))}

    def rank(t: Trial) -> tuple[float, ...]:
        return (t.n_clusters, order[t.method], t.laplacian_weight or 0.0, t.trial)

    return sorted(trials, key=rank)


def _scores(outcome: Outcome) -> dict[str, float]:
    """Return the scores of an outcome: of its labels, by every metric there is now.

    So a metric that is added is there for old records too. A score that needs more
    than labels is the one the trial kept.
    """
    if not outcome.ok or outcome.labels is None or outcome.y is None:
        return dict(outcome.scores)
    return {**outcome.scores, **score(outcome.y, outcome.labels)}


def _trial_row(
    trial: Trial, outcome: Outcome, scores: Mapping[str, float]
) -> dict[str, Any]:
    """Return the row of a trial; names come from the config as it is now."""
    from symmf.clustering.labels import labels_digest

    message = " ".join(outcome.message.split())
    if len(message) > MESSAGE_LENGTH:
        message = message[: MESSAGE_LENGTH - 4] + " ..."
    labels, error = outcome.labels, outcome.error
    # More cells than there are columns: the table takes those it has.
    return {
        **trial.as_dict(),
        **outcome.as_dict(),
        **scores,
        "lambda": trial.laplacian_weight,
        "status": outcome.status.value,
        "error": float(error[-1]) if error is not None and len(error) else None,
        "options": canonical_json(trial.options),
        "classes": " ".join(map(str, trial.classes)),
        "preprocess": "+".join(trial.preprocess) or "none",
        "parameters": canonical_json(trial.parameters),
        "message": message,
        "labels_sha256": "" if labels is None else labels_digest(labels),
    }


def _trace_rows(trial: Trial, outcome: Outcome) -> list[dict[str, Any]]:
    """Return the thinned trace of a trial, one row per kept iteration."""
    about = {name: v for name, v in trial.as_dict().items() if name in TRACE_COLUMNS}
    about["lambda"] = trial.laplacian_weight
    traces = {
        "error": outcome.error,
        "split_error": outcome.split_error,
        "seconds": outcome.trace_seconds,
    }
    known = {name: values for name, values in traces.items() if values is not None}
    return [
        {**about, "iteration": i}
        | {name: float(values[i]) for name, values in known.items() if i < len(values)}
        for i in thin(_length(outcome.error))
    ]


def _length(values: FloatArray | None) -> int:
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
