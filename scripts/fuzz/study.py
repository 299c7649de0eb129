"""A small experiment that several parts run, and how its results are compared."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
# A defect must look like one.
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "SYMMF_TRACEBACK": "1"}
# What differs between two runs of the same trial.
MEASURED = ("seconds", "similarity_seconds", "peak_memory_mb", "attempts")
# What a fork of this process needs not import again.
PRELOAD = (
    "pandas", "symmf.experiment.store.layout", "symmf.cli.run", "symmf.cli.report",
    "symmf.cli.cluster", "symmf.app.request", "symmf.app.answer", "symmf.app.page",
    "symmf.clustering.symmf.model_file", "symmf.experiment.plan",
    "symmf.experiment.runner", "symmf.experiment.run.local_pool",
    "symmf.reporting.results", "symmf.clustering", "symmf.datasets", "sklearn.datasets",
    "matplotlib.pyplot", "rich.table", "h5py",
)  # fmt: skip
CONFIG = """\
name: small
title: Small
seed: 1
dataset: {name: synthetic, kind: planted, n: 80, k: 4, m: 10, noise: 0.4}
n_clusters: [2, 3, 4]
trials: TRIALS
lambda: [0, 0.5]
methods:
  - {method: kmeans, parameters: {n_init: 20}}
  - {method: spectral}
  - {method: symmf, name: ours, label: Ours, primary: true,
     parameters: {solver: projected_gradient, max_iter: 100, tol: 0}}
  - {method: symnmf, parameters: {max_iter: 50}}
"""


def write_config(folder: Path, *, trials: int = 3) -> Path:
    """Write the experiment file."""
    path = folder / "small.yaml"
    path.write_text(CONFIG.replace("TRIALS", str(trials)))
    return path


class Run:
    """A run of ``symmf`` in a session of its own.

    A fresh interpreter is what a user starts. A fork of this process, which has
    imported everything, runs the same from ``symmf.__main__`` on, for less than half
    of the time.
    """

    def __init__(
        self,
        folder: Path,
        arguments: tuple[object, ...],
        *,
        log: str,
        fresh: bool,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self.returncode: int | None = None
        words = [str(word) for word in arguments]
        output = os.open(folder / log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self.pid = os.fork()
            if self.pid == 0:
                _become_symmf(folder, words, output, _renew if fresh else before)
        finally:
            os.close(output)

    def ends_within(self, seconds: float) -> bool:
        """Wait for the end; tell whether it came."""
        limit = time.monotonic() + seconds
        while self.returncode is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.returncode = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > limit:
                return False
            else:
                time.sleep(min(0.01, max(seconds, 0.001)))
        return True

    def kill(self) -> None:
        """End it at once."""
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)
            self.ends_within(60)


def _renew() -> None:
    """Go on in a fresh interpreter."""
    os.execv(sys.executable, [sys.executable, "-m", *sys.argv])


def _become_symmf(
    folder: Path, words: list[str], output: int, before: Callable[[], None]
) -> NoReturn:
    code = 70
    try:
        os.setsid()
        os.chdir(folder)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, stream in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(source, stream)
        os.environ.update(ENVIRONMENT)
        sys.argv = ["symmf", *words]
        from symmf.__main__ import start as run_symmf

        before()
        run_symmf()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def start(
    folder: Path, *arguments: object, log: str = "log", fresh: bool = True
) -> Run:
    """Start ``symmf``; its output goes to a file of the folder."""
    return Run(folder, arguments, log=log, fresh=fresh)


def run(
    folder: Path,
    *arguments: object,
    seconds: float = 1800,
    before: Callable[[], None] = lambda: None,
) -> tuple[int, str]:
    """Run ``symmf`` to its end, after ``before``; return exit code and output."""
    log = f"output-{time.monotonic_ns()}"
    process = Run(folder, arguments, log=log, fresh=False, before=before)
    if not process.ends_within(seconds):
        process.kill()
        return -signal.SIGKILL, f"not done after {seconds:g} seconds"
    text = (folder / log).read_text(errors="replace")
    (folder / log).unlink()
    return process.returncode or 0, text


def fingerprint(results: Path) -> dict[str, str]:
    """Return what a run must give again: computed columns, and every table's bytes."""
    import pandas as pd

    found = {}
    for name in ("trials.csv", "traces.csv"):
        frame = pd.read_csv(results / "small" / name, dtype=str, keep_default_na=False)
        kept = [column for column in frame if column not in MEASURED]
        found[name] = frame[kept].to_csv(index=False)
    code, text = run(results.parent, "tables", "--results", results)
    if code:
        raise AssertionError(f"tables gave {code}: {text}")
    for path in sorted((results / "tables").rglob("*")):
        if path.is_file():
            # Tables name the folder they were made from.
            found[path.name] = path.read_text().replace(str(results), "results")
    return found


@functools.cache
def undisturbed(trials: int) -> tuple[Path, dict[str, str]]:
    """Return the results folder and fingerprint of a run that nobody disturbed."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-study-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    config = write_config(folder, trials=trials)
    code, text = run(folder, "run", config, "--results", folder / "r", "--jobs", 2)
    if code:
        raise AssertionError(f"the undisturbed run gave {code}: {text}")
    return folder / "r", fingerprint(folder / "r")


def wait_for_port(port: int) -> None:
    """Wait until somebody listens on this machine."""
    for _ in range(200):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)


def free_port() -> int:
    """Return the number of a port on this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
