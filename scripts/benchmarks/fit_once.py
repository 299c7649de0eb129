"""Run in a process of its own, with the symmf that PYTHONPATH names: one timed task.

Imports nothing of this folder, and of symmf only what version 0.1 has too.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

FACTORS = ("H_", "P_", "U_", "V_")
_FEW = 60


def read(path: str) -> Any:
    """Load rows, dense or sparse."""
    return sparse.load_npz(path) if path.endswith(".npz") else np.load(path)


def fit(task: dict[str, Any]) -> dict[str, Any]:
    """Fit an estimator, processor seconds; factors and labels go to a file."""
    from symmf.clustering import METHODS

    X, make = read(task["rows"]), METHODS[task["method"]]
    known = make().get_params()
    options = {o: v for o, v in task["options"].items() if o in known}
    # Lazy imports are nobody's time.
    quick = {o: 1 for o in ("n_pretrain", "n_finetune") if o in known}
    try:
        make(2, random_state=0, **{**options, **quick}).fit(X[:_FEW])
    except Exception as problem:  # few rows may be too few for a method
        print(problem, file=sys.stderr)
    model = make(task["k"], random_state=task["seed"], **options)
    began = time.process_time()
    model.fit(X)
    seconds = time.process_time() - began
    kept = {name: getattr(model, name, None) for name in FACTORS}
    np.savez(
        task["output"],
        labels=model.labels_,
        **{name: value for name, value in kept.items() if value is not None},
    )
    return {
        "seconds": seconds,
        "graph_seconds": _graph_seconds(task["method"], X, options),
        "objective": float(getattr(model, "objective_", np.nan)),
    }


def _graph_seconds(method: str, X: Any, options: dict[str, Any]) -> float:
    """Time the graph alone, which is a part of the fit; 0 for methods without one."""
    from symmf.similarity import build_similarity
    from symmf.similarity.graphs.self_tuning import neighbour_graph

    began = time.process_time()
    if method in ("symnmf", "symhals"):
        build_similarity(X, options.get("similarity", "self_tuning"))
    elif method == "gnmf":
        neighbour_graph(X, weighting=options.get("weighting", "binary"))
    return time.process_time() - began


def iterations(task: dict[str, Any]) -> dict[str, Any]:
    """Time a call of factorize, and as many bare products."""
    from symmf.similarity import build_similarity, regularise
    from symmf.solvers import factorize

    M = regularise(build_similarity(read(task["rows"]), task["similarity"]), 0.5)
    k, count = task["k"], task["iterations"]
    H0 = np.random.default_rng(0).standard_normal((M.shape[0], k)).astype(M.dtype)
    _ = M.fro2
    whole, product = [], []
    for _ in range(task["repeats"] + 1):
        began = time.process_time()
        factorize(M, k, H0=H0, max_iter=count, tol=0, random_state=1)
        whole.append(time.process_time() - began)
        began = time.process_time()
        for _ in range(count):
            M.matmat(H0)
        product.append(time.process_time() - began)
    # The first one warms up.
    return {
        "seconds": float(np.median(whole[1:])),
        "unit_seconds": float(np.median(product[1:])),
    }


def overhead(task: dict[str, Any]) -> dict[str, Any]:
    """Time trivial trials through the runner and through a bare loop."""
    try:
        from symmf.experiment.overhead import measure  # where version 0.1 has it
    except ImportError:
        from scripts.benchmarks.runner import measure
    found = measure(task["trials"], 2)
    return {"seconds": found.runner_seconds, "unit_seconds": found.joblib_seconds}


TASKS = {"fit": fit, "iterations": iterations, "overhead": overhead}

if __name__ == "__main__":
    import symmf

    warnings.simplefilter("ignore")
    asked = json.loads(sys.argv[1])
    if Path(symmf.__file__).parents[1] != Path(asked["checkout"]):
        sys.exit(f"imported {symmf.__file__}, not that of {asked['checkout']}")
    print(json.dumps(TASKS[asked["task"]](asked)))
