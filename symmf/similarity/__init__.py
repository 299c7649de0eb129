"""Similarity matrices as symmetric operators, and graphs built from data."""

from __future__ import annotations

from symmf.similarity.build import SIMILARITIES, SimilarityName, build_similarity
from symmf.similarity.operators import (
    DenseOperator,
    Gram,
    LaplacianRegularised,
    SparseOperator,
    SymmetricOperator,
    as_operator,
    regularise,
)
from symmf.similarity.row_features import RowFeatures

__all__ = [
    "SIMILARITIES",
    "DenseOperator",
    "Gram",
    "LaplacianRegularised",
    "RowFeatures",
    "SimilarityName",
    "SparseOperator",
    "SymmetricOperator",
    "as_operator",
    "build_similarity",
    "regularise",
]
