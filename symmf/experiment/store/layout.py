"""The results folder as everyone sees it: file names and columns.

The one contract between what writes results and what reads them. It imports names of
metrics only, so that a report that needs the contract loads nothing else.

::

    results/<experiment>/
        experiment.yaml      the resolved config
        provenance.json      data, machine and command of the latest run
        records/<key>.h5     one record per trial
        trials.csv           a row per finished trial
        traces.csv           errors by iteration, thinned
        illustration.npz     A and H of one small trial, if the config asks for it
        events.jsonl         what happened when
        run.lock             held by the run that writes here
        .counts.json         how far it is, for `symmf status`
"""

from __future__ import annotations

from symmf.metrics import METRICS

EXPERIMENT_FILE = "experiment.yaml"
PROVENANCE_FILE = "provenance.json"
TRIALS_FILE = "trials.csv"
TRACES_FILE = "traces.csv"
ILLUSTRATION_FILE = "illustration.npz"
EVENTS_FILE = "events.jsonl"
LOCK_FILE = "run.lock"
COUNTS_FILE = ".counts.json"
RECORDS_FOLDER = "records"
RECORD_SUFFIX = ".h5"

# The committed study, and what the commands that report write beside experiments.
REFERENCE_FOLDER = "reference"
REPORT_FILE = "report.html"

# Of a column of a table: text, whole numbers, numbers. Where a number is missing the
# field is empty.
Kind = type[str] | type[int] | type[float]

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
# Scores that need more than labels, so they are kept as the trial computed them.
STORED_SCORES = ("silhouette",)
_AFTER_SCORES: dict[str, Kind] = {
    "seconds": float,
    "n_iter": int,
    "stop": str,
    "solver": str,
    "matrix": str,
    "error": float,
    "n_samples": int,
    "classes": str,
    "preprocess": str,
    "parameters": str,
    "peak_memory_mb": float,
    "attempts": int,
    "message": str,
    "labels_sha256": str,
    "key": str,
}
# Columns that tables written by an earlier version may lack.
OPTIONAL_COLUMNS = frozenset(
    {"silhouette", "solver", "matrix", "attempts", "labels_sha256"}
)
# Column of an experiment over a collection: the options of the trial's data set.
OPTIONS_COLUMN = "options"
# Columns that differ between two runs of the same trial.
MEASURED_COLUMNS = ("seconds", "peak_memory_mb", "attempts")

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


def trial_columns(*, collection: bool = False) -> dict[str, Kind]:
    """Return the columns of ``trials.csv`` with their kinds, a score per metric.

    A function because metrics are a registry: one that is added gets its column here
    and, from the labels in the records, its values. The last column of a
    ``collection`` says of which of its data sets a trial is.
    """
    scores = dict.fromkeys((*METRICS, *STORED_SCORES), float)
    last: dict[str, Kind] = {OPTIONS_COLUMN: str} if collection else {}
    return {**_BEFORE_SCORES, **scores, **_AFTER_SCORES, **last}
