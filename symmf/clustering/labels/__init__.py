"""Reading cluster labels off a factor."""

from __future__ import annotations

from symmf.clustering.labels.kmeans import kmeans_rows, litekmeans
from symmf.clustering.labels.merging import merge_path, merge_rows
from symmf.clustering.labels.rows import (
    argmax_rows,
    cluster_qr,
    labels_digest,
    number_by_size,
    unit_rows,
)

__all__ = [
    "argmax_rows",
    "cluster_qr",
    "kmeans_rows",
    "labels_digest",
    "litekmeans",
    "merge_path",
    "merge_rows",
    "number_by_size",
    "unit_rows",
]
