r"""Consensus: factor how often samples share a cluster.

Several partitions of the same samples are put side by side as indicators B, one column
per cluster, scaled by the root of their number. Then

.. math:: (B B^T)_{ij} = \text{share of partitions in which } i \text{ and } j
          \text{ are together}

is a similarity like any other: normalised, regularised, factored, read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from symmf.clustering.base import Clusterer, matrix_words
from symmf.clustering.labels import merge_path, merge_rows
from symmf.clustering.symmf.estimator import SymMF
from symmf.clustering.symmf.partitions import coassociation
from symmf.common.notation import AnyMatrix, FloatArray, LabelArray
from symmf.common.seeds import RandomState, spawn_seed
from symmf.common.validation import check_name, shown
from symmf.errors import InputError
from symmf.features.text import LSA, TermWeights, are_counts
from symmf.linalg import solve_eigenpairs
from symmf.similarity import build_similarity, regularise
from symmf.solvers import factorize

# Neighbours of the members for dense rows, around the 10 of SymMF.
_NEIGHBOURS = (7, 10, 15)
# Columns of H of a text view for each cluster, and how many the first reading takes.
_COLUMNS, _READ_COLUMNS = 4, 2


@dataclass(eq=False, repr=False)
class ConsensusSymMF(Clusterer):
    """Clusters on which several clusterings agree, by factoring their co-association.

    Parameters
    ----------
    n_clusters : int
        Number of clusters K.
    members : list, optional
        Clusterers: scikit-learn estimators, or, for YAML, mappings with ``method`` (of
        ``symmf.clustering.METHODS``) and ``parameters``; a member that has
        ``n_clusters`` left at its default gets K. By default, for
        dense rows, ``SymMF`` with 7, 10 and 15 neighbours, each with K and 2K clusters;
        for sparse rows, views of the text.
    blocks : int
        Number of weightings of the same terms that sparse rows hold, each one a view;
        1: counts are weighted here, tf raw and 1 + ln.
    n_components : sequence of int
        Dimensions of the latent semantic analysis of every view.
    exponent, cap
        How clusters of text views and of the consensus are merged, see
        :func:`symmf.clustering.labels.merge_rows`.
    laplacian_weight : float
        lambda, of the views and of the consensus.
    random_state : int, Generator, RandomState or None
        Seeds the views and the starts.

    Attributes
    ----------
    labels_ : (n,) array
        Cluster of each sample; 0 is the largest.
    partitions_ : (n, n_partitions) array
        The partitions that are combined.
    H_ : (n, K) array
        The factor of the co-association.

    Notes
    -----
    The text views: top 4K eigenvectors of the scaled inner products of each view, used
    twice (the first 2K columns; all of them, each times its norm), merged down to 2K
    and to K clusters. With two weightings and three dimensions these are 24 partitions.

    References
    ----------
    A. L. N. Fred, A. K. Jain: Combining multiple clusterings using evidence
    accumulation, IEEE TPAMI 27(6), 2005.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> model = ConsensusSymMF(2, random_state=0).fit(X)
    >>> model.partitions_.shape, len(set(model.labels_[y == 0]))
    ((200, 6), 1)
    """

    n_clusters: int = 8
    _: KW_ONLY
    members: Sequence[Any] | None = None
    blocks: int = 1
    n_components: Sequence[int] = (50, 100, 200)
    exponent: float = 0.2
    cap: float | None = None
    laplacian_weight: float = 0.05
    random_state: RandomState = None

    def _fit(self, X: AnyMatrix, rng: np.random.Generator) -> None:
        if self.members is not None:
            partitions = [self._member(entry, X, rng) for entry in self.members]
        elif sparse.issparse(X):
            partitions = self._text_views(X, rng)
        else:
            partitions = self._neighbourhoods(X, rng)
        if not partitions:
            raise InputError("members is empty: give at least one clusterer.")
        self.partitions_: LabelArray = np.column_stack(partitions)
        A = build_similarity(coassociation(self.partitions_), "scaled_gram")
        M = regularise(A, self.laplacian_weight)
        fit = factorize(M, self.n_clusters, solver="eigen", random_state=rng)
        words = matrix_words("coassociation", {}, self.laplacian_weight)
        self._store(fit, M, words)
        self.labels_ = merge_rows(
            fit.H,
            self.n_clusters,
            exponent=self.exponent,
            cap=self.cap,
            random_state=rng,
        ).labels

    def _member(self, entry: Any, X: AnyMatrix, rng: np.random.Generator) -> LabelArray:
        model = self._estimator(entry)
        known = model.get_params(deep=False)
        if "n_clusters" in known:
            usual = type(model)().get_params(deep=False)["n_clusters"]
            if known["n_clusters"] == usual:
                model.set_params(n_clusters=self.n_clusters)
        if "random_state" in known and known["random_state"] is None:
            model.set_params(random_state=spawn_seed(rng))
        return np.asarray(model.fit_predict(X))

    def _estimator(self, entry: Any) -> Any:
        if not isinstance(entry, dict):
            if not hasattr(entry, "fit_predict"):
                raise InputError(
                    f"A member is a clusterer with fit_predict, or a mapping with "
                    f"'method' and 'parameters', not {shown(entry)}."
                )
            return clone(entry)
        from symmf.clustering import METHODS

        name = check_name("method", entry.get("method"), METHODS)
        return METHODS[name](**entry.get("parameters", {}))

    def _neighbourhoods(
        self, X: AnyMatrix, rng: np.random.Generator
    ) -> list[LabelArray]:
        found = []
        for q in _NEIGHBOURS:
            for k in (self.n_clusters, 2 * self.n_clusters):
                model = SymMF(
                    min(k, X.shape[0]),
                    similarity="mutual_knn",
                    similarity_options={"n_neighbors": q},
                    random_state=spawn_seed(rng),
                    # Twice the clusters may be more than the spectrum has.
                    laplacian_weight=0.0,
                )
                found.append(model.fit_predict(X))
        return found

    def _text_views(self, X: AnyMatrix, rng: np.random.Generator) -> list[LabelArray]:
        found = []
        for weighted in self._weightings(sparse.csr_array(X)):
            for d in self.n_components:
                Z = LSA(int(d)).fit_transform(weighted)
                found += self._read_view(Z, rng)
        return found

    def _weightings(self, X: AnyMatrix) -> list[AnyMatrix]:
        if self.blocks > 1:
            width, rest = divmod(X.shape[1], self.blocks)
            if rest:
                raise InputError(
                    f"X has {X.shape[1]} columns, which are not {self.blocks} blocks "
                    "of equal width."
                )
            columns = sparse.csc_array(X)
            return [
                sparse.csr_array(columns[:, b * width : (b + 1) * width])
                for b in range(self.blocks)
            ]
        if not are_counts(X):
            return [X]
        return [TermWeights(tf=tf).fit_transform(X) for tf in ("raw", "log")]

    def _read_view(self, Z: FloatArray, rng: np.random.Generator) -> list[LabelArray]:
        K, n = self.n_clusters, len(Z)
        M = regularise(build_similarity(Z, "scaled_gram"), self.laplacian_weight)
        found = solve_eigenpairs(M, min(_COLUMNS * K, n), rng)
        H = found.vectors * np.sqrt(np.maximum(found.values, 0))
        norms = np.linalg.norm(H, axis=0)
        wanted = sorted({min(2 * K, n), K})
        labels = []
        for rows in (H[:, : _READ_COLUMNS * K], H * norms):
            path = merge_path(
                rows, wanted, exponent=self.exponent, cap=self.cap, random_state=rng
            )
            labels += [path[k].labels for k in wanted]
        return labels
