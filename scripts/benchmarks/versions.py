"""Both versions in one run: that of the checkout --old names, 0.1, and this one."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from scipy import sparse

from symmf.metrics import accuracy, nmi

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("fit_once.py")
# Wall seconds of one fit, and after which a method gets no further round on its data.
LIMIT, BUDGET = 300.0, 30.0
_ROWS = 2000
METHODS = ("symnmf", "symhals", "nmf", "gnmf", "dsc")
# The starts of SymNMF in the study of both versions; others have one in that of 0.1.
_STARTS = {"n_restarts": 5}


def call(
    checkout: Path, task: str, *, limit: float = LIMIT, **details: Any
) -> dict[str, Any] | None:
    """Run a task with the symmf of a checkout; None if it takes longer than allowed."""
    asked = {"task": task, "checkout": str(checkout.resolve()), **details}
    environment = os.environ | {"PYTHONPATH": str(checkout.resolve())}
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(WORKER), json.dumps(asked)],
            capture_output=True,
            text=True,
            check=False,
            timeout=limit,
            env=environment,
            cwd=checkout,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise SystemExit(f"{task} failed in {checkout}: {done.stderr.strip()[-500:]}")
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
    torch = importlib.util.find_spec("torch") is not None
    if not torch:
        click.echo("torch is not installed: DSC is not measured.")
    with tempfile.TemporaryDirectory() as folder:
        for draw in draws():
            if only is not None and only.lower() not in draw.name.lower():
                continue
            for method in METHODS:
                if method == "dsc" and not torch:
                    continue
                X = draw.others.get(method, draw.X)
                task = {"rows": write_rows(Path(folder), X), "k": draw.k}
                task |= {"method": method, "options": draw.options.get(method, {})}
                pairs = _pairs(old, Path(folder), task, repeats)
                entry = {"data": draw.name, "n": X.shape[0], "method": method}
                rows.append(entry | _compared(pairs, X, draw.y, task))
                click.echo(f"{draw.name}, {method}: {rows[-1].get('ratio')}")
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


def _pairs(
    old: Path, folder: Path, task: dict[str, Any], repeats: int
) -> list[dict[str, Any]]:
    """Fit with either version in turn, a seed per round; read the factors back."""
    pairs: list[dict[str, Any]] = []
    began = time.perf_counter()
    for round_ in range(repeats):
        if round_ and time.perf_counter() - began > BUDGET:
            break
        pair = {}
        for version, checkout in (("before", old), ("now", ROOT)):
            output = str(folder / f"{version}.npz")
            done = call(checkout, "fit", seed=1000 + round_, output=output, **task)
            if done is not None:
                with np.load(output) as kept:
                    done |= {item: kept[item] for item in kept.files}
            pair[version] = done
        pairs.append(pair)
        if pair["before"] is None or pair["now"] is None:
            break
    return pairs


def _compared(
    pairs: list[dict[str, Any]], X: Any, y: Any, task: dict[str, Any]
) -> dict[str, Any]:
    row: dict[str, Any] = {"rounds": len(pairs), "note": ""}
    slow = [v for v in ("before", "now") if pairs[-1][v] is None]
    if slow:
        row["note"] = f"stopped after {LIMIT:g} s: {' and '.join(slow)}"
        pairs = pairs[:-1]
    if not pairs:
        return row
    evaluate = objective_of(task["method"], X, task["options"])
    for version in ("before", "now"):
        fits = [pair[version] for pair in pairs]
        row[f"seconds_{version}"] = float(np.median([f["seconds"] for f in fits]))
        graph = float(np.median([f["graph_seconds"] for f in fits]))
        row[f"graph_share_{version}"] = graph / row[f"seconds_{version}"]
        row[f"ac_{version}"] = float(np.mean([accuracy(y, f["labels"]) for f in fits]))
        row[f"nmi_{version}"] = float(np.mean([nmi(y, f["labels"]) for f in fits]))
        row[f"objective_{version}"] = float(np.mean([evaluate(f) for f in fits]))
    ratio = np.array([p["now"]["seconds"] / p["before"]["seconds"] for p in pairs])
    row |= {"ratio": float(np.median(ratio))}
    row |= {"ratio_low": float(ratio.min()), "ratio_high": float(ratio.max())}
    rest = {v: row[f"seconds_{v}"] * (1 - row[f"graph_share_{v}"]) for v in pairs[0]}
    row["ratio_without_graph"] = rest["now"] / rest["before"]
    row["excess"] = row["objective_now"] / row["objective_before"] - 1
    return row


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
            H = found["H_"]
            P = found["P_"] if method == "symhals" and "P_" in found else H
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

    cases = {"COIL-20 dense, k=20": ("coil20", 20), "Reuters implicit, k=41": ("", 41)}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (data, k) in cases.items():
            path = write_rows(Path(folder), load_dataset(data or "reuters21578").X)
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
    before, now = [], []
    for _ in range(rounds):
        for checkout, found in ((old, before), (ROOT, now)):
            done = call(checkout, task, **details)
            if done is None:
                return {"note": f"stopped after {LIMIT:g} s"}
            # In units of what is measured beside it, for a machine that drifts.
            unit = next(value for name, value in done.items() if name != "seconds")
            found.append((done["seconds"], done["seconds"] / unit))
    was, is_ = np.array(before), np.array(now)
    ratio = is_[:, 0] / was[:, 0]
    return {
        "seconds_before": float(np.median(was[:, 0])),
        "seconds_now": float(np.median(is_[:, 0])),
        "in_units_before": float(np.median(was[:, 1])),
        "in_units_now": float(np.median(is_[:, 1])),
        "ratio": float(np.median(ratio)),
        "ratio_low": float(ratio.min()),
        "ratio_high": float(ratio.max()),
    }
