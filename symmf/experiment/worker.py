"""The process in which trials run, one at a time: what the supervisor talks to.

Started by :mod:`symmf.experiment.process` as a clean interpreter. It ends when the
connection does, so it never outlives the process that started it.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

READY, STARTED, DONE = "ready", "started", "done"


def main(handle: int) -> None:
    """Serve jobs that arrive on the socket ``handle`` until it closes."""
    # Ctrl-C is the supervisor's business, and it ends workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    _prefer_when_memory_runs_out()
    connection = Connection(handle)
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(connection, inbox), daemon=True)
    reader.start()
    _Server(connection, inbox).serve()


def _read(connection: Connection, inbox: queue.SimpleQueue[bytes]) -> None:
    """Hand on messages; end the process at once when the supervisor is gone."""
    try:
        while True:
            inbox.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(0)


def _prefer_when_memory_runs_out() -> None:
    """Make the kernel end a worker rather than the supervisor."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


class _Server:
    def __init__(self, connection: Connection, inbox: queue.SimpleQueue[bytes]) -> None:
        # Imported now, so that no trial waits for it.
        import symmf.datasets
        import symmf.metrics  # noqa: F401
        from symmf.experiment.trial import Outcome, run_trial

        self.connection, self.inbox = connection, inbox
        self.run_trial, self.outcome_class = run_trial, Outcome
        self.data: dict[str, Any] = {}
        self.threads = _Threads()
        self.environment: dict[str, Any] = {}

    def serve(self) -> None:
        self.connection.send((READY, None))
        while True:
            message = self.inbox.get()
            try:
                kind, content = pickle.loads(message)
            except Exception as error:
                # The estimator cannot be imported here: that is the trial's failure.
                self.connection.send((DONE, self._failed(error)))
                continue
            if kind == "data":
                # One data set at a time: a run goes through them one by one.
                self.data = content
            else:
                self._run(content)

    def _run(self, job: Any) -> None:
        self.connection.send((STARTED, None))
        if self.threads.set(job.trial.threads) or not self.environment:
            from symmf.experiment.provenance import environment

            self.environment = environment()
        try:
            outcome = self.run_trial(job, self.data[job.trial.data_digest])
        except Exception as error:
            outcome = self._failed(error)
        outcome.environment = self.environment
        self.connection.send((DONE, outcome))

    def _failed(self, error: Exception) -> Any:
        return self.outcome_class(
            status="failed",
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
        from threadpoolctl import threadpool_limits

        threadpool_limits(threads)
        torch = sys.modules.get("torch")
        if torch is not None and torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        self._last = (threads, len(sys.modules))
        return True
