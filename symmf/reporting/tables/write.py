"""All tables of a results folder, made once, and written as LaTeX, Markdown and CSV."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from symmf.common.files import csv_text, write_text
from symmf.paper.roles import Role
from symmf.reporting.results import Results
from symmf.reporting.selection.studies import own_studies
from symmf.reporting.tables.again import again_table
from symmf.reporting.tables.beyond import beyond_table
from symmf.reporting.tables.collection import collection_tables
from symmf.reporting.tables.effects import effects_table
from symmf.reporting.tables.latex import plain_to_latex, to_latex
from symmf.reporting.tables.markdown import plain_to_markdown, to_markdown
from symmf.reporting.tables.model import (
    PAPER_METRICS,
    PlainTable,
    Table,
    combined_table,
    experiment_table,
    parts,
    study_table,
)
from symmf.reporting.tables.sets import sets_table
from symmf.reporting.tables.sizes import sizes_table
from symmf.reporting.tables.used_well import used_well_table

FORMATS = {"latex": "tex", "markdown": "md", "csv": "csv"}


@dataclass(frozen=True, kw_only=True)
class Tables:
    """The tables of a results folder.

    ``combined`` are the paper's Tables II and III; ``printed`` the same as a document
    prints them, the paper's nine rows and an appendix of all others; ``own`` those of
    single experiments and of studies, by the name of their folder; ``plain`` are tables
    of texts.
    """

    combined: tuple[Table, ...]
    printed: tuple[Table, ...]
    own: dict[str, tuple[Table, ...]]
    plain: tuple[PlainTable, ...]


def make_tables(results: Results) -> Tables:
    """Make every table that has something to show.

    Where experiments were named, the paper's combined tables, which need all, are left
    out, and studies of one's own become one.
    """
    own: dict[str, tuple[Table, ...]] = {}
    for e in results.of_paper:
        if e.role is not Role.CONVERGENCE:  # a study of errors, not of scores
            metrics = PAPER_METRICS
            own[e.name] = tuple(experiment_table(e, results, m) for m in metrics)
    for study in own_studies(results):
        shown = tuple(study_table(study, results, m) for m in study.metrics)
        own[study.name] = shown
    combined: tuple[Table, ...] = ()
    plain: tuple[PlainTable, ...] = ()
    if not results.chosen:
        combined = tuple(combined_table(results, m) for m in PAPER_METRICS)
        plain = (*collection_tables(results),)
        if results.of_paper:
            paper = (
                *(sizes_table, beyond_table, used_well_table),
                *(effects_table, sets_table, again_table),
            )
            plain = (*(make(results) for make in paper), *plain)
    combined = tuple(table for table in combined if table.n_good)
    return Tables(
        combined=combined,
        printed=tuple(part for table in combined for part in parts(table, results)),
        own={name: tuple(t for t in found if t.n_good) for name, found in own.items()},
        plain=tuple(table for table in plain if table.rows),
    )


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
        for (name, k), shown in zip(table.columns, row.cells, strict=True):
            cell = shown.cell
            records.append(
                {
                    "metric": table.metric,
                    "method": row.title,
                    "place": "below the rule" if row.below else "paper",
                    "dataset": name,
                    "n_clusters": k,
                    "mean": shown.text if shown.n_good else "",
                    "std": shown.spread,
                    "n_good": shown.n_good,
                    "n_total": cell.n_total if cell else 0,
                    "mark": shown.mark,
                    "experiment": cell.reading.experiment if cell else "",
                    "entry": cell.reading.name if cell else "",
                }
            )
    return pd.DataFrame(records)


def write_tables(
    tables: Tables,
    folder: Path,
    *,
    kinds: tuple[str, ...],
    std: bool = False,
    source: str = "",
) -> list[Path]:
    """Write tables below ``folder / "tables"``; return the paths.

    ``source`` is said in every LaTeX and Markdown file, as a comment.
    """
    folder, suffix = folder / "tables", "_std" if std else ""

    def texts() -> Iterator[tuple[Path, str, str]]:
        for plain in tables.plain:
            for kind in kinds:
                yield folder / plain.name, kind, render_plain(plain, kind)
        for kind in kinds:
            shown = tables.printed if kind == "latex" else tables.combined
            places = [("", t) for t in shown]
            places += [(place, t) for place, own in tables.own.items() for t in own]
            for place, table in places:
                path = folder / place / f"{table.name}{suffix}"
                yield path, kind, render(table, kind, std=std)

    comment = {"latex": f"% {source}\n", "markdown": f"<!-- {source} -->\n"}
    return [
        write_text(
            path.with_name(f"{path.name}.{FORMATS[kind]}"),
            (comment.get(kind, "") if source else "") + text,
        )
        for path, kind, text in texts()
    ]
