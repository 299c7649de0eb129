"""What a run would cost: time from recorded timings, memory from sizes and records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from symmf.experiment.plan import Plan
from symmf.experiment.values import Trial

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
    plan: Plan, *, fresh: bool = False, retry_failed: bool = False
) -> Estimate:
    """Estimate the cost of what a run of ``plan`` would compute."""
    missing = plan.missing()
    again = plan.selected if fresh else plan.failed() if retry_failed else []
    missing += [t for t in again if t.key in plan.records]
    guesses = _Timings(plan).guess(missing)
    known = [guess for guess in guesses if guess is not None]
    recorded = [
        record.outcome.peak_memory_mb
        for record in plan.records.values()
        if record.outcome.peak_memory_mb is not None
    ]
    rough = WORKER_MB + 3 * _megabytes(plan.data.X)
    return Estimate(
        experiment=plan.name,
        total=len(plan.selected),
        done=plan.done(),
        failed=len(plan.failed()),
        missing=len(missing),
        timed=len(known),
        seconds=sum(known),
        memory_mb=max(recorded) if recorded else rough,
        memory_recorded=bool(recorded),
    )


class _Timings:
    """Recorded times, looked up from the most to the least similar trial."""

    def __init__(self, plan: Plan) -> None:
        self._found: dict[Any, list[float]] = {}
        for record in plan.records.values():
            if record.outcome.ok and record.outcome.seconds is not None:
                for name in self._names(record.trial):
                    self._found.setdefault(name, []).append(record.outcome.seconds)

    @staticmethod
    def _names(trial: Trial) -> list[Any]:
        k, weight = trial.n_clusters, trial.laplacian_weight
        return [
            (trial.method, k, weight),
            (trial.method, k),
            (trial.estimator, k),
            (trial.method,),
            (trial.estimator,),
        ]

    def guess(self, trials: Iterable[Trial]) -> list[float | None]:
        guesses: list[float | None] = []
        for trial in trials:
            known = (self._found.get(name) for name in self._names(trial))
            times = next((found for found in known if found), None)
            guesses.append(median(times) if times else None)
        return guesses


def wall_seconds(estimates: Sequence[Estimate], jobs: int) -> float:
    """Return the time of all timed trials on ``jobs`` workers."""
    return sum(e.seconds for e in estimates) / max(jobs, 1)


def _megabytes(X: Any) -> float:
    parts = [getattr(X, name, None) for name in ("data", "indices", "indptr")]
    arrays = [X] if hasattr(X, "nbytes") and hasattr(X, "strides") else parts
    return float(sum(int(a.nbytes) for a in arrays if a is not None)) / 2**20
