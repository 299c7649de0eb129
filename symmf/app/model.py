"""What a clustering leaves for new samples."""

from __future__ import annotations

import copy

import numpy as np

from symmf.app.answer import Answer
from symmf.clustering.symmf.model_file import Model, for_new_samples
from symmf.errors import InputError
from symmf.features.columns import MixedColumns
from symmf.features.images import image_side
from symmf.io.matrix import UserMatrix


def check_savable(data: UserMatrix) -> None:
    """Refuse data that no new samples can be compared with."""
    if data.kind == "graph":
        raise InputError("A graph has no new rows, so there is no model of it to save.")


def model_of(found: Answer) -> Model:
    """Return the model of a clustering of rows, documents or images."""
    task = found.task
    images = task.data.kind == "images"
    estimator = None if task.square else for_new_samples(found.model)
    rows = task.X if task.features is None else task.rows
    names = task.data.names
    features = task.features
    if isinstance(features, MixedColumns):
        names = features.feature_names_in_.tolist()
        features = copy.copy(features)
        # Plain texts, which a model file can hold.
        features.feature_names_in_ = np.array(names)
    return Model(
        kind=task.data.kind,
        n_clusters=found.n_clusters,
        names=names,
        terms=task.terms,
        mean=task.mean,
        spread=task.spread,
        side=image_side(task.data.X.shape[1])[0] if images else 32,
        estimator=estimator,
        features=features,
        rows=rows if estimator is None else None,
        labels=found.labels if estimator is None else None,
    )
