"""What a run would cost: time from recorded timings, memory from sizes and records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from symmf.errors import SymmfError
from symmf.experiment.store.trials_table import read_trials
from symmf.experiment.values import Record, Status, Trial

if TYPE_CHECKING:
    from symmf.experiment.plan import Plan

# An idle worker with Python, numpy, scipy and scikit-learn loaded.
WORKER_MB = 200.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The cost of the missing trials of one experiment.

    ``seconds`` is the computing time of the ``timed`` trials for which there is any
    recorded timing to go by. ``memory_mb`` is for one worker: the highest recorded
    use, or what an idle worker and three copies of the data take (the whole set, the
    chosen samples, the preprocessed samples) where nothing is recorded; a method that
    forms an n x n matrix needs more.
    """

    experiment: str
    total: int
    done: int
    failed: int
    missing: int
    timed: int
    seconds: float
    memory_mb: float
    memory_recorded: bool


def estimate(
    plan: Plan,
    *,
    fresh: bool = False,
    retry_failed: bool = False,
    reference: Path | None = None,
) -> Estimate:
    """Estimate the cost of what a run of ``plan`` would compute.

    Times are those of the experiment's own records, else those of the study in the
    folder ``reference``.
    """
    missing = plan.missing()
    again = plan.selected if fresh else plan.failed() if retry_failed else []
    missing += [t for t in again if t.key in plan.records]
    timings = Timings()
    for record in plan.records.values():
        timings.add_record(record)
    if reference is not None:
        timings.add_rows(reference / plan.name)
    guesses = timings.guess(missing)
    known = [guess for guess in guesses if guess is not None]
    recorded = [
        record.outcome.peak_memory_mb
        for record in plan.records.values()
        if record.outcome.peak_memory_mb is not None
    ]
    recorded = recorded or [peak for peak in timings.peaks_mb if peak > 0]
    return Estimate(
        experiment=plan.name,
        total=len(plan.selected),
        done=plan.done(),
        failed=len(plan.failed()),
        missing=len(missing),
        timed=len(known),
        seconds=sum(known),
        memory_mb=max(recorded) if recorded else rough_memory_mb(plan),
        memory_recorded=bool(recorded),
    )


class Timings:
    """Known times, looked up from the most to the least similar trial.

    What was added first counts; later ones only where it is silent.
    """

    def __init__(self) -> None:
        self._sources: list[dict[Any, list[float]]] = [{}, {}]
        self.peaks_mb: list[float] = []

    def add_record(self, record: Record) -> None:
        """Add the time of an own trial."""
        if record.outcome.ok and record.outcome.seconds is not None:
            trial = record.trial
            names = _names(
                trial.method,
                trial.estimator,
                trial.n_clusters,
                trial.laplacian_weight,
            )
            self._add(0, names, record.outcome.seconds)

    def add_rows(self, folder: Path) -> None:
        """Add the times in the ``trials.csv`` of another run of the experiment."""
        try:
            table = read_trials(folder)
        except SymmfError:
            return
        timed = table[(table["status"] == Status.OK) & (table["seconds"] >= 0)]
        for row in timed.to_dict("records"):
            weight = None if math.isnan(row["lambda"]) else row["lambda"]
            k = row["n_clusters"]
            names = _names(row["method"], row["estimator"], k, weight)
            self._add(1, names, row["seconds"])
        self.peaks_mb += timed["peak_memory_mb"].dropna().tolist()

    def _add(self, source: int, names: Iterable[Any], seconds: float) -> None:
        for name in names:
            self._sources[source].setdefault(name, []).append(seconds)

    def guess(self, trials: Iterable[Trial]) -> list[float | None]:
        """Return the likely time of each trial, None where nothing like it is known."""
        guesses: list[float | None] = []
        for trial in trials:
            names = _names(
                trial.method,
                trial.estimator,
                trial.n_clusters,
                trial.laplacian_weight,
            )
            known = (found.get(name) for found in self._sources for name in names)
            times = next((found for found in known if found), None)
            guesses.append(median(times) if times else None)
        return guesses


def _names(method: str, estimator: str, k: int, weight: float | None) -> list[Any]:
    return [(method, k, weight), (method, k), (estimator, k), (method,), (estimator,)]


def rough_memory_mb(plan: Plan) -> float:
    """Return what a worker takes at least: itself and three copies of the data."""
    return WORKER_MB + 3 * max(_megabytes(data.X) for data in plan.datasets)


def wall_seconds(estimates: Sequence[Estimate], jobs: int) -> float:
    """Return the time of all timed trials on ``jobs`` workers."""
    return sum(e.seconds for e in estimates) / max(jobs, 1)


def _megabytes(X: Any) -> float:
    parts = [getattr(X, name, None) for name in ("data", "indices", "indptr")]
    arrays = [X] if hasattr(X, "nbytes") and hasattr(X, "strides") else parts
    return float(sum(int(a.nbytes) for a in arrays if a is not None)) / 2**20
