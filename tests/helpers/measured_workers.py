"""Workers that end by themselves, so that coverage can save what they ran.

Without this a pool kills its workers, and what they measured is lost.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress

import pytest

from symmf.experiment.run.process import ForkServer, WorkerProcess

# A process that has not saved its lines by then is killed as always.
SECONDS = 10


def end_gently(patch: pytest.MonkeyPatch) -> None:
    """Ask idle workers and their server to end before they are killed."""
    end_worker, close_server = WorkerProcess._end, ForkServer.close

    def end(worker: WorkerProcess) -> int:
        if worker._code is None and worker.idle:
            with suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGTERM)
                worker._code = worker._server.wait(worker.pid)
        return end_worker(worker)

    def close(server: ForkServer) -> None:
        server._control.close()
        with suppress(subprocess.TimeoutExpired):
            server._process.wait(SECONDS)
        close_server(server)

    patch.setattr(WorkerProcess, "_end", end)
    patch.setattr(ForkServer, "close", close)
