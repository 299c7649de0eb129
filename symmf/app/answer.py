"""Cluster what was read and gather the evidence: one call, one answer."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symmf.app.evidence import (
    MANY_ROWS,
    Compared,
    compare_for,
    compared_rows,
    cut_share,
    evidence_for,
)
from symmf.app.groups import Group, describe_groups
from symmf.app.stages import Stages
from symmf.app.task import Task, merged, parameters_of, refusals_of
from symmf.clustering import METHODS, SymMF
from symmf.clustering.labels import number_by_size
from symmf.clustering.symmf.evidence import Evidence
from symmf.clustering.symmf.number import count_communities
from symmf.clustering.symmf.outliers import THRESHOLD
from symmf.common.notation import FloatArray, LabelArray
from symmf.errors import InputError, SymmfWarning
from symmf.io.choose import far_apart
from symmf.metrics import METRICS

_SCORES = ("ac", "nmi", "ari")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A clustering with what speaks for it.

    Attributes
    ----------
    task : Task
    parameters : dict
        Of the method, as they were given.
    model : estimator
    labels : array of int
        0 is the largest cluster; -1: no cluster.
    n_clusters : int
    groups : list of Group
    evidence : Evidence
    cut : float or None
        Share of the links between neighbours that join different clusters.
    scores : dict
        Against known classes.
    compared : Compared
        The rows in which samples are compared and drawn.
    outliers : array of bool or None
        Which rows are outliers.
    membership : array or None
        How surely each row belongs to its cluster.
    notes, warnings : list of str
        What was decided without being asked, and what may be wrong, from the file on.
    """

    task: Task
    parameters: dict[str, Any]
    model: Any
    labels: LabelArray
    n_clusters: int
    groups: list[Group]
    evidence: Evidence
    cut: float | None
    scores: dict[str, float]
    compared: Compared
    outliers: Any = None
    membership: FloatArray | None = None
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        """Names of the samples; their numbers from 1 if they have none."""
        known = self.task.data.ids
        return known or [str(i + 1) for i in range(len(self.labels))]


def answer(
    task: Task,
    n_clusters: int | str,
    *,
    parameters: Mapping[str, Any] | None = None,
    seed: int = 0,
    check_stability: bool = True,
    stages: Stages | None = None,
) -> Answer:
    """Cluster and describe.

    Parameters
    ----------
    task : Task
    n_clusters : int or "auto"
    parameters : mapping, optional
        Parameters of the method; they go before those of the task.
    seed : int
    check_stability : bool
        Cluster parts of the data again.
    stages : Stages, optional
        Measures the time of each stage.

    Raises
    ------
    InputError
        If the method refuses the data or a parameter.
    """
    stages = stages or Stages()
    given = merged(task.parameters, parameters or {})
    n = task.X.shape[0]
    if n < 2 or (n_clusters != "auto" and int(n_clusters) > n):
        raise InputError(
            "At least two samples are needed to form clusters."
            if n < 2
            else f"{n_clusters} clusters were asked for, but there are {n} samples. "
            f"Choose -k between 1 and {n}."
        )
    numbers, k = None, n_clusters
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        if k == "auto" and task.data.kind == "graph":
            k = count_communities(task.data.X)
        elif k == "auto" and task.method != "symmf":
            with stages("choosing K"):
                numbers = compare_for(task)
            k = 1 if numbers is None else numbers.chosen
        with stages("choosing K and clustering" if k == "auto" else "clustering"):
            model = fit(task.method, task.X, k, given, seed)
    labels = np.array(model.labels_, dtype=np.int64)
    clusters = labels >= 0
    labels[clusters] = number_by_size(labels[clusters])
    found = int(labels.max(initial=0)) + 1
    if k != "auto":
        found = max(found, int(k))

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with stages("evidence"):
            evidence = evidence_for(
                task,
                model,
                labels,
                lambda X, k, run: fit(task.method, X, k, given, seed + run),
                chosen=n_clusters == "auto",
                numbers=numbers,
                stability=check_stability,
            )
            outliers, membership = _row_by_row(model, labels, check_stability)
        compared = compared_rows(task, model)
        cut = cut_share(task, compared.rows, labels) if found > 1 else None
        groups = describe_groups(task, labels, found, compared.rows)
    notes, units = _units(task, model)
    return Answer(
        task=task,
        parameters=given,
        model=model,
        labels=labels,
        n_clusters=found,
        groups=groups,
        evidence=evidence,
        cut=cut,
        scores=scores_against(task.data.y, labels),
        compared=compared,
        outliers=outliers,
        membership=membership,
        notes=[*task.data.notes, *task.notes, *notes],
        warnings=[*task.data.warnings, *units, *for_people(caught)],
    )


def scores_against(y: LabelArray | None, labels: LabelArray) -> dict[str, float]:
    """Return AC, NMI and ARI against known classes, by title; nothing without them."""
    if y is None:
        return {}
    metrics = [METRICS[name] for name in _SCORES]
    return {metric.title: float(metric.function(y, labels)) for metric in metrics}


def _row_by_row(
    model: Any, labels: LabelArray, check_stability: bool
) -> tuple[Any, FloatArray | None]:
    """Return which rows are outliers, and how surely each belongs to its cluster."""
    outliers = membership = None
    if not isinstance(model, SymMF):
        return outliers, membership
    # Graphs have no outliers, and very few rows neither.
    with suppress(InputError):
        if len(labels) <= MANY_ROWS:
            outliers = model.outlier_score_ > THRESHOLD
    with suppress(InputError):
        if check_stability:
            P = model.membership_
            own = P[np.arange(len(P)), np.maximum(labels, 0)]
            membership = np.where(labels >= 0, own, 0.0)
    return outliers, membership


def fit(
    method: str, X: Any, n_clusters: int | str, parameters: Mapping[str, Any], seed: int
) -> Any:
    """Fit a method; what scikit-learn refuses becomes a sentence of ours."""
    given = {"random_state": seed, **parameters, "n_clusters": n_clusters}
    known = parameters_of(method)
    given = {name: value for name, value in given.items() if name in known}
    with refusals_of(method):
        return METHODS[method](**given).fit(X)


def _units(task: Task, model: Any) -> tuple[list[str], list[str]]:
    """Return a note and a warning about columns whose spreads are far apart."""
    apart = far_apart(task.data.X, task.column_names) if task.own_units else None
    if apart is None:
        return [], []
    wide, narrow, ratio = apart
    varies = f"Column {wide!r} varies {ratio:,.0f} times as much as {narrow!r}"
    if vars(model).get("scale_", "none") != "none":
        return [f"{varies}, so all columns were divided by their ranges."], []
    return [], [
        f"{varies}, so it may dominate the result. Use --standardize to give all "
        "columns the same weight, or --no-standardize if they have the same unit."
    ]


def for_people(caught: list[warnings.WarningMessage]) -> list[str]:
    """Return the warnings meant for users; those of numpy are not."""
    texts = [
        str(item.message)
        for item in caught
        if issubclass(item.category, SymmfWarning)
        or item.category.__name__ == "ConvergenceWarning"
    ]
    return list(dict.fromkeys(texts))
