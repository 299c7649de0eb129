"""Made-up results in the format of real ones, for the tests of the reporting layer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from symmf.experiment.store.trials_table import TRACE_COLUMNS, trial_columns

TRIAL_COLUMNS = tuple(trial_columns())

PAPER_METHODS = (
    *("kmeans", "nmf", "spectral", "symhals", "snmf", "symnmf", "gnmf", "dsc", "symmf"),
)
TITLES = {"kmeans": "K-means", "symmf": "SymMF (published)", "dsc": "DSC"}


def entry(method: str, **given: Any) -> dict[str, Any]:
    """Return a resolved method entry of a configuration."""
    row = "ours" if method == "symmf" else method
    return {
        "method": method,
        "name": given.get("name", method),
        "label": TITLES.get(method, method.upper()),
        "paper_row": row,
        # The entry called like its method stands for the row, as the runner writes it.
        **({"primary": True} if "name" not in given else {}),
        **given,
    }


def trial_row(
    experiment: str,
    dataset: str,
    k: int,
    t: int,
    e: dict[str, Any],
    ac: float,
    **given: Any,
) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(TRIAL_COLUMNS, "")
    row.update(
        experiment=experiment,
        dataset=dataset,
        n_clusters=k,
        trial=t,
        method=e["name"],
        estimator=e["method"],
        label=e["label"],
        paper_row=e["paper_row"],
        status="ok",
        ac=ac,
        nmi=0.9 * (ac or 0),
        nmi_max=0.88 * (ac or 0),
        ari=0.8 * (ac or 0),
        silhouette=0.5 + 0.1 * t,
        seconds=0.5,
        n_iter=20,
        stop="max_iter",
        error=0.1,
        n_samples=72 * k,
        classes=" ".join(map(str, range(k))),
        preprocess="unit_rows",
        parameters=json.dumps(e.get("parameters", {})),
        solver=e.get("parameters", {}).get("solver", ""),
        peak_memory_mb=10,
        key=f"{experiment}-{k}-{t}-{e['name']}",
    )
    row.update(given)
    return row


def write(
    folder: Path,
    config: dict[str, Any],
    rows: list[dict[str, Any]],
    traces: list[dict[str, Any]] = (),
    title: str = "",
    sizes=(1440, 1024, 20),
):
    """Write one experiment as the runner does."""
    here = folder / config["name"]
    here.mkdir(parents=True)
    frame = pd.DataFrame(rows, columns=list(TRIAL_COLUMNS))
    frame.to_csv(here / "trials.csv", index=False)
    if len(traces):
        pd.DataFrame(traces, columns=list(TRACE_COLUMNS)).to_csv(
            here / "traces.csv", index=False
        )
    (here / "experiment.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    given = config["dataset"]
    name = given["name"] if isinstance(given, dict) else given
    n, m, k = sizes
    shape = {"n_samples": n, "n_features": m}
    provenance = {
        "command": f"symmf run configs/{config['name']}.yaml",
        "version": "0.1.0",
        "python": "3.11.7",
        "dataset": {"name": name, "title": title or name, "n_classes": k, **shape},
        "packages": {"numpy": "2.3.0", "scipy": "1.17.1"},
        "facts": {
            "data_digest": "made up",
            "class_sizes": [n // k] * k,
            "behaviours": {},
            **shape,
        },
    }
    (here / "provenance.json").write_text(json.dumps(provenance))
    return here


def scored(folder, name, role, entries, score, *, dataset="coil20", **keys):
    """Write an experiment with the AC that ``score`` gives: (entry, K, lambda, trial).

    ``ks``, ``n_trials`` and ``weights`` say for which; other keys go to its file.
    """
    ks, n_trials = keys.pop("ks", (2,)), keys.pop("n_trials", 5)
    weights = keys.pop("weights", ("",))
    rows = [
        trial_row(name, dataset, k, t, e, score(e, k, w, t), **{"lambda": w})
        for e in entries
        for k in ks
        for w in weights
        for t in range(n_trials)
    ]
    asked = {"n_clusters": list(ks), "trials": n_trials, "methods": entries}
    traces = keys.pop("traces", ())
    config = {"name": name, "role": role, "dataset": dataset, **asked, **keys}
    return write(folder, config, rows, traces)


def table_experiment(
    folder: Path,
    name="coil20",
    dataset="coil20",
    ks=(2, 10, 20),
    methods=PAPER_METHODS,
    n_trials=10,
    title="",
    sizes=(1440, 1024, 20),
    fail=(),
    skip=(),
    role="comparison",
):
    """Write a table experiment; scores rise with the method's place in the list."""
    rng = np.random.default_rng(len(name))
    published = {"published": True, "max_iter": 20}
    entries = [
        entry(m, **({"parameters": published} if m == "symmf" else {})) for m in methods
    ]
    if "symmf" in methods:
        entries.append(
            entry(
                "symmf",
                name="symmf_converged",
                label="SymMF (run to convergence)",
                parameters={"solver": "projected_gradient", "tol": 1e-6},
            )
        )
        entries.append(
            entry(
                "symmf",
                name="closed_form",
                label="Closed form, λ = 0",
                paper_row="none",
                parameters={"solver": "eigen"},
            )
        )
    rows = []
    for k in ks:
        for index, e in enumerate(entries):
            for t in range(n_trials):
                if (e["name"], k) in skip:
                    continue
                ac = 0.85 - 0.012 * k + 0.012 * index + 0.03 * rng.normal()
                ac = float(np.clip(ac, 0.02, 1))
                lam = 0.5 if e["method"] == "symmf" else ""
                seconds = 0.2 if e["name"] == "closed_form" else 0.5 + 0.01 * t
                row = trial_row(
                    name, dataset, k, t, e, ac, seconds=seconds, **{"lambda": lam}
                )
                if (e["name"], k, t) in fail:
                    row |= dict.fromkeys(("ac", "nmi", "ari", "nmi_max"), "")
                    row |= {"status": "failed", "message": "the graph has no edges"}
                rows.append(row)
    config = {
        "name": name,
        "role": role,
        "seed": 2022,
        "dataset": dataset,
        "n_clusters": list(ks),
        "trials": n_trials,
        "methods": entries,
        "note": "Unit rows for all methods.",
    }
    return write(folder, config, rows, title=title, sizes=sizes)


def _sweep(folder, name, dataset, ks, grid, n_trials, score, **keys):
    """Write a study of the proposed method, published and converged, over lambda."""
    entries = [
        entry("symmf", name="symmf_published", label="SymMF (published)", primary=True),
        entry("symmf", name="symmf_converged", label="SymMF (run to convergence)"),
    ]
    rows = [
        trial_row(name, dataset, k, t, e, score(k, i, lam), **{"lambda": lam})
        for k in ks
        for i, e in enumerate(entries)
        for lam in grid
        for t in range(n_trials)
    ]
    config = {
        "name": name,
        "role": "sensitivity",
        "dataset": dataset,
        "n_clusters": list(ks),
        "trials": n_trials,
        "methods": entries,
        **keys,
    }
    return write(folder, config, rows)


def lambda_experiment(
    folder: Path, name="lambda_coil20", dataset="coil20", k=5, n_trials=10, slope=-0.05
):
    """Write a study of the proposed method over a grid of lambda."""
    rng = np.random.default_rng(7)
    grid = [0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0]

    def score(_k, i, lam):
        return 0.75 + slope * lam + 0.02 * i + 0.02 * rng.normal()

    return _sweep(folder, name, dataset, [k], grid, n_trials, score, **{"lambda": grid})


def regularization_experiment(folder: Path, n_trials=10, gain=0.004):
    """Write a study with and without the regulariser over the number of clusters."""
    rng = np.random.default_rng(8)

    def score(k, _i, lam):
        return 0.95 - 0.015 * k + gain * k * (lam > 0) + 0.01 * rng.normal()

    ks, name = range(2, 21, 2), "regularization"
    return _sweep(folder, name, "coil20", ks, (0, 0.5), n_trials, score)
