"""Evidence for a clustering by any method, of any kind of data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from symmf.app.task import Task
from symmf.clustering import SymMF
from symmf.clustering.labels import unit_rows
from symmf.clustering.symmf.evidence import Evidence, cluster_parts, gather_evidence
from symmf.clustering.symmf.number import (
    Numbers,
    compare_numbers,
    count_communities,
    sample_of,
)
from symmf.clustering.symmf.recipe import recipe_for
from symmf.clustering.symmf.structure import LARGEST, NONE
from symmf.common.notation import FloatArray, LabelArray
from symmf.similarity.graphs.neighbours import nearest_neighbours

E = TypeVar("E", bound=Evidence)
_NEIGHBOURS = 10
#: above this many, links between neighbours and outliers are not counted
MANY_ROWS = 20_000


def evidence_for(
    task: Task,
    model: Any,
    labels: LabelArray,
    fit: Callable[[Any, int, int], Any],
    *,
    chosen: bool,
    numbers: Numbers | None = None,
    stability: bool = True,
) -> Evidence:
    """Return the evidence for the labels of a fitted model.

    Parameters
    ----------
    task : Task
    model : estimator
    labels : array
    fit : callable
        ``fit(X, k, seed)`` fits the method again.
    chosen : bool
        Whether the number of clusters was chosen.
    numbers : Numbers, optional
        What it was chosen by.
    stability : bool
        Cluster parts of the data again.
    """
    if isinstance(model, SymMF):
        found = replace(model.gather_evidence(stability=stability), chosen=chosen)
        return of_graph(task, found)
    k = int(labels.max()) + 1

    def again(part: Any, seed: int) -> LabelArray:
        return np.asarray(fit(task.part(part), k, seed).labels_)

    found = gather_evidence(
        labels,
        chosen=chosen,
        numbers=numbers or compare_for(task),
        parts=cluster_parts(sample_of(len(labels)), k, again) if stability else (),
        rows=task.rows,
        embedding=factor_rows(model, task.X),
    )
    return of_graph(task, found)


def compare_for(task: Task) -> Numbers | None:
    """Return what rules say of the number of clusters, for methods without rules."""
    if task.square or sparse.issparse(task.X):
        return None
    rng = np.random.default_rng(0)
    recipe = recipe_for(task.X, "auto", None)
    return compare_numbers(task.X, recipe, range(2, LARGEST + 1), rng)


def of_graph(task: Task, found: E) -> E:
    """Let the Bethe-Hessian matrix count the communities of a given graph.

    Evidence for other data is returned as it is.
    """
    if task.data.kind != "graph":
        return found
    k = count_communities(task.data.X)
    eigengap = {n: best for n, best in found.by_rule.items() if n == "eigengap"}
    return replace(
        found,
        structure=NONE if k == 1 else None,
        best=k,
        runner_up=None,
        by_rule={"bethe_hessian": k} | eigengap,
        scores={},
    )


def factor_of(model: Any, X: Any) -> FloatArray | None:
    """Return the factor with a row for each of the samples X, if the method has one."""
    fitted = vars(model)
    if fitted.get("n_landmarks_") is not None:
        return np.asarray(model.transform(X))
    H: FloatArray | None = fitted.get("H_", fitted.get("V_"))
    return H


def factor_rows(model: Any, X: Any) -> FloatArray | None:
    """Return unit rows of the factor for the samples X, if the method has one."""
    H = factor_of(model, X)
    return None if H is None else unit_rows(np.asarray(H, dtype=np.float64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Rows in which samples are compared and drawn.

    Attributes
    ----------
    rows : array or None
    what : str
    cosines : bool
        Whether cosines compare them, not distances.
    """

    rows: FloatArray | None
    what: str
    cosines: bool = True


def compared_rows(task: Task, model: Any) -> Compared:
    """Return the rows in which samples are compared."""
    if task.data.kind == "rows" and task.rows is not None:
        points = vars(model).get("_new_points")
        rows = task.rows if points is None else points.scaling.apply(task.rows)
        return Compared(rows=rows, what="The data", cosines=False)
    if task.data.kind == "documents":
        return Compared(rows=task.rows, what="Documents (latent semantic analysis)")
    Z = factor_rows(model, task.X)
    return Compared(rows=task.rows if Z is None else Z, what="Rows of H")


def cut_share(task: Task, rows: FloatArray | None, labels: LabelArray) -> float | None:
    """Return which share of the links between neighbours leaves its cluster."""
    if task.data.kind == "graph":
        links = sparse.coo_array(task.data.X)
        apart = labels[links.row] != labels[links.col]
        total = float(links.data.sum())
        return float(links.data[apart].sum()) / total if total else None
    if rows is None or task.rows is None or not 2 <= len(rows) <= MANY_ROWS:
        return None
    near = nearest_neighbours(rows, min(_NEIGHBOURS, len(rows) - 1)).index
    return float(np.mean(labels[near] != labels[:, None]))
