"""All tables of a results folder, made once, and written as LaTeX, Markdown and CSV."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from symmf.common.files import write_text
from symmf.paper.roles import Role
from symmf.reporting.results import Results, made_once
from symmf.reporting.selection.studies import own_studies
from symmf.reporting.tables.beyond import beyond_table, used_well_table
from symmf.reporting.tables.effects import effects_table
from symmf.reporting.tables.formats import FORMATS, render
from symmf.reporting.tables.model import (
    PAPER_METRICS,
    PlainTable,
    Table,
    combined_table,
    experiment_table,
    parts,
    study_table,
)
from symmf.reporting.tables.records import (
    again_table,
    collection_tables,
    sets_table,
    sizes_table,
)

# The paper's Table I, what it takes to reach the published values, and why.
OF_PAPER = (
    *(sizes_table, beyond_table, used_well_table),
    *(effects_table, sets_table, again_table),
)


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
        own[study.name] = tuple(study_table(study, results, m) for m in study.metrics)
    combined = () if results.chosen else combined_tables(results)
    plain: list[PlainTable] = []
    if not results.chosen:
        plain += paper_tables(results) if results.of_paper else ()
        plain += collection_tables(results)
    return Tables(
        combined=combined,
        printed=tuple(part for table in combined for part in parts(table, results)),
        own={name: tuple(t for t in found if t.n_good) for name, found in own.items()},
        plain=tuple(table for table in plain if table.rows),
    )


@made_once
def combined_tables(results: Results) -> tuple[Table, ...]:
    """Return Tables II and III, as far as they have scores."""
    tables = (combined_table(results, metric) for metric in PAPER_METRICS)
    return tuple(table for table in tables if table.n_good)


@made_once
def paper_tables(results: Results) -> tuple[PlainTable, ...]:
    """Return the tables of texts on the paper; some may have no rows."""
    return tuple(make(results) for make in OF_PAPER)


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
    suffix = "_std" if std else ""
    comment = {"latex": f"% {source}\n", "markdown": f"<!-- {source} -->\n"}
    written = []
    for kind in kinds:
        shown = tables.printed if kind == "latex" else tables.combined
        files: dict[str, Table | PlainTable] = {t.name: t for t in tables.plain}
        files |= {f"{t.name}{suffix}": t for t in shown}
        for place, own in tables.own.items():
            files |= {f"{place}/{t.name}{suffix}": t for t in own}
        head = comment.get(kind, "") if source else ""
        for stem, table in files.items():
            path = folder / "tables" / f"{stem}.{FORMATS[kind]}"
            written.append(write_text(path, head + render(table, kind, std=std)))
    return written
