"""Labels from the rows of H, by name, and the same assignment for new rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symmf.clustering.labels.kmeans import INITS, kmeans_rows, litekmeans
from symmf.clustering.labels.merging import merge_rows
from symmf.clustering.labels.rows import (
    argmax_rows,
    cluster_means,
    cluster_qr,
    number_by_size,
    unit_rows,
    without_rounding,
)
from symmf.common.notation import FloatArray, LabelArray
from symmf.common.validation import check_choice, check_number, check_options

#: ways to assign labels, and the options of each
ASSIGNMENTS: dict[str, tuple[str, ...]] = {
    "kmeans": ("n_init", "init"),
    "cluster_qr": (),
    "merge": ("exponent", "n_micro", "cap"),
    "average": ("n_micro",),
    "argmax": (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Labels of rows, and how new rows get theirs: from the nearest centre.

    Attributes
    ----------
    labels : (n,) array
        Of the rows of the fit, numbered by size.
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

    def assign(self, H: FloatArray) -> LabelArray:
        """Return labels for rows of H."""
        if self.centres is None:
            return np.asarray(self.centre_labels[argmax_rows(H)])
        Z = unit_rows(H) if self.unit else H
        squares = np.einsum("ij,ij->i", self.centres, self.centres)
        nearest = np.argmin(squares - 2 * (Z @ self.centres.T), axis=1)
        return np.asarray(self.centre_labels[nearest])

    def of_samples(self, labels: LabelArray) -> Assignment:
        """Return the same with the labels of all samples, numbered by size."""
        numbered = number_by_size(labels)
        # A centre or column that no sample has chosen takes the last cluster.
        number = np.full(
            max(labels.max(), self.centre_labels.max()) + 1, numbered.max()
        )
        number[labels] = numbered
        return replace(self, labels=numbered, centre_labels=number[self.centre_labels])


def check_assignment(kind: str, options: dict[str, Any]) -> None:
    """Raise InputError unless these are options of this way to assign labels."""
    check_options(f"labels={kind!r}", options, ASSIGNMENTS[kind])
    if "n_init" in options:
        check_number("n_init", options["n_init"], least=1, whole=True)
    if "init" in options:
        check_choice("init", options["init"], INITS)


def assign_labels(
    H: FloatArray,
    n_clusters: int,
    kind: str,
    options: dict[str, Any],
    *,
    unit: bool,
    published: bool,
    product: Callable[[FloatArray], FloatArray],
    rng: np.random.Generator,
    copy_of: Any = None,
    counts: Any = None,
) -> Assignment:
    """Assign labels to the rows of H.

    Parameters
    ----------
    H, n_clusters
    kind : {"kmeans", "cluster_qr", "merge", "average", "argmax"}
    options
        See :func:`check_assignment`.
    unit
        Scale rows to unit length.
    published
        k-means as the authors' code does it.
    product
        V -> M V, for rows of zeros.
    rng
    copy_of : (samples,) array of int, optional
        The row of every sample; by default each row is one.
    counts : (n,) array of int, optional
        How many samples each row stands for, for k-means.
    """
    Z = unit_rows(without_rounding(H)) if unit else H
    centres = None
    if kind == "argmax":
        MH = product(H)
        labels = argmax_rows(H, MH)
        # A sample without any similarity, whose row of H has not quite vanished.
        labels[~MH.any(axis=1)] = 0
        centre_labels = np.arange(H.shape[1])
    elif kind in ("merge", "average"):
        given = {"exponent": 0.0, **options} if kind == "average" else options
        found = merge_rows(Z, n_clusters, random_state=rng, **given)
        labels, centre_labels = found.labels, found.centre_labels
        centres, unit = unit_rows(found.centres), True
    else:
        if kind == "cluster_qr":
            labels = cluster_qr(Z, n_clusters)
        elif published:
            given = {name: v for name, v in options.items() if name != "init"}
            labels = litekmeans(Z, n_clusters, random_state=rng, **given).labels
        else:
            labels = kmeans_rows(
                Z, n_clusters, random_state=rng, weights=counts, **options
            )
        # A cluster without rows has no centre.
        labels = np.unique(labels, return_inverse=True)[1]
        centre_labels = np.arange(labels.max() + 1)
        centres = cluster_means(Z, labels, len(centre_labels), counts)
    assignment = Assignment(
        labels=labels, centres=centres, centre_labels=centre_labels, unit=unit
    )
    # Rows of zeros are alike, so they stay together, as new ones will.
    empty = ~Z.any(axis=1)
    if centres is not None and empty.any():
        labels = labels.copy()
        labels[empty] = assignment.assign(Z[empty])
    return assignment.of_samples(labels if copy_of is None else labels[copy_of])
