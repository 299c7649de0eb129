"""What is said below a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from symmf.paper.values import ROWS
from symmf.reporting.results import Results
from symmf.reporting.selection.cells import ENOUGH_TRIALS, Row, dataset_title
from symmf.reporting.selection.readings import Choice


def table_notes(
    rows: Sequence[Row], results: Results, *, ruled: bool = False
) -> list[str]:
    """Return the notes: how trials are drawn, what is missing, what rows mean."""
    used = {cell.reading.experiment for row in rows for cell in row.cells.values()}
    notes = [
        f"Means over {_counts(rows)}. {_draws(results, used)} NMI is normalised by the "
        "arithmetic mean of the entropies. Best in bold, second underlined."
    ]
    if any(cell.n_good < cell.n_total for row in rows for cell in row.cells.values()):
        notes.append(
            "Where trials failed or were not run, the number that succeeded and the "
            "number planned are given with the mean."
        )
    notes += [text for row in rows if (text := _lost_note(row, results))]
    if ruled:
        notes.append(
            "Rows below the rule are further readings and controls; none of them is "
            "marked as best or second."
        )
    for row in rows:
        entries = {
            f"{cell.reading.name} ({cell.reading.label})": None
            for cell in row.cells.values()
            if cell.reading.label not in (row.title, ROWS.get(row.paper_row or ""))
        }
        if (row.primary or row.arm) and entries:
            notes.append(f"The row {row.title} is the entry {', '.join(entries)}.")
        if any(cell.reading.choice is Choice.BLIND for cell in row.cells.values()):
            notes.append(f"{row.title}: in each trial the λ with the best silhouette.")
        if row.oracle:
            notes.append(
                f"{row.title}: in each cell the λ with the best mean AC. It peeks at "
                "the labels, so no user could run it."
            )
    apart = {row.key.apart: None for row in rows if row.key.apart and not row.arm}
    if apart:
        listed = ", ".join(f"[{name}]" for name in apart)
        notes.append(f"Rows with {listed} come from the experiments with that ending.")
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
    return f"{row.title}: no successful trial for {', '.join(lost)}." if lost else ""
