"""Labels from the rows of H, by name, and the same reading for new rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symmf.clustering.labels import (
    argmax_rows,
    cluster_qr,
    kmeans_rows,
    litekmeans,
    merge_rows,
    number_by_size,
    unit_rows,
)
from symmf.common.notation import FloatArray, LabelArray
from symmf.common.validation import check_choice, check_options

INITS = ("k-means++", "random", "cluster_qr")
_OPTIONS = {
    "kmeans": ("n_init", "init"),
    "cluster_qr": (),
    "merge": ("exponent", "n_micro", "cap"),
    "average": ("n_micro",),
    "argmax": (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How labels were read: new rows take that of the nearest centre.

    Attributes
    ----------
    labels : (n,) array
        Of the rows that were read, numbered by size.
    centres : (c, k) array or None
        None: the largest entry of a row is its cluster.
    centre_labels : (c,) array
        Cluster of every centre, or of every column.
    unit : bool
        Rows are scaled to unit length first.
    """

    labels: LabelArray
    centres: FloatArray | None
    centre_labels: LabelArray
    unit: bool

    def copied(self, copy_of: Any) -> Reader:
        """Return the reader for rows with their copies, numbered by the new sizes."""
        old = self.labels[copy_of]
        new = number_by_size(old)
        number = np.zeros(int(self.labels.max()) + 1, dtype=np.int64)
        number[old] = new
        return replace(self, labels=new, centre_labels=number[self.centre_labels])

    def read(self, H: FloatArray) -> LabelArray:
        """Return labels for rows of H."""
        if self.centres is None:
            return np.asarray(self.centre_labels[argmax_rows(H)])
        Z = unit_rows(H) if self.unit else H
        squares = np.einsum("ij,ij->i", self.centres, self.centres)
        nearest = np.argmin(squares - 2 * (Z @ self.centres.T), axis=1)
        return np.asarray(self.centre_labels[nearest])


def read_labels(
    H: FloatArray,
    n_clusters: int,
    kind: str,
    options: dict[str, Any],
    *,
    unit: bool,
    published: bool,
    product: Callable[[FloatArray], FloatArray],
    rng: np.random.Generator,
) -> Reader:
    """Read labels off the rows of H.

    Parameters
    ----------
    H, n_clusters
    kind : {"kmeans", "cluster_qr", "merge", "average", "argmax"}
    options
        ``kmeans``: ``n_init``, ``init``. ``merge``: ``exponent``, ``n_micro``,
        ``cap``. ``average``: ``n_micro``.
    unit
        Scale rows to unit length.
    published
        k-means as the authors' code does it.
    product
        V -> M V, for rows of zeros.
    rng
    """
    check_options(f"labels={kind!r}", options, _OPTIONS[kind])
    if kind == "argmax":
        raw = argmax_rows(H, product(H))
        labels = number_by_size(raw)
        named = np.full(H.shape[1], len(np.unique(raw)) - 1, dtype=np.int64)
        named[raw] = labels
        return Reader(labels=labels, centres=None, centre_labels=named, unit=False)
    Z = unit_rows(H) if unit else H
    if kind in ("merge", "average"):
        if kind == "average":
            options = {"exponent": 0.0, **options}
        found = merge_rows(Z, n_clusters, random_state=rng, **options)
        labels = number_by_size(found.labels)
        number = np.zeros(int(found.centre_labels.max()) + 1, dtype=np.int64)
        number[found.labels] = labels
        named = number[found.centre_labels]
        centres = unit_rows(found.centres)
        return Reader(labels=labels, centres=centres, centre_labels=named, unit=True)
    if kind == "cluster_qr":
        raw = cluster_qr(Z, n_clusters)
    elif published:
        given = {o: v for o, v in options.items() if o != "init"}
        raw = litekmeans(Z, n_clusters, random_state=rng, **given).labels
    else:
        check_choice("init", options.get("init", INITS[0]), INITS)
        raw = kmeans_rows(Z, n_clusters, random_state=rng, **options)
    labels = number_by_size(raw)
    numbers = np.unique(labels)
    centres = np.stack([Z[labels == c].mean(axis=0) for c in numbers])
    return Reader(labels=labels, centres=centres, centre_labels=numbers, unit=unit)
