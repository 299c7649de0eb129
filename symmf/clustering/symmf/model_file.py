"""A clustering stored in a file, and new samples assigned to its clusters.

The file is an NPZ archive of plain arrays with a description in JSON; see
:mod:`symmf.common.codec`.
"""

from __future__ import annotations

import copy
import io
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse, stats
from sklearn.neighbors import KNeighborsClassifier

from symmf.clustering.symmf.estimator import SymMF
from symmf.common import codec
from symmf.common.files import check_file, own_file, write_bytes
from symmf.common.notation import AnyMatrix, FloatArray, LabelArray
from symmf.errors import DataError, InputError
from symmf.features.text import count_terms
from symmf.io.matrix import UserMatrix
from symmf.similarity.operators import SymmetricOperator

FORMAT = "symmf cluster model, version 2"
MAKE_AGAIN = "Make it again with --save."
_LARGEST = 16 << 30
# Where a method cannot place new samples, these nearest ones vote.
_VOTERS = 10
# Of what a fit leaves, this is not needed for new samples.
_OF_THE_FIT = ("H_", "P_", "history_", "eigenvalues_", "_rows", "_recipe", "_answers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What is needed to assign new samples to known clusters.

    Attributes
    ----------
    kind : {"rows", "documents", "images"}
    n_clusters : int
    names, terms : list of str
        Columns of the rows, terms of the documents.
    mean, spread : (m,) array or None
        What was subtracted from the columns, and what they were divided by.
    side : int
        Pixels along each side of an image.
    estimator : SymMF or None
        Places new samples; without one the nearest of ``rows`` vote.
    features : object or None
        Turns new images, or tables with words and gaps, into rows.
    rows, labels : arrays or None
        The samples that vote, and their clusters.
    """

    kind: str
    n_clusters: int
    names: list[str] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    mean: FloatArray | None = None
    spread: FloatArray | None = None
    side: int = 32
    estimator: SymMF | None = None
    features: Any = None
    rows: AnyMatrix = None
    labels: Any = None

    def predict(self, data: UserMatrix) -> LabelArray:
        """Return the cluster of each new sample.

        Raises
        ------
        InputError
            If the data are of another kind or have other columns.
        """
        if data.kind != self.kind:
            raise InputError(
                f"The model was made of {self.kind}, these are {data.kind}."
            )
        X = self._rows_of(data)
        if self.estimator is not None:
            return self.estimator.predict(X)
        # Of as many votes the larger cluster, which has the smaller number, wins.
        if self.kind == "images" and self.features is not None:
            from symmf.features.images import image_similarity

            S = image_similarity(self.features.transform(X), self.rows)
            nearest = np.argsort(-S, axis=1, kind="stable")[:, :_VOTERS]
            return np.asarray(stats.mode(self.labels[nearest], axis=1).mode)
        voters = KNeighborsClassifier(min(_VOTERS, self.rows.shape[0]))
        return np.asarray(voters.fit(self.rows, self.labels).predict(X))

    def _rows_of(self, data: UserMatrix) -> AnyMatrix:
        if self.kind == "documents":
            assert data.documents is not None
            counts = count_terms(data.documents, terms=self.terms).counts
            return sparse.csr_array(counts.astype(np.float64))
        X, width = data.X, len(self.names)
        if width and X.shape[1] != width:
            raise InputError(
                f"The model was made of {width} columns ({', '.join(self.names[:6])}"
                f"{', ...' if width > 6 else ''}); these are {X.shape[1]}."
            )
        if self.kind == "rows" and self.features is not None:
            import pandas as pd

            table = X if hasattr(X, "columns") else pd.DataFrame(X, columns=self.names)
            return self.features.transform(table)
        return X if self.mean is None else (X - self.mean) / self.spread


def for_new_samples(estimator: Any) -> SymMF | None:
    """Return a copy with what new samples need, or None if it cannot place them."""
    if not isinstance(estimator, SymMF) or estimator._new_points.extension is None:
        return None
    slim = copy.copy(estimator)
    for name in _OF_THE_FIT:
        slim.__dict__.pop(name, None)
    return slim


def save_model(path: Path, model: Model) -> None:
    """Write a model, whole or not at all."""
    out = io.BytesIO()
    codec.save(
        out,
        model,
        format=FORMAT,
        classes=_classes(),
        # The similarity itself is not needed for new samples.
        left_out=(SymmetricOperator,),
        compressed=True,
    )
    write_bytes(path, out.getvalue())


def load_model(path: Path) -> Model:
    """Read a model.

    Raises
    ------
    DataError
        If the file is damaged, no model, or one of another version.
    """
    check_file(path, largest=_LARGEST, advice="Make a model with --save.")
    with own_file(path, MAKE_AGAIN):
        content = io.BytesIO(path.read_bytes())
        try:
            model: Model = codec.load(content, format=FORMAT, classes=_classes())
        except codec.OtherFormatError as error:
            raise DataError(f"{path} cannot be used: {error}. {MAKE_AGAIN}") from None
        if zipfile.ZipFile(content).testzip() is not None:
            raise ValueError("its checksum does not match")
    return model


def _classes() -> tuple[type, ...]:
    """Return every class that a model file may hold."""
    from symmf.clustering.labels.assign import Assignment
    from symmf.clustering.symmf import extend, partitions, prepare
    from symmf.features import _patches, columns, images, text
    from symmf.similarity.graphs.mutual import MutualGraph
    from symmf.similarity.scaling import Scaling

    return (
        Model,
        SymMF,
        MutualGraph,
        Assignment,
        Scaling,
        extend.GivenExtension,
        extend.GramExtension,
        extend.GraphExtension,
        images.ImageFeatures,
        columns.Encoding,
        columns.MixedColumns,
        partitions.Partitions,
        prepare.NewPoints,
        prepare.TextFeatures,
        text.LSA,
        text.TermWeights,
        _patches.Dictionary,
        _patches.Embedding,
    )
