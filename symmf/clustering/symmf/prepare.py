"""From rows to the similarity of a recipe, and from new rows to the same features."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from symmf.clustering.symmf.extend import (
    Extension,
    GivenExtension,
    GramExtension,
    GraphExtension,
    extend,
)
from symmf.clustering.symmf.recipe import Recipe
from symmf.common.notation import AnyMatrix, FloatArray
from symmf.common.validation import check_options, option_names
from symmf.distributed.operators import DistributedGram
from symmf.errors import InputError
from symmf.features.text import LSA, TermWeights
from symmf.linalg.threads import allowed_threads
from symmf.similarity import SymmetricOperator, build_similarity
from symmf.similarity.graphs.mutual import MutualGraph, mutual_graph, mutual_knn
from symmf.similarity.scaling import Scaling, distinct_rows

_TEXT_OPTIONS = ("n_components", "tf", "floor", "power")
# Rows that are weighted and projected at a time.
_SLICE_ROWS = 25_000
_GRAMS = ("centred_cosine", "cosine", "inner_product", "scaled_gram")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFeatures:
    """Counts of terms to unit rows: tf-idf if they are counts, then LSA."""

    weights: TermWeights | None
    lsa: LSA

    @classmethod
    def of(cls, X: AnyMatrix, n_components: int = 100, tf: str = "raw") -> TextFeatures:
        """Learn weights and directions."""
        X = sparse.csr_array(X)
        weights = cls.weights_of(X, tf)
        weighted = X if weights is None else weights.transform(X)
        return cls(weights=weights, lsa=LSA(n_components).fit(weighted))

    @staticmethod
    def weights_of(X: AnyMatrix, tf: str) -> TermWeights | None:
        """Learn idf if X holds counts: whole numbers >= 0. Else they are weights."""
        counts = X.nnz > 0 and X.data.min() >= 0 and not np.any(X.data % 1)
        return TermWeights(tf=tf).fit(X) if counts else None

    def rows(self, X: AnyMatrix) -> FloatArray:
        """Return the unit rows, a slice after the other where there are many."""
        X = sparse.csr_array(X)
        n = X.shape[0]
        if n <= _SLICE_ROWS:
            return self._slice(X)
        components = self.lsa.components_
        out = np.empty((n, len(components)), components.dtype)

        def fill(first: int) -> None:
            rows = slice(first, min(first + _SLICE_ROWS, n))
            out[rows] = self._slice(X[rows])

        with ThreadPoolExecutor(allowed_threads()) as pool:
            list(pool.map(fill, range(0, n, _SLICE_ROWS)))
        return out

    def _slice(self, X: AnyMatrix) -> FloatArray:
        weighted = X if self.weights is None else self.weights.transform(X)
        return self.lsa.transform(weighted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The similarity of a recipe and how it was made.

    Attributes
    ----------
    A : SymmetricOperator
    rows : array or sparse matrix
        The rows whose similarity A is.
    copy_of : (n,) array or None
        Which of them every sample is.
    """

    A: SymmetricOperator
    recipe: Recipe
    rows: AnyMatrix
    scaling: Scaling
    copy_of: npt.NDArray[np.intp] | None = None
    graph: MutualGraph | None = None
    text: TextFeatures | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def rank(self, H: FloatArray) -> int:
        """Return the number of columns of H that carry something."""
        squares = np.einsum("ij,ij->j", H, H, dtype=np.float64)
        return int(np.count_nonzero(squares > 1e-12 * squares.max()))

    def with_copies(self, values: Any) -> Any:
        """Return what belongs to distinct rows for every sample."""
        return values if self.copy_of is None else values[self.copy_of]

    def new_points(self, H: FloatArray) -> NewPoints:
        """Return what relates new rows to the factor H."""
        return NewPoints(
            scaling=self.scaling, text=self.text, extension=self._extension(H)
        )

    def _extension(self, H: FloatArray) -> Extension | None:
        name = self.recipe.similarity
        if self.graph is not None:
            known = option_names(mutual_knn, skip=1)
            asked = {o: v for o, v in self.options.items() if o in known}
            given = {
                "n_neighbors": 10,
                "local_neighbor": 7,
                "weight_floor": 1e-4,
                **asked,
            }
            given.pop("tree", None)
            return GraphExtension(rows=self.rows, graph=self.graph, H=H, **given)
        if isinstance(self.A, DistributedGram):
            return _distributed_extension(self.A, H)
        if name in _GRAMS:
            floor = self.options.get("floor", 0.1)
            found: Extension = GramExtension.of(self.rows, H, name, floor)
            return found
        return GivenExtension(H=H) if name == "precomputed" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPoints:
    """What is kept of a fit for rows it has not seen."""

    scaling: Scaling
    text: TextFeatures | None
    extension: Extension | None

    def extend(self, X: AnyMatrix, H: FloatArray, weight: float) -> FloatArray:
        """Return rows of H for new rows."""
        if self.extension is None:
            raise InputError(
                "New points can be placed with the similarities auto, mutual_knn, "
                f"text, {', '.join(_GRAMS)} and precomputed; fit with one of these."
            )
        if self.text is not None:
            X = self.text.rows(X)
        elif self.scaling.kind != "none":
            X = self.scaling.apply(X.toarray() if sparse.issparse(X) else X)
        if isinstance(self.extension, GraphExtension):
            X = self.extension.as_stored(X)
        rows = extend(self.extension.products(X), H, weight)
        if isinstance(self.extension, GraphExtension):
            same, own = self.extension.copies(X)
            rows[same] = own
        return rows


def _distributed_extension(A: DistributedGram, H: FloatArray) -> GramExtension:
    """Return F^T H and F^T 1, a row for every feature."""
    FG = A.transposed_product(np.column_stack([H, np.ones(len(H), H.dtype)]))
    return GramExtension(FH=FG[:, :-1], F1=FG[:, -1], mean=A.mean, unit=A.unit)


def prepare(
    X: AnyMatrix, recipe: Recipe, options: dict[str, Any], n_clusters: int
) -> Prepared:
    """Build the similarity that a recipe asks for.

    Parameters
    ----------
    X : (n, m) array or scipy sparse matrix
    recipe : Recipe
    options
        Of the similarity.
    n_clusters
        Copies are left out only if more distinct rows than this remain.
    """
    scaling, text, copy_of = Scaling(kind="none"), None, None
    if recipe.text:
        check_options("The similarity 'text'", options, _TEXT_OPTIONS)
        features = {o: v for o, v in options.items() if o in _TEXT_OPTIONS[:2]}
        text = TextFeatures.of(X, **features)
        X = text.rows(X)
        options = {o: v for o, v in options.items() if o not in features}
        if "power" in options:
            recipe = replace(recipe, similarity="cosine_power")
    elif recipe.scale != "none":
        if sparse.issparse(X):
            raise InputError(
                f"scale={recipe.scale!r} divides dense features, and X is sparse; use "
                "scale='none'."
            )
        scaling = Scaling.of(X, recipe.scale)
        X = scaling.apply(X)
    graph = None
    if recipe.similarity == "mutual_knn":
        known = option_names(mutual_knn, skip=1)
        check_options("The similarity 'mutual_knn'", options, known)
        if recipe.distinct:
            X, copy_of = _distinct(X, max(n_clusters, options.get("n_neighbors", 10)))
        graph = mutual_graph(X, **options)
        A: SymmetricOperator = graph.S
    else:
        A = build_similarity(X, recipe.similarity, **options)
    return Prepared(
        A=A,
        recipe=recipe,
        rows=X,
        scaling=scaling,
        copy_of=copy_of,
        graph=graph,
        text=text,
        options=dict(options),
    )


def _distinct(X: FloatArray, least: int) -> tuple[FloatArray, Any]:
    first, copy_of = distinct_rows(X)
    if len(first) == len(X) or len(first) <= least + 1:
        return X, None
    return np.asarray(X[first]), copy_of
