"""What is done per experiment, and a record in words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symmf.errors import SymmfError
from symmf.experiment.estimate import Timings
from symmf.experiment.store.folder import ExperimentStore, list_experiments
from symmf.experiment.store.layout import TRIALS_FILE
from symmf.experiment.store.lock import holder_sentence, is_locked
from symmf.experiment.values import Record, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusLine:
    """How far one experiment is."""

    experiment: str
    total: int
    done: int
    failed: int
    seconds: float
    state: str
    #: computing time of what is missing, where something like it was timed
    left: float | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the line as text: name, counts, time, time left, state."""
        numbers = (self.done, self.total, self.failed, self.total - self.done)
        texts = (str(number) for number in numbers)
        left = "?" if self.left is None else f"{self.left:.0f} s"
        return (self.experiment, *texts, f"{self.seconds:.0f} s", left, self.state)


def survey(results: Path | str, reference: Path | None = None) -> list[StatusLine]:
    """Look at every experiment of a results folder.

    The time left is taken from its own trials, else from those of the study in the
    folder ``reference``.
    """
    return [_look(store, reference) for store in list_experiments(results)]


def _look(store: ExperimentStore, reference: Path | None) -> StatusLine:
    try:
        trials = store.trials()
    except SymmfError as error:
        return StatusLine(
            experiment=store.name,
            total=0,
            done=0,
            failed=0,
            seconds=0,
            state=str(error),
        )
    read = {key: store.read(key) for key in {trial.key for trial in trials}}
    found = [record for t in trials if (record := read[t.key]) is not None]
    # What a killed worker left is run again by the next run, so it is not done.
    records = [record for record in found if record.outcome.final]
    done = {record.key for record in records}
    missing = [trial for trial in trials if trial.key not in done]
    failed = sum(not record.outcome.ok for record in records)
    if is_locked(store.folder):
        state = f"running: {holder_sentence(store.folder)}"
    elif len(records) < len(trials):
        state = "incomplete"
    else:
        state = "some failed" if failed else "complete"
    return StatusLine(
        experiment=store.name,
        total=len(trials),
        done=len(records),
        failed=failed,
        seconds=sum(record.outcome.seconds or 0.0 for record in records),
        state=state,
        left=_left(missing, records, store, reference),
    )


def _left(
    missing: list[Trial],
    records: list[Record],
    store: ExperimentStore,
    reference: Path | None,
) -> float | None:
    timings = Timings()
    for record in records:
        timings.add_record(record)
    if reference is not None:
        timings.add_rows(reference / store.name)
    known = [guess for guess in timings.guess(missing) if guess is not None]
    return sum(known) if len(known) == len(missing) else None


def describe_record(store: ExperimentStore, record: Record) -> str:
    """Write a record in full, for reading."""
    trial, outcome = record.trial, record.outcome
    path = store.path(record.key)
    lines = [
        f"key          {record.key}",
        f"file         {path if path.exists() else store.folder / TRIALS_FILE}",
        f"experiment   {trial.experiment}",
        f"trial        {trial.title}",
        f"estimator    {trial.estimator} {_text(trial.parameters)}",
        f"defaults     {_text(trial.defaults)}",
        *_plugin_line(trial),
        f"data         {trial.dataset} {_text(trial.options)} {trial.data_digest[:12]}",
        f"classes      {' '.join(map(str, trial.classes)) or 'all'}",
        f"preprocess   {'+'.join(trial.preprocess) or 'none'}",
        f"random_state {trial.random_state} (seed {trial.seed})",
        f"threads      {trial.threads}",
        f"status       {outcome.status} (attempt {outcome.attempts})",
    ]
    if outcome.message:
        lines.append(f"message      {outcome.message}")
    lines += [f"{name:12} {value!r}" for name, value in outcome.scores.items()]
    told = ("n_samples", "n_iter", "stop", "solver", "matrix", "objective", "seconds")
    for name in told:
        lines.append(f"{name:12} {getattr(outcome, name)}")
    lines.append(f"peak memory  {outcome.peak_memory_mb} MB")
    lines.append(f"started      {outcome.started}")
    if outcome.error is not None and len(outcome.error):
        first, last = float(outcome.error[0]), float(outcome.error[-1])
        lines.append(
            f"trace        {len(outcome.error)} iterates, error {first!r} to {last!r}"
        )
    lines += [f"warning      {warning}" for warning in outcome.warnings]
    if record.provenance:
        lines.append("provenance")
        lines += _indented(json.dumps(record.provenance, indent=2, sort_keys=True))
    if outcome.traceback:
        lines.append("traceback")
        lines += _indented(outcome.traceback)
    return "\n".join(lines)


def _plugin_line(trial: Trial) -> list[str]:
    if not trial.plugin:
        return []
    return [f"plugin       {' '.join(filter(None, trial.plugin.values()))}"]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True) if value else ""


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.rstrip().splitlines()]
