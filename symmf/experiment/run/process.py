"""Worker processes seen from outside, and the server from which they are forked.

Importing numpy, scipy and scikit-learn takes over a second and a hundred megabytes.
It is done once, in a clean interpreter without threads, and every worker is a fork of
that: workers start in milliseconds and share the memory. The caller itself cannot be
forked safely: it may hold threads and BLAS or PyTorch state.

The standard library's ``multiprocessing`` has such a server too (start method
``forkserver``). Limits, kills and captured output could be had with it, as they are the
workers' and the pool's business. What it cannot give, read in Python 3.11's source:

- The environment of the workers. Its server inherits ours, so one BLAS thread and a
  fixed hash seed, which must be set before numpy is loaded, would have to be set in the
  caller's own process, a notebook or a dask worker, while its threads read them.
- The main module stays out. Each of its children runs the caller's main module once
  more under another name; a script without a guard would start its study again in
  every worker.
- Imports that fail are told. Its preloading drops an ImportError and does not hand on
  ``sys.path``, so a broken installation shows as slow workers or as failed trials; here
  the server's own output is in the error.
- A server per pool that ends with the pool. There, one server per process stays with
  its memory until the process ends, beside a process that tracks resources.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import IO, TYPE_CHECKING, Any

from symmf.errors import SymmfError
from symmf.experiment.run.worker import DATA, FORK, NUMBER, RUN, WAIT
from symmf.experiment.values import Job, Outcome, Status

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
# One BLAS thread until told otherwise, and no order of a set that could reach a result.
_ENVIRONMENT = {**dict.fromkeys(_THREAD_VARIABLES, "1"), "PYTHONHASHSEED": "0"}
_START = (
    "import sys; sys.path[:] = {!r}; "
    "from symmf.experiment.run.worker import fork_workers; fork_workers({})"
)
_TAIL = 2000


class ForkServer:
    """Starts the clean interpreter and asks it for forks; usable from many threads."""

    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START.format(sys.path, theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                start_new_session=True,
                env={**os.environ, **_ENVIRONMENT},
            )

    @property
    def alive(self) -> bool:
        """Whether it can still fork."""
        return self._process.poll() is None

    def fork(self, connection: int, errors: int) -> int:
        """Start a worker that serves ``connection``; return its process number."""
        try:
            with self._lock:
                message = FORK + struct.pack(NUMBER, 0)
                socket.send_fds(self._control, [message], [connection, errors])
                return self._answer()
        except OSError:
            self._process.wait()
            raise SymmfError(
                "Worker processes cannot be started: the one they are made from ended "
                f"with exit code {self._process.returncode}.\n{read_tail(self._errors)}"
            ) from None

    def wait(self, pid: int) -> int:
        """Return the exit code of a worker that has ended, negative for a signal."""
        try:
            with self._lock:
                self._control.sendall(WAIT + struct.pack(NUMBER, pid))
                return self._answer()
        except OSError:
            return -signal.SIGKILL

    def _answer(self) -> int:
        answer = self._control.recv(struct.calcsize(NUMBER))
        if not answer:
            raise BrokenPipeError
        number: int = struct.unpack(NUMBER, answer)[0]
        return number

    def close(self) -> None:
        """End it."""
        self._control.close()
        if self.alive:
            self._process.kill()
        self._process.wait()
        self._errors.close()


def read_tail(file: IO[bytes]) -> str:
    """Return the last lines that were written to a file by another process."""
    handle = file.fileno()
    size = os.fstat(handle).st_size
    return os.pread(handle, _TAIL, max(0, size - _TAIL)).decode(errors="replace")


class WorkerProcess:
    """One worker, in a session of its own, doing one job at a time.

    A session of its own, so that Ctrl-C reaches the supervisor alone and a kill takes
    the worker's children along.
    """

    def __init__(self, server: ForkServer) -> None:
        self._server = server
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self.pid = server.fork(theirs.fileno(), self._errors.fileno())
            self.connection = Connection(ours.detach())
        self.ready = False
        # What is being computed.
        self.job: Job | None = None
        # Of the latest job: what its similarities were built for.
        self.sample: tuple[Any, ...] = ()
        self._code: int | None = None
        self._digest: str | None = None
        self._deadline: float | None = None

    @property
    def idle(self) -> bool:
        """Whether a job can be given and begins at once."""
        return self.ready and self.job is None

    def give(self, job: Job, data: Dataset) -> None:
        """Hand over a job, and its data unless the worker has them.

        Raises
        ------
        OSError
            If the worker has died; it does not have the job.
        """
        if self._digest != job.trial.data_digest:
            self._digest = job.trial.data_digest
            self._send(DATA, {self._digest: data})
        self._send(RUN, job)
        self.job, self.sample = job, job.trial.sample
        if job.seconds is not None:
            self._deadline = time.monotonic() + job.seconds

    def _send(self, kind: bytes, content: Any) -> None:
        self.connection.send_bytes(kind + pickle.dumps(content, protocol=5))

    def receive(self) -> tuple[Outcome, dict[str, Any]] | None:
        """Take one message: outcome and environment of the job, or None at the start.

        Raises
        ------
        EOFError, OSError
            If the worker has died.
        """
        done: tuple[Outcome, dict[str, Any]] | None = self.connection.recv()
        self.ready = True
        if done is not None:
            self.job = self._deadline = None
        return done

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
        if self._code is None:
            for end in (os.killpg, os.kill):
                with suppress(ProcessLookupError, PermissionError):
                    end(self.pid, signal.SIGKILL)
            self._code = self._server.wait(self.pid)
        return self._code

    def timed_out(self) -> Outcome:
        """End the worker because of its job's time limit; return the job's outcome."""
        assert self.job is not None
        seconds = self.job.seconds
        self.kill()
        return Outcome(
            status=Status.TIMEOUT,
            message=f"Stopped at the limit of {seconds:g} seconds.",
            seconds=seconds,
        )

    def died(self) -> Outcome:
        """Return the outcome of a job whose worker ended by itself or was killed."""
        # The connection is closed, so the process is past the point where a signal
        # could change its exit code.
        code = self._end()
        tail = read_tail(self._errors)
        self.kill()
        if code == -signal.SIGKILL:
            reason = "was killed (by a person, or by the system when memory ran out)"
        elif code < 0:
            reason = f"crashed with signal {signal.Signals(-code).name}"
        else:
            reason = f"ended with exit code {code}"
        return Outcome(
            status=Status.DIED,
            message=f"The worker process {reason}.",
            traceback=tail,
        )
