"""What is said below a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from symmf.common.shipped import packaged
from symmf.paper.values import ROWS
from symmf.reporting.results import Experiment, Results
from symmf.reporting.selection.cells import ENOUGH_TRIALS, Row, dataset_title
from symmf.reporting.selection.readings import Choice

TEXTS: dict[str, Any] = packaged("symmf.reporting.tables", "words.yaml")
_SCORES: dict[str, str] = TEXTS["scores"]


def notes_of(experiments: Iterable[Experiment]) -> list[str]:
    """Return the notes that experiments have in their files."""
    return [f"{e.name}: {e.note}" for e in experiments if e.note]


def table_notes(
    rows: Sequence[Row], results: Results, *, ruled: bool = False
) -> list[str]:
    """Return the notes: how trials are drawn, what is missing, what rows mean."""
    used = {cell.reading.experiment for row in rows for cell in row.cells.values()}
    here = [e for e in results.experiments if e.name in used]
    # How trials are drawn is said once, if it is the same in all experiments.
    draws = " ".join(dict.fromkeys(e.config.drawing() for e in here))
    notes = [_SCORES["means"].format(counts=_counts(rows), draws=draws)]
    if any(cell.n_good < cell.n_total for row in rows for cell in row.cells.values()):
        notes.append(_SCORES["share"])
    notes += [text for row in rows if (text := _lost_note(row, results))]
    notes += [_SCORES["rule"]] if ruled else []
    for row in rows:
        entries = {
            f"{cell.reading.name} ({cell.reading.label})": None
            for cell in row.cells.values()
            if cell.reading.label not in (row.title, ROWS.get(row.paper_row or ""))
        }
        choices = {cell.reading.choice for cell in row.cells.values()}
        said = {
            "entry": (row.primary or row.arm) and entries,
            "blind": Choice.BLIND in choices,
            "oracle": row.oracle,
        }
        facts = {"title": row.title, "entries": ", ".join(entries)}
        notes += [_SCORES[kind].format(**facts) for kind, true in said.items() if true]
    apart = {row.key.apart: None for row in rows if row.key.apart and not row.arm}
    if apart:
        listed = ", ".join(f"[{name}]" for name in apart)
        notes.append(_SCORES["apart"].format(listed=listed))
    notes += notes_of(here)
    return list(dict.fromkeys(notes))


def _counts(rows: Sequence[Row]) -> str:
    """Return how many good trials the cells have: "10 trials", "2 to 10 trials"."""
    found = {c.n_good for row in rows for c in row.cells.values() if c.n_good} or {0}
    ends = f"{min(found)}" if len(found) == 1 else f"{min(found)} to {max(found)}"
    text = f"{ends} trial" if found == {1} else f"{ends} trials"
    if min(found) < ENOUGH_TRIALS:
        text += f" (verdicts need at least {ENOUGH_TRIALS})"
    return text


def _lost_note(row: Row, results: Results) -> str:
    """Say in which cells a row has no good trial, and what became of them."""
    lost = [
        f"{dataset_title(name, results)} K = {k} ({cell.lost})"
        for (name, k), cell in row.cells.items()
        if not cell.n_good and cell.lost
    ]
    places = ", ".join(lost)
    return _SCORES["lost"].format(title=row.title, places=places) if lost else ""
