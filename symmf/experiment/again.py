"""Finished trials found again, run again, and compared by their rows.

A trial is finished as a record, or as a row of ``trials.csv`` beside
``experiment.yaml`` (so is the committed study). Both are enough to compute it again,
and the row says what came out: status, the digest of the labels, scores, iterations,
stop. A key is the same only where data, method, parameters, draw and start are the
same; so equal keys with different rows point at the environment: libraries, processor.
"""

from __future__ import annotations

import json
import math
import random
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symmf.common.files import own_file
from symmf.common.validation import unknown_name
from symmf.common.yaml import Document
from symmf.errors import ConfigError, DataError, InputError, SymmfError
from symmf.experiment.config.grid import expand, with_data
from symmf.experiment.data import load_data
from symmf.experiment.provenance import environment
from symmf.experiment.run.backend import Backend
from symmf.experiment.run.local_pool import LocalPool
from symmf.experiment.store.folder import ExperimentStore, list_experiments
from symmf.experiment.store.layout import PROVENANCE_FILE, RECORD_SUFFIX, TRIALS_FILE
from symmf.experiment.store.trials_table import (
    OPTIONAL_COLUMNS,
    STORED_SCORES,
    read_trials,
    row_of,
    rows_by_key,
    trial_columns,
)
from symmf.experiment.values import Job, Outcome, Record, Status, Trial, canonical_json
from symmf.metrics import METRICS

if TYPE_CHECKING:
    from symmf.datasets import Dataset

#: A row of a table of trials, by column.
Row = Mapping[str, Any]

SCORE_SLACK = 1e-12


# Finding


@dataclass(frozen=True, slots=True, kw_only=True)
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
        found: dict[str, ExperimentStore] = {}
        for store in list_experiments(folder):
            for key in (*store.list_keys(), *read_trials(store.folder)["key"]):
                if key.startswith(prefix):
                    found.setdefault(key, store)
        if len(found) > 1:
            some = ", ".join(f"{k[:12]} ({s.name})" for k, s in list(found.items())[:4])
            raise InputError(
                f'{len(found)} trials have a key starting with "{prefix}": {some}'
                f"{' ...' if len(found) > 4 else ''}. Give more of it."
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
        row = row_of(record)
        return Finished(store=store, trial=record.trial, row=row, record=record)
    found = rows_by_key(read_trials(store.folder)).get(key)
    if found is None:
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
    return Finished(store=store, trial=trial, row=found)


def trials_of(store: ExperimentStore) -> list[Trial]:
    """List the grid of an experiment, from its description.

    Without ``provenance.json`` the data and the methods as they are now say what it
    held; the keys then show whether that is the same.
    """
    try:
        return store.trials()
    except SymmfError:
        config = store.config()
        listed = config.dataset.all_options()
        datasets = [load_data(config.dataset.name, options) for options in listed]
        document = Document(source=str(store.folder), data=None)
        return expand(*with_data(config, datasets, document))


def describe(found: Finished) -> str:
    """Write a finished trial in full, for reading."""
    trial, row, record = found.trial, found.row, found.record
    about: dict[str, Any] = {
        "key": trial.key,
        "file": found.store.path(trial.key)
        if record
        else found.store.folder / TRIALS_FILE,
        "experiment": trial.experiment,
        "trial": trial.title,
        "estimator": f"{trial.estimator} {_text(trial.parameters)}",
        "behaviour": trial.behaviour,
        "plugin": " ".join(filter(None, trial.plugin.values())),
        "data": f"{trial.dataset} {_text(trial.options)} {trial.data_digest[:12]}",
        "classes": " ".join(map(str, trial.classes)) or "all",
        "draw": _text(trial.draw),
        "preprocess": "+".join(trial.preprocess) or "none",
        "random_state": f"{trial.random_state} (seed {trial.seed})",
        "threads": trial.threads,
        "status": row["status"],
        "message": row["message"],
        **found.scores,
        **{n: _cell(n, row) for n in ("n_samples", "n_iter")},
        **{n: row[n] for n in ("stop", "solver", "matrix")},
        "seconds": row["seconds"],
        "peak memory": f"{row['peak_memory_mb']} MB",
        "labels": f"sha256 {row['labels_sha256']}" if row["labels_sha256"] else "",
    }
    lines = [
        f"{name:12} {value}"
        for name, value in about.items()
        if value != "" and value == value  # NaN: there is none
    ]
    if record is not None:
        outcome = record.outcome
        if outcome.error is not None and len(outcome.error):
            first, last = float(outcome.error[0]), float(outcome.error[-1])
            count = len(outcome.error)
            lines.append(f"trace        {count} iterates, error {first!r} to {last!r}")
        lines.append(f"started      {outcome.started}")
        lines += [f"warning      {warning}" for warning in outcome.warnings]
        texts = {
            "provenance": json.dumps(record.provenance, indent=2, sort_keys=True),
            "traceback": outcome.traceback,
        }
        for name, text in texts.items():
            if text:
                lines += [name, *(f"  {line}" for line in text.rstrip().splitlines())]
    return "\n".join(lines)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True) if value else ""


# Comparing


def compare_rows(kept: Row, new: Row) -> tuple[str, ...]:
    """Say what was computed differently; times and memory are measured, not computed.

    A table of an earlier version lacks some columns: what is empty there is no
    difference.
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


def _scores() -> tuple[str, ...]:
    return (*METRICS, *STORED_SCORES)


def _same(column: str, one: Any, two: Any) -> bool:
    empty = [value == "" or value != value for value in (one, two)]
    if any(empty):
        return all(empty) or column in OPTIONAL_COLUMNS
    if column not in _scores():
        return bool(one == two)
    # The numbering of clusters is the order in which a score sums: its last bits.
    return bool(abs(one - two) <= SCORE_SLACK)


def _cell(column: str, row: Row) -> str:
    value = row[column]
    empty = value == "" or value != value
    return "none" if empty else str(trial_columns()[column](value))


# Running again


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The new outcome and what differs from what was kept."""

    outcome: Outcome
    differences: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether everything that was kept came out again."""
        return not self.differences


def replay(found: Finished, backend: Backend | None = None) -> Replay:
    """Run a finished trial again, in a process of its own or on ``backend``.

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
    return Replay(outcome=outcome, differences=compare_rows(found.row, new))


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


# Own trials and the reference study


class Agreement(StrEnum):
    """How a trial compares with the reference's of the same key."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NOT_RUN = "not run"
    #: it could not be run again: data or a library are missing
    MISSING = "cannot run"
    #: an own trial with a key the reference does not have
    ELSEWHERE = "not in the reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialVerdict:
    """One trial, compared."""

    key: str
    title: str
    agreement: Agreement
    differences: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """One experiment, compared; ``environment`` says in what the runs differ."""

    experiment: str
    trials: Sequence[TrialVerdict] = field(repr=False)
    environment: tuple[str, ...] = ()

    def count(self, agreement: Agreement) -> int:
        """Return the number of trials that compare so."""
        return Counter(trial.agreement for trial in self.trials)[agreement]

    def different(self) -> list[TrialVerdict]:
        """List the trials that came out differently."""
        return [t for t in self.trials if t.agreement is Agreement.DIFFERENT]


def verify(
    own: Path, reference: Path, experiments: Sequence[str] = ()
) -> list[Verification]:
    """Compare the own trials of every experiment that the reference has, too."""
    studies = _stores(reference, experiments)
    mine = {store.name: store for store in list_experiments(own)}
    return [
        _verify(mine[name], study) for name, study in studies.items() if name in mine
    ]


def _stores(folder: Path, experiments: Sequence[str]) -> dict[str, ExperimentStore]:
    """Return the experiments of a folder by name, or those asked for."""
    found = {store.name: store for store in list_experiments(folder)}
    for name in experiments:
        if name not in found:
            raise InputError(unknown_name("experiment", name, found))
    return {name: found[name] for name in found if name in (experiments or found)}


def _verify(own: ExperimentStore, study: ExperimentStore) -> Verification:
    rows = rows_by_key(read_trials(own.folder))
    for key in own.list_keys():
        # Of a config that was run before, so not in the table.
        if key not in rows and (record := own.read(key)) is not None:
            rows[key] = row_of(record)
    wanted = rows_by_key(read_trials(study.folder))
    verdicts = [_verdict(row, rows.get(key)) for key, row in wanted.items()]
    verdicts += [
        TrialVerdict(key=key, title=_title(row), agreement=Agreement.ELSEWHERE)
        for key, row in rows.items()
        if key not in wanted
    ]
    with own_file(own.folder / PROVENANCE_FILE):
        changes = environment_differences(own.environment(), study.environment())
    return Verification(experiment=study.name, trials=verdicts, environment=changes)


def _verdict(row: Row, own: Row | None) -> TrialVerdict:
    differences = () if own is None else compare_rows(row, own)
    agreement = Agreement.DIFFERENT if differences else Agreement.EQUAL
    return TrialVerdict(
        key=row["key"],
        title=_title(row),
        agreement=Agreement.NOT_RUN if own is None else agreement,
        differences=differences,
    )


def verify_sample(
    reference: Path,
    count: int,
    *,
    seed: int = 0,
    experiments: Sequence[str] = (),
    backend: Backend | None = None,
) -> list[Verification]:
    """Run trials of the reference again, drawn at random, and compare.

    Only trials that gave a result are drawn; the same seed draws the same ones.

    Raises
    ------
    InputError
        If the reference has no trial to draw from.
    """
    studies = _stores(reference, experiments)
    rows = {
        (name, key): row
        for name, study in studies.items()
        for key, row in rows_by_key(read_trials(study.folder)).items()
        if row["status"] == Status.OK
    }
    if not rows:
        raise InputError(f"There is no finished trial in {reference} to run again.")
    drawn = random.Random(seed).sample(sorted(rows), min(count, len(rows)))
    # Experiments may share a trial: it belongs to the one it was drawn from.
    trials: dict[tuple[str, str], Trial] = {}
    for name in sorted({name for name, _ in drawn}):
        trials |= {(name, trial.key): trial for trial in trials_of(studies[name])}
    missing = [key for name, key in drawn if (name, key) not in trials]
    if missing:
        raise InputError(
            f"{reference}: {len(missing)} drawn trials do not follow from the "
            f"experiment.yaml beside them ({missing[0][:12]} ...)."
        )
    verdicts: dict[str, list[TrialVerdict]] = {name: [] for name, _ in drawn}
    with LocalPool(1) as own:
        for trial, outcome in run_again([trials[d] for d in drawn], backend or own):
            row = rows[trial.experiment, trial.key]
            verdicts[trial.experiment].append(
                TrialVerdict(
                    key=trial.key,
                    title=trial.title,
                    agreement=Agreement.MISSING,
                    reason=str(outcome),
                )
                if isinstance(outcome, SymmfError)
                else _verdict(row, row_of(Record(trial=trial, outcome=outcome)))
            )
    here = environment()
    return [
        Verification(
            experiment=name,
            trials=found,
            environment=environment_differences(here, studies[name].environment()),
        )
        for name, found in sorted(verdicts.items())
    ]


def _title(row: Row) -> str:
    weight = "" if math.isnan(row["lambda"]) else f", lambda {row['lambda']:g}"
    return f"{row['method']}, K={row['n_clusters']}, trial {row['trial']}{weight}"


def environment_differences(
    own: Mapping[str, Any], reference: Mapping[str, Any]
) -> tuple[str, ...]:
    """Say in what two environments differ, one line each.

    Examples
    --------
    >>> environment_differences(
    ...     {"python": "3.12.1", "libraries": {"numpy": "2.4.0"}},
    ...     {"python": "3.11.7", "libraries": {"numpy": "2.4.0"}},
    ... )
    ('python 3.12.1, reference 3.11.7',)
    """
    one, two = _facts(own), _facts(reference)
    return tuple(
        f"{name} {one.get(name, 'missing')}, reference {two.get(name, 'missing')}"
        for name in dict.fromkeys((*one, *two))
        if one.get(name) != two.get(name)
    )


def _facts(found: Mapping[str, Any]) -> dict[str, str]:
    """Return what may change bits, as text by name."""
    names = ("python", "cpu", "platform")
    facts = {name: str(found[name]) for name in names if name in found}
    facts |= found.get("libraries", {})
    kept = ("internal_api", "version", "architecture", "num_threads")
    if "blas" in found:
        facts["BLAS"] = "; ".join(
            " ".join(str(library[k]) for k in kept if k in library)
            for library in found["blas"]
        )
    return facts
