"""The processes in which trials run, one at a time, seen from inside.

:func:`fork_workers` runs in a clean interpreter and forks workers on request; each
worker serves jobs that arrive on its connection. Both end when their connection does,
so they never outlive the process that started them.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import queue
import signal
import socket
import struct
import sys
import threading
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

READY, STARTED, DONE = "ready", "started", "done"
# First byte of a message to a worker; the rest is pickled.
DATA, RUN = b"D", b"R"
FORK, WAIT, NUMBER = b"F", b"W", "=q"


def fork_workers(handle: int) -> None:
    """Import what trials need, then fork a worker whenever asked to."""
    # Ctrl-C is the supervisor's business, and it ends workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prefer_when_memory_runs_out()
    import symmf.clustering
    import symmf.datasets
    import symmf.experiment.run.trial
    import symmf.metrics  # noqa: F401

    control = socket.socket(fileno=handle)
    size = len(FORK) + struct.calcsize(NUMBER)
    while True:
        message, handles, _, _ = socket.recv_fds(control, size, 2)
        if not message:
            os._exit(0)
        if message[:1] == FORK:
            answer = os.fork()
            if answer == 0:
                control.close()
                _become_worker(*handles)
            for received in handles:
                os.close(received)
        else:
            (pid,) = struct.unpack(NUMBER, message[1:])
            answer = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        control.sendall(struct.pack(NUMBER, answer))


def _prefer_when_memory_runs_out() -> None:
    """Make the kernel end a worker rather than the supervisor."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


def _become_worker(handle: int, errors: int) -> None:
    """Serve the connection ``handle`` until it closes, printing to ``errors``."""
    try:
        os.setsid()
        for stream in (1, 2):
            os.dup2(errors, stream)
        os.set_inheritable(handle, False)
        faulthandler.enable()
        connection = Connection(handle)
        inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        reader = threading.Thread(target=_read, args=(connection, inbox), daemon=True)
        reader.start()
        _Server(connection, inbox).serve()
    except BaseException:
        traceback.print_exc()
    finally:
        # Never back into the server's loop.
        os._exit(1)


def _read(connection: Connection, inbox: queue.SimpleQueue[bytes]) -> None:
    """Hand on messages; end the process at once when the supervisor is gone."""
    try:
        while True:
            inbox.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(0)


class _Server:
    def __init__(self, connection: Connection, inbox: queue.SimpleQueue[bytes]) -> None:
        self.connection, self.inbox = connection, inbox
        # By digest; or why they could not be read.
        self.data: Any = {}
        self.threads = _Threads()
        # Whether the supervisor knows the environment as it is now.
        self.described = False

    def serve(self) -> None:
        self.connection.send((READY, None))
        while True:
            message = memoryview(self.inbox.get())
            try:
                content = pickle.loads(message[1:])
            except Exception as error:
                # The estimator, or the data set's kind, cannot be imported here: that
                # is the failure of the trial, or of every trial on those data.
                content = error
            if message[:1] == DATA:
                # One data set at a time: a run goes through them one by one.
                self.data = content
            else:
                self._run(content)

    def _run(self, job: Any) -> None:
        from symmf.experiment.provenance import environment
        from symmf.experiment.run.trial import run_trial

        told = None
        try:
            for received in (job, self.data):
                if isinstance(received, Exception):
                    raise received
            if job.seconds is not None:
                # From here on the time limit counts.
                self.connection.send((STARTED, None))
            if self.threads.set(job.trial.threads) or not self.described:
                told, self.described = environment(), True
            for source in job.sources:
                source.install(("SOLVERS", "CONSTRAINTS", "SIMILARITIES"))
            outcome = run_trial(job, self.data[job.trial.data_digest])
        except Exception as error:
            outcome = _failed(error)
        self.connection.send((DONE, (outcome, told)))


def _failed(error: Exception) -> Any:
    from symmf.experiment.values import Outcome, Status

    return Outcome(
        status=Status.FAILED,
        message=f"{type(error).__name__}: {error}",
        traceback=traceback.format_exc(),
    )


class _Threads:
    """Keeps BLAS at the wanted number of threads, also for libraries loaded later."""

    def __init__(self) -> None:
        self._last: tuple[int, int] = (0, 0)

    def set(self, threads: int) -> bool:
        """Limit the threads; tell whether anything may have changed."""
        if (threads, len(sys.modules)) == self._last:
            return False
        from symmf.linalg.threads import limit_threads

        limit_threads(threads)
        self._last = (threads, len(sys.modules))
        return True
