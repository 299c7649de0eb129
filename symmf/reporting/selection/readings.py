"""Readings: the entries of an experiment at each lambda, and how they are named.

An entry with a grid of lambda gives one reading per value and two derived ones: lambda
chosen without labels (the best silhouette of each trial) and with them (the best mean
AC of each cell, which peeks and is marked as such).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from symmf.paper.values import PROPOSED, ROWS
from symmf.reporting.results import Experiment, made_once

# The weight in the authors' released code; where a grid lacks it, the nearest one.
REFERENCE_WEIGHT = 0.5
SYMMF_TITLE = "SymMF"


class Choice(StrEnum):
    """A rule that picks one lambda of a grid."""

    BLIND = "blind"
    ORACLE = "oracle"


CHOICE_TITLES = {
    Choice.BLIND: "λ chosen without labels",
    Choice.ORACLE: "λ chosen with the labels",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """An entry of an experiment at one lambda, or with lambda chosen by a rule.

    ``method`` is the name of the entry, ``solver`` the one that ran (empty if the
    results do not tell), ``weight`` the lambda if the entry has several.
    """

    experiment: str
    dataset: str
    method: str
    estimator: str
    label: str
    paper_row: str | None
    weight: float | None
    solver: str = ""
    parameters: str = "{}"
    primary: bool = False
    proposed: bool = False  # the method that is compared with all others
    choice: Choice | None = None
    apart: str = ""  # what sets it apart from an equal entry of another experiment
    arm: str = ""  # its input, where it stands for its row beside the main arm

    @property
    def name(self) -> str:
        """The entry name with its lambda, if the entry has several."""
        if self.choice:
            return f"{self.method}@{self.choice}"
        return self.method if self.weight is None else f"{self.method}@{self.weight:g}"

    @property
    def title(self) -> str:
        """The label with its lambda, if the entry has several."""
        if self.choice:
            return f"{self.label}, {CHOICE_TITLES[self.choice]}"
        if self.weight is None:
            return self.label
        return f"{self.label}, λ = {self.weight:g}"

    @property
    def set_apart(self) -> Reading:
        """The reading as one of its experiment: coil20_shared -> [shared]."""
        apart = self.experiment.removeprefix(f"{self.dataset}_")
        return replace(self, primary=False, proposed=False, apart=apart)

    @property
    def oracle(self) -> bool:
        """Whether lambda was chosen with the labels."""
        return self.choice is Choice.ORACLE

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters of the entry, options of solver and labels among them."""
        given: dict[str, Any] = json.loads(self.parameters or "{}")
        for name in ("solver_options", "label_options"):
            given |= given.get(name) or {}
        return given


def reference_weight(values: Iterable[float]) -> float:
    """Return the lambda of a grid that stands for the paper's setting.

    Examples
    --------
    >>> reference_weight([0.0, 0.1, 0.5, 1.0])
    0.5
    """
    return min(sorted(values), key=lambda value: abs(value - REFERENCE_WEIGHT))


@made_once
def readings(experiment: Experiment) -> tuple[Reading, ...]:
    """Return the readings of an experiment in its own order, primary ones marked."""
    out: list[Reading] = []
    by_method = dict(list(experiment.trials.groupby("method")))
    for method, entry in experiment.entries.items():
        trials = by_method.get(method, experiment.trials[:0])
        row = entry.paper_row if entry.paper_row in ROWS else None
        label = entry.label or method
        if label == entry.method and row:  # no label was given
            label = ROWS[row] if row != PROPOSED else SYMMF_TITLE
        if not experiment.of_paper:
            row = None
        base = Reading(
            experiment=experiment.name,
            dataset=experiment.dataset,
            method=method,
            estimator=entry.method,
            label=label.replace(">=", "≥").replace("<=", "≤"),
            paper_row=row,
            weight=None,
            solver=" and ".join(sorted({*trials["solver"]} - {""})),
            parameters=str(trials["parameters"].iloc[0]) if len(trials) else "{}",
        )
        stands = bool(row and entry.primary)
        chosen_one = experiment.config.proposed
        proposed = stands and row == PROPOSED if row else method == chosen_one
        grid = sorted({float(v) for v in trials["lambda"].dropna()})
        if len(grid) < 2:
            out.append(replace(base, primary=stands, proposed=proposed))
            continue
        chosen = reference_weight(grid)
        out += [
            replace(
                base,
                weight=weight,
                primary=stands and weight == chosen,
                proposed=proposed and weight == chosen,
            )
            for weight in grid
        ]
        blind = trials["silhouette"].notna().any()
        choices = [*Choice] if blind else [Choice.ORACLE]
        out += [replace(base, choice=choice) for choice in choices]
    return tuple(out)
