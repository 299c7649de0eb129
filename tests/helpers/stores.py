"""A trial, its outcome, and a store that is filled."""

from __future__ import annotations

import numpy as np

from symmf.experiment.config.grid import Facts, expand
from symmf.experiment.config.model import ExperimentConfig
from symmf.experiment.store.folder import (
    ExperimentStore,
)
from symmf.experiment.values import Outcome, Record, Status, Trial

SAMPLE = Trial(
    experiment="e",
    dataset="d",
    options={},
    data_digest="aa",
    seed=1,
    n_clusters=2,
    trial=0,
    classes=(0, 3),
    method="m",
    estimator="symmf",
    label="M",
    paper_row="ours",
    laplacian_weight=0.5,
    preprocess=("unit_rows",),
    parameters={"tol": 0.1, "max_iter": 5},
    behaviour=1,
    random_state=7,
    threads=1,
)

CONFIG = ExperimentConfig.model_validate(
    {
        "name": "study",
        "dataset": "d",
        "n_clusters": [10, 2],
        "trials": 2,
        "methods": [
            {"method": "symmf", "name": "b", "lambda": [0.5, 0.0]},
            {"method": "kmeans", "name": "a"},
        ],
    }
)


FACTS = Facts(
    data_digest="dd",
    n_samples=20,
    n_features=3,
    class_sizes=(2,) * 10,
    behaviours={"a": 1, "b": 2},
)


def outcome(value=0.5, **given):
    return Outcome(
        **{
            "status": Status.OK,
            "started": "2022-01-01T00:00:00.000+00:00",
            "labels": np.array([0, 1, 1]),
            "y": np.array([0, 0, 1]),
            "scores": {"ac": value, "silhouette": 1e-300},
            "seconds": 0.1 + 0.2,
            "solver": "eigen",
            "matrix": "M: cosine, lambda 0.5",
            "n_samples": 3,
            "n_iter": 4,
            **given,
        }
    )


def filled(folder, n=None):
    """Make a store with a described experiment and records for its first n trials."""
    store = ExperimentStore(folder / "study")
    store.prepare()
    origin = {"data_digest": "dd", "config_digest": CONFIG.digest()}
    store.write_description(CONFIG, FACTS, origin)
    for i, trial in enumerate(expand(CONFIG, FACTS)[:n]):
        trace = np.geomspace(1, 0.1, 5) if trial.method == "b" else None
        record = Record(
            trial=trial, outcome=outcome(i / 7, error=trace), provenance=origin
        )
        store.write(record)
    return store
