"""Whole fits beside scikit-learn's SpectralClustering, and where their time goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import click
import numpy as np
import pandas as pd

from scripts.benchmarks.timing import alternate, alternate_within, ratios

PEER = "SpectralClustering"
# Wall seconds: of one fit, and after which a data set gets no further round.
LIMIT, BUDGET = 120.0, 60.0
# Rows and clusters of the fit whose reading of labels is timed.
_ROWS, _CLUSTERS = 10_000, 20


def cases() -> Iterator[tuple[str, Any, int, Any]]:
    """Yield name, rows, number of classes and what the peer gets instead of rows.

    Text: the peer gets unit rows of tf-idf weights, for its neighbours are those of
    Euclidean distances.
    """
    from symmf.datasets import load_dataset
    from symmf.datasets.clustbench import SETS
    from symmf.features.preprocess import preprocess

    for name in ("digits", "coil20", "cifar10"):
        data = load_dataset(name)
        X = np.asarray(data.X, dtype=np.float64)
        yield data.title or name, X, data.n_classes, X
    for name in ("reuters21578", "tdt2"):
        data = load_dataset(name)
        weighted = preprocess(data.X, ["tfidf", "unit_rows"])
        yield data.title or name, data.X, data.n_classes, weighted
    for name, known in SETS.items():
        if 6000 < known["samples"] <= 20_000:
            data = load_dataset("clustbench", set=name)
            X = np.asarray(data.X, dtype=np.float64)
            yield name, X, data.n_classes, X


def whole_fits(repeats: int, only: str | None = None) -> pd.DataFrame:
    """Time SymMF, Spectral and the peer in turn; ratios to the peer's time."""
    from sklearn.cluster import SpectralClustering

    from symmf import SymMF
    from symmf.clustering import Spectral

    rows: list[dict[str, Any]] = []
    for name, X, k, weighted in cases():
        if only is not None and only.lower() not in name.lower():
            continue
        text = weighted is not X
        options = {"similarity": "cosine_knn"} if text else {}
        peer = {"affinity": "nearest_neighbors", "assign_labels": "kmeans"}
        tasks: dict[str, Callable[[], Any]] = {
            "SymMF": lambda X=X, k=k: _fit(SymMF(k, random_state=0), X),
            "Spectral (ours)": lambda X=weighted, k=k, options=options: _fit(
                Spectral(k, random_state=0, **options), X
            ),
            PEER: lambda X=weighted, k=k, peer=peer: _fit(
                SpectralClustering(k, n_init=10, random_state=0, **peer), X
            ),
        }
        if not rows:
            # Lazy imports are nobody's time.
            alternate_within(tasks, 1, limit=LIMIT, budget=BUDGET)
        frame, notes = alternate_within(tasks, repeats, limit=LIMIT, budget=BUDGET)
        rows += [
            {
                "part": "whole fit",
                "case": f"{name} (n={X.shape[0]}, k={k})",
                "task": task,
                **compared(frame, notes, task, PEER),
            }
            for task in tasks
        ]
        click.echo(f"{name}: {[round(row.get('ratio', 0), 3) for row in rows[-3:]]}")
    return pd.DataFrame(rows)


def compared(
    frame: pd.DataFrame, notes: dict[str, str], task: str, other: str
) -> dict[str, Any]:
    """Return ratios, or what is known of them if one of the two was stopped."""
    mine = frame[frame["task"] == task]
    entry: dict[str, Any] = {"rounds": len(mine), "note": notes.get(task, "")}
    if task not in notes and other not in notes:
        return ratios(frame, task, other) | entry
    if task not in notes:
        entry["seconds"] = float(mine["seconds"].median())
        entry["note"] = f"{other} {notes[other]}"
    return entry


def label_share(repeats: int) -> pd.DataFrame:
    """Time the reading of labels in units of the whole fit, points and text."""
    from sklearn.datasets import make_blobs

    from scripts.benchmarks.corpus import corpus
    from symmf import SymMF

    spent = [0.0]

    class Timed(SymMF):  # type: ignore[misc]
        def _labels_of(self, *args: Any) -> Any:
            began = time.process_time()
            reader = super()._labels_of(*args)
            spent[0] += time.process_time() - began
            return reader

    points = make_blobs(
        _ROWS, n_features=16, centers=_CLUSTERS, cluster_std=2.0, random_state=0
    )[0]
    rows = []
    for name, X in (("points", points), ("text", corpus(_ROWS)[0])):
        shares, whole = [], []
        for round_ in range(-1, repeats):
            spent[0] = 0.0
            began = time.process_time()
            _fit(Timed(_CLUSTERS, random_state=0), X)
            seconds = time.process_time() - began
            if round_ >= 0:
                shares.append(spent[0] / seconds)
                whole.append(seconds)
        rows.append(
            {
                "part": "labels",
                "case": f"{name} (n={_ROWS}, k={_CLUSTERS})",
                "task": "labels / whole fit",
                "seconds": float(np.median(np.multiply(shares, whole))),
                "baseline_seconds": float(np.median(whole)),
                "ratio": float(np.median(shares)),
                "ratio_low": min(shares),
                "ratio_high": max(shares),
                "rounds": repeats,
            }
        )
    return pd.DataFrame(rows)


def graphs() -> Iterator[tuple[str, Any, int]]:
    """Yield the matrices of the eigenpairs with k: dense, a graph, one with copies."""
    from sklearn.datasets import make_blobs

    from symmf.datasets import load_dataset
    from symmf.features.preprocess import preprocess
    from symmf.similarity import build_similarity, regularise

    coil = load_dataset("coil20").X
    yield (
        "COIL-20, dense",
        regularise(build_similarity(coil, "centred_cosine"), 0.5),
        20,
    )
    tfidf = preprocess(load_dataset("reuters21578").X, ["tfidf"])
    yield "Reuters, graph of neighbours", build_similarity(tfidf, "cosine_knn"), 41
    # A component per blob: the eigenvalue 1 comes 20 times.
    X = make_blobs(6000, n_features=8, centers=20, center_box=(-90, 90), random_state=0)
    yield (
        "20 components, eigenvalue 1 repeated",
        build_similarity(X[0], "mutual_knn", tree=False),
        20,
    )


def eigenpairs(repeats: int) -> pd.DataFrame:
    """Time our eigenpairs against a bare eigsh of the same k and accuracy.

    ``eigsh`` is given the residual that ours has, and once 0, with which it finds more
    copies of repeated eigenvalues; the note says how many of the k largest it misses.
    """
    from scipy.sparse.linalg import eigsh

    from symmf.linalg import solve_eigenpairs

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
            tasks: dict[str, Callable[[], Any]] = {"ours": ours, "eigsh": bare}
            frame = alternate(tasks, repeats)
            rows.append(
                {
                    "part": "eigenpairs",
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


def _fit(model: Any, X: Any) -> None:
    model.fit(X)
