"""Keeps what trials came to: records at once, tables now and then, the description."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from symmf.common.files import read_text
from symmf.errors import DataError
from symmf.experiment import provenance
from symmf.experiment.plan import Plan
from symmf.experiment.store.counts import count, inputs_digest, keep_counts
from symmf.experiment.store.layout import EXPERIMENT_FILE
from symmf.experiment.store.places import results_place
from symmf.experiment.store.trials_table import (
    Scores,
    tables_are_whole,
    write_trials,
)
from symmf.experiment.store.writer import RecordWriter
from symmf.experiment.values import Job, Outcome, Record, now

# Seconds after which the tables of a long run are brought up to date.
REFRESH = 60.0


class Recorder:
    """Turns outcomes into records, and writes what describes them.

    The holder of the folders' locks makes one for a run.
    """

    def __init__(self, plans: Sequence[Plan]) -> None:
        self.code = provenance.code()
        self._plans = {plan.name: plan for plan in plans}
        self._writer = RecordWriter()
        self._origins = {plan.name: self._origin(plan) for plan in plans}
        self._scores: dict[str, Scores] = {plan.name: {} for plan in plans}
        # Experiments whose tables do not show all there is.
        self._stale: set[str] = set()
        # Experiments whose description names the worker's environment.
        self._described: set[str] = set()
        self._refreshed = time.monotonic()

    def _origin(self, plan: Plan) -> dict[str, Any]:
        digests = {
            "config_digest": plan.config.digest(),
            "data_digest": plan.facts.data_digest,
        }
        return {**self.code, **digests}

    def start(self) -> None:
        """Describe every experiment, unless that is done and nothing will run."""
        for plan in self._plans.values():
            if plan.missing() or not _is_described(plan):
                self._describe(plan, plan.store.environment())

    def _describe(self, plan: Plan, environment: Mapping[str, Any]) -> None:
        """Write the description, with the environment in which trials run.

        Until a worker has told its own it is that of the run before, if there was one.
        """
        about = {
            "started": now(),
            "environment": environment,
            "dataset": _about_data(plan),
        }
        origin = {**self._origins[plan.name], **about}
        plan.store.write_description(plan.config, plan.facts, origin)
        self._stale.add(plan.name)

    def keep(self, job: Job, outcome: Outcome, environment: Mapping[str, Any]) -> None:
        """Make a record of an outcome and begin to write it."""
        name = job.trial.experiment
        plan = self._plans[name]
        if environment and name not in self._described:
            self._described.add(name)
            self._describe(plan, environment)
        record = Record(
            trial=job.trial,
            outcome=outcome if outcome.started else replace(outcome, started=now()),
            provenance={**self._origins[name], "environment": environment},
        )
        self._writer.put(plan.store, record)
        plan.records[record.key] = record
        # The worker scored these labels a moment ago, by the same metrics.
        self._scores[name][record.key] = outcome.scores
        self._stale.add(name)
        if time.monotonic() - self._refreshed > REFRESH:
            self.refresh()

    def refresh(self) -> None:
        """Wait for the records and bring the tables up to date."""
        self._writer.flush()
        for plan in self._plans.values():
            trials = [*plan.trials, *plan.beside.trials]
            records = {**plan.beside.records, **plan.records}
            stale = plan.name in self._stale
            if stale or not tables_are_whole(plan.store.folder, trials, records):
                write_trials(plan.store, trials, records, self._scores[plan.name])
            self._keep_counts(plan)
        self._stale.clear()
        self._refreshed = time.monotonic()

    def _keep_counts(self, plan: Plan) -> None:
        counts = count(plan.trials, plan.records)
        # How long the rest will take is for `symmf status` to find out.
        if counts.left is not None:
            folder = plan.store.folder
            study = results_place(folder.parent, reference=True).folder
            keep_counts(folder, inputs_digest(folder, study), counts)

    def close(self) -> None:
        """Finish writing records."""
        self._writer.close()


def _is_described(plan: Plan) -> bool:
    try:
        text = read_text(plan.store.folder / EXPERIMENT_FILE)
        return bool(plan.store.provenance()) and text == plan.config.as_yaml()
    except (OSError, UnicodeDecodeError, DataError):
        return False


def _about_data(plan: Plan) -> dict[str, Any]:
    data = plan.data
    if not plan.facts.members:
        return {
            "name": data.name,
            "title": data.title,
            "n_samples": data.n_samples,
            "n_features": data.n_features,
            "n_classes": data.n_classes,
        }
    from symmf.datasets import get_spec

    return {
        "name": data.name,
        "title": get_spec(data.name).title,
        "n_members": len(plan.datasets),
        "n_samples": plan.facts.n_samples,
    }
