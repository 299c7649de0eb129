"""Fitted objects as arrays and plain data, and back; nothing is ever pickled.

Only the classes listed here are built again, from data alone.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy import sparse

from symmf.errors import DataError
from symmf.linalg.sparse import check_sparse
from symmf.similarity.operators import SymmetricOperator


def known_classes() -> dict[str, type]:
    """Return every class that a model file may hold, by name."""
    from symmf.clustering.labels import assign as _reader
    from symmf.clustering.symmf import extend as _extension
    from symmf.clustering.symmf import prepare as _prepared
    from symmf.features import _patches, images, text
    from symmf.similarity import scaling
    from symmf.similarity.graphs import mutual

    classes = (
        _extension.GraphExtension,
        _extension.GramExtension,
        _extension.GivenExtension,
        _prepared.NewPoints,
        _prepared.TextFeatures,
        _reader.Reader,
        _patches.Dictionary,
        _patches.Embedding,
        images.ImageFeatures,
        text.LSA,
        text.TermWeights,
        mutual.MutualGraph,
        scaling.Scaling,
    )
    return {cls.__name__: cls for cls in classes}


def encode(value: Any, arrays: dict[str, Any]) -> Any:
    """Return JSON for a value; its arrays go into ``arrays``."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, np.ndarray):
        return {"array": _keep(value, arrays)}
    if sparse.issparse(value):
        csr = sparse.csr_array(value)
        parts = [_keep(part, arrays) for part in (csr.data, csr.indices, csr.indptr)]
        return {"sparse": parts, "shape": list(csr.shape)}
    if isinstance(value, list | tuple):
        return {"list": [encode(item, arrays) for item in value]}
    if isinstance(value, dict):
        return {"dict": {str(key): encode(v, arrays) for key, v in value.items()}}
    if isinstance(value, SymmetricOperator):
        # The similarity itself is not needed for new samples.
        return None
    name = type(value).__name__
    if name not in known_classes():
        raise DataError(f"A model with a {name} cannot be saved.")
    return {"class": name, "fields": encode(_fields(value), arrays)}


def decode(described: Any, arrays: dict[str, Any]) -> Any:
    """Return the value that :func:`encode` described."""
    if not isinstance(described, dict):
        return described
    if "array" in described:
        return np.asarray(arrays[described["array"]])
    if "sparse" in described:
        parts = tuple(arrays[key] for key in described["sparse"])
        X = sparse.csr_array(parts, shape=tuple(described["shape"]))
        check_sparse(X)
        return X
    if "list" in described:
        return [decode(item, arrays) for item in described["list"]]
    if "dict" in described:
        return {key: decode(v, arrays) for key, v in described["dict"].items()}
    cls = known_classes()[described["class"]]
    return _build(cls, decode(described["fields"], arrays))


def _fields(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    fitted = {
        name: attribute
        for name, attribute in vars(value).items()
        if name.endswith("_") and not name.startswith("_")
    }
    return {"parameters": value.get_params(deep=False), "fitted": fitted}


def _build(cls: Any, fields: dict[str, Any]) -> Any:
    if "parameters" not in fields:
        return cls(**fields)
    model = cls(**fields["parameters"])
    for name, attribute in fields["fitted"].items():
        setattr(model, name, attribute)
    return model


def _keep(array: Any, arrays: dict[str, Any]) -> str:
    name = f"a{len(arrays)}"
    arrays[name] = np.asarray(array)
    return name
