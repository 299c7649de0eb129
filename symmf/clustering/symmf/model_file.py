"""A clustering kept in a file, and new samples put into its clusters.

The file is an NPZ archive of plain arrays with a JSON header (``schema``, ``version``).
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from symmf.app.answer import Answer
from symmf.clustering import METHODS
from symmf.clustering.symmf.state import decode, encode
from symmf.common.files import write_bytes
from symmf.common.notation import AnyMatrix, FloatArray, LabelArray
from symmf.common.validation import shown
from symmf.errors import DataError, InputError, SymmfError
from symmf.features.text import count_terms
from symmf.io.arrays import read_arrays
from symmf.io.matrix import UserMatrix

_AGAIN = "Make it again with --save."
SCHEMA, VERSION = "symmf cluster model", 1
# Where a method cannot place new samples, these nearest ones vote.
_VOTERS = 10
# What arrays that do not fit together make numpy raise.
_MISFITS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
# Of what a fit leaves, this is not needed for new samples.
_LEFT_OUT = ("H_", "P_", "labels_", "history_", "eigenvalues_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What is needed to put new samples into known clusters."""

    kind: str
    method: str
    n_clusters: int
    labels: LabelArray
    names: list[str] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    mean: FloatArray | None = None
    spread: FloatArray | None = None
    side: int = 32
    estimator: Any = None
    features: Any = None
    rows: AnyMatrix = None

    def predict(self, data: UserMatrix) -> LabelArray:
        """Return the cluster of each new sample.

        Raises
        ------
        InputError
            If the data are of another kind or have other columns.
        DataError
            If the parts of the model do not fit together: its file was forged.
        """
        try:
            with np.errstate(all="ignore"):
                labels = np.asarray(self._predict(data))
        except SymmfError:
            raise
        except _MISFITS as error:
            raise DataError(_unfit(type(error).__name__)) from error
        whole = labels.dtype.kind == "i" and labels.shape == (data.n,)
        if not whole or labels.min() < 0 or labels.max() >= self.n_clusters:
            raise DataError(_unfit("clusters that it does not have"))
        return labels

    def _predict(self, data: UserMatrix) -> LabelArray:
        if data.kind != self.kind:
            raise InputError(
                f"The model was made of {self.kind}, these are {data.kind}."
            )
        X = self._rows_of(data)
        if self.estimator is not None:
            return np.asarray(self.estimator.predict(X))
        if self.features is not None:
            from symmf.features.images import image_similarity

            return self._vote(image_similarity(self.features.transform(X), self.rows))
        return self._vote(-_squared_distances(X, self.rows))

    def _rows_of(self, data: UserMatrix) -> AnyMatrix:
        if self.kind == "documents":
            assert data.documents is not None
            counts = count_terms(data.documents, terms=self.terms).counts
            return sparse.csr_array(counts.astype(np.float64))
        X = data.X
        width = len(self.names)
        if width and X.shape[1] != width:
            raise InputError(
                f"The model was made of {width} columns ({', '.join(self.names[:6])}"
                f"{', ...' if width > 6 else ''}); these are {X.shape[1]}."
            )
        if self.mean is not None:
            X = (X - self.mean) / self.spread
        return X

    def _vote(self, similarity: FloatArray) -> LabelArray:
        voters = min(_VOTERS, similarity.shape[1])
        near = np.argsort(-similarity, axis=1, kind="stable")[:, :voters]
        votes = np.zeros((len(similarity), self.n_clusters))
        for column in range(voters):
            np.add.at(votes, (np.arange(len(votes)), self.labels[near[:, column]]), 1.0)
        # The nearest one decides a tie.
        votes[np.arange(len(votes)), self.labels[near[:, 0]]] += 0.5
        return np.asarray(votes.argmax(axis=1), dtype=np.int64)


def save_model(path: Path, found: Answer) -> None:
    """Write a model whole or not at all.

    Raises
    ------
    InputError
        For a graph, which has no new samples.
    """
    task = found.task
    kind = task.data.kind
    check_savable(task.data)
    arrays: dict[str, Any] = {}
    estimator = _estimator_state(found, arrays)
    rows = None
    if estimator is None:
        rows = task.rows if task.features is not None else task.X
    header = {
        "schema": SCHEMA,
        "version": VERSION,
        "kind": kind,
        "method": task.method,
        "n_clusters": found.n_clusters,
        "names": task.data.names,
        "terms": task.terms,
        "side": _side(task.data) if kind == "images" else 32,
        "estimator": estimator,
        "labels": encode(found.labels, arrays),
        "mean": encode(task.mean, arrays),
        "spread": encode(task.spread, arrays),
        "features": encode(task.features, arrays),
        "rows": encode(rows, arrays),
    }
    header["sha256"] = _digest(header, arrays)
    text = json.dumps(header).encode()
    out = io.BytesIO()
    np.savez_compressed(out, header=np.frombuffer(text, dtype=np.uint8), **arrays)
    write_bytes(path, out.getvalue())


def check_savable(data: UserMatrix) -> None:
    """Refuse data that no new samples can be compared with."""
    if data.kind == "graph":
        raise InputError("A graph has no new rows, so there is no model of it to save.")


def load_model(path: Path) -> Model:
    """Read a model; the archive is parsed in a child process.

    Raises
    ------
    DataError
        If the file is no model, or one of a later version.
    """
    if not path.is_file():
        raise DataError(f"{path} does not exist. Make a model with --save.")
    arrays = read_arrays(path, ".npz")
    try:
        header = json.loads(np.asarray(arrays.pop("header")).tobytes())
        known = header["schema"] == SCHEMA
    except (KeyError, ValueError, TypeError):
        known = False
    if not known:
        raise DataError(f"{path} is no model of symmf cluster (made with --save).")
    version = header.get("version")
    if version != VERSION:
        raise DataError(
            f"{path} is a model of version {shown(version)}; this symmf reads "
            f"version {VERSION}. Update symmf, or make the model again."
        )
    # Models of before had none.
    if "sha256" in header and header.pop("sha256") != _digest(header, arrays):
        raise DataError(f"{path} is a damaged model. {_AGAIN}")
    try:
        values = {
            name: decode(header[name], arrays)
            for name in ("labels", "mean", "spread", "features", "rows")
        }
        for array in arrays.values():
            if array.dtype.kind in "fc" and not np.isfinite(array).all():
                raise ValueError("a number that is not finite")
        return Model(
            kind=_text(header["kind"]),
            method=_text(header["method"]),
            n_clusters=int(header["n_clusters"]),
            names=[_text(name) for name in header["names"]],
            terms=[_text(term) for term in header["terms"]],
            side=int(header["side"]),
            estimator=_estimator(header, arrays),
            **values,
        )
    except (*_MISFITS, DataError) as error:
        raise DataError(
            f"{path} is a damaged model ({type(error).__name__}). {_AGAIN}"
        ) from error


def _text(value: Any) -> str:
    """Return a text of the header; a forged one may hold anything."""
    if not isinstance(value, str):
        raise TypeError("a text was expected")
    return value


def _digest(header: dict[str, Any], arrays: dict[str, Any]) -> str:
    """Return what tells whether a byte of a model has changed."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        digest.update(f"\0{name} {array.dtype.str} {array.shape}\0".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _unfit(what: str) -> str:
    return f"The parts of the model do not fit together ({what}). {_AGAIN}"


def _estimator_state(found: Answer, arrays: dict[str, Any]) -> Any:
    """Return what SymMF needs to place new samples, or None if it cannot."""
    model = found.model
    points = getattr(model, "_new_points", None)
    if points is None or points.extension is None or found.task.square:
        return None
    parameters = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if isinstance(value, bool | int | float | str) or value is None
    }
    given = model.get_params(deep=False)
    state = {
        name: encode(value, arrays)
        for name, value in vars(model).items()
        if name not in given and name not in _LEFT_OUT
    }
    return {"parameters": parameters, "state": state}


def _estimator(header: dict[str, Any], arrays: dict[str, Any]) -> Any:
    stored = header["estimator"]
    if stored is None:
        return None
    model = METHODS[header["method"]](**stored["parameters"])
    for name, value in stored["state"].items():
        if name.startswith("__") or hasattr(type(model), name):
            raise KeyError(name)
        setattr(model, name, decode(value, arrays))
    # What scikit-learn looks for to see that it is fitted.
    model.labels_ = decode(header["labels"], arrays)
    return model


def _side(data: UserMatrix) -> int:
    from symmf.features.images import image_side

    return image_side(data.X.shape[1])[0]


def _squared_distances(X: AnyMatrix, rows: AnyMatrix) -> FloatArray:
    from sklearn.metrics import pairwise_distances

    return np.asarray(pairwise_distances(X, rows, metric="sqeuclidean"))
