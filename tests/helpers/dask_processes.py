"""A dask scheduler and workers as processes on loopback, as on real machines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import symmf
from helpers import runner_methods

REPOSITORY = Path(symmf.__file__).parents[1]
WORKER = "--no-dashboard --nthreads 1 --death-timeout 60 --local-directory"


class Cluster:
    """A scheduler and workers as processes, as on real machines."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        file = folder / "scheduler.json"
        options = "--host 127.0.0.1 --port 0 --no-dashboard --scheduler-file"
        self._start("scheduler", *options.split(), file)
        limit = time.monotonic() + 90
        while not file.exists():
            assert time.monotonic() < limit
            time.sleep(0.05)
        self.address = json.loads(file.read_text())["address"]

    def _start(self, kind, *options):
        paths = [str(REPOSITORY), str(Path(runner_methods.__file__).parents[1])]
        with (self.folder / f"{kind}{len(self.processes)}.log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{kind}"]
                + [str(option) for option in options],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def add_worker(self, *options):
        where = self.folder / f"worker{len(self.processes)}"
        return self._start("worker", self.address, *WORKER.split(), where, *options)

    def close(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
