"""The data of an experiment: a data set, and features learned on the whole of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from symmf.errors import InputError

if TYPE_CHECKING:
    from symmf.datasets import Dataset

#: option of a data set in an experiment file: steps taken before samples are drawn
FEATURES = "features"


def load_data(name: str, options: Mapping[str, Any]) -> Dataset:
    """Load a data set; with the option ``features``, turn all of it into features.

    Steps under ``preprocess`` learn from the samples of a trial, steps under
    ``features`` of the data set from all its samples. The digest stays that of the data
    themselves; the steps are among the options, which enter the key of every trial.
    """
    from symmf.datasets import load_dataset
    from symmf.features.preprocess import preprocess

    rest = dict(options)
    steps = rest.pop(FEATURES, None)
    data = load_dataset(name, **rest)
    if steps is None:
        return data
    if isinstance(steps, str):
        steps = [steps]
    if not isinstance(steps, list) or not all(isinstance(s, str) for s in steps):
        raise InputError(f"features is a step or a list of steps, not {steps!r}.")
    X = preprocess(data.X, steps)
    return dataclasses.replace(data, X=X, image_shape=None)
