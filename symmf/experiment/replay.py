"""Runs kept trials again and compares, bit by bit where a record is there.

A trial is kept as a record, or as a row of ``trials.csv`` beside ``experiment.yaml``
(so is the committed study). Both are enough to compute it again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from symmf.errors import ConfigError, DataError, InputError, SymmfError
from symmf.experiment.config.grid import expand, gather_facts
from symmf.experiment.config.resolve import defaults_of
from symmf.experiment.run.backend import Backend
from symmf.experiment.run.local_pool import LocalPool
from symmf.experiment.store.folder import ExperimentStore, list_experiments
from symmf.experiment.store.layout import RECORD_SUFFIX
from symmf.experiment.store.rows import (
    Row,
    compare_rows,
    outcome_of,
    read_rows,
    row_of,
)
from symmf.experiment.values import Job, Outcome, Record, Trial

# What a trial computes; times and memory are measured, not computed.
COMPARED = (
    "status",
    "labels",
    "scores",
    "n_iter",
    "stop",
    "objective",
    "error",
    "split_error",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The new outcome and what differs from what was kept."""

    outcome: Outcome
    differences: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether everything that was kept came out again."""
        return not self.differences


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A finished trial as it is kept: ``row`` is None where there is a record."""

    store: ExperimentStore
    record: Record
    row: Row | None = None


def find_kept(folders: Sequence[Path], prefix: str) -> Kept:
    """Return the finished trial whose key starts with ``prefix``.

    The folders are looked through in order, each for records and then for rows.

    Raises
    ------
    InputError
        If there is none, or more than one in the first folder that has any.
    """
    prefix = prefix.strip().lower().removesuffix(RECORD_SUFFIX)
    for folder in folders:
        found = _keys(folder, prefix) if prefix else {}
        if len(found) > 1:
            some = ", ".join(f"{k[:12]} ({s.name})" for k, s in list(found.items())[:4])
            raise InputError(
                f'{len(found)} trials have a key starting with "{prefix}": {some}'
                f"{' ...' if len(found) > 4 else ''}. Give more of it."
            )
        for key, store in found.items():
            return read_kept(store, key)
    places = " or ".join(map(str, folders))
    raise InputError(
        f'No trial in {places} has a key starting with "{prefix}". The column `key` '
        "of a trials.csv lists them; --results names another folder."
    )


def _keys(folder: Path, prefix: str) -> dict[str, ExperimentStore]:
    found: dict[str, ExperimentStore] = {}
    for store in list_experiments(folder):
        for key in (*store.list_keys(), *read_rows(store)):
            if key.startswith(prefix):
                found.setdefault(key, store)
    return found


def read_kept(store: ExperimentStore, key: str) -> Kept:
    """Return one finished trial of an experiment."""
    record = store.read(key)
    if record is not None:
        return Kept(store=store, record=record)
    row = read_rows(store).get(key)
    if row is None:
        raise InputError(
            f"The record {store.path(key)} is damaged. "
            "Run the experiment again to have it computed anew."
        )
    trial = next((trial for trial in trials_of(store) if trial.key == key), None)
    if trial is None:
        raise InputError(
            f"{store.folder}: the trial {key[:12]} of trials.csv does not follow from "
            "experiment.yaml beside it, so it cannot be run again."
        )
    return Kept(
        store=store, record=Record(trial=trial, outcome=outcome_of(row)), row=row
    )


def trials_of(store: ExperimentStore) -> list[Trial]:
    """List the grid of an experiment, from its description.

    Without ``provenance.json`` the data and the methods as they are now say what it
    held; the keys then show whether that is the same.
    """
    try:
        return store.trials()
    except SymmfError:
        from symmf.experiment.data import load_data

        config = store.config()
        listed = config.dataset.all_options()
        datasets = [load_data(config.dataset.name, options) for options in listed]
        return expand(config, gather_facts(config, *datasets))


def replay(record: Record, backend: Backend | None = None) -> Replay:
    """Run a recorded trial again, in a process of its own or on ``backend``.

    Raises
    ------
    ConfigError
        If the method is not known any more.
    DataError
        If the data are not those of the record.
    """
    return replay_kept(Kept(store=ExperimentStore("."), record=record), backend)


def replay_kept(kept: Kept, backend: Backend | None = None) -> Replay:
    """Run a kept trial again; see :func:`replay`."""
    trial = kept.record.trial
    (outcome,) = [outcome for _, outcome in run_again([trial], backend)]
    if kept.row is None:
        differences = compare(kept.record.outcome, outcome)
    else:
        new = row_of(Record(trial=trial, outcome=outcome))
        differences = tuple(map(str, compare_rows(kept.row, new)))
    gone = sorted(trial.defaults.keys() - defaults_of(_method(trial)).keys())
    differences += tuple(f"the method has no parameter {name} now" for name in gone)
    return Replay(outcome=outcome, differences=differences)


def run_again(
    trials: Sequence[Trial], backend: Backend | None = None
) -> Iterator[tuple[Trial, Outcome]]:
    """Run trials, those of one data set after another, and yield their outcomes."""
    by_data: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        name = (trial.data_digest, repr(sorted(trial.options.items())))
        by_data.setdefault(name, []).append(trial)
    with LocalPool(1) as own:
        for group in by_data.values():
            jobs = [_job(trial) for trial in group]
            data = _data(group[0])
            updates = (backend or own).run(jobs, {data.digest: data}, threading.Event())
            for update in updates:
                if update.outcome is not None:
                    yield update.job.trial, update.outcome


def _job(trial: Trial) -> Job:
    """Return the job of a trial, with the defaults it had said where they changed."""
    method = _method(trial)
    now = defaults_of(method)
    then = {k: v for k, v in trial.defaults.items() if k in now and now[k] != v}
    parameters = {**then, **trial.parameters}
    return Job(trial=replace(trial, parameters=parameters), estimator=method)


def _method(trial: Trial) -> Any:
    from symmf.plugins import OutsideMethod, find_method

    try:
        method = find_method(trial.estimator)
    except InputError as error:
        if trial.plugin:
            raise ConfigError(
                f'The method "{trial.estimator}" comes from the plugin '
                f"{trial.plugin['name']}; give its file with --plugin, or install it."
            ) from None
        raise ConfigError(f"The trial cannot be run again. {error}") from None
    now = method.identity() if isinstance(method, OutsideMethod) else {}
    if now != dict(trial.plugin):
        raise ConfigError(
            f'The method "{trial.estimator}" is not the code the trial was made with '
            f"({_named(now)} instead of {_named(trial.plugin)})."
        )
    return method


def _named(plugin: Mapping[str, str]) -> str:
    if not plugin:
        return "the package's own"
    return f"{plugin['name']} {plugin['version']} {plugin['sha256'][:12]}".replace(
        "  ", " "
    )


def _data(trial: Trial) -> Any:
    from symmf.experiment.data import load_data

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


def compare(one: Outcome, two: Outcome) -> tuple[str, ...]:
    """Return the names of the computed values that are not the same bits."""
    return tuple(
        name for name in COMPARED if not _same(getattr(one, name), getattr(two, name))
    )


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return one.shape == two.shape and one.tobytes() == two.tobytes()
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return one.keys() == two.keys() and all(_same(one[k], two[k]) for k in one)
    if isinstance(one, float) and isinstance(two, float):
        return np.float64(one).tobytes() == np.float64(two).tobytes()
    return type(one) is type(two) and bool(one == two)
