"""What ``SymMF`` does with a dask array: rows stay where they are.

Inner products of rows need nothing but products with blocks of them, which the workers
compute. Neighbours of a row can be in any block, so graphs of neighbours, and text
features, are made of rows in memory only.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from symmf.clustering.symmf.prepare import NewPoints, Prepared
from symmf.clustering.symmf.recipe import RECIPES, Recipe, recipe_for
from symmf.common.notation import FloatArray
from symmf.common.validation import check_name, check_options
from symmf.distributed.operators import DistributedGram, DistributedMatrix
from symmf.distributed.rows import DistributedRows
from symmf.errors import InputError, SymmfWarning
from symmf.similarity import SIMILARITIES, SymmetricOperator
from symmf.similarity.scaling import Scaling

#: the similarities of rows that stay on a cluster, as centre and unit of the rows
GRAMS = {
    "centred_cosine": (True, True),
    "cosine": (False, True),
    "inner_product": (False, False),
}
_ABLE = f"{', '.join(GRAMS)} or precomputed"


def rows_of(X: Any, *, precomputed: bool) -> DistributedRows | DistributedMatrix:
    """Check a dask array without bringing it here; see the two classes."""
    return DistributedMatrix(X) if precomputed else DistributedRows.of(X)


def distributed_recipe(similarity: str, *, published: bool) -> Recipe:
    """Return the recipe for rows on a cluster.

    ``auto`` is that of centred cosines, and a warning says so: it is not the one that
    the same rows get in memory.

    Raises
    ------
    InputError
        If the similarity needs rows in memory.
    """
    check_name("similarity", similarity, [*RECIPES, *SIMILARITIES])
    if similarity == "auto" and not published:
        warnings.warn(
            "X is a dask array, so similarity='auto' is centred_cosine: graphs of "
            "neighbours and text features, which 'auto' uses for rows in memory, need "
            "all rows at once. Give similarity='centred_cosine' if that is meant, or "
            "X.compute() if the rows fit in memory.",
            SymmfWarning,
            stacklevel=6,
        )
    if similarity == "auto":
        similarity = "centred_cosine"
    if similarity not in (*GRAMS, "precomputed"):
        raise InputError(
            f"similarity={similarity!r} needs all rows in memory, and X is a dask "
            f"array. Use {_ABLE}, or give X.compute() if the rows fit in memory."
        )
    return recipe_for(np.empty((0, 0)), similarity, published=published)


def prepare_distributed(
    X: DistributedRows | DistributedMatrix, recipe: Recipe, options: dict[str, Any]
) -> Prepared:
    """Build the similarity of a recipe from rows on a cluster."""
    check_options(f"The similarity {recipe.similarity!r}", options, ())
    if recipe.scale != "none":
        raise InputError(
            f"scale={recipe.scale!r} looks at whole features, and X is a dask array: "
            "use scale='none', and divide X before it is given."
        )
    A: SymmetricOperator
    if isinstance(X, DistributedRows):
        centre, unit = GRAMS[recipe.similarity]
        A = DistributedGram(X, centre=centre, unit=unit)
    else:
        A = X
    return Prepared(A=A, recipe=recipe, rows=None, scaling=Scaling(kind="none"))


def is_distributed(X: Any) -> bool:
    """Tell whether X is what :func:`rows_of` returns."""
    return isinstance(X, DistributedRows | DistributedMatrix)


def extend_distributed(X: Any, model: Any) -> FloatArray:
    """Return rows of H for the rows of a dask array; a block at a time, on workers."""
    rows = DistributedRows.of(X)
    if rows.shape[1] != model.n_features_in_:
        raise InputError(
            f"X has {rows.shape[1]} features, but SymMF is expecting "
            f"{model.n_features_in_} features as input."
        )
    rows = model._scaled(rows)
    place = Place(model._new_points, model._factor, model.laplacian_weight_)
    cluster = rows.cluster
    known = cluster.shared(cluster.task(_itself, place))
    tasks = [cluster.task(_place, known, block) for block in rows.blocks]
    return np.concatenate(cluster.compute(tasks))


class Place:
    """What workers need of a model to place new rows.

    No dataclass: dask would look into it for tasks.
    """

    def __init__(self, new_points: NewPoints, H: FloatArray, weight: float) -> None:
        self.new_points, self.H, self.weight = new_points, H, weight


def _itself(place: Place) -> Place:
    return place


def _place(known: Place, block: Any) -> FloatArray:
    return known.new_points.extend(block, known.H, known.weight)
