"""Lines: the entries of an experiment at each lambda, and how they are named.

An entry with a grid of lambda gives one line per value and two derived ones: lambda
chosen without labels (the best silhouette of each trial) and with them (the best
mean AC of each cell, which peeks and is marked as such).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from symmf.paper.values import ROWS
from symmf.reporting.results import Experiment, is_good

# The weight in the authors' released code; where a grid lacks it, the nearest one.
REFERENCE_LAMBDA = 0.5
BLIND, ORACLE = "blind", "oracle"
CHOICES = {
    BLIND: "λ chosen without labels",
    ORACLE: "λ chosen with the labels",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An entry of an experiment at one lambda, or with lambda chosen by a rule."""

    experiment: str
    dataset: str
    method: str
    estimator: str
    label: str
    paper_row: str | None
    lam: float | None
    parameters: str = "{}"
    primary: bool = False
    choice: str = ""

    @property
    def name(self) -> str:
        """The entry name with its lambda, if the entry has several."""
        if self.choice:
            return f"{self.method}@{self.choice}"
        return self.method if self.lam is None else f"{self.method}@{self.lam:g}"

    @property
    def title(self) -> str:
        """The label with its lambda, if the entry has several."""
        if self.choice:
            return f"{self.label}, {CHOICES[self.choice]}"
        return self.label if self.lam is None else f"{self.label}, λ = {self.lam:g}"

    @property
    def oracle(self) -> bool:
        """Whether lambda was chosen with the labels."""
        return self.choice == ORACLE


def reference_lambda(values: Iterable[float]) -> float:
    """Return the lambda of a grid that stands for the paper's setting.

    Examples
    --------
    >>> reference_lambda([0.0, 0.1, 0.5, 1.0])
    0.5
    """
    return min(sorted(values), key=lambda value: abs(value - REFERENCE_LAMBDA))


def is_study(experiment: Experiment) -> bool:
    """Tell whether an experiment stays out of the combined tables.

    ``figures: {tables: true}`` or ``false`` in its configuration decides. Without
    it, synthetic matrices and studies of the proposed method alone stay out.
    """
    said = experiment.figures.get("tables")
    if isinstance(said, bool):
        return not said
    trials = experiment.trials
    scored = bool((is_good(trials, "ac") | is_good(trials, "nmi")).any())
    alone = set(trials["estimator"]) <= {"symmf"}
    return experiment.dataset == "synthetic" or not scored or alone


@lru_cache(maxsize=64)
def lines(experiment: Experiment) -> tuple[Line, ...]:
    """Return the lines of an experiment in its own order, primary ones marked."""
    taken: set[str] = set()
    out: list[Line] = []
    for base, grid, scored in _entries(experiment):
        weights: list[float | None] = [*grid] if len(grid) > 1 else [None]
        chosen = reference_lambda(grid) if len(grid) > 1 else None
        for lam in weights:
            row = base.paper_row
            primary = row is not None and row not in taken and lam == chosen
            out.append(replace(base, lam=lam, primary=primary))
            if primary and row:
                taken.add(row)
        if len(grid) > 1:
            choices = [BLIND, ORACLE] if scored else [ORACLE]
            out += [replace(base, choice=choice) for choice in choices]
    return tuple(out)


def _entries(experiment: Experiment) -> Iterable[tuple[Line, list[float], bool]]:
    """Yield each entry, its grid of lambda, and whether it has silhouettes."""
    trials = experiment.trials
    configured = {
        str(entry.get("name") or entry.get("method")): entry
        for entry in experiment.config.get("methods") or []
        if isinstance(entry, dict)
    }
    for method in experiment.method_order:
        here = trials[trials["method"] == method]
        entry: Mapping[str, Any] = configured.get(method, {})
        first = here.iloc[0] if len(here) else None
        paper_row = _text(first, "paper_row", entry, "")
        estimator = _text(first, "estimator", entry, str(entry.get("method", "")))
        label = _text(first, "label", entry, method)
        if label == estimator and paper_row in ROWS:
            label = ROWS[paper_row]  # no label was given
        base = Line(
            experiment=experiment.name,
            dataset=experiment.dataset,
            method=method,
            estimator=estimator,
            label=label.replace(">=", "≥").replace("<=", "≤"),
            paper_row=paper_row if paper_row in ROWS else None,
            lam=None,
            parameters=_text(first, "parameters", {}, "{}"),
        )
        grid = sorted({float(v) for v in here["lambda"].dropna()})
        yield base, grid, bool(np.isfinite(here["silhouette"]).any())


def _text(row: Any, column: str, entry: Mapping[str, Any], otherwise: str) -> str:
    if row is not None and str(row[column]):
        return str(row[column])
    return str(entry.get(column) or otherwise)
