"""What a run keeps: records at once, tables now and then, description, events."""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from symmf.errors import SymmfError
from symmf.experiment import provenance
from symmf.experiment.plan import Plan
from symmf.experiment.store.layout import EVENTS_FILE
from symmf.experiment.store.trials_table import Scores, is_whole, write_trials
from symmf.experiment.values import Job, Outcome, Record, now
from symmf.plugins import all_datasets

# Seconds after which the tables of a long run are brought up to date.
REFRESH = 60.0


class Recorder:
    """Turns outcomes into records, and writes what describes them.

    A record outlives the run from the moment it is kept, however that ends. What a
    crash of the machine can cost is the records since the last refresh: their files
    may be missing or damaged then, which their checksums tell, and the next run
    computes those trials again. The holder of the folder's lock makes one for an
    experiment.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.code = provenance.code()
        self._origin = {
            **self.code,
            "config_digest": plan.config.digest(),
            "data_digest": plan.facts.data_digest,
        }
        self._unsynced: list[str] = []
        self._scores: Scores = {}
        # Whether the description tells the workers' environment.
        self._described = False
        self._refreshed = time.monotonic()

    def start(self) -> None:
        """Describe the experiment, unless that is done and nothing will run."""
        plan = self.plan
        try:
            told = plan.store.described() == (plan.config, plan.facts)
        except SymmfError:
            told = False
        if plan.missing() or not told:
            self._describe(plan.store.environment())

    def _describe(self, environment: Mapping[str, Any]) -> None:
        """Write the description, with the environment in which trials run.

        Until a worker has told its own it is that of the run before, if there was one.
        """
        plan = self.plan
        about = {
            "started": now(),
            "environment": environment,
            "dataset": _about_data(plan),
            "trials": {"total": len(plan.trials), "beside": len(plan.beside.trials)},
        }
        plan.store.write_description(plan.config, plan.facts, {**self._origin, **about})

    def keep(self, job: Job, outcome: Outcome, environment: Mapping[str, Any]) -> None:
        """Write the record of an outcome."""
        if environment and not self._described:
            self._described = True
            self._describe(environment)
        record = Record(
            trial=job.trial,
            outcome=outcome if outcome.started else replace(outcome, started=now()),
            provenance={**self._origin, "environment": environment},
        )
        self.plan.store.write(record, sync=False)
        self._unsynced.append(record.key)
        self.plan.records[record.key] = record
        # The worker scored these labels a moment ago, by the same metrics.
        self._scores[record.key] = outcome.scores
        if time.monotonic() - self._refreshed > REFRESH:
            self.refresh()

    def refresh(self) -> None:
        """Bring the records to the disk and the tables up to date."""
        plan = self.plan
        unsynced, self._unsynced = self._unsynced, []
        if unsynced:
            plan.store.sync(unsynced)
        trials = [*plan.trials, *plan.beside.trials]
        records = {**plan.beside.records, **plan.records}
        if not is_whole(plan.store.folder, trials, records):
            write_trials(plan.store, trials, records, self._scores)
        self._refreshed = time.monotonic()


def _about_data(plan: Plan) -> dict[str, Any]:
    data, members = plan.data, plan.facts.members
    sizes = {"n_features": data.n_features, "n_classes": data.n_classes}
    return {
        "name": data.name,
        "title": all_datasets()[data.name].title if members else data.title,
        "n_samples": plan.facts.n_samples,
        **({"n_members": len(members)} if members else sizes),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in an experiment.

    ``kind`` is one of ``notice`` (text), ``run_started`` (total, done, failed),
    ``trial_started``, ``trial_lost`` (message; it will be begun again),
    ``trial_finished`` (status, message, seconds), ``interrupted`` and ``run_finished``
    (remaining, failed).
    """

    kind: str
    experiment: str
    details: Mapping[str, Any] = field(default_factory=dict)


Listener: TypeAlias = Callable[[Event], None]


class Journal:
    """Tells the events of an experiment to a listener and to its log.

    The log has one JSON object per line. If it cannot be written it ends there: it is
    no result, and what is one says so itself when the disk is full.
    """

    def __init__(self, plan: Plan, listener: Listener | None) -> None:
        self._experiment, self._listener = plan.name, listener
        self._log: io.FileIO | None = None
        with suppress(OSError):
            self._log = io.FileIO(plan.store.folder / EVENTS_FILE, "a+")
            self._log.seek(-1, os.SEEK_END)  # fails in an empty file
            # A run killed in mid-line must not spoil the first line of this one.
            if self._log.read(1) != b"\n":
                self._log.write(b"\n")

    def tell(self, kind: str, **details: Any) -> None:
        """Say that something happened."""
        line = json.dumps({"time": now(), "event": kind, **details})
        try:
            if self._log is not None:
                self._log.write(line.encode() + b"\n")
        except OSError:
            self.close()
        if self._listener is not None:
            event = Event(kind=kind, experiment=self._experiment, details=details)
            self._listener(event)

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()
            self._log = None
