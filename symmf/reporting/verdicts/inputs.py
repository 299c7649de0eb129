"""What the input decides, and what lambda and the iterations add to it.

The same entries of the proposed method were run on inner products and on the graph
that all methods share, with the same draws, so their trials can be paired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from symmf.common.shipped import packaged
from symmf.paper.roles import Role
from symmf.paper.values import DATASET_TITLES, METRIC_TITLES
from symmf.reporting.results import Results
from symmf.reporting.selection.arms import Arm, arms
from symmf.reporting.selection.cells import Cell, CellKey, cells
from symmf.reporting.selection.readings import REFERENCE_WEIGHT as WEIGHT
from symmf.reporting.selection.readings import Reading
from symmf.reporting.statistics.intervals import (
    PairedDifference,
    bootstrap_interval,
    bounds,
    paired_values,
    signed,
)

TEXTS: dict[str, str] = packaged("symmf.reporting.verdicts", "words.yaml")["inputs"]
RULE = TEXTS["rule"]
CONSISTENT = 0.75

RELEASED = "20 iterations as released"
CONVERGED = "to convergence"
CLOSED = "closed form"
KINDS: dict[str, Callable[[Reading], bool]] = {
    RELEASED: lambda r: bool(r.settings.get("published")),
    CONVERGED: lambda r: (
        r.solver == "projected_gradient" and not r.settings.get("published")
    ),
    CLOSED: lambda r: r.solver == "eigen",
}
INPUT = f"the graph instead of inner products, lambda {WEIGHT:g}"
REGULARISER = f"lambda {WEIGHT:g} instead of 0, on the graph"
# Of each change: the role and lambda after it, and before.
SIDES = {
    INPUT: ((Role.EQUAL_TERMS, WEIGHT), (Role.COMPARISON, WEIGHT)),
    REGULARISER: ((Role.EQUAL_TERMS, WEIGHT), (Role.EQUAL_TERMS, 0.0)),
}

Cells = dict[CellKey, Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect(PairedDifference):
    """One choice instead of another, over all cells that have both."""

    n_up: int
    n_down: int
    n_cells: int

    @property
    def consistent(self) -> bool:
        """Whether it has one sign: of the interval, and in most cells."""
        agree = self.n_up if self.mean > 0 else self.n_down
        return self.clear and agree >= CONSISTENT * self.n_cells

    def __str__(self) -> str:
        return (
            f"{signed(self.mean)} ({bounds(self.low, self.high)}; higher in "
            f"{self.n_up}, lower in {self.n_down} of {self.n_cells} cells)"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one choice instead of another does to the entries of every kind."""

    title: str
    metric: str
    effects: dict[str, Effect]


def effect(new: Cells, old: Cells) -> Effect | None:
    """Return ``new`` minus ``old``, trial by trial; None without common cells."""
    by_cell = [
        np.subtract(*paired_values(new[key], old[key]))
        for key in new.keys() & old.keys()
        if new[key].enough and old[key].enough
    ]
    if not by_cell:
        return None
    # In one order, whatever that of the keys: the bits of a mean depend on it.
    differences = sorted(np.concatenate(by_cell).tolist())
    means = [float(found.mean()) for found in by_cell]
    low, high = bootstrap_interval(differences)
    return Effect(
        mean=float(np.mean(differences)),
        low=low,
        high=high,
        n_pairs=len(differences),
        n_up=sum(mean > 0 for mean in means),
        n_down=sum(mean < 0 for mean in means),
        n_cells=len(means),
    )


def entries(
    results: Results, role: Role, metric: str, kind: str, weight: float
) -> Cells:
    """Return the cells of one kind of entry of the proposed method, at one lambda.

    Rows of H as they are, no constraint. Where a cell has several such entries, the
    first one in the file.
    """
    out: Cells = {}
    for experiment in results.of(role):
        grids = experiment.trials.groupby("method")["lambda"].unique().to_dict()
        for cell in cells(experiment, metric):
            reading = cell.reading
            plain = not reading.settings.get("unit_rows") and reading.choice is None
            ours = reading.estimator == "symmf" and KINDS[kind](reading)
            known = cell.key.dataset in DATASET_TITLES
            # An entry with one lambda does not name it.
            here = reading.weight in (weight, None) and weight in grids.get(
                reading.method, ()
            )
            if known and plain and ours and here:
                out.setdefault(cell.key, cell)
    return out


def spread(arm: Arm, metric: str) -> float | None:
    """Return how far the methods of an arm lie apart in a cell, on average."""
    found: dict[CellKey, list[float]] = {}
    for row in arm.rows[metric]:
        for key, cell in row.cells.items():
            if cell.enough and key.dataset in DATASET_TITLES:
                found.setdefault(key, []).append(cell.mean)
    widths = [max(means) - min(means) for means in found.values() if len(means) > 2]
    return float(np.mean(widths)) if widths else None


def changes(results: Results) -> list[Change]:
    """Return what the input and what lambda change, for each metric."""
    out = []
    for title, sides in SIDES.items():
        for metric in METRIC_TITLES:
            found = {}
            for kind in KINDS:
                new, old = (
                    entries(results, role, metric, kind, weight)
                    for role, weight in sides
                )
                if known := effect(new, old):
                    found[kind] = known
            if found:
                out.append(Change(title=title, metric=metric, effects=found))
    return out


def input_words(results: Results) -> list[str]:
    """Return what follows from the changes, as sentences."""
    found = changes(results)
    return [
        f"{title}: {text}"
        for metric, title in METRIC_TITLES.items()
        for change in found
        if change.metric == metric
        for text in _words(results, change)
    ]


def _words(results: Results, change: Change) -> Iterator[str]:
    effects = change.effects
    if change.title == REGULARISER:
        steady = [kind for kind, each in effects.items() if each.consistent]
        rest = " and ".join(kind for kind in effects if kind not in steady)
        yield TEXTS["weight" if steady else "no_weight"].format(
            steady=" and ".join(f"{k} ({signed(effects[k].mean)})" for k in steady),
            rest=f"; not on: {rest}" if rest else "",
        )
        return
    widths = {arm.role: spread(arm, change.metric) for arm in arms(results)}
    apart = widths.get(Role.EQUAL_TERMS)
    if apart is not None and CLOSED in effects:
        mean = effects[CLOSED].mean
        more = "more" if abs(mean) > apart else "less"
        yield TEXTS["closed"].format(more=more, mean=signed(mean), apart=apart)
    if RELEASED in effects:
        mean = effects[RELEASED].mean
        yield TEXTS["released"].format(
            more="lower" if mean < 0 else "higher",
            steady="" if effects[RELEASED].consistent else ", though not consistently",
            mean=signed(mean),
        )
