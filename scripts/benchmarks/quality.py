"""Quality: SymMF and general-purpose clusterers on data with known classes.

Every method is given the number of classes and its own defaults, nothing else. Noise is
clustered but not scored. Scores of HDBSCAN, which cannot be told a number of clusters,
count only where some setting gives that number, and those of a method that takes more
than half a minute are missing, so that the whole takes minutes.
"""

from __future__ import annotations

import importlib
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scripts.benchmarks.timing import at_most
from scripts.benchmarks.unseen import unseen_sets
from symmf.common.notation import LabelArray

OURS = "SymMF"
# Classes up to which the rules for the number of clusters are judged.
LARGEST_K = 12
SEED = 0
# Seconds a method may take on one data set.
LIMIT = 30.0
_DRAWS = 10_000
HITS = Path("symmf/clustering/symmf/select_hits.json")


def data_sets(most: int) -> Iterator[tuple[str, Any]]:
    """Yield names and data sets of at most so many samples."""
    from symmf.datasets import load_dataset
    from symmf.datasets.clustbench import SETS

    for name, known in SETS.items():
        if known["samples"] <= most:
            yield name, load_dataset("clustbench", set=name)
    for name in ("digits", "coil20"):
        yield name, load_dataset(name)


def methods() -> dict[str, Callable[[Any, int], LabelArray]]:
    """Return the methods by name: (X, K) -> labels."""
    from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
    from sklearn.mixture import GaussianMixture

    from symmf import SymMF
    from symmf.clustering import Spectral

    def fitted(make: Callable[[int], Any]) -> Callable[[Any, int], LabelArray]:
        return lambda X, k: np.asarray(make(k).fit_predict(X))

    known = {
        OURS: fitted(lambda k: SymMF(k, random_state=SEED)),
        "Spectral (ours)": fitted(lambda k: Spectral(k, random_state=SEED)),
        "KMeans": fitted(lambda k: KMeans(k, n_init=10, random_state=SEED)),
        "GaussianMixture": fitted(
            lambda k: GaussianMixture(k, n_init=1, random_state=SEED)
        ),
        "Agglomerative, ward": fitted(lambda k: AgglomerativeClustering(k)),
        "Agglomerative, average": fitted(
            lambda k: AgglomerativeClustering(k, linkage="average")
        ),
        "SpectralClustering, neighbours": fitted(
            lambda k: SpectralClustering(
                k, affinity="nearest_neighbors", random_state=SEED
            )
        ),
        "SpectralClustering, rbf": fitted(
            lambda k: SpectralClustering(k, random_state=SEED)
        ),
        "HDBSCAN": hdbscan,
    }
    for package, name in (("genieclust", "Genie"), ("lumbermark", "Lumbermark")):
        try:
            make = getattr(importlib.import_module(package), name)
        except ImportError:
            click.echo(f"{package} is not installed: {name} is not measured.")
        else:
            known[name] = fitted(make)
    return known


def hdbscan(X: Any, k: int) -> LabelArray:
    """Return labels of the first smallest cluster size that gives k clusters."""
    from sklearn.cluster import HDBSCAN

    for size in (5, 3, 10, 2, 15, 20, 30, 50, 100):
        if size > len(X):
            continue
        labels = HDBSCAN(min_cluster_size=size, copy=True).fit_predict(X)
        if len(set(labels[labels >= 0])) == k:
            # What it calls noise is a cluster of its own here.
            return np.asarray(labels)
    raise ValueError(f"no setting gives {k} clusters")


#: what the sets were used for -> the sets
BATTERIES: dict[str, Callable[[int], Iterator[tuple[str, Any]]]] = {
    "design": data_sets,
    "unseen": unseen_sets,
}


def measure(
    most: int, only: str | None = None, battery: str = "design"
) -> pd.DataFrame:
    """Run every method on every data set of a battery; a row each."""
    from symmf.metrics import accuracy, ari

    rows: list[dict[str, Any]] = []
    every = methods()
    for name, data in BATTERIES[battery](most):
        if only is not None and only not in name:
            continue
        X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
        scored, k = y >= 0, int(data.n_classes)
        for method, run in every.items():
            row = {"set": name, "n": len(X), "k": k, "method": method}
            began = time.process_time()
            try:
                with warnings.catch_warnings(), at_most(LIMIT):
                    warnings.simplefilter("ignore")
                    labels = run(X, k)
            except (ValueError, MemoryError, TimeoutError) as error:
                row["note"] = str(error)[:80]
            else:
                row["seconds"] = time.process_time() - began
                row["ari"] = ari(y[scored], labels[scored])
                row["ac"] = accuracy(y[scored], labels[scored])
            rows.append(row)
        click.echo(f"{name}: {_told(rows, name)}")
    return pd.DataFrame(rows)


def _told(rows: list[dict[str, Any]], name: str) -> str:
    scores = [
        (row.get("ari", float("nan")), row["method"])
        for row in rows
        if row["set"] == name
    ]
    return ", ".join(f"{method} {score:.2f}" for score, method in scores[:3])


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return means, medians, ranks, and the difference to ours with its interval.

    Wins and losses are those of SymMF by more than .01; the interval is the 95 % one
    of the mean difference over resampled data sets.
    """
    table = frame.pivot_table(index="set", columns="method", values="ari")
    table = table[list(dict.fromkeys(frame["method"]))]
    ranks = table.rank(axis=1, ascending=False)
    rng = np.random.default_rng(SEED)
    rows = []
    for method in table:
        mine = frame[frame["method"] == method]
        gap = (table[OURS] - table[method]).dropna().to_numpy()
        draws = rng.choice(gap, (_DRAWS, len(gap))).mean(axis=1)
        low, high = np.quantile(draws, [0.025, 0.975])
        rows.append(
            {
                "method": method,
                "sets": int(table[method].notna().sum()),
                "ari_mean": mine["ari"].mean(),
                "ari_median": mine["ari"].median(),
                "ac_mean": mine["ac"].mean(),
                "rank_mean": ranks[method].mean(),
                "wins": int(np.sum(gap > 0.01)),
                "losses": int(np.sum(gap < -0.01)),
                "gain": gap.mean(),
                "gain_low": low,
                "gain_high": high,
                "seconds_median": mine["seconds"].median(),
                "seconds_total": mine["seconds"].sum(),
            }
        )
    return pd.DataFrame(rows).sort_values("ari_mean", ascending=False)


def common_means(frame: pd.DataFrame) -> dict[str, float]:
    """Return mean scores over the sets that every method but HDBSCAN has a score of."""
    table = frame.pivot_table(index="set", columns="method", values="ari")
    common = table[table.drop(columns="HDBSCAN", errors="ignore").notna().all(axis=1)]
    means = common.mean().sort_values(ascending=False).round(4)
    return {"sets": len(common), **means.to_dict()}


def select_hits(most: int) -> dict[str, Any]:
    """Measure how often the rules of ``symmf.select`` find the number of classes."""
    from symmf import select
    from symmf.clustering.symmf.agreement import RULES

    rows = []
    for name, data in data_sets(most):
        k = int(data.n_classes)
        if not 2 <= k <= LARGEST_K:
            continue
        found = select(np.asarray(data.X, float), n_subsamples=0, random_state=SEED)
        rules = {rule: found.by_rule[rule] for rule in RULES}
        rows.append({"set": name, "k": k, "score": found.best, **rules})
        click.echo(f"{name}: {k} classes, {found.best} chosen, rules say {rules}")
    table = pd.DataFrame(rows)
    k, right = table["k"], table["score"] == table["k"]
    agree = table[list(RULES)].eq(table["score"], axis=0).sum(axis=1)
    case = agree.map({4: "4", 3: "3"}).fillna("fewer")
    shares = {
        "silhouette": (table["silhouette"] == k).mean(),
        "eigengap": (table["eigengap"] == k).mean(),
        "score": right.mean(),
        "score_above_2": right[k > 2].mean(),
        "too_few": (table["score"] < k)[~right].mean(),
    }
    return {
        "sets": len(table),
        "largest": LARGEST_K,
        **{name: round(float(share), 3) for name, share in shares.items()},
        "by_agreement": {
            name: {
                "right": int(right[case == name].sum()),
                "sets": int(sum(case == name)),
            }
            for name in ("4", "3", "fewer")
        },
    }


def predict_agreement(most: int) -> float:
    """Return the mean share of rows left out of a fit that join their own cluster.

    A fit of all rows is compared with ``predict`` of a fit of 80 % of them on the
    other 20 %, both as partitions of these.
    """
    from symmf import SymMF
    from symmf.metrics import accuracy

    shares = []
    rng = np.random.default_rng(SEED)
    for _, data in data_sets(most):
        X, k = np.asarray(data.X, dtype=np.float64), int(data.n_classes)
        whole = SymMF(k, random_state=SEED).fit_predict(X)
        left = np.zeros(len(X), dtype=bool)
        left[rng.choice(len(X), len(X) // 5, replace=False)] = True
        part = SymMF(k, random_state=SEED).fit(X[~left])
        shares.append(accuracy(whole[left], part.predict(X[left])))
    return float(np.mean(shares))


def write_hits(hits: dict[str, Any], path: Path = HITS) -> None:
    """Write the hit rates where the recommendation reads them."""
    path.write_text(json.dumps(hits, indent=1, sort_keys=True) + "\n", "utf-8")


def picture(table: pd.DataFrame) -> Figure:
    """Draw mean scores, and our gain over each method with its interval."""
    table = table.iloc[::-1]
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    ours = table["method"] == OURS
    colours = np.where(ours, "#0072B2", "#999999")
    left.barh(table["method"], table["ari_mean"], color=colours)
    left.plot(table["ari_median"], table["method"], "k|", markersize=12, label="median")
    left.set_xlabel("adjusted Rand index, mean")
    left.legend(frameon=False, loc="lower right")
    others = table[~ours]
    gain = others["gain"].to_numpy()
    spread = np.abs(others[["gain_low", "gain_high"]].to_numpy().T - gain)
    right.errorbar(gain, others["method"], xerr=spread, fmt="ko", capsize=3)
    right.axvline(0, color="0.7", zorder=0)
    right.set_xlabel(f"gain of {OURS} in ARI, 95 % interval")
    return figure
