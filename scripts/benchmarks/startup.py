"""How long commands take: start-up beside a bare Python, reporting in seconds."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.benchmarks.timing import alternate, ratios

BARE = "python -c pass"
# What a command is measured beside, if not a bare Python.
BESIDE = {"import symmf": "import sklearn.cluster"}
# What it may take: times that, or seconds.
TIMES, SECONDS = "times", "s"
LIMITS: dict[str, tuple[float, str]] = {
    "import symmf": (1.3, TIMES),
    "symmf --help": (5, TIMES),
    "symmf status, nothing run": (5, TIMES),
    "symmf status": (1, SECONDS),
    "symmf tables": (3, SECONDS),
    "symmf report": (10, SECONDS),
    "symmf audit --fresh": (15, SECONDS),
}


@contextmanager
def scratch(study: Path) -> Iterator[Path]:
    """Give a folder with a copy of the study's experiments in ``results/``."""
    with tempfile.TemporaryDirectory() as folder:
        for path in study.glob("*/experiment.yaml"):
            target = Path(folder) / "results" / path.parent.name
            shutil.copytree(path.parent, target)
        (Path(folder) / "empty").mkdir()
        yield Path(folder)


def quick_commands(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return the commands that are to start at once."""
    empty, results = str(folder / "empty"), str(folder / "results")

    return {
        BARE: lambda: _run("-c", "pass"),
        "import sklearn.cluster": lambda: _run("-c", "import sklearn.cluster"),
        "import symmf": lambda: _run("-c", "import symmf"),
        "symmf --help": _symmf("--help"),
        "symmf --version": _symmf("--version"),
        "symmf configs": _symmf("configs"),
        "symmf status, nothing run": _symmf("status", "--results", empty),
        "symmf status": _symmf("status", "--results", results),
    }


def long_commands(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return the commands that make something of the whole study."""
    results, out = str(folder / "results"), folder / "out"
    page, audit = str(out / "report.html"), str(out / "audit")

    return {
        BARE: lambda: _run("-c", "pass"),
        "symmf tables": _symmf("tables", "--results", results, "--out", str(out)),
        "symmf report": _symmf("report", "--results", results, "--out", page),
        "symmf audit --fresh": _symmf("audit", "--fresh", "--out", audit),
        "symmf audit, again": _symmf("audit", "--out", audit),
    }


def _symmf(*arguments: str) -> Callable[[], None]:
    return lambda: _run("-m", "symmf", *arguments)


def _run(*arguments: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    subprocess.run(
        [sys.executable, *arguments],
        check=True,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


def children_seconds() -> float:
    """Return the processor seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _clocks() -> Any:
    return np.array([children_seconds(), time.perf_counter()])


def measure(commands: dict[str, Callable[[], Any]], repeats: int) -> pd.DataFrame:
    """Time commands in turn, by processor and by wall clock; a row per command."""
    frame = alternate(commands, repeats, _clocks)
    used, passed = np.stack(frame["seconds"].to_list()).T
    cpu, wall_clock = frame.assign(seconds=used), frame.assign(seconds=passed)
    rows = []
    for name in commands:
        if name == BARE:
            continue
        wall = wall_clock.loc[wall_clock["task"] == name, "seconds"]
        limit, unit = LIMITS.get(name, (None, ""))
        beside = BESIDE.get(name, BARE)
        entry = ratios(cpu, name, beside)
        found = entry["ratio"] if unit == TIMES else entry["seconds"]
        rows.append(
            {
                "command": name,
                "beside": beside,
                **entry,
                "wall_seconds": float(wall.median()),
                "wall_low": float(wall.min()),
                "wall_high": float(wall.max()),
                "limit": limit,
                "unit": unit,
                "within": "" if limit is None else str(found <= limit).lower(),
            }
        )
    return pd.DataFrame(rows)
