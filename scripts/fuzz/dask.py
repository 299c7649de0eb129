"""Dask: addresses that lead nowhere, workers and schedulers that are lost."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from scripts.fuzz import study
from scripts.fuzz.harness import HANG, LOST, Part, Session

TRIALS = 4
ADDRESSES = (
    "", " ", "x", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:1", "127.0.0.1:1",
    "tls://127.0.0.1:1", "ucx://127.0.0.1:1", "http://127.0.0.1:1",
    "tcp://127.0.0.1:99999",
    "tcp://nosuchhost.invalid:8786", "tcp://[::1]:1", "inproc://x", "ws://127.0.0.1:1",
    "\u00e9",
    "tcp://127.0.0.1:x", "/etc/passwd", "file:///etc/passwd", "-1", "tcp://0.0.0.0:1",
    "://",
)  # fmt: skip


def prepare() -> None:
    """Run undisturbed once, for comparison."""
    study.undisturbed(TRIALS)


def make(rng: random.Random, folder: Path) -> Session:
    """Most cases are addresses; some are clusters that lose a part."""
    session = Session()
    config = study.write_config(folder, trials=TRIALS)
    command = ("run", config, "--results", folder / "r", "--quiet")
    if rng.random() < 0.8:
        session.tried = 1
        address = rng.choice(ADDRESSES)
        code, text = study.run(folder, *command, "--dask", address)
        session.look(f"--dask {address!r}", code, text, allowed=(2,))
        session.verdict = "clean" if session.verdict == "accepted" else session.verdict
        return session
    _lose(rng, folder, command, session)
    return session


def _lose(
    rng: random.Random, folder: Path, command: tuple[object, ...], session: Session
) -> None:
    port = _free_port()
    address = f"tcp://127.0.0.1:{port}"
    parts = [_start(folder, "scheduler", "--port", str(port), "--no-dashboard")]
    try:
        _wait(port)
        worker = ("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny")
        parts += [_start(folder, *worker) for _ in range(2)]
        run = study.start(folder, *command, "--dask", address)
        session.tried = 1
        run.ends_within(rng.uniform(1, 8))
        victims = rng.choice(([parts[0]], [parts[1]], parts[1:], []))
        for victim in victims:
            victim.send_signal(signal.SIGKILL)
        if not run.ends_within(90):
            os.kill(run.pid, signal.SIGINT)
            if not run.ends_within(60):
                session.blame(HANG, "the run does not end when it is interrupted")
                run.kill()
        text = (folder / "log").read_text(errors="replace")
        session.look(
            "run on a lost cluster", run.returncode or 0, text, allowed=(0, 1, 2, 130)
        )
    finally:
        for part in parts:
            part.kill()
            part.wait()
    code, text = study.run(folder, *command, "--jobs", 2)
    session.look("the run continued here", code, text, allowed=(0,))
    if code == 0 and study.fingerprint(folder / "r") != study.undisturbed(TRIALS)[1]:
        session.blame(LOST, "the tables differ from those of an undisturbed run")


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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(port: int) -> None:
    for _ in range(200):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)


PART = Part(
    name="dask",
    what="addresses that lead nowhere; clusters that lose workers or their scheduler",
    make=make,
    full=40,
    jobs=4,
    preload=study.PRELOAD,
    prepare=prepare,
)
