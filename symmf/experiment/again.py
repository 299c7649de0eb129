"""Finished trials found again, shown, run again, and compared by their rows.

A trial is finished as a record, or as a row of ``trials.csv`` beside
``experiment.yaml`` (so is the committed study). Both are enough to compute it again,
and the row says what came out: status, the digest of the labels, scores, iterations,
stop. A key is the same only where data, method, parameters, draw and start are the
same; so equal keys with different rows point at the environment: libraries, processor.
"""

from __future__ import annotations

import json
import math
import textwrap
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symmf.common.files import damaged
from symmf.errors import ConfigError, DataError, InputError, SymmfError
from symmf.experiment.data import load_data
from symmf.experiment.run import Backend
from symmf.experiment.run.local_pool import LocalPool
from symmf.experiment.store.folder import ExperimentStore, list_experiments
from symmf.experiment.store.layout import RECORD_SUFFIX, TRIALS_FILE
from symmf.experiment.store.trials_table import (
    STORED_SCORES,
    read_trials,
    row_of,
    rows_by_key,
    trial_columns,
)
from symmf.experiment.values import Job, Outcome, Record, Trial, canonical_json
from symmf.metrics import METRICS

if TYPE_CHECKING:
    from symmf.datasets import Dataset

#: A row of a table of trials, by column.
Row = Mapping[str, Any]

SCORE_SLACK = 1e-12


# Finding


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished trial: its row, and its record where there is one."""

    store: ExperimentStore
    trial: Trial
    row: Row
    record: Record | None = None

    @property
    def scores(self) -> dict[str, float]:
        """The scores of its row, by name."""
        found = {name: self.row[name] for name in _scores()}
        return {name: value for name, value in found.items() if not math.isnan(value)}


def find_trial(folders: Sequence[Path], prefix: str) -> Finished:
    """Return the finished trial whose key starts with ``prefix``.

    The folders are searched in order, each for records and for rows.

    Raises
    ------
    InputError
        If there is none, or more than one in the first folder that has any.
    """
    prefix = prefix.strip().lower().removesuffix(RECORD_SUFFIX)
    for folder in folders if prefix else ():
        found = {
            key: store
            for store in reversed(list_experiments(folder))
            for key in (*store.list_keys(), *read_trials(store.folder)["key"])
            if key.startswith(prefix)
        }
        if len(found) > 1:
            some = ", ".join(f"{k[:12]} ({s.name})" for k, s in list(found.items())[:4])
            raise InputError(
                f'{len(found)} trials have a key starting with "{prefix}": {some}'
                f"{' ...' if len(found) > 4 else ''}. Give more characters of it."
            )
        for key, store in found.items():
            return _finished(store, key)
    raise InputError(
        f"No trial in {' or '.join(map(str, folders))} has a key starting with "
        f'"{prefix}". The column `key` of a trials.csv lists them; --results names '
        "another folder."
    )


def _finished(store: ExperimentStore, key: str) -> Finished:
    record = store.read(key)
    if record is not None:
        return Finished(store, record.trial, row_of(record), record)
    row = rows_by_key(read_trials(store.folder)).get(key)
    if row is None:
        raise damaged(store.path(key), "it is not what the run wrote")
    for trial in store.trials():
        if trial.key == key:
            return Finished(store, trial, row)
    raise InputError(
        f"{store.folder}: the trial {key[:12]} of trials.csv does not follow from "
        "experiment.yaml beside it, so it cannot be run again."
    )


def describe(found: Finished) -> str:
    """Write a finished trial in full, for reading."""
    trial, row, record = found.trial, found.row, found.record
    file = found.store.path(trial.key) if record else found.store.folder / TRIALS_FILE
    about: dict[str, Any] = {
        "key": trial.key,
        "file": file,
        "experiment": trial.experiment,
        "trial": trial.title,
        "estimator": f"{trial.estimator} {_json(trial.parameters)}",
        "behaviour": trial.behaviour,
        "plugin": " ".join(filter(None, trial.plugin.values())),
        "data": f"{trial.dataset} {_json(trial.options)} {trial.data_digest[:12]}",
        "classes": " ".join(_class_names(found)) or "all",
        "draw": _json(trial.draw),
        "preprocess": "+".join(trial.preprocess) or "none",
        "random_state": f"{trial.random_state} (seed {trial.seed})",
        "threads": trial.threads,
        "status": row["status"],
        "message": row["message"],
        **found.scores,
        **{name: _cell(name, row) for name in ("n_samples", "n_iter")},
        **{name: row[name] for name in ("stop", "solver", "matrix")},
        "seconds": row["seconds"],
        "similarity": _cell("similarity_seconds", row),
        "peak memory": f"{row['peak_memory_mb']} MB",
        "labels": f"sha256 {row['labels_sha256']}" if row["labels_sha256"] else "",
    }
    if record is not None:
        outcome = record.outcome
        if outcome.error is not None and len(outcome.error):
            first, last = float(outcome.error[0]), float(outcome.error[-1])
            count = len(outcome.error)
            about["trace"] = f"{count} iterates, error {first!r} to {last!r}"
        about["started"] = outcome.started
        about["warnings"] = "; ".join(outcome.warnings)
        provenance = json.dumps(record.provenance, indent=2, sort_keys=True)
        about["provenance"] = _indented(provenance)
        about["traceback"] = _indented(outcome.traceback)
    return "\n".join(
        f"{name:12} {value}" for name, value in about.items() if not _is_empty(value)
    )


def _class_names(found: Finished) -> list[str]:
    """Return the classes of a trial, by name where the data's file names them."""
    try:
        known = dict(enumerate(found.store.described()[1].class_ids))
    except SymmfError:
        known = {}
    named = any(isinstance(name, str) for name in known.values())
    return [str(known.get(c, c) if named else c) for c in found.trial.classes]


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True) if value else ""


def _indented(text: str) -> str:
    return f"\n{textwrap.indent(text.rstrip(), '  ')}" if text else ""


# Comparing


def _scores() -> tuple[str, ...]:
    return (*METRICS, *STORED_SCORES)


def compare_rows(kept: Row, new: Row) -> tuple[str, ...]:
    """Say what was computed differently; times and memory are measured, not computed.

    What the kept row does not tell is not compared: a table of an earlier version may
    lack columns.
    """
    columns = (
        *("status", "labels_sha256", *_scores(), "n_iter", "stop", "solver"),
        *("matrix", "error", "n_samples"),
    )
    return tuple(
        "labels"
        if column == "labels_sha256"
        else f"{column} {_cell(column, kept)} -> {_cell(column, new)}"
        for column in columns
        if not _same(column, kept[column], new[column])
    )


def _same(column: str, kept: Any, new: Any) -> bool:
    if _is_empty(kept):
        return True
    if column in _scores():
        # The numbering of clusters is the order in which a score sums: its last bits.
        return bool(abs(kept - new) <= SCORE_SLACK)
    return bool(kept == new)


def _cell(column: str, row: Row) -> str:
    value = row[column]
    return "none" if _is_empty(value) else str(trial_columns()[column](value))


def _is_empty(value: Any) -> bool:
    return bool(value == "" or value != value)


# Running again


def replay(
    found: Finished, backend: Backend | None = None
) -> tuple[Outcome, tuple[str, ...]]:
    """Run a finished trial again, in a process of its own or on ``backend``.

    Return the new outcome and what in it differs from what was kept.

    Raises
    ------
    ConfigError
        If the method is not known any more, or gives other numbers by design.
    DataError
        If the data are not those of the record.
    """
    with LocalPool(1) as own:
        ((_, outcome),) = run_again([found.trial], backend or own)
    if isinstance(outcome, SymmfError):
        raise outcome
    new = row_of(Record(trial=found.trial, outcome=outcome))
    return outcome, compare_rows(found.row, new)


def run_again(
    trials: Sequence[Trial], backend: Backend
) -> Iterator[tuple[Trial, Outcome | SymmfError]]:
    """Run trials, those of one data set after another; yield what came out.

    That is an error where data or method are not there or not the same.
    """
    by_data: dict[tuple[str, ...], list[Trial]] = {}
    for trial in trials:
        data = trial.dataset, canonical_json(trial.options), trial.data_digest
        by_data.setdefault(data, []).append(trial)
    for _, group in sorted(by_data.items()):
        try:
            jobs, loaded = [_job(trial) for trial in group], _data(group[0])
        except SymmfError as error:
            yield from ((trial, error) for trial in group)
            continue
        # Two experiments may share a key.
        trial_of = {id(job): trial for job, trial in zip(jobs, group, strict=True)}
        for update in backend.run(jobs, {loaded.digest: loaded}, threading.Event()):
            if update.outcome is not None:
                yield trial_of[id(update.job)], update.outcome


def _job(trial: Trial) -> Job:
    from symmf.plugins import find_method, identity_of, sources_of

    try:
        method = find_method(trial.estimator)
    except InputError as error:
        text = f"The trial cannot be run again. {error}"
        if trial.plugin:
            text = (
                f'The method "{trial.estimator}" comes from the plugin '
                f"{trial.plugin['name']}; give its file with --plugin, or install it."
            )
        raise ConfigError(text) from None
    sources = sources_of(method, trial.parameters)
    now = identity_of(sources)
    if now != dict(trial.plugin):
        raise ConfigError(
            f'The method "{trial.estimator}" is not the code the trial was made with '
            f"({_named(now)} instead of {_named(trial.plugin)})."
        )
    behaviour = getattr(method, "behaviour", 1)
    if behaviour != trial.behaviour:
        raise ConfigError(
            f'The method "{trial.estimator}" gives other numbers than when the trial '
            f"was run, as the changelog says (behaviour {behaviour} instead of "
            f"{trial.behaviour}). Run the experiment again."
        )
    return Job(trial=trial, estimator=method, sources=sources)


def _named(plugin: Mapping[str, str]) -> str:
    if not plugin:
        return "the package's own"
    parts = (plugin["name"], plugin["version"], plugin["sha256"][:12])
    return " ".join(filter(None, parts))


def _data(trial: Trial) -> Dataset:
    try:
        data = load_data(trial.dataset, trial.options)
    except InputError as error:
        raise DataError(
            f"The data of the trial cannot be loaded. {error} A data set of a plugin "
            "needs its file: --plugin FILE."
        ) from None
    if data.digest != trial.data_digest:
        raise DataError(
            f"The data set {trial.dataset} is not the one the record was made from "
            f"(digest {data.digest[:12]} instead of {trial.data_digest[:12]})."
        )
    return data
