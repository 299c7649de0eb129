"""A worker process seen from outside: start it, give it jobs, end it, explain it."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from symmf.experiment.trial import Job, Outcome
from symmf.experiment.worker import DONE, READY, STARTED

if TYPE_CHECKING:
    from symmf.datasets import Dataset

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_STDERR_TAIL = 2000


class WorkerProcess:
    """One worker: a clean interpreter in its own session, doing one job at a time.

    A fresh interpreter instead of a fork, because the parent may hold threads and
    BLAS or PyTorch state that do not survive a fork; a session of its own, so that
    Ctrl-C reaches the supervisor alone and a kill takes the worker's children along.
    """

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115
            self._process = subprocess.Popen(
                [sys.executable, "-c", _bootstrap(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                start_new_session=True,
                env=_environment(),
            )
            self.connection = Connection(ours.detach())
        self.ready = False
        self.job: Job | None = None
        self._digest: str | None = None
        self._deadline: float | None = None

    @property
    def idle(self) -> bool:
        """Whether a job can be given."""
        return self.ready and self.job is None

    def give(self, job: Job, data: Dataset) -> None:
        """Hand over a job, and its data unless the worker has them.

        Raises
        ------
        OSError
            If the worker has died.
        """
        self.job, self._deadline = job, None
        digest = job.trial.data_digest
        if self._digest != digest:
            self._send("data", {digest: data})
            self._digest = digest
        self._send("run", job)

    def _send(self, kind: str, content: Any) -> None:
        self.connection.send_bytes(pickle.dumps((kind, content), protocol=5))

    def receive(self) -> Outcome | None:
        """Take one message; return the outcome if the job is done.

        Raises
        ------
        EOFError, OSError
            If the worker has died.
        """
        kind, content = self.connection.recv()
        if kind == READY:
            self.ready = True
        elif kind == STARTED:
            if self.job is not None and self.job.seconds is not None:
                self._deadline = time.monotonic() + self.job.seconds
        elif kind == DONE:
            self.job = self._deadline = None
            outcome: Outcome = content
            return outcome
        return None

    def remaining(self) -> float | None:
        """Return the seconds left to the running job, or None if it has no limit."""
        return None if self._deadline is None else self._deadline - time.monotonic()

    def kill(self) -> None:
        """End the worker and what it started, at once."""
        self._end()
        self.connection.close()
        self._errors.close()

    def _end(self) -> int:
        # Before the process is waited for: until then its number cannot be another's.
        if self._process.returncode is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                self._process.kill()
        return self._process.wait()

    def timed_out(self) -> Outcome:
        """End the worker because of its job's time limit; return the job's outcome."""
        assert self.job is not None
        seconds = self.job.seconds
        self.kill()
        return Outcome(
            status="timeout",
            message=f"Stopped at the limit of {seconds:g} seconds.",
            seconds=seconds,
        )

    def died(self) -> Outcome:
        """Return the outcome of a job whose worker ended by itself or was killed."""
        # The connection is closed, so the process is past the point where a signal
        # could change its exit code.
        code = self._end()
        tail = self._read_errors()
        self.kill()
        if code == -signal.SIGKILL:
            reason = "was killed (by a person, or by the system when memory ran out)"
        elif code < 0:
            reason = f"crashed with signal {signal.Signals(-code).name}"
        else:
            reason = f"ended with exit code {code}"
        return Outcome(
            status="died",
            message=f"The worker process {reason}.",
            traceback=tail,
        )

    def _read_errors(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _STDERR_TAIL))
        return self._errors.read().decode(errors="replace")


def _bootstrap(handle: int) -> str:
    return (
        f"import sys; sys.path[:] = {sys.path!r}; "
        f"from symmf.experiment.worker import main; main({handle})"
    )


def _environment() -> dict[str, str]:
    """Return the worker's environment: one BLAS thread until told otherwise.

    The hash seed is fixed too, so that no order of a set can reach a result.
    """
    return {
        **os.environ,
        **dict.fromkeys(_THREAD_VARIABLES, "1"),
        "PYTHONHASHSEED": "0",
    }
