"""The data of an experiment: a data set, and features learned on the whole of it."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symmf.common.validation import option_names
from symmf.errors import InputError
from symmf.experiment.values import canonical_json
from symmf.plugins import REGISTRY

if TYPE_CHECKING:
    from symmf.common.notation import AnyMatrix, LabelArray
    from symmf.datasets import Dataset
    from symmf.datasets.base import Kind

#: option of a data set in an experiment file: steps taken before samples are drawn
FEATURES = "features"
#: option beside it: a batch of samples the data set is part of, for the steps to take
LEARN_FROM = "learn_from"
#: key of a data set that is a collection: which of its data sets an experiment runs on
MEMBERS = "members"
#: option that makes a user's file the data set
FILE = "file"
_KINDS: dict[str, Kind] = {"documents": "text", "graph": "matrix"}


def load_data(name: str, options: Mapping[str, Any]) -> Dataset:
    """Load a data set; with the option ``features``, turn all of it into features.

    Steps under ``preprocess`` learn from the samples of a trial, steps under
    ``features`` of the data set from all its samples, or with ``learn_from`` from the
    batch that it is part of, whose other samples are dropped afterwards. The digest
    names data and steps: workers keep data by their digest, and features of the same
    data are other data.
    """
    from symmf.datasets import load_dataset, load_wider
    from symmf.features.preprocess import preprocess

    rest = dict(options)
    steps, batch = rest.pop(FEATURES, None), rest.pop(LEARN_FROM, None)
    if FILE in rest:
        data = load_file(name, rest)
    elif (spec := REGISTRY.of("DATASETS").get(name)) is not None:
        data = spec.read(**rest)
    else:
        data = load_dataset(name, **rest)
    if steps is None:
        return data
    steps = [steps] if isinstance(steps, str) else steps
    if batch is None:
        X = preprocess(data.X, steps)
        text = canonical_json([data.digest, steps])
    else:
        wider, rows = load_wider(name, batch, **rest)
        X = _rows_of(preprocess(wider, steps), rows, len(wider))
        text = canonical_json([data.digest, steps, batch])
    digest = hashlib.sha256(text.encode()).hexdigest()
    return dataclasses.replace(data, X=X, image_shape=None, digest=digest)


def _rows_of(X: AnyMatrix, rows: LabelArray, n_samples: int) -> AnyMatrix:
    if X.shape == (n_samples, n_samples):
        raise InputError(
            f"With {LEARN_FROM} the last step under {FEATURES} must give rows of "
            "features, not similarities of all pairs; add diffusion_rows."
        )
    return X[rows]


def file_options() -> list[str]:
    """List what may stand beside ``file``: how it is read, as with `symmf cluster`."""
    from symmf.io.matrix import read_matrix

    names = option_names(read_matrix, skip=1)
    return [FILE, "title", *(name for name in names if name != "keep")]


def load_file(name: str, options: Mapping[str, Any]) -> Dataset:
    """Read a user's file as a data set: points, images, documents or a graph.

    Raises
    ------
    InputError
        If no true classes are named: without them a trial has no score.
    DataError
        If the file is missing or cannot be read.
    """
    from symmf.datasets import Dataset
    from symmf.features.columns import MixedColumns
    from symmf.features.text import count_terms
    from symmf.io.matrix import read_matrix

    rest = dict(options)
    path, title = Path(rest.pop(FILE)), rest.pop("title", name)
    found = read_matrix(path, **rest)
    if found.y is None:
        raise InputError(
            f"{path.name} has no true classes. Name the column, variable or file that "
            "holds them: `dataset: {file: ..., labels: ...}`."
        )
    X, kind = found.X, _KINDS.get(found.kind, "vector")
    if found.documents is not None:
        words = found.stop_words if found.stop_words != "none" else None
        X = count_terms(found.documents, stop_words=words).counts
    elif hasattr(X, "columns"):  # a table with words or gaps
        asked = {name: rest[name] for name in ("categories", "missing") if name in rest}
        X = MixedColumns(**asked).fit_transform(X)
    data = Dataset.from_arrays(X, found.y, name=name, title=title, kind=kind)
    # The classes keep the names they have in the file.
    return dataclasses.replace(data, class_ids=tuple(found.classes))
