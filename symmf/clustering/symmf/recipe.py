"""What ``SymMF`` does by default, one recipe per kind of data, and what the user gave.

A recipe is a choice of features, similarity, lambda, columns of H, constraint, solver
and a way to assign labels. All parameters are parsed here, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from symmf.clustering.base import matrix_words
from symmf.clustering.labels.assign import ASSIGNMENTS, check_assignment
from symmf.common.notation import AnyMatrix
from symmf.common.validation import (
    check_choice,
    check_name,
    check_number,
    check_options,
    option_names,
)
from symmf.constraints import Constraint, ConstraintLike, as_constraint
from symmf.distributed.operators import DistributedMatrix
from symmf.distributed.rows import DistributedRows
from symmf.errors import InputError
from symmf.features.columns import MixedColumns
from symmf.similarity import SIMILARITIES
from symmf.similarity.scaling import SCALES
from symmf.solvers import Solver
from symmf.solvers.eigen import Eigen
from symmf.solvers.factorize import as_solver

#: similarities that are recipes, beside those of ``symmf.similarity.SIMILARITIES``
RECIPES = ("auto", "text", "partitions")
TEXT_OPTIONS = ("n_components", "tf", "floor", "power")
#: runs of k-means whose co-association is the similarity ``partitions``
N_PARTITIONS = 30
#: inner products, which need products with rows and nothing else
GRAMS = ("centred_cosine", "cosine", "inner_product")
# Of ``solver_options``, what the loop is given and not the solver.
_OF_THE_LOOP = ("start", "n_starts", "low_rank", "max_seconds", "callback")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Every choice, made.

    Attributes
    ----------
    similarity : str
        A key of ``symmf.similarity.SIMILARITIES``.
    similarity_options : dict
    text : dict or None
        Rows are counts or weights of terms: options of their latent semantic analysis,
        whose similarity it is.
    partitions : int
        Rows become the clusters that so many runs of k-means put them into, whose
        co-association is the similarity; 0: they do not.
    scale : str
        What divides the features.
    distinct : bool
        Cluster distinct rows; copies take the label of theirs.
    learns_from_part : bool
        Of many rows, learn from some and give the others their places.
    n_landmarks : int or None
        From how many; None: by :mod:`symmf.clustering.symmf.landmarks`.
    weight : float
        lambda.
    columns : int
        Columns of H for each cluster.
    all_columns : int or None
        Columns of H, whatever the number of clusters.
    constraint : Constraint
    solver : Solver
    loop : dict
        ``start``, ``n_starts``, ``max_seconds``, ``callback``, as far as given.
    unit_rows : bool
        Whether rows of H are scaled to unit length before labels are assigned.
    labels : str
    label_options : dict
    noise : bool
        Rows that lie apart are labelled -1.
    refine : bool
        Labels are refined by mixtures of Gaussians.
    published : bool
    """

    similarity: str
    similarity_options: dict[str, Any] = field(default_factory=dict)
    text: dict[str, Any] | None = None
    partitions: int = 0
    scale: str = "none"
    distinct: bool = False
    learns_from_part: bool = False
    n_landmarks: int | None = None
    weight: float = 0.5
    columns: int = 1
    all_columns: int | None = None
    constraint: Constraint = field(default_factory=Constraint)
    solver: Solver = field(default_factory=Eigen)
    loop: dict[str, Any] = field(default_factory=dict)
    unit_rows: bool = False
    labels: str = "kmeans"
    label_options: dict[str, Any] = field(default_factory=dict)
    noise: bool = False
    refine: bool = False
    published: bool = False

    @property
    def name(self) -> str:
        """The similarity as the user calls it."""
        if self.partitions:
            return "partitions"
        return self.similarity if self.text is None else "text"

    @property
    def square(self) -> bool:
        """Whether X relates samples to each other."""
        return self.similarity in ("precomputed", "diffusion")

    @property
    def starts_from_labels(self) -> bool:
        """Whether H begins at the labels found without its constraint."""
        nonnegative = self.constraint.name == "nonnegative"
        return self.unit_rows and nonnegative and self.loop.get("start") is None

    def words(self, scale: str, n_landmarks: int | None = None) -> str:
        """Say which matrix is factored.

        Parameters
        ----------
        scale : str
            What divided the features.
        n_landmarks : int or None
            Its size, if it is not that of the data.
        """
        options = {**(self.text or {}), **self.similarity_options}
        if n_landmarks is not None:
            options["n_landmarks"] = n_landmarks
        if scale != "none":
            options["feature_scale"] = scale
        return matrix_words(self.name, options, self.weight)

    def n_columns(self, n_clusters: int) -> int:
        """Return the number of columns of H."""
        return self.all_columns or self.columns * n_clusters

    def assigned_by(self, labels: str) -> Recipe:
        """Return the recipe with another way to assign labels, by its defaults."""
        if labels == self.labels:
            return self
        return replace(self, labels=labels, label_options={})


def recipe_for(
    X: AnyMatrix,
    similarity: str,
    similarity_options: dict[str, Any] | None,
    *,
    laplacian_weight: float | str = "auto",
    n_columns: int | str | None = None,
    constraint: ConstraintLike = "none",
    solver: str | Solver = "auto",
    solver_options: dict[str, Any] | None = None,
    labels: str = "auto",
    label_options: dict[str, Any] | None = None,
    published: bool = False,
) -> Recipe:
    """Return the recipe for the data, with what the user gave; see ``SymMF``.

    Raises
    ------
    InputError
        If a name or an option is not known, or is of no use for these data.
    """
    recipe = _similarity(X, similarity, dict(similarity_options or {}), published)
    asked = as_constraint(constraint)
    options = dict(solver_options or {})
    loop = {name: options.pop(name) for name in _OF_THE_LOOP if name in options}
    weight: Any = recipe.weight if laplacian_weight == "auto" else laplacian_weight
    check_number("laplacian_weight (lambda), unless 'auto',", weight, least=0)
    recipe = replace(
        recipe,
        weight=weight,
        constraint=asked,
        solver=_solver(solver, options, asked, published),
        loop=loop,
        published=published,
        **_columns(n_columns, recipe.columns if asked.name == "none" else 1),
    )
    given = dict(label_options or {})
    asked_of_rows = {name: given.pop(name, False) for name in ("noise", "refine")}
    for name, value in asked_of_rows.items():
        if not isinstance(value, bool):
            raise InputError(f"label_options: {name} is True or False, not {value!r}.")
        no_rows = recipe.square or isinstance(X, DistributedRows | DistributedMatrix)
        if value and (no_rows or (name == "refine" and sparse.issparse(X))):
            raise InputError(f"label_options: {name} is for rows of numbers in memory.")
    return replace(_labels(recipe, labels, given), **asked_of_rows)


def recipe_of_columns(
    encoder: MixedColumns,
    similarity: str = "auto",
    options: dict[str, Any] | None = None,
) -> tuple[str, dict[str, Any] | None]:
    """Return the similarity and its options for the rows that an encoder makes.

    The nearest rows are those with the same words in all columns, so that a graph of
    neighbours falls into the combinations of words. Where there are any, rows are alike
    that many partitions put together. What the user chose stays.
    """
    if similarity != "auto" or options is not None:
        return similarity, options
    if encoder.has_categories_:
        return "partitions", {}
    return "mutual_knn", {"feature_scale": "none"}


_TEXT = Recipe(
    similarity="scaled_gram",
    text={},
    weight=0.05,
    columns=2,
    unit_rows=True,
    labels="merge",
    learns_from_part=True,
)
_PARTITIONS = Recipe(
    similarity="scaled_gram",
    partitions=N_PARTITIONS,
    weight=0.0,
    unit_rows=True,
    label_options={"n_init": 20},
)
_POINTS = Recipe(
    similarity="mutual_knn",
    scale="auto",
    distinct=True,
    learns_from_part=True,
    unit_rows=True,
    # On the benchmark of quality no worse than 10 random starts were.
    label_options={"n_init": 4, "init": "cluster_qr"},
)


def _similarity(
    X: AnyMatrix, name: str, options: dict[str, Any], published: bool
) -> Recipe:
    """Return the recipe of a similarity; ``auto`` is one for the kind of data.

    Sparse rows are taken for text, dense rows for points, and what is published is
    centred cosines.
    """
    check_name("similarity", name, [*RECIPES, *SIMILARITIES])
    far = isinstance(X, DistributedRows)
    dense = not (X.sparse if far else sparse.issparse(X))
    if name == "auto":
        usual = "mutual_knn" if dense else "text"
        name = "centred_cosine" if published else usual
    recipe = _usual(name, options, dense=dense, far=far)
    if far and name not in GRAMS and not recipe.learns_from_part:
        raise InputError(
            f"similarity={name!r} with these options needs all rows in memory, and X "
            f"is a dask array. Use auto, mutual_knn, text, {', '.join(GRAMS)} or "
            "precomputed, or give X.compute() if the rows fit in memory."
        )
    n_landmarks = options.pop("n_landmarks", None)
    if n_landmarks is not None:
        if not recipe.learns_from_part:
            raise InputError(
                f"n_landmarks is for mutual_knn of dense rows and for text, not for "
                f"{name}."
            )
        check_number("n_landmarks", n_landmarks, least=2, whole=True)
    scale = options.pop("feature_scale", "auto")
    check_choice("feature_scale", scale, SCALES)
    scale = recipe.scale if scale == "auto" else scale
    divisible = isinstance(X, np.ndarray) or (far and name == "mutual_knn" and dense)
    if scale != "none" and (recipe.name in RECIPES or not divisible):
        raise InputError(
            f"feature_scale={scale!r} divides dense features in memory; for other rows "
            "leave it out, and divide X before it is given."
        )
    known: Sequence[str] = TEXT_OPTIONS
    if name != "text":
        known = option_names(SIMILARITIES[recipe.similarity], skip=1)
    known = [*known, "feature_scale", "n_landmarks"]
    check_options(f"The similarity {name!r}", options, known)
    return replace(
        recipe, scale=scale, n_landmarks=n_landmarks, similarity_options=options
    )


def _usual(name: str, options: dict[str, Any], *, dense: bool, far: bool) -> Recipe:
    """Return the defaults of a similarity, with those options that it alone has."""
    if name == "text":
        text = {o: options.pop(o) for o in TEXT_OPTIONS[:2] if o in options}
        recipe = replace(_TEXT, text=text)
        if "power" in options:
            recipe = replace(recipe, similarity="cosine_power", learns_from_part=False)
        return recipe
    if name == "partitions":
        count = options.pop("n_partitions", N_PARTITIONS)
        check_number("n_partitions", count, least=1, whole=True)
        return replace(_PARTITIONS, partitions=count)
    if name == "mutual_knn":
        if dense:
            return _POINTS
        return replace(_POINTS, scale="none", distinct=False, learns_from_part=far)
    return Recipe(similarity=name, label_options={"n_init": 20})


def _columns(asked: int | str | None, usual: int) -> dict[str, Any]:
    """Return ``columns``, for each cluster, or ``all_columns``."""
    if asked is None:
        return {"columns": usual}
    if not isinstance(asked, str):
        check_number("n_columns", asked, least=1, whole=True)
        return {"all_columns": int(asked)}
    times = asked.removesuffix("k") or "1"
    if not asked.endswith("k") or not times.isdigit():
        raise InputError(
            "n_columns is a whole number >= 1, or so many times n_clusters, as in 'k' "
            f"or '2k', not {asked!r}."
        )
    return {"columns": int(times)}


def _solver(
    name: str | Solver, options: dict[str, Any], constraint: Constraint, published: bool
) -> Solver:
    """Return the solver; ``auto`` is the closed form where there is one."""
    if isinstance(name, Solver):
        return as_solver(name, options)
    if published or name != "auto":
        name = "projected_gradient" if name == "auto" else name
        return as_solver(name, {"published": published, **options})
    free = constraint.name == "none"
    if free and not options:
        return Eigen()
    if not free and not constraint.discrete:
        options = {"acceleration": "momentum", **options}
    return as_solver("projected_gradient", options)


def _labels(recipe: Recipe, kind: str, given: dict[str, Any]) -> Recipe:
    """Return the recipe with the way to assign labels."""
    check_choice("labels", kind, ("auto", *ASSIGNMENTS))
    unit = given.pop("unit_rows", recipe.unit_rows)
    if kind == "auto":
        positive = recipe.unit_rows and recipe.constraint.name == "nonnegative"
        kind = "argmax" if positive else recipe.labels
    recipe = recipe.assigned_by(kind)
    options = {**recipe.label_options, **given}
    check_assignment(kind, options)
    return replace(recipe, unit_rows=unit, label_options=options)
