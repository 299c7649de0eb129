"""How many clusters, and which lambda, without labels: a recommendation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_array

from symmf.clustering.checks import safe_scale
from symmf.clustering.symmf.evidence import Evidence
from symmf.clustering.symmf.number import (
    GAPS,
    WITHIN,
    Numbers,
    best_candidate,
    compare_numbers,
    labels_of,
    mean_silhouette,
    part_of,
    parts_of,
    sample_of,
    spectrum,
)
from symmf.clustering.symmf.prepare import prepare
from symmf.clustering.symmf.recipe import Recipe, recipe_for, recipe_of_columns
from symmf.clustering.symmf.structure import LARGEST
from symmf.common.notation import AnyMatrix, FloatArray
from symmf.common.seeds import RandomState, as_generator
from symmf.common.validation import check_number, is_dask, is_whole
from symmf.errors import InputError
from symmf.features.columns import encoder_for
from symmf.linalg import solve_eigenpairs
from symmf.metrics import ari
from symmf.similarity import SimilarityName, SymmetricOperator, regularise

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection(Evidence):
    """What :func:`select` found: the evidence for the number that is recommended.

    ``n_clusters`` is 1 if there are no clusters, ``best`` the number that scores best
    whether or not there are.

    Attributes
    ----------
    table : DataFrame
        A row per number of clusters: ``silhouette`` of the unit rows of H,
        ``eigengap`` (log (1 - mu_{k+1}) / (1 - mu_k)) and, for the default similarity,
        ``eigengap_15`` of the graph of 15 neighbours; ``score``, which the number
        maximises; ``stability`` (adjusted Rand index with the labels of subsamples).
    laplacian_weight : float or None
        The recommended lambda, if several were asked for.
    weights : DataFrame or None
        A row per lambda, at the best number: ``columns`` that H keeps,
        ``silhouette``, ``agreement`` with the labels of the first lambda.
    """

    best: int
    table: pd.DataFrame
    laplacian_weight: float | None
    weights: pd.DataFrame | None

    @property
    def recommendation(self) -> str:
        """The number in words, with the evidence for it and how often that is right."""
        return Evidence.__str__(self)

    def __str__(self) -> str:
        return f"{self.table.to_string(index=False)}\n{self.recommendation}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the evidence over the number of clusters; return the axes."""
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(figsize=(6, 3.6), layout="constrained").add_subplot()
        score = self.table["score"] / self.table["score"].abs().max()
        shown = self.table.assign(**{"score / largest": score}).dropna(
            axis=1, how="all"
        )
        styles = {"score / largest": "o-", "silhouette": "^:", "stability": "s--"}
        for name in shown.columns.intersection(list(styles), sort=False):
            k, values = shown["n_clusters"], shown[name]
            ax.plot(k, values, styles[name], label=name, markersize=4)
        ax.axvline(self.best, color="0.6", zorder=0)
        ax.locator_params(axis="x", integer=True)
        ax.set_xlabel("number of clusters")
        ax.set_ylabel("evidence")
        ax.legend(frameon=False)
        return ax


def select(
    X: Any,
    n_clusters: Iterable[int] = range(2, LARGEST + 1),
    laplacian_weight: Iterable[float] | None = None,
    *,
    similarity: SimilarityName | Literal["auto", "text"] | str = "auto",
    similarity_options: dict[str, Any] | None = None,
    n_subsamples: int = 5,
    random_state: RandomState = None,
) -> Selection:
    """Recommend a number of clusters, and a lambda, without labels.

    Parameters
    ----------
    X : (n, m) array, data frame (words and gaps allowed) or scipy sparse matrix
    n_clusters : iterable of int
        Numbers to compare, each between 2 and n - 1; larger ones are left out.
    laplacian_weight : iterable of float, optional
        Values of lambda to compare.
    similarity, similarity_options
        As for :class:`symmf.SymMF`.
    n_subsamples : int
        Subsamples of 80 % of the rows for the stability; 0 leaves it out.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    Selection
        ``table``, ``recommendation``, ``n_clusters``, ``plot()``.

    Notes
    -----
    Everything is measured on at most 2,000 rows. For the default similarity the number
    maximises the sum of the eigengaps of two graphs (10 and 15 neighbours) and the
    silhouette of the rows of H; for others it is the largest whose silhouette is within
    .005 of the best one. Whether there are any clusters is tested on rows of numbers,
    see :mod:`symmf.clustering.symmf.structure`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, 4, centers=4, random_state=3)
    >>> found = select(X, range(2, 8), random_state=0)
    >>> found.n_clusters, found.by_rule["eigengap"], found.structure.verdict
    (4, 4, 'clear')
    """
    import pandas as pd

    if is_dask(X):
        raise InputError(
            "select clusters parts of the rows again and needs them in memory. Give "
            "X.compute() if they fit, or SymMF('auto', similarity='centred_cosine')."
        )
    encoder = encoder_for(X)
    if encoder is not None:
        X = encoder.transform(X)
        similarity, similarity_options = recipe_of_columns(
            encoder, similarity, similarity_options
        )
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    check_number("n_subsamples", n_subsamples, least=0, whole=True)
    wanted = _candidates(n_clusters, X.shape[0])
    rng = as_generator(random_state)
    if similarity != "precomputed":
        X = X * X.dtype.type(safe_scale(X))
    recipe = recipe_for(X, similarity, similarity_options)
    X = part_of(X, sample_of(X.shape[0]), recipe)
    found = compare_numbers(X, recipe, wanted, rng)
    wanted = found.candidates

    stable = np.full(len(wanted), np.nan)
    if n_subsamples and found.labels:
        stable = _stability(X, recipe, found, n_subsamples, rng)
    columns = {"n_clusters": wanted, "silhouette": found.silhouette}
    columns |= dict(zip(GAPS, found.eigengaps, strict=False))
    table = pd.DataFrame({**columns, "score": found.score, "stability": stable})
    by_rule = found.by_rule()
    if not np.isnan(stable).all():
        by_rule["stability"] = wanted[best_candidate(np.nan_to_num(stable, nan=-1.0))]
    weights, weight = None, None
    if laplacian_weight is not None and found.labels:
        A = prepare(X, recipe, 1).A
        weights = _compare_weights(A, found.best, laplacian_weight, rng)
        weight = _best_weight(weights, found.best)
    stability = dict(zip(wanted, stable, strict=True)).get(found.chosen, np.nan)
    return Selection(
        n_clusters=found.chosen,
        chosen=True,
        structure=found.structure,
        stability=None if np.isnan(stability) else float(stability),
        best=found.best,
        runner_up=found.runner_up,
        by_rule=by_rule,
        scores=dict(zip(wanted, found.score.tolist(), strict=True)),
        table=table,
        laplacian_weight=weight,
        weights=weights,
    )


def _candidates(n_clusters: Iterable[int], n: int) -> list[int]:
    asked = list(n_clusters)
    if not asked or not all(is_whole(k) and k >= 2 for k in asked):
        raise InputError(
            f"n_clusters must be whole numbers >= 2 to compare, not {asked!r}."
        )
    wanted = sorted({int(k) for k in asked if k < n})
    if not wanted:
        raise InputError(
            f"There are {n} samples: numbers of clusters below that can be compared, "
            f"not {asked!r}."
        )
    return wanted


def _stability(
    X: AnyMatrix, recipe: Recipe, found: Numbers, count: int, rng: np.random.Generator
) -> FloatArray:
    """Return the mean agreement with clusterings of parts, for each number."""
    pairs = list(zip(found.candidates, found.labels, strict=True))
    scores = []
    for rows in parts_of(np.arange(X.shape[0]), count, rng):
        part = prepare(part_of(X, rows, recipe), recipe, 1)
        most = min(max(found.candidates), part.A.shape[0] - 1)
        _, V = spectrum(part.A, most, rng)
        scores.append(
            [
                ari(whole[rows], part.with_copies(labels_of(V, k, rng)))
                if k <= most
                else np.nan
                for k, whole in pairs
            ]
        )
    return np.asarray(np.mean(scores, axis=0))


def _compare_weights(
    A: SymmetricOperator, k: int, weights: Iterable[float], rng: np.random.Generator
) -> pd.DataFrame:
    import pandas as pd

    rows, first = [], None
    for weight in weights:
        found = solve_eigenpairs(regularise(A, weight), k, rng)
        H = found.vectors * np.sqrt(np.maximum(found.values, 0))
        labels = labels_of(H, k, rng)
        first = labels if first is None else first
        rows.append(
            {
                "laplacian_weight": float(weight),
                "columns": int(np.count_nonzero(found.values > 1e-10)),
                "silhouette": mean_silhouette(H, k, labels),
                "agreement": ari(first, labels),
            }
        )
    if not rows:
        raise InputError("laplacian_weight has no value to compare.")
    return pd.DataFrame(rows)


def _best_weight(table: pd.DataFrame, k: int) -> float:
    """Return the smallest lambda within .005 of the best of those that keep H whole."""
    whole = table[table["columns"] >= min(k, table["columns"].max())]
    near = whole[whole["silhouette"] >= whole["silhouette"].max() - WITHIN]
    return float(near["laplacian_weight"].min())
