"""How much the runner costs: trivial trials through it and through a bare loop."""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from symmf.experiment.plan import Plan, make_plans
from symmf.experiment.runner import run
from symmf.experiment.values import Trial

if TYPE_CHECKING:
    from symmf.datasets import Dataset

_CONFIG = """
name: overhead
dataset: {name: synthetic, kind: planted, n: 300, k: 5}
n_clusters: 3
trials: 1
methods: [{method: kmeans, parameters: {n_init: 1}}]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """Wall-clock seconds of the same trials, each with its processes started anew."""

    n_trials: int
    jobs: int
    runner_seconds: float
    joblib_seconds: float

    @property
    def ratio(self) -> float:
        """The runner's time in units of the bare loop's."""
        return self.runner_seconds / self.joblib_seconds


def rounds(repeats: int, n_trials: int, jobs: int) -> list[Overhead]:
    """Measure repeatedly, and keep the records of every round to the end.

    For minutes after many files are deleted ext4 looks at each of them whenever another
    one is created: a cost of the deletion, which no study meets.
    """
    with tempfile.TemporaryDirectory() as folder:
        return [measure(n_trials, jobs, folder) for _ in range(repeats)]


def measure(n_trials: int = 1000, jobs: int = 2, within: str | None = None) -> Overhead:
    """Time ``n_trials`` small k-means runs both ways.

    The bare loop is ``joblib.Parallel`` over choosing samples, fitting and scoring: no
    records, no limits, no provenance. Both sides include starting their processes.
    """
    folder = Path(tempfile.mkdtemp(dir=within))
    config = folder / "overhead.yaml"
    config.write_text(_CONFIG, encoding="utf-8")
    settings = [f"trials={n_trials}"]
    (plan,) = make_plans([config], results=folder, settings=settings)
    bare = _time_bare_loop(plan, jobs)
    start = time.perf_counter()
    summary = run([plan], jobs=jobs)
    seconds = time.perf_counter() - start
    assert summary.ran == n_trials
    assert not summary.failed
    if within is None:
        shutil.rmtree(folder)
    return Overhead(
        n_trials=n_trials, jobs=jobs, runner_seconds=seconds, joblib_seconds=bare
    )


def _time_bare_loop(plan: Plan, jobs: int) -> float:
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky import get_reusable_executor

    start = time.perf_counter()
    with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        Parallel()(delayed(_bare)(trial, plan.data) for trial in plan.trials)
    seconds = time.perf_counter() - start
    get_reusable_executor().shutdown(wait=True)
    return seconds


def _bare(trial: Trial, data: Dataset) -> dict[str, float]:
    from sklearn.cluster import KMeans

    from symmf.metrics import score

    chosen = data.subset(trial.classes)
    model = KMeans(trial.n_clusters, n_init=1, random_state=trial.random_state)
    return score(chosen.y, model.fit(chosen.X).labels_)
