"""Running cases: each command in a forked child with limits, judged by how it ends."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

CLEAN, ACCEPTED = "clean", "accepted"
TRACEBACK, CRASH, HANG, LOST = "tracebacks", "crashes", "hangs", "lost"
VERDICTS = (CLEAN, ACCEPTED, TRACEBACK, CRASH, HANG, LOST)
FAILURES = (TRACEBACK, CRASH, HANG, LOST)

# Exit codes of symmf that stand for a sentence: DESIGN, and click's usage errors.
SENTENCES = (1, 2, 3, 130)
MEMORY = 6 << 30
_UNCAUGHT = 70
# Seconds within which Ctrl-C must end a command.
_AFTER_INTERRUPT = 10.0
# A step that wants to run and cannot is given up after so many times its limit.
_PATIENCE = 20.0
# A raw message of a library, whoever printed it.
_RAW = re.compile(
    r"Traceback \(most recent call last\)|\b[A-Z][a-z]\w*Warning: |encountered in \w+$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    text: str
    late: bool = False

    @property
    def verdict(self) -> str:
        """One of ``VERDICTS``."""
        if self.late:
            return HANG
        if self.code < 0:
            return CRASH
        # A raw warning of a library is no sentence either.
        if self.code == _UNCAUGHT or _RAW.search(self.text):
            return TRACEBACK
        if self.code == 0:
            return ACCEPTED
        # A sentence has to be there, and nothing but the known exit codes.
        said = self.code in SENTENCES and bool(self.text.strip())
        return CLEAN if said else TRACEBACK


@dataclass(frozen=True)
class Case:
    """Commands to run one after the other, and what must hold afterwards.

    Parameters
    ----------
    steps
        Arguments of symmf, or functions to call.
    judge
        Returns what is wrong (lost, altered, outside) or an empty text.
    seconds
        Time limit of each step. Time spent waiting for a processor does not count.
    may_be_long
        Work without end was asked for (a billion restarts): at the limit Ctrl-C is
        pressed, and ending then with exit code 130 is right.
    """

    steps: Sequence[Sequence[str] | Callable[[], Any]]
    judge: Callable[[list[Ended]], str] = lambda _: ""
    seconds: float = 30.0
    may_be_long: bool = False


@dataclass
class Session:
    """A story with processes of its own: it tells how often it struck, and the worst.

    ``tried`` strikes; the verdict is for all of them. ``notes`` counts what was done,
    by name.
    """

    tried: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    verdict: str = ACCEPTED
    detail: str = ""

    def blame(self, verdict: str, detail: str) -> None:
        """Keep the first failure."""
        if self.verdict not in FAILURES:
            self.verdict, self.detail = verdict, detail[-3000:]

    def look(
        self, what: str, code: int, text: str, *, allowed: Collection[int]
    ) -> None:
        """Judge how a command ended."""
        verdict = Ended(code=code, text=text).verdict
        if code in allowed and verdict not in (TRACEBACK, HANG):
            return
        verdict = verdict if verdict in FAILURES else LOST
        self.blame(verdict, f"{what} gave {code}\n{text}")


@dataclass(frozen=True)
class Part:
    """A kind of attack.

    ``make(rng, folder)`` writes files and returns a case, or lives through a session
    and returns how it went.

    ``rng`` has the number of the case as ``index``. ``preload`` is imported and
    ``prepare`` called before the first case; ``faults`` makes calls fail; ``quick`` is
    the number of cases in the quick selection, ``full`` that of a full run.
    """

    name: str
    what: str
    make: Callable[[random.Random, Path], Case | Session]
    preload: Sequence[str] = ()
    prepare: Callable[[], None] = lambda: None
    faults: bool = False
    jobs: int = 2
    quick: int = 0
    full: int = 1000


@dataclass
class Tally:
    """Counts of one part, and its failures."""

    part: str
    seed: int
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))
    failures: list[dict[str, Any]] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    cases: int = 0
    start: int = 0
    seconds: float = 0.0

    @property
    def tried(self) -> int:
        """Number of cases."""
        return sum(self.counts.values())

    def add(self, report: dict[str, Any]) -> None:
        """Count a case."""
        self.cases += 1
        for name, number in report.get("notes", {}).items():
            self.notes[name] = self.notes.get(name, 0) + number
        failed = report["verdict"] in FAILURES
        self.counts[report["verdict"]] += 1 if failed else report["tried"]
        self.counts[ACCEPTED] += report["tried"] - 1 if failed else 0
        if report["verdict"] in FAILURES:
            self.failures.append(report)


def attack(
    part: Part, *, seed: int, indices: Sequence[int], jobs: int | None = None
) -> Tally:
    """Run the cases of a part, several at a time, and count how they end."""
    _preload(part)
    part.prepare()
    tally = Tally(part=part.name, seed=seed, start=min(indices, default=0))
    start = time.monotonic()
    lanes = min(jobs or part.jobs, part.jobs, max(len(indices), 1))
    for report in _lanes(part, seed, indices, lanes):
        tally.add(report)
    tally.seconds = time.monotonic() - start
    return tally


def run_case(part: Part, seed: int, index: int) -> dict[str, Any]:
    """Run one case in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{part.name}-"))
    tried = 1
    try:
        rng = random.Random(f"{part.name} {seed} {index}")
        rng.index = index  # type: ignore[attr-defined]
        case = part.make(rng, folder)
        if isinstance(case, Session):
            report = {"verdict": case.verdict, "detail": case.detail}
            report |= {"notes": dict(case.notes)}
            tried = max(case.tried, 1)
        else:
            ended = [_run_step(step, folder, case) for step in case.steps]
            report = _judge(case, ended)
    except Exception:
        # A defect of the attack itself must not look like a success.
        report = {"verdict": LOST, "detail": traceback.format_exc()[-1500:]}
    finally:
        _remove(folder)
    return report | {"part": part.name, "seed": seed, "index": index, "tried": tried}


def _judge(case: Case, ended: list[Ended]) -> dict[str, Any]:
    verdicts = [end.verdict for end in ended]
    wrong = case.judge(ended)
    worst = next((v for v in (CRASH, HANG, TRACEBACK) if v in verdicts), "")
    if worst:
        which = verdicts.index(worst)
        command = case.steps[which]
        detail = f"{_spell(command)}: {ended[which].code}\n{ended[which].text[-1500:]}"
        return {"verdict": worst, "detail": detail}
    if wrong:
        return {"verdict": LOST, "detail": wrong}
    return {"verdict": CLEAN if CLEAN in verdicts else ACCEPTED, "detail": ""}


def _spell(step: Sequence[str] | Callable[[], Any]) -> str:
    if callable(step):
        return "a function"
    return "symmf " + " ".join(ascii(word)[1:-1] for word in step)


def _lanes(
    part: Part, seed: int, indices: Sequence[int], lanes: int
) -> Iterator[dict[str, Any]]:
    """Fork one process per lane; yield what they report, line by line."""
    pipes = []
    for lane in range(lanes):
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(ours)
            _lane(part, seed, indices[lane::lanes], theirs)
        os.close(theirs)
        pipes.append((pid, os.fdopen(ours)))
    for pid, stream in pipes:
        with stream:
            for line in stream:
                yield json.loads(line)
        if os.waitpid(pid, 0)[1]:
            raise RuntimeError("A lane of the attack ended early: cases are missing.")


def _lane(part: Part, seed: int, indices: Iterable[int], handle: int) -> NoReturn:
    code = 1
    try:
        with os.fdopen(handle, "w", buffering=1) as out:
            for index in indices:
                out.write(json.dumps(run_case(part, seed, index)) + "\n")
        code = 0
    finally:
        os._exit(code)


def _run_step(
    step: Sequence[str] | Callable[[], Any], folder: Path, case: Case
) -> Ended:
    """Run a step in a forked child; end it and its children at the limit."""
    log = folder / ".output"
    pid = os.fork()
    if pid == 0:
        _child(step, folder, log)
    status = _wait(pid, case.seconds)
    if status is None and case.may_be_long:
        os.kill(pid, signal.SIGINT)
        status = _wait(pid, _AFTER_INTERRUPT)
    _end_group(pid)
    if status is None:
        os.waitpid(pid, 0)
        return Ended(code=-signal.SIGKILL, text=_read(log), late=True)
    return Ended(code=os.waitstatus_to_exitcode(status), text=_read(log))


def _wait(pid: int, seconds: float) -> int | None:
    """Wait for a child; return its status, or None at the limit."""
    start, pause = time.monotonic(), 0.001
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        passed = time.monotonic() - start
        # On a busy machine a step may hardly run at all; that is no hang.
        if passed > seconds and (
            passed > _PATIENCE * seconds or passed - _starved(pid) > seconds
        ):
            return None
        time.sleep(pause)
        pause = min(1.5 * pause, 0.02)


def _starved(pid: int) -> float:
    """Return the seconds for which a step or its reader of files wanted to run."""
    waited = 0
    for number in [pid, *descendants(pid)]:
        with suppress(OSError, IndexError):
            waited += int(Path(f"/proc/{number}/schedstat").read_text().split()[1])
    return waited / 1e9


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and theirs."""
    found = []
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    for child in children:
        found += [int(child), *descendants(int(child))]
    return found


def _child(
    step: Sequence[str] | Callable[[], Any], folder: Path, log: Path
) -> NoReturn:
    code = _UNCAUGHT
    try:
        os.setsid()
        os.chdir(folder)
        os.environ["HOME"] = str(folder)
        nothing = os.open(os.devnull, os.O_RDONLY)
        written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for source, stream in ((nothing, 0), (written, 1), (written, 2)):
            os.dup2(source, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        code = int(step() or 0) if callable(step) else _main(list(step))
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _main(arguments: list[str]) -> int:
    from symmf.cli.main import main

    try:
        return main(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)


def _end_group(pid: int) -> None:
    """End what a step may have left behind: the group is its own."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _remove(folder: Path) -> None:
    def make_writable(_: Any, path: str, __: Any) -> None:
        Path(path).parent.chmod(0o700)

    shutil.rmtree(folder, onerror=make_writable)
    shutil.rmtree(folder, ignore_errors=True)


def _preload(part: Part) -> None:
    """Import what the commands need once, before anything is forked."""
    import importlib

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["MPLBACKEND"] = "Agg"
    for name in ("symmf.cli.main", *part.preload):
        importlib.import_module(name)
