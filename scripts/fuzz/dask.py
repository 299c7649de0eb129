"""Dask: workers and schedulers that are lost."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
from pathlib import Path

from scripts.fuzz import study
from scripts.fuzz.harness import Case
from scripts.fuzz.process import HANG, ROOT, Process, free_port, wait_for_port

TRIALS = 4
prepare = functools.partial(study.undisturbed, TRIALS)


def live(case: Case) -> None:
    """Run on a cluster that loses workers or its scheduler; go on without it."""
    rng, folder = case.rng, case.folder
    config = study.write_config(folder, trials=TRIALS)
    command = ("run", config, "--results", folder / "r", "--quiet")
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    parts = [_start(folder, "scheduler", "--port", str(port), "--no-dashboard")]
    try:
        wait_for_port(port)
        worker = ("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny")
        parts += [_start(folder, *worker) for _ in range(2)]
        words, log = (*command, "--dask", address), folder / "log"
        run = Process(folder, words, log=log, fresh=True)
        run.ends_within(rng.uniform(1, 8))
        for victim in rng.choice(([parts[0]], [parts[1]], parts[1:], [])):
            victim.send_signal(signal.SIGKILL)
        if not run.ends_within(90):
            os.kill(run.pid, signal.SIGINT)
            if not run.ends_within(60):
                case.blame(HANG, "the run does not end when it is interrupted")
                run.kill()
        case.look("the run on a lost cluster", run.ended, (0, 1, 2, 130))
    finally:
        for part in parts:
            part.kill()
            part.wait()
    study.finish(case, (*command, "--jobs", 2), TRIALS)


def _start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    code = f"from distributed.cli.dask_{arguments[0]} import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments[1:]],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
