"""Quality: SymMF and general-purpose clusterers on data with known classes.

Every method is given the number of classes and its own defaults, nothing else. Noise is
clustered but not scored. HDBSCAN, which cannot be told a number of clusters, gets the
first of nine settings that gives that number, or else the first. A method has no score
where it fails or takes more than two minutes; means are over the data sets on which
all methods have one.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import click
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scripts.benchmarks.timing import at_most
from scripts.benchmarks.unseen import shapes, tables
from symmf.common.notation import LabelArray

OURS = "SymMF"
SEED = 0
# Seconds a method may take on one data set.
LIMIT = 120.0
_DRAWS = 10_000


def design_sets(most: int) -> Iterator[tuple[str, Any]]:
    """Yield names and data sets of at most so many samples."""
    from symmf.datasets import load_dataset
    from symmf.datasets.clustbench import SETS

    for name, known in SETS.items():
        if known["samples"] <= most:
            yield name, load_dataset("clustbench", set=name)
    for name in ("digits", "coil20"):
        yield name, load_dataset(name)


#: what the sets were used for -> the sets
BATTERIES: dict[str, Callable[[int], Iterator[tuple[str, Any]]]] = {
    "design": design_sets,
    "unseen tables": lambda most: tables(min(most, 2000)),
    "unseen shapes": shapes,
}


def methods() -> dict[str, Callable[[Any, int], LabelArray]]:
    """Return the methods by name: (X, K) -> labels."""
    from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
    from sklearn.mixture import GaussianMixture

    from symmf import SymMF
    from symmf.clustering import Spectral

    def fitted(make: Any, **options: Any) -> Callable[[Any, int], LabelArray]:
        return lambda X, k: np.asarray(make(k, **options).fit_predict(X))

    neighbours = {"affinity": "nearest_neighbors", "random_state": SEED}
    known = {
        OURS: fitted(SymMF, random_state=SEED),
        "Spectral (symmf)": fitted(Spectral, random_state=SEED),
        "KMeans": fitted(KMeans, n_init=10, random_state=SEED),
        "GaussianMixture": fitted(GaussianMixture, random_state=SEED),
        "Agglomerative, ward": fitted(AgglomerativeClustering),
        "Agglomerative, average": fitted(AgglomerativeClustering, linkage="average"),
        "SpectralClustering, neighbours": fitted(SpectralClustering, **neighbours),
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
    """Return labels of the first smallest cluster size that gives k clusters.

    Without any, those of the default. What it calls noise is a cluster of its own.
    """
    from sklearn.cluster import HDBSCAN

    every = []
    for size in (5, 3, 10, 2, 15, 20, 30, 50, 100):
        if size > len(X):
            continue
        every.append(HDBSCAN(min_cluster_size=size, copy=True).fit_predict(X))
        if every[-1].max() + 1 == k:
            return np.asarray(every[-1])
    return np.asarray(every[0])


def measure(most: int, only: str | None = None) -> pd.DataFrame:
    """Run every method on every data set; a row each."""
    from symmf.metrics import accuracy, ari

    rows: list[dict[str, Any]] = []
    every = methods()
    for battery, data_sets in BATTERIES.items():
        for name, data in data_sets(most):
            if only is not None and only not in name:
                continue
            X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
            scored, k = y >= 0, int(data.n_classes)
            found = {}
            for method, run in every.items():
                row = {"battery": battery, "set": name, "n": len(X), "k": k}
                row["method"] = method
                try:
                    with warnings.catch_warnings(), at_most(LIMIT):
                        warnings.simplefilter("ignore")
                        labels = run(X, k)
                except (ValueError, MemoryError, TimeoutError) as error:
                    row["note"] = str(error)[:80]
                else:
                    row["ari"] = ari(y[scored], labels[scored])
                    row["ac"] = accuracy(y[scored], labels[scored])
                    found[method] = f"{method} {row['ari']:.2f}"
                rows.append(row)
            click.echo(f"{name}: {', '.join(list(found.values())[:3])}")
    return pd.DataFrame(rows)


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return means, medians, ranks, and the difference to ours with its interval.

    By battery, over its sets on which all methods have a score. Wins and losses are
    those of SymMF by more than .01; the interval is the 95 % one of the mean
    difference over resampled data sets.
    """
    rows = []
    for battery, part in frame.groupby("battery", sort=False):
        scores = {
            name: part.pivot(index="set", columns="method", values=name).dropna()
            for name in ("ari", "ac")
        }
        table = scores["ari"]
        ranks = table.rank(axis=1, ascending=False).mean()
        for method in table.mean().sort_values(ascending=False).index:
            gap = (table[OURS] - table[method]).to_numpy()
            gain, low, high = with_interval(gap)
            rows.append(
                {
                    "battery": battery,
                    "method": method,
                    "sets": len(table),
                    "ari_mean": table[method].mean(),
                    "ari_median": table[method].median(),
                    "ac_mean": scores["ac"][method].mean(),
                    "rank_mean": ranks[method],
                    "wins": int(np.sum(gap > 0.01)),
                    "losses": int(np.sum(gap < -0.01)),
                    "gain": gain,
                    "gain_low": low,
                    "gain_high": high,
                }
            )
    return pd.DataFrame(rows)


def with_interval(gap: Any) -> tuple[float, float, float]:
    """Return the mean difference and its 95 % interval over resampled data sets."""
    rng = np.random.default_rng(SEED)
    draws = rng.choice(gap, (_DRAWS, len(gap))).mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(np.mean(gap)), float(low), float(high)


def predict_agreement(most: int) -> float:
    """Return the mean share of rows left out of a fit that join their own cluster.

    A fit of all rows is compared with ``predict`` of a fit of 80 % of them on the
    other 20 %, both as partitions of these.
    """
    from symmf import SymMF
    from symmf.metrics import accuracy

    shares = []
    rng = np.random.default_rng(SEED)
    for _, data in design_sets(most):
        X, k = np.asarray(data.X, dtype=np.float64), int(data.n_classes)
        whole = SymMF(k, random_state=SEED).fit_predict(X)
        left = np.zeros(len(X), dtype=bool)
        left[rng.choice(len(X), len(X) // 5, replace=False)] = True
        part = SymMF(k, random_state=SEED).fit(X[~left])
        shares.append(accuracy(whole[left], part.predict(X[left])))
    return float(np.mean(shares))


def picture(table: pd.DataFrame) -> Figure:
    """Draw mean scores, and our gain over each method with its interval."""
    order = list(dict.fromkeys(table["method"]))[::-1]
    place = {method: y for y, method in enumerate(order)}
    figure = Figure(figsize=(9, 5), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    parts = table.groupby("battery", sort=False)
    styles = zip(("#0072B2", "#D55E00", "#E69F00"), (0.25, 0, -0.25), strict=True)
    for (battery, part), (colour, shift) in zip(parts, styles, strict=False):
        told = f"{battery} ({part['sets'].iloc[0]})"
        y = part["method"].map(place) + shift
        left.barh(y, part["ari_mean"], height=0.23, color=colour, label=told)
        others = (part["method"] != OURS).to_numpy()
        gain = part["gain"].to_numpy()
        spread = np.abs(part[["gain_low", "gain_high"]].to_numpy().T - gain)
        marks = {"fmt": "o", "color": colour, "capsize": 3, "markersize": 4}
        right.errorbar(gain[others], y[others], xerr=spread[:, others], **marks)
    left.set_yticks(range(len(order)), order)
    left.set_xlabel("adjusted Rand index, mean")
    right.axvline(0, color="0.7", zorder=0)
    right.set_xlabel(f"gain of {OURS} in ARI, 95 % interval")
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure
