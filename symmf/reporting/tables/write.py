"""Write tables as LaTeX, Markdown and CSV."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from symmf.common.files import csv_text, write_text
from symmf.paper.roles import Role
from symmf.reporting.results import Results
from symmf.reporting.tables.beyond import beyond_table
from symmf.reporting.tables.collection import collection_tables
from symmf.reporting.tables.latex import plain_to_latex, to_latex
from symmf.reporting.tables.markdown import plain_to_markdown, to_markdown
from symmf.reporting.tables.model import (
    METRICS,
    PlainTable,
    Table,
    combined_table,
    experiment_table,
)
from symmf.reporting.tables.sizes import sizes_table
from symmf.reporting.tables.used_well import used_well_table

FORMATS = {"latex": "tex", "markdown": "md", "csv": "csv"}


def table_folder(folder: Path, experiment: str = "") -> Path:
    """Return where tables go: combined, or of one experiment below them."""
    return folder / "tables" / experiment if experiment else folder / "tables"


def render(table: Table, kind: str, *, std: bool = False) -> str:
    """Render in one of :data:`FORMATS`."""
    if kind == "latex":
        return to_latex(table, std=std)
    if kind == "markdown":
        return to_markdown(table, std=std)
    return csv_text(to_frame(table))


def render_plain(table: PlainTable, kind: str) -> str:
    """Render a table of texts in one of :data:`FORMATS`."""
    if kind == "latex":
        return plain_to_latex(table)
    if kind == "markdown":
        return plain_to_markdown(table)
    return csv_text(table.frame)


def to_frame(table: Table) -> pd.DataFrame:
    """Return one line per cell with the printed digits."""
    records = []
    for row in table.rows:
        for (name, k), cell in zip(table.columns, row.cells, strict=True):
            reading = cell.cell.reading if cell.cell else None
            records.append(
                {
                    "metric": table.metric,
                    "method": row.title,
                    "place": "below the rule" if row.below else "paper",
                    "dataset": name,
                    "n_clusters": k,
                    "mean": cell.text if cell.n_good else "",
                    "std": cell.spread,
                    "n_good": cell.n_good,
                    "n_total": cell.cell.n_total if cell.cell else 0,
                    "mark": cell.mark,
                    "experiment": reading.experiment if reading else "",
                    "entry": reading.name if reading else "",
                }
            )
    return pd.DataFrame(records)


def plain_tables(results: Results) -> tuple[PlainTable, ...]:
    """Return the tables of texts: data sets, what it takes, collections."""
    return (
        sizes_table(results),
        beyond_table(results),
        used_well_table(results),
        *collection_tables(results),
    )


def write_tables(
    results: Results,
    folder: Path,
    *,
    kinds: tuple[str, ...],
    std: bool = False,
    combined: bool = True,
) -> list[Path]:
    """Write all tables, combined and per experiment; return the paths."""
    written: list[Path] = []
    suffix = "_std" if std else ""

    def put(place: Path, table: Table) -> None:
        if any(cell.n_good for row in table.rows for cell in row.cells):
            for kind in kinds:
                path = place / f"{table.name}{suffix}.{FORMATS[kind]}"
                written.append(write_text(path, render(table, kind, std=std)))

    if combined:
        for plain in plain_tables(results):
            for kind in kinds if plain.rows else ():
                path = table_folder(folder) / f"{plain.name}.{FORMATS[kind]}"
                written.append(write_text(path, render_plain(plain, kind)))
        for metric in METRICS:
            put(table_folder(folder), combined_table(results, metric))
    for experiment in results.experiments:
        if experiment.role is Role.CONVERGENCE:
            continue  # a study of errors, not of scores
        place = table_folder(folder, experiment.name)
        for metric in METRICS:
            put(place, experiment_table(experiment, results, metric))
    return written
