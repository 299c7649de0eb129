"""What is done per experiment."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from symmf.errors import SymmfError
from symmf.experiment.store.counts import (
    Counts,
    count,
    inputs_digest,
    keep_counts,
    kept_counts,
)
from symmf.experiment.store.lock import holder_sentence, is_locked
from symmf.experiment.store.places import experiment_folders

# What reads configs and records is imported where it is needed: mostly it is not.
if TYPE_CHECKING:
    from symmf.experiment.values import Record, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusLine:
    """How far one experiment is."""

    experiment: str
    counts: Counts
    state: str

    def cells(self) -> tuple[str, ...]:
        """Return the line as text: name, counts, time, time left, state."""
        found = self.counts
        numbers = (found.done, found.total, found.failed, found.total - found.done)
        texts = (str(number) for number in numbers)
        left = "?" if found.left is None else f"{found.left:.0f} s"
        return (self.experiment, *texts, f"{found.seconds:.0f} s", left, self.state)


def survey(results: Path | str, reference: Path | None = None) -> list[StatusLine]:
    """Look at every experiment of a results folder.

    The time left is taken from its own trials, else from those of the study in the
    folder ``reference``. What has not changed since it was counted is not read again.
    """
    return [_look(folder, reference) for folder in experiment_folders(results)]


def _look(folder: Path, reference: Path | None) -> StatusLine:
    # Before anything is read: a change in the meantime then shows as one.
    digest = inputs_digest(folder, reference)
    counts = kept_counts(folder, digest)
    if counts is None:
        try:
            with _Warnings() as warnings:
                counts = _read(folder, reference)
        except SymmfError as error:
            nothing = Counts(total=0, done=0, failed=0, seconds=0.0)
            return StatusLine(experiment=folder.name, counts=nothing, state=str(error))
        if not warnings.said:
            # What was warned about is to be told each time.
            keep_counts(folder, digest, counts)
    if is_locked(folder):
        state = f"running: {holder_sentence(folder)}"
    elif counts.done < counts.total:
        state = "incomplete"
    else:
        state = "some failed" if counts.failed else "complete"
    return StatusLine(experiment=folder.name, counts=counts, state=state)


class _Warnings(logging.Handler):
    """Notices whether the package warns while records are read."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said = False

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002
        self.said = True

    def __enter__(self) -> Self:
        logging.getLogger("symmf").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("symmf").removeHandler(self)


def _read(folder: Path, reference: Path | None) -> Counts:
    """Count an experiment from its description and its records."""
    from symmf.experiment.store.folder import ExperimentStore

    store = ExperimentStore(folder)
    trials = store.trials()
    read = {key: store.read(key) for key in {trial.key for trial in trials}}
    found = {key: record for key, record in read.items() if record is not None}
    left = _left(trials, found, folder, reference)
    return replace(count(trials, found), left=left)


def _left(
    trials: list[Trial],
    found: Mapping[str, Record],
    folder: Path,
    reference: Path | None,
) -> float | None:
    from symmf.experiment.estimate import Timings

    timings = Timings()
    # Trials, not records: two entries of a grid may share one computation.
    records = [found[t.key] for t in trials if t.key in found]
    done = [record for record in records if record.outcome.final]
    for record in done:
        timings.add_record(record)
    if reference is not None:
        timings.add_rows(reference / folder.name)
    keys = {record.key for record in done}
    guesses = timings.guess(trial for trial in trials if trial.key not in keys)
    known = [guess for guess in guesses if guess is not None]
    return sum(known) if len(known) == len(guesses) else None
