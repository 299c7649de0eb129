"""What ``SymMF`` does where it is not told: one recipe per kind of data.

A recipe is a choice of features, similarity, lambda, columns of H and a way to read
labels. Whatever the user gives replaces that part of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from scipy import sparse

from symmf.common.notation import AnyMatrix

#: similarities that are recipes, beside those of ``symmf.similarity.SIMILARITIES``
RECIPES = ("auto", "text")
LABELS = ("auto", "kmeans", "cluster_qr", "merge", "average", "argmax")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Every choice, made.

    Attributes
    ----------
    similarity : str
        A key of ``symmf.similarity.SIMILARITIES``.
    text : bool
        Rows are counts or weights of terms; the similarity is that of their latent
        semantic analysis.
    scale : str
        What divides the features.
    distinct : bool
        Cluster distinct rows; copies take the label of theirs.
    weight : float
        lambda.
    columns : int
        Columns of H for each cluster.
    unit_rows : bool
        Whether rows of H are scaled to unit length before labels are read.
    labels : str
    label_options : dict
    """

    similarity: str
    text: bool = False
    scale: str = "none"
    distinct: bool = False
    weight: float = 0.5
    columns: int = 1
    unit_rows: bool = False
    labels: str = "kmeans"
    label_options: dict[str, Any] = field(default_factory=dict)


def recipe_for(X: AnyMatrix, similarity: str, *, published: bool) -> Recipe:
    """Return the recipe for the data, or for the similarity that is asked for.

    Sparse rows are taken for text, dense rows for points; the paper's reading is one
    of centred cosines.
    """
    if similarity == "auto" and published:
        similarity = "centred_cosine"
    if similarity == "auto":
        similarity = "text" if sparse.issparse(X) else "mutual_knn"
    if similarity == "text":
        return Recipe(
            similarity="scaled_gram",
            text=True,
            weight=0.05,
            columns=2,
            unit_rows=True,
            labels="merge",
        )
    if similarity == "mutual_knn":
        dense = not sparse.issparse(X)
        return Recipe(
            similarity=similarity,
            scale="auto" if dense else "none",
            distinct=dense,
            unit_rows=True,
            # On the benchmark of quality no worse than 10 random starts were.
            label_options={"n_init": 4, "init": "cluster_qr"},
        )
    return Recipe(similarity=similarity, label_options={"n_init": 20})


def changed(recipe: Recipe, **given: Any) -> Recipe:
    """Return the recipe with what the user gave; None and "auto" leave it as it is."""
    new = {
        name: value
        for name, value in given.items()
        if value is not None and not (isinstance(value, str) and value == "auto")
    }
    if "labels" in new and new["labels"] != recipe.labels:
        recipe = replace(recipe, label_options={})
    if "label_options" in new:
        new["label_options"] = {**recipe.label_options, **new["label_options"]}
    return replace(recipe, **new)
