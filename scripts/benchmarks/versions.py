"""Both versions in one run: that of the checkout --old names, 0.1, and this one."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from scipy import sparse

from scripts.benchmarks.timing import VARIABLES
from symmf.metrics import accuracy, nmi

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("fit_once.py")
_ROWS = 2000
METHODS = ("symnmf", "symhals", "nmf", "gnmf", "dsc")
# The starts of SymNMF in the study of both versions; others have one in that of 0.1.
_STARTS = {"n_restarts": 5}


def call(checkout: Path, task: str, **details: Any) -> dict[str, Any]:
    """Run a task with the symmf of a checkout, on one thread."""
    checkout = checkout.resolve()
    asked = {"task": task, "checkout": str(checkout), **details}
    done = subprocess.run(
        [sys.executable, "-P", str(WORKER), json.dumps(asked)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | dict.fromkeys(VARIABLES, "1") | {"PYTHONPATH": str(checkout)},
        cwd=checkout,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Rows, classes, K, and options per method."""

    name: str
    X: Any
    y: Any
    k: int
    options: dict[str, dict[str, Any]]
    #: Methods that read other rows than X.
    others: dict[str, Any] = field(default_factory=dict)


def draws() -> Iterator[Draw]:
    """Yield rows and settings as in the study; no draw of the study.

    Seeds are others than the study's too; the images of all classes are all there are.
    """
    from symmf.common.seeds import generator
    from symmf.datasets import load_dataset
    from symmf.features.preprocess import preprocess

    for name, k, network in (("coil20", 20, "conv"), ("cifar10", 10, "conv_small")):
        data = load_dataset(name)
        conv = {"architecture": network, "image_shape": list(data.image_shape or ())}
        yield Draw(
            name=f"{data.title}, K={k}",
            X=preprocess(data.X, ["unit_rows"]),
            y=data.y,
            k=k,
            options={
                "symnmf": _STARTS,
                "nmf": {"labels": "kmeans"},
                "dsc": conv,
            },
            others={"dsc": data.X},
        )
    for name, k in (("reuters21578", 8), ("tdt2", 10)):
        data = load_dataset(name)
        rng, sizes = generator("benchmark", name, k), np.bincount(data.y)
        classes = rng.choice(data.n_classes, k, replace=False)
        # Most draws are too small to take time.
        while sizes[classes].sum() < _ROWS:
            classes = rng.choice(data.n_classes, k, replace=False)
        data = data.subset(sorted(classes))
        X = preprocess(data.X, ["tfidf", "unit_rows"])
        knn = {"similarity": "cosine_knn"}
        options: dict[str, dict[str, Any]] = {
            "symnmf": {**knn, **_STARTS},
            "symhals": knn,
            "gnmf": {"weighting": "cosine"},
            "dsc": {"architecture": "dense"},
        }
        yield Draw(name=f"{data.title}, K={k}", X=X, y=data.y, k=k, options=options)


def baselines(old: Path, repeats: int, only: str | None = None) -> pd.DataFrame:
    """Time every baseline in both versions, as the study sets it, with its results.

    The objective is that of the factors handed out, worked out by the same function on
    the same matrix for both; for DSC the last loss of its network. ``excess`` is ours
    over theirs. The graph of neighbours is a part of the fit; ``ratio_without_graph``
    compares the rest.
    """
    rows: list[dict[str, Any]] = []
    methods = METHODS
    if importlib.util.find_spec("torch") is None:
        click.echo("torch is not installed: DSC is not measured.")
        methods = METHODS[:-1]
    for draw in draws():
        if only is not None and only.lower() not in draw.name.lower():
            continue
        for method in methods:
            X, options = draw.others.get(method, draw.X), draw.options.get(method, {})
            fits = _fits(old, X, draw.k, method, options, repeats)
            entry = {"data": draw.name, "n": X.shape[0], "method": method}
            rows.append(entry | _compared(fits, objective_of(method, X, options), draw))
            click.echo(f"{draw.name}, {method}: {rows[-1]['ratio']:.3g}")
    return pd.DataFrame(rows)


def write_rows(folder: Path, X: Any) -> str:
    """Write rows where a worker finds them."""
    if sparse.issparse(X):
        path = folder / "rows.npz"
        sparse.save_npz(path, sparse.csr_matrix(X))
    else:
        path = folder / "rows.npy"
        np.save(path, np.asarray(X))
    return str(path)


def _fits(
    old: Path, X: Any, k: int, method: str, options: dict[str, Any], repeats: int
) -> pd.DataFrame:
    """Fit with either version in turn, a seed per round; read the factors back."""
    fits = []
    with tempfile.TemporaryDirectory() as folder:
        task = {"rows": write_rows(Path(folder), X), "k": k, "method": method}
        for round_ in range(repeats):
            for version, checkout in (("before", old), ("now", ROOT)):
                output = f"{folder}/{version}.npz"
                given = {"options": options, "seed": 1000 + round_, "output": output}
                done = call(checkout, "fit", **task, **given)
                with np.load(output) as kept:
                    done |= {item: kept[item] for item in kept.files}
                fits.append({"version": version, "round": round_, **done})
    return pd.DataFrame(fits)


def _compared(
    fits: pd.DataFrame, objective: Callable[[Any], float], draw: Draw
) -> dict[str, Any]:
    """Return what both versions took and reached, and the ratios."""
    fits = fits.assign(
        graph_share=fits["graph_seconds"] / fits["seconds"],
        rest=fits["seconds"] - fits["graph_seconds"],
        ac=[accuracy(draw.y, labels) for labels in fits["labels"]],
        nmi=[nmi(draw.y, labels) for labels in fits["labels"]],
        objective=[objective(found) for found in fits.to_dict("records")],
    )
    row = {"rounds": fits["round"].nunique()}
    for name in ("seconds", "graph_share", "ac", "nmi", "objective"):
        how = "median" if name in ("seconds", "graph_share") else "mean"
        for version, value in fits.groupby("version")[name].agg(how).items():
            row[f"{name}_{version}"] = value
    row |= _ratio(fits)
    row["ratio_without_graph"] = _ratio(fits, "rest")["ratio"]
    row["excess"] = row["objective_now"] / row["objective_before"] - 1
    return row


def _ratio(frame: pd.DataFrame, column: str = "seconds") -> dict[str, float]:
    """Return median and range of the round-by-round ratio of the versions."""
    table = frame.pivot(index="round", columns="version", values=column)
    ratio = table["now"] / table["before"]
    found = {"ratio": ratio.median(), "ratio_low": ratio.min()}
    return found | {"ratio_high": ratio.max()}


def objective_of(
    method: str, X: Any, options: dict[str, Any]
) -> Callable[[dict[str, Any]], float]:
    """Return the function of what was found that the method decreases."""
    from symmf.clustering.baselines.data_factors import ncut_weighted, squared_norm
    from symmf.linalg.objectives import trace_split_objective
    from symmf.similarity import build_similarity
    from symmf.similarity.graphs.self_tuning import neighbour_graph
    from symmf.similarity.transforms import clip_nonnegative

    if method == "dsc":
        return lambda found: float(found["objective"])
    if method in ("symnmf", "symhals"):
        name = options.get("similarity", "self_tuning")
        A = clip_nonnegative(build_similarity(X, name))

        def symmetric(found: dict[str, Any]) -> float:
            H, P = found["H_"], found.get("P_")
            P = P if method == "symhals" and isinstance(P, np.ndarray) else H
            return trace_split_objective(A.fro2, H, P, A.matmat(P))

        return symmetric
    Y = ncut_weighted(X) if method == "nmf" else X
    total = squared_norm(Y)
    W = None
    if method == "gnmf":
        weighting = options.get("weighting", "binary")
        W = neighbour_graph(X, n_neighbors=5, weighting=weighting)

    def of_data(found: dict[str, Any]) -> float:
        U, V = found["U_"], found["V_"]
        mixed = float(np.vdot(V, np.asarray(Y @ U)))
        value = total - 2 * mixed + float(np.sum((U.T @ U) * (V.T @ V)))
        if W is not None:
            smooth = float(np.sum(W.degrees[:, None] * V * V))
            value += 100.0 * (smooth - float(np.vdot(V, W.matmat(V))))
        return value

    return of_data


def solvers(old: Path, iterations: int, repeats: int) -> pd.DataFrame:
    """Time calls of factorize in both versions; also in bare products of their own."""
    from symmf.datasets import load_dataset

    cases = {"COIL-20 dense, k=20": ("coil20", 20)}
    cases |= {"Reuters implicit, k=41": ("reuters21578", 41)}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (data, k) in cases.items():
            path = write_rows(Path(folder), load_dataset(data).X)
            task = {"rows": path, "k": k, "similarity": "centred_cosine"}
            task |= {"iterations": iterations, "repeats": repeats}
            rows.append({"problem": name, **_in_turn(old, "iterations", task, 3)})
    return pd.DataFrame(rows)


def runner(old: Path, trials: int, repeats: int) -> pd.DataFrame:
    """Time trivial trials through the runners of both versions."""
    entry = _in_turn(old, "overhead", {"trials": trials}, repeats)
    return pd.DataFrame([{"problem": f"{trials} trivial trials", **entry}])


def _in_turn(
    old: Path, task: str, details: dict[str, Any], rounds: int
) -> dict[str, Any]:
    """Run a task with either version in turn."""
    found = pd.DataFrame(
        [
            {"version": version, "round": round_, **call(checkout, task, **details)}
            for round_ in range(rounds)
            for version, checkout in (("before", old), ("now", ROOT))
        ]
    )
    # In units of what is measured beside it, for a machine that drifts.
    found["in_units"] = found["seconds"] / found["unit_seconds"]
    medians = found.groupby("version")[["seconds", "in_units"]].median().stack()
    told = {f"{name}_{version}": value for (version, name), value in medians.items()}
    return told | _ratio(found)
