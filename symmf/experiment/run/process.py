"""A worker process seen from outside: give it jobs, end it, explain its end."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import tempfile
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from symmf.experiment.run.fork_server import ForkServer, read_tail
from symmf.experiment.run.worker import DATA, DONE, READY, RUN, STARTED
from symmf.experiment.values import Job, Outcome, Status

if TYPE_CHECKING:
    from symmf.datasets import Dataset


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
        # As the worker saw itself when it did its latest job.
        self.environment: dict[str, Any] = {}
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

    def _send(self, kind: bytes, content: Any) -> None:
        self.connection.send_bytes(kind + pickle.dumps(content, protocol=5))

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
            outcome: Outcome
            outcome, environment = content
            if environment is not None:
                self.environment = environment
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
