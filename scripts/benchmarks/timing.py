"""What is compared is timed alternately in one run and reported as ratios."""

from __future__ import annotations

import json
import math
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pandas as pd

OUT = Path("results/reference/benchmarks")
# Threads of a library go on spinning for a moment after its last product; a short task
# would be timed beside them.
REST = 0.2
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in a body that takes longer; some eigensolvers never end."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def alternate(
    tasks: dict[str, Callable[[], Any]],
    repeats: int,
    clock: Callable[[], Any] = time.process_time,
    *,
    warm_up: bool = True,
    budget: float = math.inf,
    rest: float = 0.0,
) -> pd.DataFrame:
    """Time the tasks in turn; a row per task and round.

    Parameters
    ----------
    tasks : dict
        A task that returns a function has only prepared: that function is timed.
    repeats : int
        Rounds.
    clock : callable
        Processor seconds of this process by default: a shared machine's pauses do
        not count.
    warm_up : bool
        Begin with a round that is not counted: caches, lazy imports.
    budget : float
        Wall seconds after which no further round begins.
    rest : float
        Seconds to wait before each task.
    """
    rows: list[tuple[str, int, Any]] = []
    began = time.perf_counter()
    for round_ in range(-1 if warm_up else 0, repeats):
        if round_ > 0 and time.perf_counter() - began > budget:
            break
        for name, task in tasks.items():
            time.sleep(rest)
            rows.append((name, round_, _seconds(task, clock)))
    frame = pd.DataFrame(rows, columns=["task", "round", "seconds"])
    return frame[frame["round"] >= 0]


def _seconds(task: Callable[[], Any], clock: Callable[[], Any]) -> Any:
    began = clock()
    prepared = task()
    if callable(prepared):
        began = clock()
        prepared()
    return clock() - began


def in_new_process(module: str, *asked: Any, threads: str = "default") -> Any:
    """Return the JSON that ``python -m scripts.benchmarks.MODULE ASKED`` prints last.

    Libraries read their number of threads when they are loaded, and peak memory is
    that of a process. ``threads``: "default", or a number.
    """
    environment = {key: v for key, v in os.environ.items() if key not in VARIABLES}
    if threads != "default":
        environment |= dict.fromkeys(VARIABLES, threads)
    command = [sys.executable, "-m", f"scripts.benchmarks.{module}", *map(str, asked)]
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def machine() -> dict[str, Any]:
    """Name the machine, without its host name."""
    from threadpoolctl import threadpool_info

    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if "model name" in line]
        model = names[0].split(":")[1].strip() if names else model
    pools = [
        {key: pool.get(key) for key in ("internal_api", "num_threads")}
        for pool in threadpool_info()
        if pool.get("user_api") == "blas"
    ]
    return {"cpu": model, "python": platform.python_version(), "threads": pools}


def save(
    name: str, frame: pd.DataFrame, facts: dict[str, Any], keep: Sequence[str] = ()
) -> pd.DataFrame:
    """Write the table, what it was measured on, and its figure; return the table.

    ``keep``: columns that name a measurement; those of the table there that were not
    measured again stay.
    """
    from scripts.benchmarks.figures import draw

    click.echo(frame.to_string(index=False, float_format=lambda x: f"{x:.4g}"))
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / f"{name}.csv"
    by = list(keep)
    old = pd.read_csv(path) if by and path.exists() else pd.DataFrame()
    # A table of other columns was another measurement.
    if set(by) <= set(old) and len(old):
        again = old[by].apply(tuple, axis=1).isin(frame[by].apply(tuple, axis=1))
        frame = pd.concat([old[~again], frame])
        before = json.loads(path.with_suffix(".json").read_text())
        facts = {
            key: {**before.get(key, {}), **value} if isinstance(value, dict) else value
            for key, value in facts.items()
        }
    frame.to_csv(path, index=False, float_format="%.6g")
    text = json.dumps({"machine": machine(), **facts}, indent=1, sort_keys=True)
    path.with_suffix(".json").write_text(text + "\n")
    draw(OUT, name)
    click.echo(f"\nWritten: {OUT}/{name}.csv, {name}.json, {name}.png")
    return frame


def ratios(frame: pd.DataFrame, ours: str, theirs: str) -> dict[str, float]:
    """Return median and range of the round-by-round ratio of two tasks."""
    table = frame.pivot(index="round", columns="task", values="seconds")
    ratio = table[ours] / table[theirs]
    return {
        "seconds": float(table[ours].median()),
        "baseline_seconds": float(table[theirs].median()),
        "ratio": float(ratio.median()),
        "ratio_low": float(ratio.min()),
        "ratio_high": float(ratio.max()),
    }
