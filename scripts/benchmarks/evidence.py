"""Evidence: false alarms and power of "no clusters", K, memberships and outliers.

What is drawn has seeds that no rule was developed on. The numbers of clusters and the
memberships are those of the data sets of ``quality``. What an unknown K and the
evidence cost is measured beside ``symmf.select``.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.spatial import cKDTree

from scripts.benchmarks.corpus import CLUSTERS, points
from scripts.benchmarks.quality import BATTERIES, SEED
from scripts.benchmarks.timing import alternate, ratios
from scripts.benchmarks.unseen import SHAPES, shapes, tables

# Classes up to which the rules for the number of clusters are judged.
LARGEST_K = 12
# A partition is there to be found if SymMF, told K, has this ARI.
_FOUND = 0.8
HITS = Path("symmf/clustering/symmf/select_hits.json")
_SIZES, _FEATURES = (60, 200, 600), (2, 4, 10)
_DISTANCES = (8, 6, 5, 4, 3, 2)
_SURE = (0, 0.6, 0.7, 0.8, 0.85, 0.95, 0.99, 1)


def structureless(rng: np.random.Generator) -> dict[str, Any]:
    """Return rows without clusters, of several kinds."""
    n, p = int(rng.choice(_SIZES)), int(rng.choice(_FEATURES))
    normal = rng.normal(size=(n, p))
    sphere = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    t, noise = rng.random(n), rng.normal(0, 0.05, (n, 2))
    arc = np.column_stack([np.cos(3 * t), np.sin(3 * t)])
    circle = np.column_stack([np.cos(2 * np.pi * t), np.sin(2 * np.pi * t)])
    roll = np.column_stack([6 * t * np.cos(6 * t), 6 * t * np.sin(6 * t)])
    return {
        "uniform": rng.random((n, p)),
        "ramp": np.sqrt(rng.random((n, p))),
        "normal": normal,
        "rounded": np.unique(np.round(2 * normal), axis=0),
        "correlated": normal @ rng.normal(size=(p, p)),
        "low rank": rng.normal(size=(n, 2)) @ rng.normal(size=(2, p)) + 0.1 * normal,
        "student": rng.standard_t(3, size=(n, p)),
        "contaminated": normal * np.where(rng.random((n, 1)) < 0.1, 4, 1),
        "lognormal": np.exp(0.7 * normal),
        "exponential": rng.exponential(size=(n, p)),
        "skewed": rng.gamma(2, size=(n, p)) @ rng.normal(size=(p, p)),
        "sphere": sphere,
        "ball": sphere * rng.random((n, 1)) ** (1 / p),
        "simplex": rng.dirichlet(np.ones(p + 1), n)[:, :p],
        "sheet": np.column_stack([roll + 6 * noise, 8 * rng.random(n)]),
        "noisy curve": arc + noise,
        "noisy line": np.column_stack([t, 2 * t]) + noise,
        "closed curve": circle + noise,
        "single feature": rng.normal(size=(n, 1)),
        "single uniform feature": rng.random((n, 1)),
    }


def verdicts(draws: int) -> pd.DataFrame:
    """Count verdicts on rows without clusters, and on groups some way apart."""
    from symmf.clustering.symmf.structure import find_structure

    found = [
        {"group": group, "data": kind, "verdict": structure.verdict}
        for group, kind, Z in _drawn(draws)
        if (structure := find_structure(Z)) is not None
    ]
    table = pd.DataFrame(found).groupby(["group", "data"], sort=False)["verdict"]
    counts = table.value_counts().unstack(fill_value=0)
    return counts.reindex(columns=["none", "weak", "clear"], fill_value=0).reset_index()


def _drawn(draws: int) -> Iterator[tuple[str, str, Any]]:
    for draw in range(draws):
        rng = np.random.default_rng([2031, draw])
        for kind, Z in structureless(rng).items():
            yield "no clusters", kind, Z
        for features, where in ((4, "two groups"), (1, "one feature")):
            for distance in _DISTANCES:
                Z = rng.normal(size=(300, features))
                Z[:150, 0] += distance
                yield where, f"{distance} deviations apart", Z
        for kind, shape in SHAPES.items():
            yield "shapes", kind, shape(rng)[0]


def numbers(most: int) -> pd.DataFrame:
    """Return what ``symmf.select`` says, and how well the classes can be found."""
    from symmf import SymMF, ari, select
    from symmf.clustering.symmf.evidence import RULES

    rows = []
    for battery, data_sets in BATTERIES.items():
        for name, data in data_sets(most):
            X, y, k = np.asarray(data.X, float), np.asarray(data.y), int(data.n_classes)
            if not 2 <= k <= LARGEST_K:
                continue
            found = select(X, n_subsamples=0, random_state=SEED)
            labels = SymMF(k, random_state=SEED).fit_predict(X)
            rules = {rule: found.by_rule.get(rule) for rule in RULES}
            agree = list(rules.values()).count(found.best)
            row = {"battery": battery, "set": name, "classes": k, "score": found.best}
            row["verdict"] = found.structure.verdict if found.structure else "untested"
            row["ari"] = ari(y[y >= 0], labels[y >= 0])
            rows.append({**row, **rules, "agree": agree})
            click.echo(f"{name}: {k} classes, {found.best} chosen, rules say {rules}")
    return pd.DataFrame(rows)


def hit_rates(table: pd.DataFrame) -> dict[str, Any]:
    """Return how often each rule was right, and the score by how many rules agree."""
    rates: dict[str, Any] = {"largest": LARGEST_K}
    for battery, part in (("all", table), *table.groupby("battery", sort=False)):
        k, right = part["classes"], part["score"] == part["classes"]
        case = part["agree"].map({4: "4", 3: "3"}).fillna("fewer")
        shares = {
            "silhouette": (part["silhouette"] == k).mean(),
            "eigengap": (part["eigengap"] == k).mean(),
            "score": right.mean(),
            "score_above_2": right[k > 2].mean(),
            "too_few": (part["score"] < k)[~right].mean(),
        }
        by_agreement = {
            name: {
                "right": int(right[case == name].sum()),
                "sets": int(sum(case == name)),
            }
            for name in ("4", "3", "fewer")
        }
        rates[str(battery)] = {
            "sets": len(part),
            **{name: round(float(share), 3) for name, share in shares.items()},
            "by_agreement": by_agreement,
        }
    return rates


def write_hits(rates: dict[str, Any], path: Path = HITS) -> None:
    """Write the hit rates where the recommendation reads them."""
    path.write_text(json.dumps(rates, indent=1, sort_keys=True) + "\n", "utf-8")


def partitions(table: pd.DataFrame) -> dict[str, Any]:
    """Count verdicts on data whose classes SymMF finds, told their number."""
    there = table[table["ari"] >= _FOUND]
    return pd.crosstab(there["battery"], there["verdict"]).to_dict("index")


def outliers(draws: int) -> pd.DataFrame:
    """Return precision and recall of the flag on shapes with 5 % of uniform noise.

    ``apart``: the share of the noise that is further from every row of the shape than
    99 % of these are from each other; the rest cannot be told from them.
    """
    from symmf.clustering.symmf.outliers import THRESHOLD, outlier_scores

    rows = []
    for kind, shape in SHAPES.items():
        for draw in range(draws):
            rng = np.random.default_rng([2028, draw])
            X, _ = shape(rng)
            low, high = X.min(axis=0), X.max(axis=0)
            noise = rng.uniform(low, high, (len(X) // 20, X.shape[1]))
            tree = cKDTree(X)
            usual = np.quantile(tree.query(X, 2)[0][:, 1], 0.99)
            flagged = outlier_scores(np.concatenate([X, noise])) > THRESHOLD
            right = int(flagged[len(X) :].sum())
            rows.append(
                {
                    "data": kind,
                    "precision": right / max(int(flagged.sum()), 1),
                    "recall": right / len(noise),
                    "apart": float(np.mean(tree.query(noise)[0] > usual)),
                    "clean_flagged": float(np.mean(outlier_scores(X) > THRESHOLD)),
                }
            )
    return pd.DataFrame(rows).groupby("data", sort=False).mean().reset_index()


def memberships(draws: int, most: int = 1000) -> pd.DataFrame:
    """Return which share of rows keep their cluster on parts that were not used."""
    from symmf import SymMF
    from symmf.clustering.symmf.membership import matched

    rows = []
    for name, data in chain(tables(most), shapes(most)):
        X, k = np.asarray(data.X, dtype=np.float64), int(data.n_classes)
        model = SymMF(k, random_state=SEED).fit(X)
        for draw in range(draws):
            rng = np.random.default_rng([2029, draw])
            part = np.sort(rng.choice(len(X), int(0.8 * len(X)), replace=False))
            alone = SymMF(k, random_state=99).fit_predict(X[part])
            again = matched(model.labels_[part], alone, k) == model.labels_[part]
            sure = model.membership_[part].max(axis=1)
            rows.append(pd.DataFrame({"membership": sure, "kept": again, "set": name}))
    table = pd.concat(rows)
    bins = pd.cut(table["membership"], _SURE)
    means = table.groupby(bins, observed=True).agg(
        mean=("membership", "mean"),
        kept=("kept", "mean"),
        rows=("kept", "size"),
        sets=("set", "nunique"),
    )
    return means.reset_index().astype({"membership": str})


def cost(sizes: Sequence[int], repeats: int) -> pd.DataFrame:
    """Time dense rows of planted groups: K given, chosen, and with the evidence."""
    from symmf import SymMF, select

    rows = []
    for n in sizes:
        X, _ = points(n)
        given, auto = (SymMF(k, random_state=SEED) for k in (CLUSTERS, "auto"))
        tasks: dict[str, Callable[[], Any]] = {
            "fit, K given": partial(given.fit, X),
            "fit, K chosen": partial(auto.fit, X),
            "fit, K chosen, and evidence": lambda X=X, auto=auto: auto.fit(X).evidence_,
            "select": partial(select, X),
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = alternate(tasks, repeats, time.perf_counter)
        rows += [
            {"n": n, "task": task} | ratios(frame, task, "select") for task in tasks
        ]
    return pd.DataFrame(rows)


def picture(table: pd.DataFrame) -> Figure:
    """Draw the share of each verdict, by kind of data."""
    labels = table["group"] + ": " + table["data"]
    figure = Figure(figsize=(7.2, 0.24 * len(table) + 1.2), layout="constrained")
    axis = figure.subplots()
    counts = table[["none", "weak", "clear"]]
    shares = counts.div(counts.sum(axis=1), axis=0)
    left = np.zeros(len(table))
    for verdict, colour in zip(shares, ("#CCCCCC", "#56B4E9", "#0072B2"), strict=True):
        axis.barh(labels, shares[verdict], left=left, color=colour, label=verdict)
        left += shares[verdict].to_numpy()
    axis.set_ylim(len(table) - 0.5, -0.5)
    axis.set_xlabel(f"share of verdicts in {int(counts.iloc[0].sum())} draws")
    axis.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
    axis.spines[["top", "right", "left"]].set_visible(False)
    return figure
