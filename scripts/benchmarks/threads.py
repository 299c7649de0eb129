"""Fits with the machine's default threads beside one thread, idle and busy.

Libraries read their number of threads when they are loaded, so every measurement is a
process of its own: ``python -m scripts.benchmarks.threads METHOD SET REPEATS`` prints
wall seconds and a digest of the labels. Default threads come first, one thread second.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

METHODS = ("symmf", "spectral", "symnmf", "symhals", "nmf", "gnmf")
SETS = ("digits", "coil20", "cifar10", "reuters21578", "tdt2", "clustbench:sipu/a3")
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Seconds one process may take.
_LIMIT = 600


def compare(
    methods: tuple[str, ...], sets: tuple[str, ...], repeats: int, *, busy: bool
) -> pd.DataFrame:
    """Return a row per method, data set and load; ``ratio``: default over one thread.

    ``busy``: a second time with one core kept busy by a loop of another process.
    """
    rows = []
    for name in sets:
        for method in methods:
            for load in ("idle", "busy")[: 1 + busy]:
                with busy_core(wanted=load == "busy"):
                    default = _measured(method, name, repeats, threads=None)
                    single = _measured(method, name, repeats, threads=1)
                rows.append(
                    {
                        "data": name,
                        "method": method,
                        "load": load,
                        "default_s": np.median(default["seconds"]),
                        "one_thread_s": np.median(single["seconds"]),
                        "ratio": np.median(default["seconds"])
                        / np.median(single["seconds"]),
                        "same_labels": default["labels"] == single["labels"],
                    }
                )
    return pd.DataFrame(rows)


@contextmanager
def busy_core(*, wanted: bool = True) -> Iterator[None]:
    """Keep one core busy with a loop in another process until the block ends."""
    if not wanted:
        yield
        return
    process = multiprocessing.get_context("spawn").Process(target=_loop, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.terminate()
        process.join()


def _loop() -> None:
    while True:
        pass


def _measured(
    method: str, name: str, repeats: int, *, threads: int | None
) -> dict[str, Any]:
    environment = {key: v for key, v in os.environ.items() if key not in VARIABLES}
    if threads is not None:
        environment |= dict.fromkeys(VARIABLES, str(threads))
    command = [sys.executable, "-m", __name__, method, name, str(repeats)]
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=_LIMIT,
    )
    return dict(json.loads(done.stdout))


def measure(method: str, name: str, repeats: int) -> dict[str, Any]:
    """Fit so many times, after one fit that is not counted; see the module."""
    from symmf.clustering import METHODS as KNOWN
    from symmf.clustering.labels import labels_digest
    from symmf.datasets import load_dataset

    source, _, member = name.partition(":")
    data = load_dataset(source, **({"set": member} if member else {}))
    X = data.X
    if member and method in ("nmf", "gnmf"):
        # Points have negative coordinates.
        X = np.asarray(X) - np.asarray(X).min(axis=0)
    seconds, model = [], None
    for _ in range(repeats + 1):
        model = KNOWN[method](n_clusters=data.n_classes, random_state=0)
        start = time.perf_counter()
        model.fit(X)
        seconds.append(time.perf_counter() - start)
    labels = labels_digest(model.labels_) if model is not None else ""
    return {"seconds": seconds[1:], "labels": labels}


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
