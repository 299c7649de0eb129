"""Runs one recorded trial again and compares it with its record, bit by bit."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symmf.errors import ConfigError, DataError
from symmf.experiment.config.messages import hint
from symmf.experiment.config.resolve import defaults_of
from symmf.experiment.execution.backend import Backend
from symmf.experiment.execution.local_pool import LocalPool
from symmf.experiment.values import Job, Outcome, Record

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
    """The new outcome and the names of what differs from the record."""

    outcome: Outcome
    differences: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether every bit is the same."""
        return not self.differences


def replay(record: Record, backend: Backend | None = None) -> Replay:
    """Run a recorded trial again, in a process of its own or on ``backend``.

    Raises
    ------
    ConfigError
        If the method is not known any more.
    DataError
        If the data are not those of the record.
    """
    from symmf.clustering import METHODS
    from symmf.experiment.data import load_data

    trial = record.trial
    if trial.estimator not in METHODS:
        raise ConfigError(
            f'There is no method "{trial.estimator}" any more; '
            f"{hint(trial.estimator, METHODS)}"
        )
    data = load_data(trial.dataset, trial.options)
    if data.digest != trial.data_digest:
        raise DataError(
            f"The data set {trial.dataset} is not the one the record was made from "
            f"(digest {data.digest[:12]} instead of {trial.data_digest[:12]})."
        )
    job = Job(trial=trial, estimator=METHODS[trial.estimator])
    with LocalPool(1) as own:
        place = backend or own
        updates = place.run([job], {data.digest: data}, threading.Event())
        (outcome,) = [u.outcome for u in updates if u.outcome is not None]
    differences = compare(record.outcome, outcome)
    if defaults_of(job.estimator) != dict(trial.defaults):
        differences += ("defaults of the method",)
    return Replay(outcome=outcome, differences=differences)


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
