"""Made-up traces and pictures, and a results folder with a bit of everything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from helpers.made_results import (
    entry,
    lambda_experiment,
    regularization_experiment,
    table_experiment,
    trial_row,
    write,
)
from symmf.experiment.store.trials_table import TRACE_COLUMNS

# name: solver, label, rate, iterations, seconds per iteration, nonnegative, split
CURVES = {
    "algorithm1": ("columnwise", "Algorithm 1", 0.4, 100, 2e-4, False, True),
    "algorithm1_nonnegative": (
        *("columnwise", "Algorithm 1, H ≥ 0", 0.05, 400, 2e-4, True, True),
    ),
    "sym_anls": ("sym_anls", "SymANLS", 0.03, 400, 6e-4, True, True),
    "admm": ("admm", "ADMM", 0.025, 400, 5e-4, True, True),
    "algorithm2": ("projected_gradient", "Algorithm 2", 0.05, 1000, 1e-4, False, False),
    "algorithm2_nonnegative": (
        *("projected_gradient", "Algorithm 2, H ≥ 0", 0.03, 1000, 1e-4, True, False),
    ),
    "newton": ("newton", "SymNMF-Newton", 0.3, 60, 4e-3, True, False),
    "fixed_small": ("fixed_step", "fixed step 1e-4", 0.002, 1000, 1e-4, True, False),
    "fixed_large": ("fixed_step", "fixed step 1e-3", 0.01, 1000, 1e-4, True, False),
}


def panel(title: str, x: str, y: str, methods: str, **more: str) -> dict[str, Any]:
    return {"title": title, "x": x, "y": y, "methods": methods.split(), **more}


PANELS = [
    panel(
        *("Algorithm 1", "iteration", "split_error", "algorithm1 sym_anls admm"),
        note="Mixed comparison as in the paper: Algorithm 1 is unconstrained, the "
        "others keep H ≥ 0.",
    ),
    panel(
        *("Algorithm 1, fair", "iteration", "split_error"),
        "algorithm1_nonnegative sym_anls admm",
        note="Fair comparison: all keep H ≥ 0 and share the start.",
    ),
    panel("Algorithm 2", "iteration", "error", "algorithm2 newton fixed_large"),
    panel(
        *("Algorithm 2 over time", "seconds", "error"),
        "algorithm2_nonnegative newton fixed_large",
    ),
    panel(
        *("Adaptive and fixed steps", "iteration", "error"),
        "algorithm2_nonnegative fixed_small fixed_large gone",
    ),
]


def trace_row(*values: Any) -> dict[str, Any]:
    return dict(zip(TRACE_COLUMNS, values, strict=True))


def convergence_experiment(folder: Path, n_trials=6, panels=PANELS, rises=False):
    rng = np.random.default_rng(9)
    entries, rows, traces = [], [], []
    for name, (solver, label, rate, steps, pace, nonneg, split) in CURVES.items():
        parameters: dict[str, Any] = {"solver": solver}
        if solver == "columnwise":
            parameters["nonnegative"] = nonneg
        elif solver == "projected_gradient":
            parameters["constraint"] = "nonnegative" if nonneg else "none"
        e = entry(
            "symmf", name=name, label=label, paper_row="none", parameters=parameters
        )
        entries.append(e)
        for t in range(n_trials):
            rows.append(
                trial_row(
                    *("convergence", "synthetic", 5, t, e, ""),
                    **dict.fromkeys(("nmi", "nmi_max", "ari"), ""),
                    matrix="M: precomputed",
                )
            )
            speed = rate * np.exp(0.1 * rng.normal())
            its = np.unique(np.linspace(0, steps, 120).astype(int))
            errors = 0.4 * np.exp(-speed * its) + 1e-15
            if rises:
                errors[5] = errors[3]
            for i, err in zip(its, errors, strict=True):
                about = ("convergence", "synthetic", 5, t, name, "")
                values = (i, err, err * 1.1 if split else "", i * pace)
                traces.append(trace_row(*about, *values))
    config = {
        "name": "convergence",
        "role": "convergence",
        "title": "exact factors, n = 20, k = 5",
        "dataset": {"name": "synthetic", "kind": "exact_factor"},
        "n_clusters": [5],
        "trials": n_trials,
        "methods": entries,
    }
    if panels:
        config["figures"] = {"convergence": {"panels": panels}}
    return write(folder, config, rows, traces, sizes=(20, 20, 5))


def illustration(folder: Path, experiment="lambda_coil20"):
    """Store A and H of a small made-up problem."""
    rng = np.random.default_rng(3)
    classes = np.repeat(np.arange(4), 12)
    X = rng.normal(size=(4, 30))[classes] + 0.6 * rng.normal(size=(48, 30))
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    A = X @ X.T
    w, V = np.linalg.eigh(A)
    H = V[:, -4:] * np.sqrt(w[-4:])
    labels = (classes + 1) % 4
    labels[:3] = 0
    np.savez(
        folder / experiment / "illustration.npz",
        A=A.astype(np.float32),
        H=H.astype(np.float32),
        labels=labels,
        classes=classes,
        names=np.array(["duck", "cup", "car", "cat"]),
    )


def full(folder: Path) -> Path:
    """Write a folder with a bit of everything, partly incomplete."""
    table_experiment(
        folder, fail=[("gnmf", 20, 3), ("gnmf", 20, 4)], skip=[("dsc", 20)]
    )
    table_experiment(folder, "cifar10", "cifar10", (3, 6, 10), sizes=(3000, 1024, 10))
    table_experiment(
        folder,
        "quickstart",
        "digits",
        (3, 10),
        ("kmeans", "spectral", "symmf"),
        3,
        "Digits",
        (1797, 64, 10),
    )
    lambda_experiment(folder)
    lambda_experiment(folder, "lambda_tdt2", "tdt2", 10, slope=-0.2)
    regularization_experiment(folder)
    convergence_experiment(folder, n_trials=3, panels=PANELS[:2])
    illustration(folder)
    return folder


def traced_experiment(folder: Path, name: str, entries: list[dict[str, Any]]) -> Path:
    """Write an experiment with three made-up traces per entry, at K = 4."""
    rows, traces = [], []
    for number, e in enumerate(entries):
        weight = e.get("weight", "")
        parameters = json.dumps(e.get("parameters", {}))
        for t in range(3):
            rows.append(
                trial_row(
                    name, "coil20", 4, t, e, 0.5, **{"lambda": weight},
                    parameters=parameters, matrix=e.get("matrix", ""),
                )
            )  # fmt: skip
            for i in range(e.get("steps", 30)):
                error = 10 + number if i == 0 else 0.5**i + 0.01 * (t + 1)
                about = (name, "coil20", 4, t, e["name"], weight)
                traces.append(trace_row(*about, i, error, "", i * 1e-3 * (number + 1)))
    config = {
        "name": name,
        "title": "COIL-20",
        "dataset": "coil20",
        "n_clusters": [4],
        "trials": 3,
        "methods": [
            {key: e[key] for key in e.keys() - {"weight", "steps", "matrix"}}
            for e in entries
        ],
    }
    return write(folder, config, rows, traces)


def mixed_experiment(folder: Path) -> Path:
    """Write entries that factor five different matrices."""
    ours = {"weight": 0.5, "matrix": "M: centred_cosine, lambda 0.5"}
    plain = {"weight": 0.5, "matrix": "M: cosine, lambda 0.5"}
    return traced_experiment(
        folder,
        "mixed",
        [
            entry("nmf", matrix="X: data weighting ncut"),
            entry("symhals", matrix="M: self_tuning"),
            entry("symnmf", matrix="M: self_tuning"),
            entry("symmf", name="ours", **ours),
            entry("symmf", name="closed_form", steps=2, **ours),
            entry("symmf", name="uncentred", **plain),
            entry(
                "symmf",
                name="closed_form_0",
                label="Closed form, λ = 0",
                steps=2,
                **{**ours, "weight": 0.0, "matrix": "M: centred_cosine"},
            ),
        ],
    )


def many_entries(folder: Path, count: int) -> Path:
    """Write an experiment with many entries of one matrix."""
    entries = [
        entry(
            "symnmf", name=f"entry_{i}", label=f"Entry number {i}", matrix="M: cosine"
        )
        for i in range(count)
    ]
    return traced_experiment(folder, "many", entries)
