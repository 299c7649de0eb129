"""Dask: workers and schedulers that are lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

from scripts.fuzz import study
from scripts.fuzz.harness import HANG, LOST, Part, Session

TRIALS = 4


def prepare() -> None:
    """Run undisturbed once, for comparison."""
    study.undisturbed(TRIALS)


def make(rng: random.Random, folder: Path) -> Session:
    """Run on a cluster that loses workers or its scheduler; go on without it."""
    session = Session()
    config = study.write_config(folder, trials=TRIALS)
    command = ("run", config, "--results", folder / "r", "--quiet")
    port = study.free_port()
    address = f"tcp://127.0.0.1:{port}"
    parts = [_start(folder, "scheduler", "--port", str(port), "--no-dashboard")]
    try:
        study.wait_for_port(port)
        worker = ("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny")
        parts += [_start(folder, *worker) for _ in range(2)]
        run = study.start(folder, *command, "--dask", address)
        session.tried = 1
        run.ends_within(rng.uniform(1, 8))
        for victim in rng.choice(([parts[0]], [parts[1]], parts[1:], [])):
            victim.send_signal(signal.SIGKILL)
        if not run.ends_within(90):
            os.kill(run.pid, signal.SIGINT)
            if not run.ends_within(60):
                session.blame(HANG, "the run does not end when it is interrupted")
                run.kill()
        text = (folder / "log").read_text(errors="replace")
        code = run.returncode or 0
        session.look("run on a lost cluster", code, text, allowed=(0, 1, 2, 130))
    finally:
        for part in parts:
            part.kill()
            part.wait()
    code, text = study.run(folder, *command, "--jobs", 2)
    session.look("the run continued here", code, text, allowed=(0,))
    if code == 0 and study.fingerprint(folder / "r") != study.undisturbed(TRIALS)[1]:
        session.blame(LOST, "the tables differ from those of an undisturbed run")
    return session


def _start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    code = f"from distributed.cli.dask_{arguments[0]} import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments[1:]],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(study.ROOT)},
    )


PART = Part(
    name="dask",
    what="clusters that lose workers or their scheduler",
    make=make,
    full=40,
    jobs=4,
    preload=study.PRELOAD,
    prepare=prepare,
)
