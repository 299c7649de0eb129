"""What is said below a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from symmf.common.shipped import packaged
from symmf.paper.values import ROWS
from symmf.reporting.results import Results
from symmf.reporting.selection.cells import ENOUGH_TRIALS, Row, dataset_title
from symmf.reporting.selection.readings import Choice

TEXTS: dict[str, str] = packaged("symmf.reporting.tables", "words.yaml")["scores"]


def table_notes(
    rows: Sequence[Row], results: Results, *, ruled: bool = False
) -> list[str]:
    """Return the notes: how trials are drawn, what is missing, what rows mean."""
    used = {cell.reading.experiment for row in rows for cell in row.cells.values()}
    means = TEXTS["means"].format(counts=_counts(rows), draws=_draws(results, used))
    notes = [means]
    if any(cell.n_good < cell.n_total for row in rows for cell in row.cells.values()):
        notes.append(TEXTS["share"])
    notes += [text for row in rows if (text := _lost_note(row, results))]
    notes += [TEXTS["rule"]] if ruled else []
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
        notes += [TEXTS[kind].format(**facts) for kind, true in said.items() if true]
    apart = {row.key.apart: None for row in rows if row.key.apart and not row.arm}
    if apart:
        listed = ", ".join(f"[{name}]" for name in apart)
        notes.append(TEXTS["apart"].format(listed=listed))
    for experiment in results.experiments:
        note = (experiment.config.note or "").strip()
        if note and experiment.name in used:
            notes.append(f"{experiment.name}: {note}")
    return list(dict.fromkeys(notes))


def _draws(results: Results, used: Collection[str]) -> str:
    """Say how trials are drawn: once, if it is the same in all experiments."""
    found = (e.config.drawing() for e in results.experiments if e.name in used)
    return " ".join(dict.fromkeys(found))


def _counts(rows: Sequence[Row]) -> str:
    """Return how many good trials the cells have: "10 trials", "2 to 10 trials"."""
    found = {c.n_good for row in rows for c in row.cells.values() if c.n_good} or {0}
    ends = f"{min(found)}" if len(found) == 1 else f"{min(found)} to {max(found)}"
    text = f"{ends} trial" if found == {1} else f"{ends} trials"
    if min(found) < ENOUGH_TRIALS:
        text += f" (with fewer than {ENOUGH_TRIALS} nothing is concluded)"
    return text


def _lost_note(row: Row, results: Results) -> str:
    """Say in which cells a row has no good trial, and what became of them."""
    lost = [
        f"{dataset_title(name, results)} K = {k} ({cell.lost})"
        for (name, k), cell in row.cells.items()
        if not cell.n_good and cell.lost
    ]
    places = ", ".join(lost)
    return TEXTS["lost"].format(title=row.title, places=places) if lost else ""
