"""A and H of one small trial, kept so that figures can be drawn without a solver."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from symmf.errors import ConfigError
from symmf.experiment.execution.trial import build
from symmf.experiment.store.layout import ILLUSTRATION_FILE
from symmf.experiment.values import Job
from symmf.files import write_atomically

if TYPE_CHECKING:
    from symmf.experiment.plan import Plan

# More rows than a picture can show, and n x n numbers to keep.
MOST_ROWS = 400


def illustrate(plan: Plan) -> None:
    """Write ``illustration.npz`` if the experiment asks for one and has none.

    The named entry is fitted on the first trial of the first K; the similarity, the
    factor, classes and clusters of at most 400 of its samples are kept.
    """
    from symmf.clustering import METHODS
    from symmf.features.preprocess import preprocess
    from symmf.similarity import build_similarity

    path = plan.store.folder / ILLUSTRATION_FILE
    name = plan.config.illustration
    if name is None or path.is_file():
        return
    trials = [trial for trial in plan.trials if trial.method == name]
    if not trials:
        entries = ", ".join(dict.fromkeys(trial.method for trial in plan.trials))
        raise ConfigError(
            f'illustration: there is no entry "{name}" in {plan.name}; '
            f"it has {entries}."
        )
    trial = trials[0]
    chosen = plan.data.subset(trial.classes) if trial.classes else plan.data
    X = preprocess(chosen.X, trial.preprocess)
    model = build(Job(trial=trial, estimator=METHODS[trial.estimator])).fit(X)
    if not hasattr(model, "H_") or not hasattr(model, "similarity"):
        raise ConfigError(
            f'illustration: "{name}" has no similarity and factor to show; '
            "choose an entry of a symmetric method such as symmf."
        )
    A = build_similarity(X, model.similarity, **(model.similarity_options or {}))
    rng = np.random.default_rng(trial.random_state)
    rows = np.sort(rng.permutation(chosen.n_samples)[:MOST_ROWS])
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        A=A.columns(rows)[rows].astype(np.float32),
        H=model.H_[rows].astype(np.float32),
        classes=chosen.y[rows],
        labels=model.labels_[rows],
    )
    write_atomically(path, buffer.getvalue())
