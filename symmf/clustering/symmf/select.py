"""How many clusters, and which lambda, without labels: evidence and a recommendation.

Every rule is wrong often; how often was measured on benchmark data with known classes
(``scripts/benchmark quality`` writes ``select_hits.json`` beside this file), and the
recommendation says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from symmf.clustering.labels import kmeans_rows, unit_rows
from symmf.clustering.symmf.prepare import prepare
from symmf.clustering.symmf.recipe import Recipe, recipe_for
from symmf.common.notation import FloatArray, LabelArray
from symmf.common.seeds import RandomState, as_generator
from symmf.common.validation import check_number, is_dask, is_whole
from symmf.errors import InputError
from symmf.linalg import solve_eigenpairs
from symmf.metrics import ari, silhouettes, stability
from symmf.similarity import SimilarityName, SymmetricOperator, regularise

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: the largest number of clusters that ``n_clusters="auto"`` tries
LARGEST = 20
# A larger number is preferred if its silhouette is within this of the best.
_WITHIN = 0.005
# The silhouette is measured on at most so many rows.
_SILHOUETTE_ROWS = 5000
# Keeps the relative eigengap finite where eigenvalues are 1.
_GAP_FLOOR = 1e-4
_HITS = Path(__file__).with_name("select_hits.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What :func:`select` found.

    Attributes
    ----------
    n_clusters : int
        The recommended number: by the silhouette rule.
    laplacian_weight : float or None
        The recommended lambda, if several were asked for.
    table : DataFrame
        A row per number of clusters: ``silhouette`` of the unit rows of H,
        ``eigengap`` (relative: (1 - mu_{k+1}) / (1 - mu_k)), ``stability`` (adjusted
        Rand index with the labels of subsamples, mean).
    weights : DataFrame or None
        A row per lambda, at the recommended number: ``columns`` that H keeps,
        ``silhouette``, ``agreement`` with the labels of the first lambda.
    by_rule : dict
        The number each rule would choose.
    """

    n_clusters: int
    laplacian_weight: float | None
    table: pd.DataFrame
    weights: pd.DataFrame | None
    by_rule: dict[str, int]

    @property
    def recommendation(self) -> str:
        """A sentence with the number, and how often the rule is right."""
        row = self.table[self.table["n_clusters"] == self.n_clusters]
        best = float(row["silhouette"].iloc[0])
        rules = {r: k for r, k in self.by_rule.items() if r != "silhouette"}
        others = ", ".join(f"{rule} says {k}" for rule, k in rules.items())
        return (
            f"{self.n_clusters} clusters: the largest number whose silhouette "
            f"({best:.3f}) is within {_WITHIN:g} of the best; {others}. {hit_rate()}"
        )

    def __str__(self) -> str:
        return f"{self.table.to_string(index=False)}\n{self.recommendation}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the evidence over the number of clusters; return the axes."""
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(figsize=(6, 3.6), layout="constrained").add_subplot()
        styles = {"silhouette": "o-", "stability": "s--", "eigengap": "^:"}
        for name, style in styles.items():
            values = self.table[name]
            if name == "eigengap":
                values = values / values.max()
                name = "relative eigengap / largest"
            ax.plot(self.table["n_clusters"], values, style, label=name, markersize=4)
        ax.axvline(self.n_clusters, color="0.6", zorder=0)
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
    X : (n, m) array or scipy sparse matrix
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
    One eigensolve serves every number. The rule: the largest number whose silhouette
    is within .005 of the best one.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, 4, centers=4, random_state=3)
    >>> found = select(X, range(2, 8), random_state=0)
    >>> found.n_clusters, found.by_rule["eigengap"]
    (4, 4)
    """
    import pandas as pd

    if is_dask(X):
        raise InputError(
            "select clusters parts of the rows again and needs them in memory. Give "
            "X.compute() if they fit, or SymMF('auto', similarity='centred_cosine')."
        )
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    check_number("n_subsamples", n_subsamples, least=0, whole=True)
    wanted = _candidates(n_clusters, X.shape[0])
    rng = as_generator(random_state)
    recipe = recipe_for(X, similarity, similarity_options)
    data = prepare(X, recipe, max(wanted))
    wanted = [k for k in wanted if k < data.A.shape[0]]

    def part_labels(rows: Any, rng: np.random.Generator) -> list[LabelArray | None]:
        part = prepare(_part(X, rows, recipe), recipe, max(wanted))
        most = min(max(wanted), part.A.shape[0] - 1)
        _, V = _spectrum(part.A, most, rng)
        return [
            part.with_copies(_labels(V, k, rng)) if k <= most else None for k in wanted
        ]

    values, V = _spectrum(data.A, max(wanted), rng)
    labels = {k: _labels(V, k, rng) for k in wanted}
    scores = np.array([_silhouette(V, k, labels[k]) for k in wanted])
    stable = np.full(len(wanted), np.nan)
    if n_subsamples:
        whole = [data.with_copies(labels[k]) for k in wanted]
        stable[:] = stability(whole, part_labels, rng, n_parts=n_subsamples)
    gaps = relative_eigengaps(values)
    table = pd.DataFrame(
        {
            "n_clusters": wanted,
            "silhouette": scores,
            "eigengap": [gaps[k - 1] for k in wanted],
            "stability": stable,
        }
    )
    best = wanted[best_candidate(scores)]
    by_rule = {
        "silhouette": best,
        "eigengap": int(table["n_clusters"][table["eigengap"].argmax()]),
    }
    if n_subsamples:
        by_rule["stability"] = wanted[best_candidate(np.nan_to_num(stable, nan=-1.0))]
    weights, weight = None, None
    if laplacian_weight is not None:
        weights = _compare_weights(data.A, best, laplacian_weight, rng)
        weight = _best_weight(weights, best)
    return Selection(
        n_clusters=best,
        laplacian_weight=weight,
        table=table,
        weights=weights,
        by_rule=by_rule,
    )


def choose_n_clusters(A: SymmetricOperator, rng: np.random.Generator) -> int:
    """Return the number of clusters by the silhouette rule; for ``auto``."""
    largest = min(LARGEST, A.shape[0] - 1)
    if largest < 2:
        return 1
    _, V = _spectrum(A, largest, rng)
    wanted = list(range(2, largest + 1))
    scores = [_silhouette(V, k, _labels(V, k, rng)) for k in wanted]
    return wanted[best_candidate(np.array(scores))]


def best_candidate(scores: FloatArray) -> int:
    """Return the last position within .005 of the best score.

    Examples
    --------
    >>> best_candidate(np.array([0.5, 0.9, 0.896, 0.7]))
    2
    """
    return int(np.flatnonzero(scores >= float(np.max(scores)) - _WITHIN)[-1])


def relative_eigengaps(values: FloatArray) -> FloatArray:
    """Return (1 - mu_{k+1}) / (1 - mu_k) for k = 1, 2, ..., of mu scaled to mu_1 = 1.

    Examples
    --------
    >>> relative_eigengaps(np.array([1.0, 0.9999, 0.5])).round(1).tolist()
    [2.0, 2500.5]
    """
    away = 1 - np.asarray(values) / max(float(values[0]), 1e-300) + _GAP_FLOOR
    return np.asarray(away[1:] / away[:-1])


@cache
def hit_rate() -> str:
    """Return how often the silhouette rule was right on the benchmark."""
    if not _HITS.exists():
        return "How often this rule is right has not been measured here."
    hits = json.loads(_HITS.read_text(encoding="utf-8"))
    return (
        f"On {hits['sets']} benchmark data sets with 2 to {hits['largest']} classes "
        f"this rule found the number on {hits['silhouette']:.0%}, on those with more "
        f"than 2 on {hits['silhouette_above_2']:.0%} (relative eigengap: "
        f"{hits['eigengap']:.0%}); where it was wrong it said too few on "
        f"{hits['too_few']:.0%}."
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


def _spectrum(
    A: SymmetricOperator, k: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return k + 1 eigenvalues of A and k vectors."""
    found = solve_eigenpairs(A, min(k + 1, A.shape[0]), rng)
    values = found.values
    if len(values) == k:
        values = np.append(values, 0.0)
    return values, found.vectors[:, :k]


def _labels(V: FloatArray, k: int, rng: np.random.Generator) -> LabelArray:
    return kmeans_rows(unit_rows(V[:, :k]), k, n_init=10, random_state=rng)


def _silhouette(V: FloatArray, k: int, labels: LabelArray) -> float:
    """Return the silhouette of the unit rows of k columns; -1 where undefined."""
    values, _ = silhouettes(unit_rows(V[:, :k]), labels, most=_SILHOUETTE_ROWS)
    return -1.0 if values is None else float(values.mean())


def _part(X: Any, rows: Any, recipe: Recipe) -> Any:
    if recipe.similarity in ("precomputed", "diffusion"):
        return X[rows][:, rows]
    return sparse.csr_array(X)[rows] if sparse.issparse(X) else X[rows]


def _compare_weights(
    A: SymmetricOperator, k: int, weights: Iterable[float], rng: np.random.Generator
) -> pd.DataFrame:
    import pandas as pd

    rows, first = [], None
    for weight in weights:
        found = solve_eigenpairs(regularise(A, weight), k, rng)
        H = found.vectors * np.sqrt(np.maximum(found.values, 0))
        labels = _labels(H, k, rng)
        first = labels if first is None else first
        rows.append(
            {
                "laplacian_weight": float(weight),
                "columns": int(np.count_nonzero(found.values > 1e-10)),
                "silhouette": _silhouette(H, k, labels),
                "agreement": ari(first, labels),
            }
        )
    if not rows:
        raise InputError("laplacian_weight has no value to compare.")
    return pd.DataFrame(rows)


def _best_weight(table: pd.DataFrame, k: int) -> float:
    """Return the smallest lambda within .005 of the best of those that keep H whole."""
    whole = table[table["columns"] >= min(k, table["columns"].max())]
    near = whole[whole["silhouette"] >= whole["silhouette"].max() - _WITHIN]
    return float(near["laplacian_weight"].min())
