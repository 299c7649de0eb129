"""Scores of a clustering: against known classes (AC, NMI, ARI), and without any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from symmf.errors import InputError

# The registry below is read by what only needs its names; the libraries that compute
# are imported by the functions.
if TYPE_CHECKING:
    import numpy as np


def contingency(y_true: Any, y_pred: Any) -> np.ndarray:
    """Return the table of counts, classes in rows and clusters in columns."""
    import numpy as np
    from sklearn.metrics.cluster import contingency_matrix

    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    if y_true.ndim != 1 or y_true.shape != y_pred.shape:
        raise InputError(
            "Classes and clusters must be two lists of equal length; "
            f"got shapes {y_true.shape} and {y_pred.shape}."
        )
    if y_true.size == 0:
        raise InputError("There is nothing to score: the label lists are empty.")
    return np.asarray(contingency_matrix(y_true, y_pred))


def accuracy(y_true: Any, y_pred: Any) -> float:
    """Return AC: the share of samples matched by the best one-to-one assignment.

    Clusters are assigned to classes by the Hungarian algorithm on the rectangular
    contingency table; samples in unmatched clusters count as errors.

    Examples
    --------
    >>> accuracy([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> accuracy([0, 0, 1, 1], [0, 1, 2, 2])
    0.75
    """
    from scipy.optimize import linear_sum_assignment

    C = contingency(y_true, y_pred)
    rows, columns = linear_sum_assignment(C, maximize=True)
    return float(C[rows, columns].sum() / C.sum())


def nmi(y_true: Any, y_pred: Any, average: str = "arithmetic") -> float:
    """Return mutual information divided by a mean of the two entropies.

    Parameters
    ----------
    y_true, y_pred : sequences of labels
    average : {"arithmetic", "max", "geometric", "min"}
        ``arithmetic`` is primary here; ``max`` is what the widely copied MATLAB
        helper computes. Two labellings that are both constant agree: 1.

    Examples
    --------
    >>> nmi([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    from sklearn.metrics import normalized_mutual_info_score

    contingency(y_true, y_pred)
    value = normalized_mutual_info_score(y_true, y_pred, average_method=average)
    return float(min(max(value, 0.0), 1.0))


def ari(y_true: Any, y_pred: Any) -> float:
    """Return the adjusted Rand index: 0 at chance level, 1 for equal partitions."""
    from sklearn.metrics import adjusted_rand_score

    contingency(y_true, y_pred)
    return float(adjusted_rand_score(y_true, y_pred))


def ami(y_true: Any, y_pred: Any) -> float:
    """Return mutual information beyond chance, over the mean entropy beyond chance.

    0 at chance level, whatever the number of clusters, and 1 for equal partitions.
    """
    from sklearn.metrics import adjusted_mutual_info_score

    contingency(y_true, y_pred)
    return float(adjusted_mutual_info_score(y_true, y_pred))


def normalized_accuracy(y_true: Any, y_pred: Any) -> float:
    r"""Return NCA: the mean recall of the classes under the best matching, rescaled.

    .. math:: \frac{1}{k - 1} \Bigl( \max_\sigma \sum_i
        \frac{c_{i \sigma(i)}}{c_{i \cdot}} - 1 \Bigr)

    Every class counts as much as any other, and one large cluster gives 0, where AC
    gives the share of the largest class [1]_. A class that no cluster is left for has
    recall 0. With a single class it is 1 if there is one cluster, else 0.

    References
    ----------
    .. [1] M. Gagolewski, "Normalised clustering accuracy: an asymmetric external
       cluster validity measure", Journal of Classification 42, 2025.

    Examples
    --------
    >>> normalized_accuracy([0, 0, 0, 1], [0, 0, 0, 0]), accuracy([0, 0, 0, 1], [0] * 4)
    (0.0, 0.75)
    """
    from scipy.optimize import linear_sum_assignment

    C = contingency(y_true, y_pred)
    k = len(C)
    if k == 1:
        return float(C.shape[1] == 1)
    recall = C / C.sum(axis=1, keepdims=True)
    rows, columns = linear_sum_assignment(recall, maximize=True)
    return float((recall[rows, columns].sum() - 1) / (k - 1))


def silhouettes(
    Z: Any, labels: Any, *, most: int = 2000
) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the silhouettes of rows of Z, and which rows they belong to.

    Parameters
    ----------
    Z : (n, m) array
    labels : (n,) array
        Cluster of each row.
    most : int
        Of more rows a fixed random sample is taken.

    Returns
    -------
    values : array or None
        Between -1 and 1 each; None when the sample shows a single cluster, or
        nothing but clusters of one row.
    rows : array of int
        The sample, in increasing order.
    """
    import numpy as np
    from sklearn.metrics import silhouette_samples

    Z, labels = np.asarray(Z), np.asarray(labels)
    rows = np.arange(len(Z))
    if len(Z) > most:
        rows = np.sort(np.random.default_rng(0).choice(len(Z), most, replace=False))
    if not 2 <= len(np.unique(labels[rows])) < len(rows):
        return None, rows
    return silhouette_samples(Z[rows], labels[rows]), rows


def silhouette(Z: Any, labels: Any, *, most: int = 2000) -> float:
    """Return the mean of :func:`silhouettes`, a score without classes; or NaN.

    Examples
    --------
    >>> round(silhouette([[0.0], [0.1], [5.0], [5.1]], [0, 0, 1, 1]), 2)
    0.98
    """
    values, _ = silhouettes(Z, labels, most=most)
    return float("nan") if values is None else float(values.mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A score with what a table needs to know about it."""

    name: str
    title: str
    function: Callable[[Any, Any], float]
    higher_is_better: bool = True
    format: str = ".3f"


METRICS = {
    metric.name: metric
    for metric in (
        Metric(name="ac", title="AC", function=accuracy),
        Metric(name="nmi", title="NMI", function=nmi),
        Metric(name="nmi_max", title="NMI (max)", function=partial(nmi, average="max")),
        Metric(name="ari", title="ARI", function=ari),
        Metric(name="ami", title="AMI", function=ami),
        Metric(name="nca", title="NCA", function=normalized_accuracy),
    )
}


def score(y_true: Any, y_pred: Any) -> dict[str, float]:
    """Return every metric of a clustering, by name.

    Samples of class -1 are noise, as in :class:`~symmf.datasets.Dataset`: they belong
    to no class and are not scored.

    Examples
    --------
    >>> score([0, 0, 1, 1, -1], [1, 1, 0, 0, 0])["ac"]
    1.0
    """
    import numpy as np

    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    is_scored = y_true != -1
    y_true, y_pred = y_true[is_scored], y_pred[is_scored]
    return {name: float(m.function(y_true, y_pred)) for name, m in METRICS.items()}
