"""One trial: choose the samples, preprocess, fit, score. Failures are outcomes too."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symmf.experiment.config.grid import Trial
from symmf.experiment.execution.memory import MemoryMeter, is_out_of_memory
from symmf.experiment.provenance import now
from symmf.notation import FloatArray, LabelArray

if TYPE_CHECKING:
    from symmf.datasets import Dataset

OK = "ok"
STATUSES = (OK, "failed", "diverged", "timeout", "memory", "died")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A trial with what a worker needs to run it: the estimator and the limits."""

    trial: Trial
    estimator: Callable[..., Any]
    seconds: float | None = None
    memory_gb: float | None = None


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What a trial came to. Only an outcome with status ``ok`` counts as a result."""

    status: str
    message: str = ""
    traceback: str = ""
    warnings: list[str] = field(default_factory=list)
    started: str = ""
    seconds: float | None = None
    peak_memory_mb: float | None = None
    n_samples: int | None = None
    labels: LabelArray | None = None
    y: LabelArray | None = None
    scores: dict[str, float] = field(default_factory=dict)
    n_iter: int | None = None
    stop: str = ""
    objective: float | None = None
    error: FloatArray | None = None
    split_error: FloatArray | None = None
    trace_seconds: FloatArray | None = None
    environment: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the trial counts as a result."""
        return self.status == OK


def build(job: Job) -> Any:
    """Return the estimator of a trial with all its parameters set."""
    trial = job.trial
    parameters = dict(trial.parameters)
    parameters |= {"n_clusters": trial.n_clusters, "random_state": trial.random_state}
    if trial.laplacian_weight is not None:
        parameters["laplacian_weight"] = trial.laplacian_weight
    return job.estimator(**parameters)


def run_trial(job: Job, data: Dataset) -> Outcome:
    """Run one trial; whatever it raises becomes a failed outcome.

    ``seconds`` is the time of ``fit`` alone: choosing samples, preprocessing and
    scoring are outside. Warnings are kept in the outcome, not shown.
    """
    outcome = Outcome(status=OK, started=now())
    with warnings.catch_warnings(record=True) as caught, MemoryMeter() as memory:
        warnings.simplefilter("default")
        try:
            memory.limit(job.memory_gb)
            _run(job, data, outcome)
        except Exception as error:
            memory.limit(None)
            out_of_memory = is_out_of_memory(error)
            outcome.status = "memory" if out_of_memory else "failed"
            outcome.message = f"{type(error).__name__}: {error}".strip().rstrip(":")
            if out_of_memory and job.memory_gb is not None:
                outcome.message += f" (limit {job.memory_gb:g} GiB)"
            outcome.traceback = traceback.format_exc()
    outcome.peak_memory_mb = memory.peak_mb
    texts = (f"{w.category.__name__}: {w.message}" for w in caught)
    outcome.warnings = list(dict.fromkeys(texts))
    return outcome


def _run(job: Job, data: Dataset, outcome: Outcome) -> None:
    from symmf.datasets.preprocess import preprocess
    from symmf.metrics import silhouette

    trial = job.trial
    chosen = data.subset(trial.classes) if trial.classes else data
    outcome.n_samples, outcome.y = chosen.n_samples, chosen.y
    X = preprocess(chosen.X, trial.preprocess)
    estimator = build(job)

    start = time.perf_counter()
    try:
        estimator.fit(X)
    finally:
        outcome.seconds = time.perf_counter() - start

    _read_fit(estimator, outcome)
    if outcome.stop == "diverged":
        outcome.status = "diverged"
        outcome.message = f"The iteration diverged after {outcome.n_iter} iterations."
        return
    labels = np.asarray(estimator.labels_)
    if labels.shape != chosen.y.shape:
        raise ValueError(
            f"{trial.estimator} gave labels of shape {labels.shape} for "
            f"{chosen.n_samples} samples."
        )
    outcome.labels = labels.astype(np.int64)
    outcome.scores = score(chosen.y, outcome.labels)
    if (H := getattr(estimator, "H_", None)) is not None:
        # Of the factor's own rows: what can choose lambda without knowing classes.
        outcome.scores["silhouette"] = silhouette(H, outcome.labels)


def _read_fit(estimator: Any, outcome: Outcome) -> None:
    n_iter = getattr(estimator, "n_iter_", None)
    outcome.n_iter = None if n_iter is None else int(n_iter)
    stop = getattr(estimator, "stop_", "")
    outcome.stop = str(getattr(stop, "value", stop) or "")
    objective = getattr(estimator, "objective_", None)
    outcome.objective = None if objective is None else float(objective)
    history = getattr(estimator, "history_", None)
    outcome.error = _trace(getattr(history, "error", None))
    outcome.split_error = _trace(getattr(history, "split_error", None))
    outcome.trace_seconds = _trace(getattr(history, "seconds", None))


def _trace(values: Any) -> FloatArray | None:
    return None if values is None else np.asarray(values, dtype=np.float64).ravel()


def score(y: LabelArray, labels: LabelArray) -> dict[str, float]:
    """Return every metric of a clustering."""
    from symmf.metrics import METRICS

    return {name: float(m.function(y, labels)) for name, m in METRICS.items()}
