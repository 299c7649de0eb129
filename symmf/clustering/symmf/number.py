"""How many clusters: the rules of :func:`symmf.select`, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import eigsh

from symmf.clustering.labels import kmeans_rows, unit_rows
from symmf.clustering.symmf.landmarks import take_rows
from symmf.clustering.symmf.prepare import NewPoints, Prepared, prepare
from symmf.clustering.symmf.recipe import Recipe
from symmf.clustering.symmf.structure import (
    GRAPHS,
    LARGEST,
    MOST,
    NONE,
    Structure,
    find_structure,
    log_eigengaps,
)
from symmf.common.notation import AnyMatrix, FloatArray, LabelArray
from symmf.distributed.operators import DistributedMatrix
from symmf.distributed.rows import DistributedRows
from symmf.linalg import solve_eigenpairs
from symmf.metrics import silhouette
from symmf.similarity import SymmetricOperator
from symmf.similarity.scaling import distinct_rows

#: what the eigengaps of the two graphs are called
GAPS = ("eigengap", *(f"eigengap_{q}" for q in GRAPHS[1:]))
#: a larger number is preferred if its silhouette is within this of the best.
WITHIN = 0.005
# K of the partitions of rows whose number of clusters is not known.
_PARTS = 3
# Share of the rows in a part that is clustered again.
_PART = 0.8
# Nodes of a graph up to which all eigenvalues are computed; of more, how many.
_DENSE, _MOST = 1000, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The evidence for several numbers of clusters; for one where no other is possible.

    Attributes
    ----------
    candidates : list of int
    silhouette : array
        Of the unit rows of H with so many columns; -1 where it is not defined.
    eigengaps : list of arrays
        log (1 - mu_{k+1}) / (1 - mu_k), of one graph or two.
    score : array
        What the number maximises.
    structure : Structure or None
        Whether there are clusters at all; None where that is not known.
    rows : (m, p) array or None
        Distinct rows in the units in which they are compared, where there are any.
    labels : list of arrays
        For each candidate, labels of the rows of the similarity.
    """

    candidates: list[int] = field(default_factory=lambda: [1])
    silhouette: FloatArray = field(default_factory=lambda: np.array([-1.0]))
    eigengaps: list[FloatArray] = field(default_factory=lambda: [np.zeros(1)])
    score: FloatArray = field(default_factory=lambda: np.zeros(1))
    structure: Structure | None = None
    rows: FloatArray | None = None
    labels: list[LabelArray] = field(default_factory=list)

    @property
    def best(self) -> int:
        """The number that scores best, whether or not there are clusters."""
        return self.candidates[best_candidate(self.score, self._within)]

    @property
    def chosen(self) -> int:
        """The best number, or 1 if there are no clusters."""
        none = self.structure is not None and self.structure.verdict == "none"
        return 1 if none else self.best

    @property
    def runner_up(self) -> int | None:
        """The number that scores second best."""
        scores = dict(zip(self.candidates, self.score, strict=True))
        del scores[self.best]
        return max(scores, key=lambda k: scores[k], default=None)

    @property
    def _within(self) -> float:
        return 0.0 if len(self.eigengaps) > 1 else WITHIN

    def by_rule(self) -> dict[str, int]:
        """Return the number that each rule would choose."""
        rules = {"silhouette": self.candidates[best_candidate(self.silhouette)]}
        for name, gaps in zip(GAPS, self.eigengaps, strict=False):
            rules[name] = self.candidates[int(np.argmax(gaps))]
        if self.rows is not None:
            rules["hdbscan"] = _count_of_hdbscan(self.rows)
        return rules


def compare_numbers(
    X: AnyMatrix, recipe: Recipe, wanted: Sequence[int], rng: np.random.Generator
) -> Numbers:
    """Return the evidence for numbers of clusters of rows, or of a similarity.

    Parameters
    ----------
    X : array or csr_array
        As a fit gets it; of more than 2,000 rows a sample is used.
    recipe : Recipe
    wanted : sequence of int
        Numbers to compare; those that the rows do not allow are left out.
    rng : Generator
        For the starts of k-means.
    """
    if recipe.learns_from_part or not isinstance(
        X, DistributedRows | DistributedMatrix
    ):
        X = part_of(X, sample_of(X.shape[0]), recipe)
    if isinstance(X, np.ndarray) and not recipe.square and (X[0] == X).all():
        return Numbers(structure=NONE)
    data = prepare(X, recipe, _PARTS if recipe.partitions else 1)
    wanted = [k for k in wanted if k < data.A.shape[0]]
    if not wanted:
        return Numbers()
    most = max(*wanted, min(LARGEST, data.A.shape[0] - 1))
    values, V = spectrum(data.A, most, rng)
    every = [log_eigengaps(values)]
    wide = _wider(recipe)
    if wide is not None:
        every.append(log_eigengaps(spectrum(prepare(X, wide, 1).A, most, rng)[0]))
    labels = [labels_of(V, k, rng) for k in wanted]
    marks = np.array(
        [mean_silhouette(V, k, own) for k, own in zip(wanted, labels, strict=True)]
    )
    gaps = [np.array([gap[k - 1] for k in wanted]) for gap in every]
    rows, structure = None, None
    # Chance was never measured on words, in texts or in columns.
    if recipe.text is None and not recipe.partitions:
        rows = compared_rows(data, X, recipe)
    if rows is not None:
        rows = np.asarray(rows[distinct_rows(rows)[0]])
        same = len(rows) == len(X) and wide is not None
        known = np.asarray(sum(every))[1:LARGEST] if same else None
        structure = find_structure(rows, known)
    return Numbers(
        candidates=list(wanted),
        silhouette=marks,
        eigengaps=gaps,
        score=marks + sum(gaps) if wide is not None else marks,
        structure=structure,
        rows=rows,
        labels=[data.with_copies(own) for own in labels],
    )


def count_communities(W: Any) -> int:
    r"""Return how many communities a graph has beyond chance, at least 1.

    The negative eigenvalues of :math:`(r^2 - 1) I - r W + D`, with
    :math:`r = \sqrt{\sum_i d_i^2 / \sum_i d_i - 1}` and every edge counted once
    (Saade, Krzakala and Zdeborova, 2014). For graphs that are given; on graphs of
    neighbours in space it finds far too many.

    Examples
    --------
    >>> block = np.ones((6, 6)) - np.eye(6)
    >>> count_communities(sparse.csr_array(np.kron(np.eye(2), block)))
    2
    """
    A = sparse.csr_array(W != 0, dtype=np.float64)
    A = sparse.csr_array(A.maximum(A.T))
    A.setdiag(0)
    A.eliminate_zeros()
    n = A.shape[0]
    d = np.asarray(A.sum(axis=1)).ravel()
    if n < 2 or d.sum() == 0:
        return 1
    r = np.sqrt(max(float((d**2).sum() / d.sum()) - 1, 1.0))
    B = sparse.csr_array(sparse.diags_array(r**2 - 1 + d) - r * A)
    if n <= _DENSE:
        values = np.linalg.eigvalsh(B.toarray())
    else:
        most = min(_MOST, n - 2)
        values = eigsh(B, k=most, which="SA", v0=np.ones(n), return_eigenvectors=False)
    return max(1, int(np.count_nonzero(values < -1e-9)))


def sample_of(n: int) -> npt.NDArray[np.intp]:
    """Return which of n rows are used: all, or always the same 2,000."""
    if n <= MOST:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST, replace=False))


def parts_of(
    rows: npt.NDArray[np.intp], count: int, rng: np.random.Generator
) -> list[npt.NDArray[np.intp]]:
    """Draw 80 % of some rows, several times: parts to be clustered again."""
    size = min(len(rows), max(3, int(_PART * len(rows))))
    return [np.sort(rng.choice(rows, size, replace=False)) for _ in range(count)]


def part_of(X: Any, rows: Any, recipe: Recipe) -> Any:
    """Return X of some rows alone; of a similarity their columns too."""
    if len(rows) == X.shape[0] and not isinstance(X, DistributedRows):
        return X
    X = take_rows(X, rows)
    return X[:, rows] if recipe.square else X


def compared_rows(
    features: Prepared | NewPoints, X: AnyMatrix, recipe: Recipe
) -> FloatArray | None:
    """Return the rows whose distances the similarity is made of, if there are any."""
    if recipe.text is not None and features.text is not None:
        return np.asarray(features.text.rows(X))
    if recipe.square or not isinstance(X, np.ndarray):
        return None
    return features.scaling.apply(X)


def best_candidate(scores: FloatArray, within: float = WITHIN) -> int:
    """Return the last position within .005 of the best score.

    Examples
    --------
    >>> best_candidate(np.array([0.5, 0.9, 0.896, 0.7]))
    2
    """
    return int(np.flatnonzero(scores >= float(np.max(scores)) - within)[-1])


def spectrum(
    A: SymmetricOperator, k: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return k + 1 eigenvalues of A and k vectors."""
    found = solve_eigenpairs(A, min(k + 1, A.shape[0]), rng)
    values = found.values
    if len(values) == k:
        values = np.append(values, 0.0)
    return values, found.vectors[:, :k]


def labels_of(V: FloatArray, k: int, rng: np.random.Generator) -> LabelArray:
    """Return labels by k-means of the unit rows of k columns."""
    return kmeans_rows(
        unit_rows(V[:, :k]), k, n_init=4, init="cluster_qr", random_state=rng
    )


def mean_silhouette(V: FloatArray, k: int, labels: LabelArray) -> float:
    """Return the silhouette of the unit rows of k columns; -1 where undefined."""
    value = silhouette(unit_rows(V[:, :k]), labels, most=MOST)
    return -1.0 if np.isnan(value) else value


def _wider(recipe: Recipe) -> Recipe | None:
    """Return the recipe on the second graph, if the user did not choose neighbours."""
    options = recipe.similarity_options
    if recipe.similarity != "mutual_knn" or "n_neighbors" in options:
        return None
    return replace(recipe, similarity_options={**options, "n_neighbors": GRAPHS[1]})


def _count_of_hdbscan(rows: FloatArray) -> int:
    from sklearn.cluster import HDBSCAN

    size = max(5, round(0.02 * len(rows)))
    if size >= len(rows):
        return 1
    labels = HDBSCAN(min_cluster_size=size, copy=True).fit_predict(rows)
    return max(1, len(set(labels[labels >= 0].tolist())))
