"""A and H of one small trial, kept so that figures can be drawn without a solver."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from symmf.errors import ConfigError
from symmf.experiment.values import Trial

if TYPE_CHECKING:
    from symmf.datasets import Dataset

# More rows than a picture can show, and n x n numbers to keep.
MOST_ROWS = 400


def illustration_bytes(trial: Trial, model: Any, X: Any, chosen: Dataset) -> bytes:
    """Return the content of ``illustration.npz`` for a fitted model.

    The similarity, the factor, classes and clusters of at most 400 samples are kept.
    """
    from symmf.similarity import build_similarity

    if not hasattr(model, "H_") or not hasattr(model, "similarity"):
        raise ConfigError(
            f'illustration: "{trial.method}" has no similarity and factor to show; '
            "choose an entry of a symmetric method such as symmf."
        )
    if model.similarity == "auto":
        raise ConfigError(
            f'illustration: name the similarity of "{trial.method}" in its parameters, '
            "such as similarity: centred_cosine."
        )
    A = build_similarity(X, model.similarity, **(model.similarity_options or {}))
    rng = np.random.default_rng(trial.random_state)
    rows = np.sort(rng.permutation(chosen.n_samples)[:MOST_ROWS])
    every = getattr(model, "n_landmarks_", None) is None
    H = model.H_[rows] if every else model.transform(X[rows])
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        A=A.columns(rows)[rows].astype(np.float32),
        H=H.astype(np.float32),
        classes=chosen.y[rows],
        labels=model.labels_[rows],
    )
    return buffer.getvalue()
