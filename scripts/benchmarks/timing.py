"""What is compared is timed alternately in one run and reported as ratios."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

OUT = Path("results/reference/benchmarks")
REPEATS = 11


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
            began = clock()
            prepared = task()
            if callable(prepared):
                began = clock()
                prepared()
            rows.append((name, round_, clock() - began))
    frame = pd.DataFrame(rows, columns=["task", "round", "seconds"])
    return frame[frame["round"] >= 0]


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
