"""Evidence: false alarms and power of "no clusters", outliers, memberships.

Every data set is drawn with a seed that no rule was developed on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from scripts.benchmarks.unseen import SHAPES

_SIZES, _FEATURES = (60, 200, 600), (2, 4, 10)
_DISTANCES = (8, 6, 5, 4, 3, 2)


def structureless(rng: np.random.Generator) -> dict[str, Any]:
    """Return rows without clusters, of several kinds."""
    n, p = int(rng.choice(_SIZES)), int(rng.choice(_FEATURES))
    normal = rng.normal(size=(n, p))
    t = rng.random(n)
    arc = np.column_stack([np.cos(3 * t), np.sin(3 * t)])
    return {
        "uniform": rng.random((n, p)),
        "normal": normal,
        "correlated": normal @ rng.normal(size=(p, p)),
        "student": rng.standard_t(3, size=(n, p)),
        "lognormal": np.exp(0.7 * normal),
        "sphere": normal / np.linalg.norm(normal, axis=1, keepdims=True),
        "low rank": rng.normal(size=(n, 2)) @ rng.normal(size=(2, p)) + 0.1 * normal,
        "noisy curve": arc + rng.normal(0, 0.05, (n, 2)),
        "noisy line": np.column_stack([t, 2 * t]) + rng.normal(0, 0.05, (n, 2)),
        "single feature": rng.normal(size=(n, 1)),
        "single uniform feature": rng.random((n, 1)),
    }


def verdicts(draws: int) -> pd.DataFrame:
    """Count verdicts on rows without clusters, and on two groups some way apart."""
    from symmf.clustering.symmf.structure import find_structure

    rows: list[dict[str, Any]] = []

    def count(kind: str, Z: Any) -> None:
        found = find_structure(np.asarray(Z))
        rows.append({"data": kind, "verdict": "" if found is None else found.verdict})

    for draw in range(draws):
        rng = np.random.default_rng([2027, draw])
        for kind, Z in structureless(rng).items():
            count(kind, Z)
        for distance in _DISTANCES:
            Z = rng.normal(size=(300, 4))
            Z[:150, 0] += distance
            count(f"two groups, {distance} deviations", Z)
        for kind, shape in SHAPES.items():
            count(f"shape: {kind}", shape(rng)[0])
    table = pd.DataFrame(rows).groupby("data", sort=False)["verdict"]
    return table.value_counts().unstack(fill_value=0).reset_index()


def outliers(draws: int) -> pd.DataFrame:
    """Return precision and recall of the flag on shapes with 5 % of uniform noise."""
    from symmf.clustering.symmf.outliers import THRESHOLD, outlier_scores

    rows = []
    for kind, shape in SHAPES.items():
        for draw in range(draws):
            rng = np.random.default_rng([2028, draw])
            X, _ = shape(rng)
            low, high = X.min(axis=0), X.max(axis=0)
            noise = rng.uniform(low, high, (len(X) // 20, X.shape[1]))
            flagged = outlier_scores(np.concatenate([X, noise])) > THRESHOLD
            right = int(flagged[len(X) :].sum())
            rows.append(
                {
                    "data": kind,
                    "precision": right / max(int(flagged.sum()), 1),
                    "recall": right / len(noise),
                    "clean_flagged": float(np.mean(outlier_scores(X) > THRESHOLD)),
                }
            )
    return pd.DataFrame(rows).groupby("data", sort=False).mean().reset_index()


def memberships(draws: int) -> pd.DataFrame:
    """Return which share of rows keep their cluster on parts that were not used."""
    from symmf import SymMF
    from symmf.clustering.symmf.membership import matched

    sure, kept = [], []
    shapes: list[Callable[[np.random.Generator], Any]] = [*SHAPES.values()]
    for draw in range(draws):
        for shape in shapes:
            rng = np.random.default_rng([2029, draw])
            X, y = shape(rng)
            k = int(y.max()) + 1
            model = SymMF(k, random_state=0).fit(X)
            part = np.sort(rng.choice(len(X), int(0.8 * len(X)), replace=False))
            alone = SymMF(k, random_state=99).fit_predict(X[part])
            again = matched(model.labels_[part], alone, k)
            sure.append(model.membership_[part].max(axis=1))
            kept.append(again == model.labels_[part])
    each = {"membership": np.concatenate(sure), "kept": np.concatenate(kept)}
    table = pd.DataFrame(each)
    bins = pd.cut(table["membership"], [0, 0.6, 0.7, 0.8, 0.85, 0.95, 0.99, 1])
    found = table.groupby(bins, observed=True)
    means = found.mean().set_axis(["mean", "kept"], axis=1)
    return means.assign(rows=found.size()).reset_index().astype({"membership": str})
