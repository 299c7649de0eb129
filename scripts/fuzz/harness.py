"""Running cases, several at a time, and counting how they end."""

from __future__ import annotations

import importlib
import multiprocessing
import random
import shutil
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any

from scripts.fuzz import process
from scripts.fuzz.process import ACCEPTED, CLEAN, FAILURES, LOST, SENTENCES, VERDICTS

# What a fork of this process needs not import again.
PRELOAD = (
    "PIL.Image", "click._textwrap", "h5py", "matplotlib.pyplot", "pandas", "rich.table",
    "sklearn.cluster", "sklearn.datasets", "symmf.app.answer", "symmf.app.page",
    "symmf.app.request", "symmf.cli.audit", "symmf.cli.cluster", "symmf.cli.data",
    "symmf.cli.main", "symmf.cli.report", "symmf.cli.run", "symmf.clustering",
    "symmf.clustering.symmf.model_file", "symmf.datasets", "symmf.datasets.download",
    "symmf.datasets.imports", "symmf.experiment.plan",
    "symmf.experiment.run.local_pool", "symmf.experiment.runner",
    "symmf.experiment.store.layout", "symmf.experiment.store.places",
    "symmf.io.matrix", "symmf.reporting.results", "symmf.solvers",
)  # fmt: skip


@dataclass
class Case:
    """What is tried: a function of the part, the seed and the number of the case.

    Parameters
    ----------
    index, rng, folder
        Number of the case, its random numbers, and its folder.
    tried
        How often it struck, if more than once; the verdict is for all of them.
    notes
        What was done, counted by name.
    """

    index: int
    rng: random.Random
    folder: Path
    tried: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    verdict: str = ACCEPTED
    detail: str = ""

    def run(
        self,
        *words: object,
        here: Path | None = None,
        allowed: Collection[int] = (0, *SENTENCES),
        **options: Any,
    ) -> process.Ended:
        """Run a command, or a function, to its end and judge it."""
        step = words[0] if callable(words[0]) else words
        options = {"seconds": 30.0} | options
        ended = process.run(here or self.folder, step, **options)
        self.look("symmf " + ascii(" ".join(map(str, words)))[1:-1], ended, allowed)
        return ended

    def look(self, what: str, ended: process.Ended, allowed: Collection[int]) -> None:
        """Judge how a command ended; a crash may be meant, a hang never is."""
        verdict = ended.verdict
        if ended.code in allowed and verdict not in (process.TRACEBACK, process.HANG):
            if self.verdict == ACCEPTED and verdict == CLEAN:
                self.verdict = CLEAN
            return
        verdict = verdict if verdict in FAILURES else LOST
        self.blame(verdict, f"{what} gave {ended.code}\n{ended.text[-2500:]}")

    def blame(self, verdict: str, detail: str) -> None:
        """Keep the first failure."""
        if self.verdict not in FAILURES:
            self.verdict, self.detail = verdict, detail[-3000:]


@dataclass
class Tally:
    """Counts of one part, and its failures."""

    part: str
    what: str
    seed: int
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))
    failures: list[dict[str, Any]] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    start: int = 0
    cases: int = 0
    seconds: float = 0.0
    date: str = ""
    made: str = ""

    @property
    def tried(self) -> int:
        """Number of cases, or of strikes in them."""
        return sum(self.counts.values())

    def add(self, case: Case) -> None:
        """Count a case; only one of its strikes can have failed."""
        self.cases += 1
        self.notes = dict(Counter(self.notes) + case.notes)
        self.counts[case.verdict] += 1
        failed = case.verdict in FAILURES
        rest = ACCEPTED if failed else case.verdict
        self.counts[rest] += max(case.tried, 1) - 1
        if failed:
            failure = {"index": case.index, "verdict": case.verdict}
            self.failures.append(failure | {"detail": case.detail})


def attack(
    live: Callable[[Case], None],
    tally: Tally,
    indices: Sequence[int],
    *,
    jobs: int = 2,
    seconds: float = float("inf"),
) -> Iterator[None]:
    """Live through the cases until they, or the seconds, are over; add each.

    Cases are added in their order, so that an attack that was stopped can go on.
    """
    start, before = time.monotonic(), tally.seconds
    here = multiprocessing.get_context("fork")
    lanes = min(jobs, max(len(indices), 1))
    given = repeat(live), repeat(tally.part), repeat(tally.seed), indices
    with ProcessPoolExecutor(lanes, mp_context=here) as pool:
        for case in pool.map(_live, *given):
            tally.add(case)
            tally.seconds = before + time.monotonic() - start
            yield
            if time.monotonic() - start > seconds:
                pool.shutdown(wait=False, cancel_futures=True)
                return


def _live(live: Callable[[Case], None], part: str, seed: int, index: int) -> Case:
    """Live through one case in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{part}-"))
    case = Case(index, random.Random(f"{part} {seed} {index}"), folder)
    try:
        live(case)
    except Exception:
        # A defect of the attack itself must not look like a success.
        case.blame(LOST, traceback.format_exc())
    finally:
        _remove(folder)
    return case


def _remove(folder: Path) -> None:
    def make_writable(_: Any, path: str, __: Any) -> None:
        Path(path).parent.chmod(0o700)

    shutil.rmtree(folder, onerror=make_writable)
    shutil.rmtree(folder, ignore_errors=True)


def preload() -> None:
    """Import what commands need."""
    for name in PRELOAD:
        importlib.import_module(name)
