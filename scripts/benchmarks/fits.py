"""Whole fits with the machine's default threads and with one, idle and busy.

Libraries read their number of threads when they are loaded, so every data set, load and
number of threads has a process of its own, in which methods are timed in turn by the
wall clock: what a person waits for. Default threads
come first, one thread second. Busy: a loop of another process keeps one core busy.
"""

from __future__ import annotations

import itertools
import multiprocessing
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
import numpy as np
import pandas as pd

from scripts.benchmarks.timing import REST, alternate, in_new_process, ratios

PEER = "SpectralClustering"
OURS = ("symmf", "spectral", "symnmf", "symhals", "nmf", "gnmf")
LOADS = ("idle", "busy")
#: name of a data set, and of a member of a collection
SETS = (
    *("digits", "coil20", "cifar10", "reuters21578", "tdt2", "clustbench:sipu/a3"),
    *("clustbench:other/chameleon_t7_10k", "clustbench:wut/trajectories"),
)
# Rows of the fits that load what is imported late.
_FEW = 200


def measure(
    sets: Sequence[str], loads: Sequence[str], repeats: int, budget: float
) -> pd.DataFrame:
    """Return a row per data set, load, number of threads, method and round.

    After ``budget`` seconds a process begins no further round.
    """
    parts = []
    for name, load, threads in itertools.product(sets, loads, ("default", "1")):
        with busy_core(wanted=load == "busy"):
            found = in_new_process("fits", name, repeats, budget, threads=threads)
        parts.append(pd.DataFrame(found).assign(load=load, threads=threads))
        median = parts[-1].groupby("task", sort=False)["seconds"].median().round(3)
        click.echo(f"{name}, {load}, threads {threads}: {median.to_dict()}")
    return pd.concat(parts)


def beside_peer(every: pd.DataFrame) -> pd.DataFrame:
    """Return ratios to SpectralClustering, with the same load and threads."""
    rows = []
    for keys, frame in every.groupby(["case", "load", "threads"], sort=False):
        entry = dict(zip(("case", "load", "threads"), keys, strict=True))
        rounds = frame["round"].nunique()
        rows += [
            {**entry, "task": task, **ratios(frame, task, PEER), "rounds": rounds}
            for task in frame["task"].unique()
        ]
    return pd.DataFrame(rows)


def beside_one_thread(every: pd.DataFrame) -> pd.DataFrame:
    """Return ratios of default threads to one thread, and whether labels agree."""
    rows = []
    ours = every[every["task"].isin(OURS)]
    for keys, frame in ours.groupby(["case", "task", "load"], sort=False):
        entry = dict(zip(("case", "method", "load"), keys, strict=True))
        by_threads = frame.assign(task=frame["threads"])
        same = frame["labels"].nunique() == 1
        entry |= {**ratios(by_threads, "default", "1"), "same_labels": same}
        rows.append(entry)
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


def _time_fits(
    name: str, methods: Sequence[str], repeats: int, budget: float
) -> pd.DataFrame:
    """Time fits of a data set in this process."""
    from symmf.clustering.labels import labels_digest
    from symmf.datasets import load_dataset
    from symmf.features.preprocess import preprocess

    source, _, member = name.partition(":")
    data = load_dataset(source, **({"set": member} if member else {}))
    text = data.kind == "text"
    # SymMF weighs counts itself. Others get unit rows of weights, whose Euclidean
    # neighbours are those by cosine; points get nonnegative coordinates.
    others = preprocess(data.X, ["tfidf", "unit_rows"]) if text else data.X
    if member:
        others = np.asarray(others) - np.asarray(others).min(axis=0)
    labels: dict[str, str] = {}

    def fit(method: str) -> None:
        X = data.X if method == "symmf" else others
        model = clusterer(method, data.n_classes, text=text)
        labels[method] = labels_digest(model.fit(X).labels_)

    for method in methods:
        # Lazy imports are nobody's time.
        clusterer(method, 2, text=text).fit(others[:_FEW])
    frame = alternate(
        {method: lambda method=method: fit(method) for method in methods},
        repeats,
        time.perf_counter,
        warm_up=False,
        budget=budget,
        rest=REST,
    )
    title = member or data.title or name
    case = f"{title} (n={data.X.shape[0]}, k={data.n_classes})"
    return frame.assign(case=case, labels=frame["task"].map(labels))


def clusterer(method: str, k: int, *, text: bool) -> Any:
    """Return a clusterer with its defaults; graphs of text are those of cosines."""
    from sklearn.cluster import KMeans, SpectralClustering

    from symmf.clustering import METHODS

    if method == PEER:
        return SpectralClustering(
            k, affinity="nearest_neighbors", n_init=10, random_state=0
        )
    if method == "KMeans":
        return KMeans(k, n_init=10, random_state=0)
    graph = text and method in ("spectral", "symnmf", "symhals")
    options = {"similarity": "cosine_knn"} if graph else {}
    make: Any = METHODS[method]
    return make(k, random_state=0, **options)


def graphs() -> Iterator[tuple[str, Any, int]]:
    """Yield the matrices of the eigenpairs with k: dense, a graph, one with copies."""
    from sklearn.datasets import make_blobs

    from symmf.datasets import load_dataset
    from symmf.features.preprocess import preprocess
    from symmf.similarity import build_similarity, regularise

    coil = build_similarity(load_dataset("coil20").X, "centred_cosine")
    yield "COIL-20, dense", regularise(coil, 0.5), 20
    tfidf = preprocess(load_dataset("reuters21578").X, ["tfidf"])
    yield "Reuters, graph of neighbours", build_similarity(tfidf, "cosine_knn"), 41
    # A component per blob: the eigenvalue 1 comes 20 times.
    X = make_blobs(6000, n_features=8, centers=20, center_box=(-90, 90), random_state=0)
    blobs = build_similarity(X[0], "mutual_knn", tree=False)
    yield "20 components, eigenvalue 1 repeated", blobs, 20


def eigenpairs(repeats: int) -> pd.DataFrame:
    """Time our eigenpairs against a bare eigsh of the same k and accuracy.

    ``eigsh`` is given the residual that ours has, and once 0, with which it finds more
    copies of repeated eigenvalues; the note says how many of the k largest it misses.
    """
    from scipy.sparse.linalg import eigsh

    from symmf.linalg import solve_eigenpairs
    from symmf.linalg.threads import one_thread

    rows = []
    for name, M, k in graphs():
        found = solve_eigenpairs(M, k, np.random.default_rng(0))
        residual = _residual(M, found.values, found.vectors)
        matrix = getattr(M, "M", M)
        v0 = np.random.default_rng(1).standard_normal(M.shape[0])

        def ours(M: Any = M, k: int = k) -> None:
            solve_eigenpairs(M, k, np.random.default_rng(0))

        for accuracy, tol in (("", max(residual, 1e-12)), (", tol=0", 0.0)):

            def bare(
                matrix: Any = matrix, k: int = k, v0: Any = v0, tol: float = tol
            ) -> Any:
                return eigsh(matrix, k, which="LA", v0=v0, tol=tol)

            values, vectors = bare()
            close = max(10 * residual, 1e-6) * float(np.abs(found.values).max())
            missed = int(np.sum(found.values - np.sort(values)[::-1] > close))
            tasks: dict[str, Any] = {"ours": ours, "eigsh": bare}
            with one_thread():
                frame = alternate(tasks, repeats)
            rows.append(
                {
                    "case": f"{name} (n={M.shape[0]}, k={k})",
                    "task": f"{found.route} / eigsh{accuracy}",
                    **ratios(frame, "ours", "eigsh"),
                    "rounds": repeats,
                    "residual": residual,
                    "residual_eigsh": _residual(M, values, vectors),
                    "note": f"eigsh misses {missed} of {k}" if missed else "",
                }
            )
    return pd.DataFrame(rows)


def _residual(M: Any, values: Any, vectors: Any) -> float:
    """Return the largest ||M v - theta v|| over the largest eigenvalue."""
    R = M.matmat(np.ascontiguousarray(vectors)) - vectors * values
    return float(np.linalg.norm(R, axis=0).max() / np.abs(values).max())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = (*OURS, PEER, "KMeans")
    table = _time_fits(sys.argv[1], asked, int(sys.argv[2]), float(sys.argv[3]))
    print(table.to_json(orient="records"))
