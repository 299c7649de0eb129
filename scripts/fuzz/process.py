"""A command of symmf, or a function, in a process of its own, and how it ended."""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
CLEAN, ACCEPTED = "clean", "accepted"
TRACEBACK, CRASH, HANG, LOST = "tracebacks", "crashes", "hangs", "lost"
VERDICTS = (CLEAN, ACCEPTED, TRACEBACK, CRASH, HANG, LOST)
FAILURES = (TRACEBACK, CRASH, HANG, LOST)
# Exit codes of symmf that stand for a sentence; and that of a defect.
SENTENCES = (1, 2, 3, 130)
_UNCAUGHT = 70
MEMORY = 6 << 30
# Seconds within which Ctrl-C must end a command.
_AFTER_INTERRUPT = 10.0
# A step that wants to run and cannot is given up after so many times its limit.
_PATIENCE = 20.0
# A raw message of a library, whoever printed it.
_RAW = re.compile(
    r"Traceback \(most recent call last\)|\b[A-Z][a-z]\w*Warning: |encountered in \w+$",
    re.MULTILINE,
)
# Words of a command line, or a function, whose result is the exit code.
Step = Sequence[object] | Callable[[], Any]


@dataclass(frozen=True)
class Ended:
    """How a step ended."""

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


class Process:
    """A step in a session of its own, which works in ``folder`` and writes ``log``.

    It is a fork of this process, which has imported everything; a ``fresh`` interpreter
    is what a user starts, and takes more than twice the time.
    """

    def __init__(
        self,
        folder: Path,
        step: Step,
        *,
        log: Path,
        fresh: bool = False,
        before: Callable[[], object] = bool,
    ) -> None:
        self.returncode: int | None = None
        self.log = log
        self.pid = os.fork()
        if self.pid == 0:
            _live(folder, step, log, _renew if fresh else before)

    def ends_within(self, seconds: float, *, patient: bool = False) -> bool:
        """Wait for the end; with patience, waiting for a processor does not count."""
        start, pause = time.monotonic(), 0.001
        while self.returncode is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            passed = time.monotonic() - start
            if done:
                self.returncode = os.waitstatus_to_exitcode(status)
            elif passed > seconds and not (
                patient
                and passed < _PATIENCE * seconds
                and passed - _starved(self.pid) < seconds
            ):
                return False
            else:
                time.sleep(min(pause, max(seconds, 0.001)))
                pause = min(1.5 * pause, 0.02)
        return True

    def kill(self) -> None:
        """End it and what it may have left behind: the group is its own."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.ends_within(60)

    @property
    def ended(self) -> Ended:
        """Say how it ended."""
        code = -signal.SIGKILL if self.returncode is None else self.returncode
        text = self.log.read_text("utf-8", "replace") if self.log.is_file() else ""
        return Ended(code, text)


def run(
    folder: Path,
    step: Step,
    *,
    seconds: float = 1800.0,
    may_be_long: bool = False,
    before: Callable[[], object] = bool,
) -> Ended:
    """Run a step to its end, after ``before``.

    Where work without end was asked for, Ctrl-C is pressed at the limit; ending then is
    right.
    """
    log = folder / f".output-{time.monotonic_ns()}"
    process = Process(folder, step, log=log, before=before)
    in_time = process.ends_within(seconds, patient=True)
    if not in_time and may_be_long:
        os.kill(process.pid, signal.SIGINT)
        in_time = process.ends_within(_AFTER_INTERRUPT, patient=True)
    process.kill()
    ended = process.ended
    log.unlink(missing_ok=True)
    return Ended(ended.code, ended.text, late=not in_time)


def _renew() -> NoReturn:
    """Go on in a fresh interpreter."""
    os.execv(sys.executable, [sys.executable, "-m", *sys.argv])


def _live(
    folder: Path, step: Step, log: Path, before: Callable[[], object]
) -> NoReturn:
    code = _UNCAUGHT
    try:
        os.setsid()
        os.chdir(folder)
        nothing = os.open(os.devnull, os.O_RDONLY)
        written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for source, stream in ((nothing, 0), (written, 1), (written, 2)):
            os.dup2(source, stream)
        # A defect must look like one.
        here = {"HOME": str(folder), "PYTHONPATH": str(ROOT), "SYMMF_TRACEBACK": "1"}
        os.environ.update(here)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if callable(step):
            code = int(step() or 0)
        else:
            sys.argv = ["symmf", *map(str, step)]
            from symmf.__main__ import start

            before()
            start()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _starved(pid: int) -> float:
    """Return the seconds for which a step or its reader of files wanted to run."""
    waited = 0
    for number in [pid, *descendants(pid)]:
        with suppress(OSError, IndexError):
            waited += int(Path(f"/proc/{number}/schedstat").read_text().split()[1])
    return waited / 1e9


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and theirs."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    children = map(int, text.split())
    return [each for child in children for each in (child, *descendants(child))]


def free_port() -> int:
    """Return the number of a port on this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int) -> None:
    """Wait until somebody listens on this machine."""
    for _ in range(200):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
