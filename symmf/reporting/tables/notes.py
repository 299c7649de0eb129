"""What is said below a table."""

from __future__ import annotations

from collections.abc import Sequence

from symmf.reporting.results import Results
from symmf.reporting.selection.cells import Row, dataset_title
from symmf.reporting.selection.readings import Choice


def table_notes(rows: Sequence[Row], results: Results, *, has_rule: bool) -> list[str]:
    """Return the notes: how trials are drawn, what is missing, what rows mean."""
    used = {cell.reading.experiment for row in rows for cell in row.cells.values()}
    notes = [
        "Each trial draws K classes at random and keeps all their samples; at K = all "
        "classes the trials differ in the random start only. NMI is normalised by "
        "the arithmetic mean of the entropies. Best in bold, second underlined."
    ]
    if any(cell.n_good < cell.n_total for row in rows for cell in row.cells.values()):
        notes.append("Where trials are missing, good/planned is given with the mean.")
    notes += [text for row in rows if (text := _lost_note(row, results))]
    if has_rule:
        notes.append(
            "Rows below the rule are further readings and controls; they do not "
            "compete for best and second."
        )
    for row in rows:
        labels = {cell.reading.label for cell in row.cells.values()}
        if row.primary and labels - {row.title}:
            notes.append(f"{row.title}: {', '.join(sorted(labels))}.")
        if any(cell.reading.choice is Choice.BLIND for cell in row.cells.values()):
            notes.append(f"{row.title}: the λ with the best silhouette of each trial.")
        if row.oracle:
            notes.append(
                f"{row.title}: the λ with the best mean AC of each cell. It peeks at "
                "the labels and is no method a user could run."
            )
    for experiment in results.experiments:
        note = str(experiment.config.get("note") or "").strip()
        if note and experiment.name in used:
            notes.append(f"{experiment.name}: {note}")
    return list(dict.fromkeys(notes))


def _lost_note(row: Row, results: Results) -> str:
    """Say in which cells a row has no good trial, and what became of them."""
    lost = [
        f"{dataset_title(name, results)} K = {k} ({cell.lost})"
        for (name, k), cell in row.cells.items()
        if not cell.n_good and cell.lost
    ]
    return f"{row.title}: no good trial for {', '.join(lost)}." if lost else ""
