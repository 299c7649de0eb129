"""A small experiment that several parts run, and how its results are compared."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

from scripts.fuzz.harness import Case
from scripts.fuzz.process import LOST, run

# What differs between two runs of the same trial.
MEASURED = ("seconds", "similarity_seconds", "peak_memory_mb", "attempts")
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


def scratch() -> Path:
    """Return a folder that is removed when the attack ends."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-study-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def undisturbed_run(folder: Path, *words: object, **options: object) -> None:
    """Run a command that has no reason to fail."""
    ended = run(folder, words, **options)  # type: ignore[arg-type]
    if ended.code:
        raise AssertionError(f"{words[0]} gave {ended.code}: {ended.text}")


def fingerprint(results: Path) -> dict[str, str]:
    """Return what a run must give again: computed columns, and every table's bytes."""
    import pandas as pd

    found = {}
    for name in ("trials.csv", "traces.csv"):
        frame = pd.read_csv(results / "small" / name, dtype=str, keep_default_na=False)
        kept = [column for column in frame if column not in MEASURED]
        found[name] = frame[kept].to_csv(index=False)
    undisturbed_run(results.parent, "tables", "--results", results)
    for path in sorted((results / "tables").rglob("*")):
        if path.is_file():
            # Tables name the folder they were made from.
            found[path.name] = path.read_text().replace(str(results), "results")
    return found


@functools.cache
def undisturbed(trials: int) -> tuple[Path, dict[str, str]]:
    """Return the results folder and fingerprint of a run that nobody disturbed."""
    folder = scratch()
    words = ("run", write_config(folder, trials=trials), "--results", folder / "r")
    undisturbed_run(folder, *words, "--jobs", 2)
    return folder / "r", fingerprint(folder / "r")


def finish(case: Case, command: tuple[object, ...], trials: int) -> None:
    """Let a run end, and compare its tables with those of an undisturbed one."""
    code = case.run(*command, seconds=1800, allowed=(0,)).code
    if not code and fingerprint(case.folder / "r") != undisturbed(trials)[1]:
        case.blame(LOST, "the tables differ from those of an undisturbed run")
