"""Seeded data with planted clusters, sparse or dense, and one measured fit on them."""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from scipy import sparse

from scripts.benchmarks.timing import in_new_process

COLUMNS = ["n", "seconds", "ari", "peak_mb", "x_mb", "times_x"]
FEATURES, NONZEROS, CLUSTERS = 100_000, 50, 20
KINDS = ("dense", "rings", "sparse")
_DENSE_FEATURES = 16


def corpus(n: int, seed: int = 0) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw n documents of 50 words: 60 % from their topic's vocabulary, rest common."""
    rng = np.random.default_rng(seed)
    y = rng.integers(CLUSTERS, size=n)
    share = FEATURES // (2 * CLUSTERS)
    topical = int(0.6 * NONZEROS)
    columns = np.empty((n, NONZEROS), dtype=np.int32)
    # A slice at a time, so that drawing needs no more memory than the corpus.
    for first in range(0, n, 50_000):
        rows = slice(first, min(first + 50_000, n))
        size = rows.stop - rows.start
        own = rng.integers(share, size=(size, topical))
        columns[rows, :topical] = own + (y[rows] * share)[:, None]
        common = rng.integers(FEATURES // 2, size=(size, NONZEROS - topical))
        columns[rows, topical:] = FEATURES // 2 + common
        columns[rows].sort(axis=1)
    indptr = np.arange(0, n * NONZEROS + 1, NONZEROS, dtype=np.int32)
    data = np.ones(n * NONZEROS, dtype=np.float32)
    X = sparse.csr_array((data, columns.ravel(), indptr), shape=(n, FEATURES))
    X.sum_duplicates()
    return X, y


def points(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw n dense rows of 16 features in single precision around 20 centres."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-10, 10, (CLUSTERS, _DENSE_FEATURES))
    y = rng.integers(CLUSTERS, size=n)
    X = rng.standard_normal((n, _DENSE_FEATURES), dtype=np.float32)
    X += centres.astype(np.float32)[y]
    return X, y


def rings(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw n rows of two rings, one inside the other, among 14 features of noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    angle = rng.uniform(0, 2 * np.pi, n)
    X = 0.05 * rng.standard_normal((n, _DENSE_FEATURES), dtype=np.float32)
    radius = np.where(y == 0, 1.0, 0.5)
    X[:, 0] += radius * np.cos(angle)
    X[:, 1] += radius * np.sin(angle)
    return X, y


def draw(kind: str, n: int) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """Return rows, classes, and what ``SymMF`` is given for them."""
    if kind == "sparse":
        return *corpus(n), {"n_clusters": CLUSTERS}
    if kind == "dense":
        return *points(n), {"n_clusters": CLUSTERS}
    # Divided by their ranges, features of noise would decide: see the guide.
    options = {"feature_scale": "none"}
    return *rings(n), {"n_clusters": 2, "similarity_options": options}


def sizes_up_to(largest: int) -> list[int]:
    """Return 10,000 to ``largest``, about two to a decade."""
    sizes = [10_000]
    while sizes[-1] * 10 ** (1 / 2) <= largest * 1.01:
        sizes.append(int(round(sizes[-1] * 10 ** (1 / 2), -3)))
    sizes[-1] = largest if sizes[-1] > 0.9 * largest else sizes[-1]
    return sizes


def measure(n: int, kind: str = "sparse") -> dict[str, Any]:
    """Fit SymMF() once; peak memory is the process's."""
    from symmf import SymMF
    from symmf.metrics import ari

    X, y, given = draw(kind, n)
    parts = (X.data, X.indices, X.indptr) if kind == "sparse" else (X,)
    x_mb = sum(part.nbytes for part in parts) / 2**20
    # Lazy imports are not part of the growth.
    SymMF(n_clusters=2, random_state=0).fit(X[:200])
    _forget_peak()
    began = time.perf_counter()
    model = SymMF(random_state=0, **given).fit(X)
    seconds = time.perf_counter() - began
    peak_mb = _peak_mb()
    return {
        "n": n,
        "seconds": seconds,
        "ari": ari(y, model.labels_),
        "peak_mb": peak_mb,
        "x_mb": x_mb,
        "times_x": peak_mb / x_mb,
    }


def _forget_peak() -> None:
    """Reset the process's peak, so that only the fit counts (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_mb() -> float:
    """Return the largest resident size since then, X included."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("this system does not report its peak memory")


def growth(sizes: Sequence[int], repeats: int, kinds: Sequence[str]) -> pd.DataFrame:
    """Return medians by kind and size, with their spread; each fit in a new process."""
    rows = []
    for round_, kind, n in itertools.product(range(repeats), kinds, sizes):
        found = in_new_process("corpus", n, kind)
        rows.append({"kind": kind, **found})
        told = " ".join(f"{c}={found[c]:.4g}" for c in COLUMNS)
        click.echo(f"round {round_ + 1}, {kind}: {told}")
    return summary(pd.DataFrame(rows))


def summary(every: pd.DataFrame) -> pd.DataFrame:
    """Return medians by kind and size, with their spread."""
    by_size = every.groupby(["kind", "n"], sort=False)
    table = by_size.median().reset_index()
    table.insert(3, "seconds_low", by_size["seconds"].min().to_numpy())
    table.insert(4, "seconds_high", by_size["seconds"].max().to_numpy())
    table["ari"] = by_size["ari"].min().to_numpy()
    table["peak_mb"] = by_size["peak_mb"].max().to_numpy()
    table["times_x"] = table["peak_mb"] / table["x_mb"]
    return table


def exponents(table: pd.DataFrame) -> dict[str, float]:
    """Return slopes of log seconds over log n by kind, least squares."""
    logs = table.assign(n=np.log(table["n"]), seconds=np.log(table["seconds"]))
    return {
        str(kind): float(np.polyfit(rows["n"], rows["seconds"], 1)[0])
        for kind, rows in logs.groupby("kind", sort=False)
    }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), sys.argv[2])))
