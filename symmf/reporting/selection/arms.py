"""The arms of the study: the same cells on different inputs, and what stands beside.

In an arm every method has the kind of input the arm is named after, so that rows of one
arm can be compared with each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symmf.paper.roles import ARM_TITLES, Role
from symmf.paper.values import METRIC_TITLES, PROPOSED
from symmf.reporting.results import Results, made_once
from symmf.reporting.selection.cells import Cell, CellKey, Row, cells, combine


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """The rows of the paper on one kind of input, for each metric."""

    role: Role
    rows: Mapping[str, tuple[Row, ...]]

    @property
    def title(self) -> str:
        """What the methods of this arm have in common."""
        return ARM_TITLES[self.role]

    def proposed(self, metric: str) -> Row | None:
        """Return the row of the proposed method, if it was run."""
        rows = self.rows[metric]
        return next((row for row in rows if row.paper_row == PROPOSED), None)

    def others(self, metric: str) -> list[Row]:
        """Return the rows it is compared with."""
        return [row for row in self.rows[metric] if row.paper_row != PROPOSED]


@made_once
def arms(results: Results) -> tuple[Arm, ...]:
    """Return the arms with results, the paper's own comparison first."""
    out = []
    for role in ARM_TITLES:
        chosen = [e for e in results.in_tables if e.role is role]
        rows = {}
        for metric in METRIC_TITLES:
            found = combine([cell for e in chosen for cell in cells(e, metric)])
            rows[metric] = tuple(row for row in found if row.primary)
        if any(rows.values()):
            out.append(Arm(role=role, rows=rows))
    return tuple(out)


@made_once
def proposed_cells(results: Results, role: Role, metric: str) -> dict[CellKey, Cell]:
    """Return the primary reading of the proposed method in every cell of a role."""
    proposed: dict[CellKey, Cell] = {}
    for key, found in cells_of_role(results, role, metric).items():
        for cell in found:
            if cell.reading.proposed:
                proposed.setdefault(key, cell)
    return proposed


@made_once
def cells_of_role(
    results: Results, role: Role, metric: str
) -> dict[CellKey, list[Cell]]:
    """Return all cells with good trials in experiments of a role, but no oracle's."""
    out: dict[CellKey, list[Cell]] = {}
    for experiment in results.of(role):
        for cell in cells(experiment, metric):
            if cell.n_good and not cell.reading.oracle:
                out.setdefault(cell.key, []).append(cell)
    return out
