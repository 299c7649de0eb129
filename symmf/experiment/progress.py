"""How far experiments are, how long the rest takes, and whether a run can begin.

All of it is counted from tables of trials. They are read as plain cells, so that
``symmf status`` loads neither pandas nor a record.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, TypeAlias

from symmf.common.files import own_file, read_text
from symmf.errors import SymmfError
from symmf.experiment.store.layout import PROVENANCE_FILE, TRIALS_FILE
from symmf.experiment.store.lock import holder_sentence, is_locked
from symmf.experiment.store.places import experiment_folders
from symmf.experiment.values import Status, Trial, is_final

if TYPE_CHECKING:
    from symmf.experiment.plan import Plan

#: What trials of about the same length have in common.
Likeness: TypeAlias = tuple[Any, ...]

# An idle worker with Python, numpy, scipy and scikit-learn loaded.
WORKER_MB = 200.0
# Of the available memory: what a run may plan to take.
SHARE = 0.9
# Where pip notes how a package was installed (PEP 610).
_ORIGIN = "direct_url.json"


def read_cells(folder: Path) -> list[dict[str, str]]:
    """Return the rows of a table of trials as they are written; none without one."""
    path = folder / TRIALS_FILE
    if not path.exists():
        return []
    with own_file(path):
        return list(csv.DictReader(io.StringIO(read_text(path), newline="")))


class Timings:
    """Times and memory of finished trials of an experiment, looked up by likeness.

    Those of the study in the folder ``reference`` count where its own are silent.
    """

    def __init__(self, folder: Path, reference: Path | None) -> None:
        #: of single trials, in MB
        self.peaks: list[float] = []
        self._tables: list[dict[Likeness, list[float]]] = []
        studies = [] if reference is None else [reference / folder.name]
        for each in (folder, *studies):
            self._tables.append({})
            with suppress(SymmfError):
                self._add(each)

    def _add(self, folder: Path) -> None:
        with own_file(folder / TRIALS_FILE):
            for row in read_cells(folder):
                if row["status"] == Status.OK:
                    self.peaks += _numbers(row, "peak_memory_mb")
                    k, weight = int(row["n_clusters"]), _numbers(row, "lambda")
                    for name in _likeness(row["method"], row["estimator"], k, weight):
                        known = self._tables[-1].setdefault(name, [])
                        known += _numbers(row, "seconds")

    def guess(self, trial: Trial) -> float | None:
        """Return the likely time of a trial, None where nothing like it is known."""
        weight = [] if trial.laplacian_weight is None else [trial.laplacian_weight]
        names = _likeness(trial.method, trial.estimator, trial.n_clusters, weight)
        known = (table.get(name) for table in self._tables for name in names)
        times = next((found for found in known if found), None)
        return median(times) if times else None


def _likeness(
    method: str, estimator: str, k: int, weight: list[float]
) -> list[Likeness]:
    """List the names under which a trial is looked up, the most alike first."""
    at_weight = (method, k, *weight, "lambda")
    return [at_weight, (method, k), (estimator, k), (method,), (estimator,)]


def _numbers(row: dict[str, str], name: str) -> list[float]:
    """Return the number in a cell, or nothing: tables before may lack the column."""
    try:
        return [float(row[name])]
    except (KeyError, ValueError):
        return []


# What is done


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusLine:
    """How far one experiment is; ``left`` in seconds, None if it is not known."""

    experiment: str
    state: str
    total: int = 0
    done: int = 0
    failed: int = 0
    seconds: float = 0.0
    left: float | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the line as text: name, counts, time, time left, state."""
        numbers = (self.done, self.total, self.failed, self.total - self.done)
        left = "?" if self.left is None else f"{self.left:.0f} s"
        times = (f"{self.seconds:.0f} s", left)
        return (self.experiment, *map(str, numbers), *times, self.state)


def survey(results: Path | str, reference: Path | None = None) -> list[StatusLine]:
    """Count what is done in every experiment of a results folder.

    The time left is taken from its own trials, else from those of the study in the
    folder ``reference``. A run brings the counted tables up to date each minute.
    """
    return [_status(folder, reference) for folder in experiment_folders(results)]


def _status(folder: Path, reference: Path | None) -> StatusLine:
    provenance = folder / PROVENANCE_FILE
    try:
        rows = read_cells(folder)
        with own_file(provenance):
            asked = json.loads(read_text(provenance))["trials"]
            total, beside = int(asked["total"]), int(asked["beside"])
        with own_file(folder / TRIALS_FILE):
            final = [r for r in rows if is_final(r["status"], int(r["attempts"] or 1))]
            done = max(len(final) - beside, 0)
            failed = sum(row["status"] != Status.OK for row in final)
            # A similarity that trials share was built once.
            built = [s for row in final for s in _numbers(row, "similarity_seconds")]
            seconds = sum(s for row in final for s in _numbers(row, "seconds"))
            seconds -= sum(built) - sum(set(built))
        left = 0.0 if done >= total else _left(folder, rows, reference)
    except SymmfError as error:
        return StatusLine(experiment=folder.name, state=str(error))
    if is_locked(folder):
        state = f"running: {holder_sentence(folder)}"
    elif done < total:
        state = "incomplete"
    else:
        state = "some failed" if failed else "complete"
    return StatusLine(
        experiment=folder.name,
        state=state,
        total=total,
        done=done,
        failed=failed,
        seconds=seconds,
        left=left,
    )


def _left(
    folder: Path, rows: list[dict[str, str]], reference: Path | None
) -> float | None:
    """Return the computing time of what is missing, None where any of it is unknown."""
    from symmf.experiment.store.folder import ExperimentStore

    with own_file(folder / TRIALS_FILE):
        known = {row["key"] for row in rows}
    timings = Timings(folder, reference)
    missing = [t for t in ExperimentStore(folder).trials() if t.key not in known]
    times = [guess for t in missing if (guess := timings.guess(t)) is not None]
    return sum(times) if len(times) == len(missing) else None


# What a run would cost


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

    Times are those of the experiment's own table, else those of the study in the
    folder ``reference``.
    """
    again = plan.selected if fresh else plan.failed() if retry_failed else []
    missing = plan.missing() + [t for t in again if t.key in plan.records]
    timings = Timings(plan.store.folder, reference)
    known = [guess for t in missing if (guess := timings.guess(t)) is not None]
    return Estimate(
        experiment=plan.name,
        total=len(plan.selected),
        done=plan.done(),
        failed=len(plan.failed()),
        missing=len(missing),
        timed=len(known),
        seconds=sum(known),
        memory_mb=memory_mb(plan, reference),
        memory_recorded=bool(timings.peaks),
    )


def memory_mb(plan: Plan, reference: Path | None) -> float:
    """Return what one worker takes: the highest in a table of trials, or a guess."""
    from scipy.sparse import issparse

    recorded = Timings(plan.store.folder, reference).peaks
    X = [data.X for data in plan.datasets]
    parts = [[x.data, x.indices, x.indptr] if issparse(x) else [x] for x in X]
    sizes = [sum(array.nbytes for array in arrays) / 2**20 for arrays in parts]
    return max(recorded, default=WORKER_MB + 3 * max(sizes))


# What would fail


def missing_libraries(plan: Plan) -> dict[str, str]:
    """Return the methods whose library is not installed, each with a sentence.

    It says how many trials stay open, and how the library is installed.
    """
    from symmf.clustering import REQUIRES

    waiting = [trial.estimator for trial in plan.missing()]
    return {
        method: (
            f"{waiting.count(method)} of {len(waiting)} trials use {method}, which "
            f"needs {library}; they are left out. To run them, install it and repeat "
            f"the command: {pip_line(extra)}"
        )
        for method, (library, extra) in REQUIRES.items()
        if method in waiting and importlib.util.find_spec(library) is None
    }


def pip_line(extra: str) -> str:
    """Return the command that adds an extra to this installation of symmf.

    A checkout is named by its folder, as the package index may not have it.
    """
    from symmf.common.shipped import checkout

    root = checkout()
    name, option = "symmf", ""
    if root is not None:
        name, origin = str(root), metadata.distribution("symmf").read_text(_ORIGIN)
        how = json.loads(origin or "{}").get("dir_info", {})
        option = "-e " if how.get("editable") else ""
    return f'pip install {option}"{name}[{extra}]"'


def memory_warning(
    plan: Plan, jobs: int, available: float | None, reference: Path
) -> str:
    """Say that an experiment needs more memory than there is, and how many jobs fit."""
    each = memory_mb(plan, reference)
    if available is None or each * jobs <= SHARE * available or not plan.missing():
        return ""
    fit = int(SHARE * available // each)
    advice = (
        f"Give --jobs {fit}."
        if fit
        else "Even one job may not fit; leave experiments out with --skip."
    )
    return (
        f"{plan.name}: {jobs} jobs of about {each:.0f} MB need more than the "
        f"{available:.0f} MB that are free. {advice}"
    )


def available_mb() -> float | None:
    """Return the memory that is free for programs, in MB; None if it is not told."""
    try:
        found = Path("/proc/meminfo").read_text(encoding="ascii")
        return float(found.split("MemAvailable:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        return None
