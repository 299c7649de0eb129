"""What is compared is timed alternately in one run and reported as ratios."""

from __future__ import annotations

import json
import platform
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

OUT = Path("results/reference/benchmarks")
REPEATS = 11


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
    clock: Callable[[], float] = time.process_time,
) -> pd.DataFrame:
    """Time the tasks in turn, ``repeats`` rounds; a row per task and round.

    A task that returns a function has only prepared: that function is what is timed.
    Processor seconds of this process, unless another clock is given: a shared
    machine's pauses do not count.
    """
    rows = []
    for round_ in range(-1, repeats):  # round -1 warms up caches and lazy imports
        for name, task in tasks.items():
            rows.append((name, round_, _seconds(task, clock)))
    frame = pd.DataFrame(rows, columns=["task", "round", "seconds"])
    return frame[frame["round"] >= 0]


def alternate_within(
    tasks: dict[str, Callable[[], Any]],
    repeats: int,
    *,
    limit: float,
    budget: float,
    clock: Callable[[], float] = time.process_time,
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Time as :func:`alternate` does, without warming up, tasks that may be slow.

    Parameters
    ----------
    tasks, repeats, clock
    limit
        Wall seconds a task may take; one that takes more, or fails, is left out from
        there on.
    budget
        Wall seconds after which no further round begins.

    Returns
    -------
    frame, notes
        ``notes``: what became of the tasks that were left out.
    """
    rows: list[tuple[str, int, float]] = []
    notes: dict[str, str] = {}
    began = time.perf_counter()
    for round_ in range(repeats):
        if round_ and time.perf_counter() - began > budget:
            break
        for name, task in tasks.items():
            if name in notes:
                continue
            try:
                with at_most(limit), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rows.append((name, round_, _seconds(task, clock)))
            except (TimeoutError, RuntimeError, MemoryError) as error:
                notes[name] = f"stopped: {error}"[:80]
    return pd.DataFrame(rows, columns=["task", "round", "seconds"]), notes


def _seconds(task: Callable[[], Any], clock: Callable[[], float]) -> float:
    began = clock()
    prepared = task()
    if callable(prepared):
        began = clock()
        prepared()
    return clock() - began


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


def save(name: str, frame: pd.DataFrame, facts: dict[str, Any] | None = None) -> None:
    """Write the table, what it was measured on, and its figure."""
    OUT.mkdir(parents=True, exist_ok=True)
    frame.to_csv(OUT / f"{name}.csv", index=False, float_format="%.6g")
    text = json.dumps({"machine": machine(), **(facts or {})}, indent=1, sort_keys=True)
    (OUT / f"{name}.json").write_text(text + "\n")
    from scripts.benchmarks.figures import draw

    click.echo(frame.to_string(index=False, float_format=lambda x: f"{x:.4g}"))
    draw(OUT, name)
    click.echo(f"\nWritten: {OUT}/{name}.csv, {name}.json, {name}.png")


def ratios(frame: pd.DataFrame, ours: str, theirs: str) -> dict[str, float]:
    """Median and range of the round-by-round ratio of two tasks."""
    table = frame.pivot_table(index="round", columns="task", values="seconds")
    ratio = table[ours] / table[theirs]
    return {
        "seconds": float(table[ours].median()),
        "baseline_seconds": float(table[theirs].median()),
        "ratio": float(ratio.median()),
        "ratio_low": float(ratio.min()),
        "ratio_high": float(ratio.max()),
    }


def problems() -> dict[str, tuple[Any, int]]:
    """Return the matrices the iteration cost is measured on, with their k."""
    from symmf.datasets import load_dataset
    from symmf.features.preprocess import preprocess
    from symmf.similarity import as_operator, build_similarity, regularise

    coil, reuters = load_dataset("coil20"), load_dataset("reuters21578")
    dense = regularise(build_similarity(coil.X, "centred_cosine"), 0.5)
    single = regularise(
        build_similarity(coil.X.astype(np.float32), "centred_cosine"), 0.5
    )
    implicit = regularise(build_similarity(reuters.X, "centred_cosine"), 0.5)
    tfidf = preprocess(reuters.X, ["tfidf"])
    named = {
        "COIL-20 dense, k=20": (dense, 20),
        "COIL-20 dense float32, k=20": (single, 20),
        "Reuters implicit, k=41": (implicit, 41),
        "Reuters implicit, k=20": (implicit, 20),
    }
    for neighbours in (14, 100):
        graph = as_operator(
            build_similarity(tfidf, "cosine_knn", n_neighbors=neighbours)
        )
        entries = round(graph.M.nnz / graph.shape[0])
        named[f"Reuters graph, {entries} entries a row, k=20"] = (graph, 20)
    return named
