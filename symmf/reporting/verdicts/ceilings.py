"""What classifiers with labels reach on the same cells, as a ceiling of evidence.

A clusterer does not see the classes. A published value above what every classifier
reaches that was trained on them is no proof of an error, since another classifier or
other features might reach more; it says how far out of reach the value is.
"""

from __future__ import annotations

from dataclasses import dataclass

from symmf.paper.roles import Role
from symmf.reporting.results import Results, remembered
from symmf.reporting.selection.arms import cells_of_role
from symmf.reporting.selection.cells import Cell, CellKey
from symmf.reporting.statistics.intervals import bootstrap_interval

ROUNDING = 0.0005  # the paper prints three decimals
RULE = (
    "Above every classifier with labels: the published value exceeds the upper end of "
    "the interval of every cross-validated classifier on the same draws, scored like a "
    "clustering. This is weaker than a proof: another classifier, or other features, "
    "might reach more."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The best classifier of a cell by its mean, and the highest end of an interval."""

    best: Cell
    high: float
    n_classifiers: int

    def below(self, published: float) -> bool:
        """Tell whether a published value lies above every classifier."""
        return published - ROUNDING > self.high

    def sentence(self, published: float) -> str:
        """Say in numbers how a published value stands to the classifiers."""
        where = "above every one" if self.below(published) else "within reach"
        count = f"{self.n_classifiers} classifiers with labels"
        return (
            f"published {published:.3f}, {where} of {count}; the best, "
            f"{self.best.reading.label}, has {self.best.mean:.3f}, and no interval "
            f"ends above {self.high:.3f}"
        )


@remembered
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
