"""From rows to the similarity of a recipe, and from new rows to the same features."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from symmf.clustering.symmf.extend import (
    Extension,
    GivenExtension,
    GramExtension,
    GraphExtension,
)
from symmf.clustering.symmf.landmarks import condense
from symmf.clustering.symmf.partitions import Partitions
from symmf.clustering.symmf.recipe import GRAMS, Recipe
from symmf.common.notation import AnyMatrix, FloatArray
from symmf.distributed.operators import DistributedGram, DistributedMatrix
from symmf.distributed.rows import DistributedRows
from symmf.errors import InputError
from symmf.features.text import LSA, TermWeights, are_counts
from symmf.similarity import SIMILARITIES, SymmetricOperator, build_similarity
from symmf.similarity.graphs.mutual import mutual_graph
from symmf.similarity.scaling import Scaling, distinct_rows, units_ratio
from symmf.similarity.share import shared

# Runs of k-means have up to four times so many clusters.
_MOST_PARTS = 50
_OF_FEATURES = (*GRAMS, "scaled_gram")
# Landmarks that a row is joined to.
_NEAREST_LANDMARKS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFeatures:
    """Counts of terms to unit rows: tf-idf if they are counts, then LSA."""

    weights: TermWeights | None
    lsa: LSA

    @classmethod
    def of(cls, X: AnyMatrix, n_components: int = 100, tf: str = "raw") -> TextFeatures:
        """Learn weights and directions."""
        X = sparse.csr_array(X)
        weights = TermWeights(tf=tf).fit(X) if are_counts(X) else None
        features = cls(weights=weights, lsa=LSA(n_components))
        features.lsa.fit(features._weighted(X))
        return features

    def rows(self, X: AnyMatrix) -> FloatArray:
        """Return the unit rows."""
        return self.lsa.transform(self._weighted(sparse.csr_array(X)))

    def _weighted(self, X: AnyMatrix) -> AnyMatrix:
        return X if self.weights is None else self.weights.transform(X)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPoints:
    """The part of a fit that rows it has not seen need."""

    scaling: Scaling
    text: TextFeatures | Partitions | None
    extension: Extension | None
    #: lambda
    weight: float

    def extend(self, X: AnyMatrix) -> FloatArray:
        """Return rows of H for new rows."""
        if self.extension is None:
            raise InputError(
                "New points can be placed with the similarities auto, mutual_knn, "
                f"text, partitions, {', '.join(_OF_FEATURES)} and precomputed; fit "
                "with one of these."
            )
        return self.extension.extend(self.rows(X), self.weight)

    def rows(self, X: AnyMatrix) -> AnyMatrix:
        """Return new rows as they are compared: scaled, or as text features."""
        if self.text is not None:
            return self.text.rows(X)
        if self.scaling.kind == "none":
            return X
        return self.scaling.apply(X.toarray() if sparse.issparse(X) else X)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The similarity of a recipe and how it was made.

    Attributes
    ----------
    A : SymmetricOperator
    scaling : Scaling
        Of the features.
    units_ratio : float or None
        The largest over the smallest deviation of features that are not scaled.
    text : TextFeatures, Partitions or None
        What makes rows of those that were given.
    counts : (n,) array of int or None
        How many samples each distinct row or landmark stands for; None: one.
    copy_of : (n,) array or None
        Which of the distinct rows every sample is; None: rows are samples.
    extension : callable or None
        H -> what relates new rows to those of the fit; None: nothing does.
    """

    A: SymmetricOperator
    scaling: Scaling = field(default_factory=lambda: Scaling(kind="none"))
    units_ratio: float | None = None
    text: TextFeatures | Partitions | None = None
    counts: npt.NDArray[np.intp] | None = None
    copy_of: npt.NDArray[np.intp] | None = None
    extension: Callable[..., Extension] | None = None

    def with_copies(self, values: Any) -> Any:
        """Return what belongs to distinct rows for every sample."""
        return values if self.copy_of is None else values[self.copy_of]

    def rows_of_samples(self, H: FloatArray) -> FloatArray:
        """Return the rows of H of all samples; those of copies share their length."""
        if self.copy_of is None or self.counts is None:
            return H
        return np.asarray((H / np.sqrt(self.counts)[:, None])[self.copy_of])

    def new_points(self, H: FloatArray, weight: float) -> NewPoints:
        """Return what relates new rows to the factor H, at this lambda."""
        return NewPoints(
            scaling=self.scaling,
            text=self.text,
            extension=None if self.extension is None else self.extension(H=H),
            weight=weight,
        )


def prepare(
    X: AnyMatrix, recipe: Recipe, n_clusters: int, n_landmarks: int | None = None
) -> Prepared:
    """Build the similarity that a recipe asks for.

    Parameters
    ----------
    X : (n, m) array, scipy sparse matrix, or rows of a dask array
    recipe : Recipe
    n_clusters : int
        At most as many as there are distinct rows.
    n_landmarks : int, optional
        Condense the rows to so many.
    """
    if isinstance(X, DistributedMatrix | DistributedRows):
        return _distributed(X, recipe.similarity)
    text: TextFeatures | Partitions | None = None
    if recipe.text is not None:
        text = TextFeatures.of(X, **recipe.text)
    elif recipe.partitions:
        text = Partitions.of(X, min(n_clusters, _MOST_PARTS), recipe.partitions)
    if text is not None:
        X = text.rows(X)
    scaling, ratio = Scaling.of(X, recipe.scale), None
    if recipe.distinct and scaling.kind == "none":
        ratio = units_ratio(X.std(axis=0))
    X = scaling.apply(X)
    if recipe.similarity == "mutual_knn":
        made = _graph(X, recipe, n_clusters, n_landmarks)
    else:
        made = _similarity(X, recipe)
    return replace(made, scaling=scaling, units_ratio=ratio, text=text)


def _distributed(X: DistributedMatrix | DistributedRows, name: str) -> Prepared:
    """Return a similarity, or inner products of rows, in a dask array."""
    if isinstance(X, DistributedMatrix):
        return Prepared(A=X, extension=GivenExtension)
    centre, unit = name == "centred_cosine", name != "inner_product"
    A = DistributedGram(X, centre=centre, unit=unit)
    return Prepared(A=A, extension=partial(GramExtension.distributed, A))


def _similarity(X: AnyMatrix, recipe: Recipe) -> Prepared:
    """Return a similarity by name."""
    name, options = recipe.similarity, recipe.similarity_options
    extension: Callable[..., Extension] | None = None
    if name == "precomputed":
        extension = GivenExtension
    elif name in _OF_FEATURES:
        floor = _all_options(recipe, X).get("floor", 0.0)
        extension = partial(GramExtension.of, X, name, floor)
    return Prepared(A=build_similarity(X, name, **options), extension=extension)


def _graph(
    X: AnyMatrix, recipe: Recipe, n_clusters: int, n_landmarks: int | None
) -> Prepared:
    """Return the graph of mutual neighbours of rows, distinct rows, or landmarks."""
    options = _all_options(recipe, X)
    known = ("n_neighbors", "local_neighbor", "weight_floor")
    given = {option: options[option] for option in known}
    counts, copy_of = None, None
    if n_landmarks is not None:
        X, counts = condense(X, n_landmarks)
        given["n_neighbors"] = min(_NEAREST_LANDMARKS, given["n_neighbors"])
    elif recipe.distinct:
        first, copy_of = distinct_rows(X)
        X, counts = X[first], np.bincount(copy_of)
    if counts is not None and len(X) < n_clusters:
        found = f"Only {len(X)} rows are distinct"
        raise InputError(
            f"{found if len(X) > 1 else 'The rows are all alike'}, and n_clusters "
            f"is {n_clusters}: ask for at most as many clusters as there are "
            "distinct rows."
        )
    copies = None if copy_of is None else counts
    graph = shared(mutual_graph, X, counts=copies, **recipe.similarity_options)
    return Prepared(
        A=graph.S,
        counts=counts,
        copy_of=copy_of,
        extension=partial(GraphExtension, rows=X, graph=graph, **given),
    )


def _all_options(recipe: Recipe, X: AnyMatrix) -> dict[str, Any]:
    """Return all options of the similarity, those at their defaults too."""
    signature = inspect.signature(SIMILARITIES[recipe.similarity])
    bound = signature.bind(X, **recipe.similarity_options)
    bound.apply_defaults()
    return bound.arguments
