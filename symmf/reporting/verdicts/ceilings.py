"""What classifiers with labels reach on the same cells, as a ceiling of evidence.

A clusterer does not see the classes. A published value above what every classifier
reaches that was trained on them is no proof of an error, since another classifier or
other features might reach more; it says how far out of reach the value is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from symmf.common.shipped import packaged
from symmf.paper.roles import Role
from symmf.reporting.results import Results, made_once
from symmf.reporting.selection.arms import cells_of_role
from symmf.reporting.selection.cells import Cell, CellKey
from symmf.reporting.statistics.intervals import bootstrap_interval

ROUNDING = 0.0005  # the paper prints three decimals
RULE: str = packaged("symmf.reporting.verdicts", "words.yaml")["ceilings"]


class Reach(StrEnum):
    """A published value beside the classifiers of its cell."""

    WITHIN = "within reach"
    ABOVE = "above every mean"
    CLEARLY_ABOVE = "clearly above"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The best classifier of a cell by its mean, and the highest end of an interval."""

    best: Cell
    high: float
    n_classifiers: int

    def stands(self, published: float) -> Reach:
        """Tell how a published value stands to all the classifiers."""
        if published - ROUNDING > self.high:
            return Reach.CLEARLY_ABOVE
        above = published - ROUNDING > self.best.mean
        return Reach.ABOVE if above else Reach.WITHIN

    def beside(self, published: float) -> dict[str, object]:
        """Return what a table shows of it beside a published value."""
        return {
            "ceiling": self.best.mean,
            "ceiling_high": self.high,
            "ceiling_label": self.best.reading.label,
            "ceiling_classifiers": self.n_classifiers,
            "beside_ceiling": self.stands(published),
        }


# The same where no classifier was run.
NO_CEILING: dict[str, object] = {
    "ceiling_label": "",
    "ceiling_classifiers": 0,
    "beside_ceiling": "",
}


@made_once
def ceilings(results: Results, metric: str) -> dict[CellKey, Ceiling]:
    """Return the ceiling of every cell in which classifiers were run often enough."""
    out = {}
    for key, found in cells_of_role(results, Role.CEILING, metric).items():
        group = [cell for cell in found if cell.enough]
        if group:
            out[key] = Ceiling(
                best=max(group, key=lambda cell: cell.mean),
                high=max(bootstrap_interval(cell.values)[1] for cell in group),
                n_classifiers=len(group),
            )
    return out
