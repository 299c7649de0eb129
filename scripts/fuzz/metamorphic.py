"""Changes of the data that mean nothing: the partition must stay."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from scripts.fuzz.harness import Case
from scripts.fuzz.process import LOST

Change = Callable[[Any, Any], tuple[Any, Any]]
_METHODS = ("symmf", "symmf", "symmf", "kmeans", "spectral", "symnmf")
# Clusters that are clear stay as they are; the edges of others may move by a few rows.
_LEAST = 0.9


def _data(rng: random.Random) -> tuple[str, Any, int, bool]:
    """Return a name, rows, a number of clusters, and whether these are clear."""
    from sklearn import datasets

    seed = rng.randrange(1000)
    n = rng.choice((30, 90, 300))
    if rng.random() < 0.4:
        name = rng.choice(("iris", "wine", "breast_cancer", "digits"))
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return name, X[:600], len(set(y)), False
    k = rng.choice((2, 3, 5))
    spread = {"centers": k, "center_box": (-60, 60), "n_features": rng.choice((4, 9))}
    X, _ = datasets.make_blobs(n, random_state=seed, **spread)
    return f"blobs {n} {k} {seed}", X, k, True


def changes(rng: random.Random) -> dict[str, Change]:
    """Return changes by name: new rows, and for each old row its new place."""
    import numpy as np

    draw = np.random.default_rng(rng.randrange(2**32))
    unit = rng.choice((1e-6, 1e-3, 2.0, 1e6))
    times = rng.choice((2, 3))

    def permuted(X: Any, rows: Any) -> tuple[Any, Any]:
        order = draw.permutation(rows)
        return X[order], np.argsort(order)

    return {
        "rows in another order": permuted,
        "columns in another order": lambda X, rows: (X[:, ::-1].copy(), rows),
        "other units": lambda X, rows: (X * unit, rows),
        "another origin": lambda X, rows: (X + 1000 * np.ptp(X), rows),
        "a constant column": lambda X, rows: (np.c_[X, np.full(len(X), 7.0)], rows),
        "every row repeated": lambda X, rows: (np.repeat(X, times, 0), times * rows),
        "in Fortran's order": lambda X, rows: (np.asfortranarray(X), rows),
        "again": lambda X, rows: (X, rows),
    }


def live(case: Case) -> None:
    """Cluster data and changed data, and compare."""
    from sklearn.metrics import adjusted_rand_score

    from symmf.clustering import METHODS

    rng = case.rng
    name, X, k, clear = _data(rng)
    method = rng.choice(_METHODS)
    what, change = rng.choice(sorted(changes(rng).items()))
    case.notes[what] += 1

    def compare() -> None:
        import numpy as np

        fits = [METHODS[method](n_clusters=k, random_state=0) for _ in range(2)]
        before = fits[0].fit(X).labels_
        changed, places = change(X, np.arange(len(X)))
        after = fits[1].fit(changed).labels_
        score = adjusted_rand_score(before, after[places])
        print(f"{name}, {method}, {what}: ARI {score:.3f}")
        copies = what == "every row repeated"
        if copies and method == "symmf":
            whole = after.reshape(len(X), -1)
            if (whole != whole[:, :1]).any():
                print("Copies of a row are in different clusters.")
        # Others promise less: start at random rows, on a graph that copies change.
        if method == "symmf" and score < (1 if clear else _LEAST):
            print("The partition is another.")

    ended = case.run(compare, seconds=120)
    case.notes["the same partition"] += "ARI 1.000" in ended.text
    if "another." in ended.text or "different" in ended.text:
        case.blame(LOST, ended.text)
