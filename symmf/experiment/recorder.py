"""Keeps what trials came to: records at once, tables now and then, the description."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from symmf.common.files import read_text
from symmf.errors import DataError
from symmf.experiment import provenance
from symmf.experiment.plan import Plan
from symmf.experiment.store.layout import EXPERIMENT_FILE
from symmf.experiment.store.trials_table import (
    Scores,
    is_whole,
    write_trials,
)
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
        if self.plan.missing() or not _is_described(self.plan):
            self._describe(self.plan.store.environment())

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
        plan, unsynced = self.plan, self._unsynced
        self._unsynced = []
        if unsynced:
            plan.store.sync(unsynced)
        trials = [*plan.trials, *plan.beside.trials]
        records = {**plan.beside.records, **plan.records}
        if not is_whole(plan.store.folder, trials, records):
            write_trials(plan.store, trials, records, self._scores)
        self._refreshed = time.monotonic()


def _is_described(plan: Plan) -> bool:
    try:
        text = read_text(plan.store.folder / EXPERIMENT_FILE)
        return bool(plan.store.provenance()) and text == plan.config.as_yaml()
    except (OSError, UnicodeDecodeError, DataError):
        return False


def _about_data(plan: Plan) -> dict[str, Any]:
    data, members = plan.data, plan.facts.members
    sizes = {"n_features": data.n_features, "n_classes": data.n_classes}
    return {
        "name": data.name,
        "title": all_datasets()[data.name].title if members else data.title,
        "n_samples": plan.facts.n_samples,
        **({"n_members": len(members)} if members else sizes),
    }
