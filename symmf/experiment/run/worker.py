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
from functools import lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from symmf.experiment.values import Outcome, Status

# First byte of a message to a worker; the rest is pickled.
DATA, RUN = b"D", b"R"
FORK, WAIT, NUMBER = b"F", b"W", "=q"


def fork_workers(handle: int) -> None:
    """Import what trials need, then fork a worker whenever asked to."""
    # Ctrl-C is the supervisor's business, and it ends workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):  # so that the kernel ends a worker, not the supervisor
        Path("/proc/self/oom_score_adj").write_text("500")
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
        _serve(connection, inbox)
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


def _serve(connection: Connection, inbox: queue.SimpleQueue[bytes]) -> None:
    connection.send(None)  # it is ready
    # One data set at a time: a run goes through them one by one.
    data: Any = {}
    while True:
        message = memoryview(inbox.get())
        try:
            content = pickle.loads(message[1:])
        except Exception as error:
            # The estimator, or the data set's kind, cannot be imported here: that is
            # the failure of the trial, or of every trial on those data.
            content = error
        if message[:1] == DATA:
            data = content
        else:
            connection.send(_run(content, data))


def _run(job: Any, data: Any) -> tuple[Outcome, dict[str, Any]]:
    """Return the outcome of a job, and what the process that computed it is like."""
    from symmf.experiment.run.trial import run_trial

    about: dict[str, Any] = {}
    try:
        for received in (job, data):
            if isinstance(received, Exception):
                raise received
        for source in job.sources:
            source.install(("SOLVERS", "CONSTRAINTS", "SIMILARITIES"))
        about = _limited(job.trial.threads, len(sys.modules))
        return run_trial(job, data[job.trial.data_digest]), about
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        trace = traceback.format_exc()
        failed = Outcome(status=Status.FAILED, message=message, traceback=trace)
        return failed, about


@lru_cache(maxsize=1)
def _limited(threads: int, _modules: int) -> dict[str, Any]:
    """Limit the threads of what is loaded, and describe this process.

    Again only when more modules have been loaded: libraries of their own threads may
    be among them.
    """
    from symmf.experiment.provenance import environment
    from symmf.linalg.threads import limit_threads

    limit_threads(threads)
    return environment()
