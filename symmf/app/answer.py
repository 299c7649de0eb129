"""Cluster what was read and gather the evidence: one call, one answer."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symmf.app.evidence import MOST, Quality, cut_share, factor_rows
from symmf.app.groups import Group, describe_groups
from symmf.app.task import Task, merged, parameters_of
from symmf.clustering import METHODS
from symmf.clustering.labels import number_by_size
from symmf.common.notation import FloatArray, LabelArray
from symmf.errors import InputError, SymmfError, SymmfWarning
from symmf.metrics import METRICS, silhouettes, stability

_SCORES = ("ac", "nmi", "ari")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A clustering with what speaks for it."""

    task: Task
    parameters: dict[str, Any]
    model: Any
    labels: LabelArray
    n_clusters: int
    chosen: bool
    groups: list[Group]
    quality: Quality
    scores: dict[str, float]
    seconds: float
    rows: FloatArray | None
    silhouettes: FloatArray | None
    shown: Any
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

    Raises
    ------
    InputError
        If the method refuses the data or a parameter.
    """
    given = merged(task.parameters, parameters or {})
    n = task.X.shape[0]
    if n_clusters != "auto" and int(n_clusters) > n:
        raise InputError(
            f"{n_clusters} clusters were asked for, but there are {n} samples. Choose "
            f"-k between 1 and {n}."
        )
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        began = time.perf_counter()
        model = fit(task.method, task.X, n_clusters, given, seed)
        seconds = time.perf_counter() - began
    labels = number_by_size(np.asarray(model.labels_, dtype=np.int64))
    k = int(labels.max()) + 1
    if n_clusters != "auto":
        k = max(k, int(n_clusters))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        Z = factor_rows(model, task)
        shown = np.arange(len(labels))
        if len(labels) > MOST:
            shown = np.sort(np.random.default_rng(0).choice(len(labels), MOST, False))
        values = None if Z is None else silhouettes(Z[shown], labels[shown])[0]
        quality = Quality(
            silhouette=None if values is None else float(values.mean()),
            error=_number(getattr(model, "error_", None)),
            cut=cut_share(task, model, labels),
            stability=_stability(task, given, labels, k, seed)
            if check_stability and k > 1
            else None,
        )
        groups = describe_groups(task, labels, k, Z)
    y = task.data.y
    scores = (
        {}
        if y is None
        else {
            METRICS[name].title: float(METRICS[name].function(y, labels))
            for name in _SCORES
        }
    )
    return Answer(
        task=task,
        parameters=given,
        model=model,
        labels=labels,
        n_clusters=k,
        chosen=n_clusters == "auto",
        groups=groups,
        quality=quality,
        scores=scores,
        seconds=seconds,
        rows=Z,
        silhouettes=values,
        shown=shown,
        warnings=[*_scales(task, model), *for_people(caught)],
    )


def fit(
    method: str, X: Any, n_clusters: int | str, parameters: Mapping[str, Any], seed: int
) -> Any:
    """Fit a method; what scikit-learn refuses becomes a sentence of ours."""
    given = {"random_state": seed, **parameters, "n_clusters": n_clusters}
    known = parameters_of(method)
    given = {name: value for name, value in given.items() if name in known}
    try:
        return METHODS[method](**given).fit(X)
    except SymmfError:
        raise
    except MemoryError as error:
        size = getattr(X, "shape", ("?", "?"))
        raise InputError(
            f"{method}: there is not enough memory for {size[0]} samples of {size[1]} "
            f"values ({str(error) or 'no size given'}). Use fewer samples or columns."
        ) from error
    except (ValueError, TypeError, OverflowError, ArithmeticError) as error:
        raise InputError(f"{method}: {error}") from error
    except ImportError as error:
        raise InputError(str(error)) from error


def _stability(
    task: Task, parameters: Mapping[str, Any], labels: LabelArray, k: int, seed: int
) -> float | None:
    if min(len(labels), MOST) < max(12, 3 * k):
        return None

    # The same number of clusters, whoever chose it.
    def again(rows: Any, rng: np.random.Generator) -> list[LabelArray]:
        run = int(rng.integers(2**31)) + seed
        model = fit(task.method, task.part(rows), k, parameters, run)
        return [np.asarray(model.labels_)]

    try:
        return stability([labels], again, np.random.default_rng(0), most=MOST)[0]
    except SymmfError:
        return None


def _scales(task: Task, model: Any) -> list[str]:
    """Say what became of columns whose spreads are far apart."""
    if not task.apart:
        return []
    if getattr(model, "scale_", "none") != "none":
        return [
            f"Columns {task.apart} in spread, so columns were divided by their ranges. "
            "--standardize divides by deviations, --no-standardize leaves them."
        ]
    return [
        f"Columns {task.apart} in spread, so that the first may decide alone. Use "
        "--standardize to count them alike, or --no-standardize if that is meant."
    ]


def _number(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def for_people(caught: list[warnings.WarningMessage]) -> list[str]:
    """Keep what is said to users; numpy's own warnings are no news to them."""
    texts = [
        str(item.message)
        for item in caught
        if issubclass(item.category, SymmfWarning)
        or item.category.__name__ == "ConvergenceWarning"
    ]
    return list(dict.fromkeys(texts))
