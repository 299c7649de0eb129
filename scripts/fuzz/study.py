"""A small experiment that several parts run, and how its results are compared."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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


def start(
    folder: Path, *arguments: object, log: str = "log"
) -> subprocess.Popen[bytes]:
    """Start ``symmf`` as a user would, in a session of its own."""
    with (folder / log).open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "symmf", *map(str, arguments)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )


def run(folder: Path, *arguments: object, seconds: float = 300) -> tuple[int, str]:
    """Run ``symmf`` to its end; return exit code and output."""
    done = subprocess.run(
        [sys.executable, "-m", "symmf", *map(str, arguments)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def fingerprint(results: Path) -> dict[str, str]:
    """Return what a run must give again: computed columns, and every table's bytes."""
    import pandas as pd

    from symmf.experiment.store.layout import MEASURED_COLUMNS

    found = {}
    for name in ("trials.csv", "traces.csv"):
        frame = pd.read_csv(results / "small" / name, dtype=str, keep_default_na=False)
        kept = [column for column in frame if column not in MEASURED_COLUMNS]
        found[name] = frame[kept].to_csv(index=False)
    code, text = run(results.parent, "tables", "--results", results)
    if code:
        raise AssertionError(f"tables gave {code}: {text}")
    for path in sorted((results / "tables").rglob("*")):
        if path.is_file():
            found[path.name] = path.read_text()
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
