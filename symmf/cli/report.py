"""``symmf tables``, ``plot``, ``compare`` and ``report``: read results, write pages."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symmf.cli.options import complete_experiments, plugin_option
from symmf.cli.terminal import console, say, show_table
from symmf.common.texts import plain_text
from symmf.reporting.plots.registry import FIGURES, draw

if TYPE_CHECKING:
    import pandas as pd

    from symmf.experiment.store.places import ResultsPlace
    from symmf.reporting.results import Missing, Results
    from symmf.reporting.tables.model import PlainTable, Table

FIRST_COMMAND = "symmf run quickstart"


def _results_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--results",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("results"),
        show_default=True,
        help="Folder with one folder per experiment.",
    )(
        click.option(
            "--reference",
            is_flag=True,
            help="Read the committed study; default: your own runs, if there are any.",
        )(command)
    )


def _out_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        help="Folder to write below; default: the results folder.",
    )(command)


@click.command()
@click.argument("experiments", nargs=-1, shell_complete=complete_experiments)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["latex", "markdown", "csv", "all"]),
    default="all",
    show_default=True,
)
@click.option("--std", is_flag=True, help="Add standard deviations.")
@plugin_option
@_results_option
@_out_option
def tables(
    experiments: tuple[str, ...],
    kind: str,
    std: bool,
    reference: bool,
    results: Path,
    out: Path | None,
) -> None:
    """Show and write the tables of scores.

    Parts of the paper's reproduction are combined into its tables; each experiment
    also gets its own. With EXPERIMENTS (names, or patterns such as 'mine_*') only
    theirs are shown and written, and studies of one's own become one table.
    """
    from symmf.reporting.tables.model import missing_tables
    from symmf.reporting.tables.write import FORMATS, make_tables, write_tables

    found, place = _load(results, experiments, reference, out)
    made = make_tables(found)
    paper = {e.name for e in found.of_paper} if made.combined else set()
    shown = [own for name, own in made.own.items() if name not in paper]
    for table in (*made.combined, *itertools.chain(*shown)):
        _show(table, std)
    for plain in made.plain:
        if plain.name not in ("datasets", "used_well"):
            _show_plain(plain)
    if not experiments:
        _say_missing(missing_tables(found), "Missing")
    kinds = tuple(FORMATS) if kind == "all" else (kind,)
    _say_written(
        write_tables(made, place.out, kinds=kinds, std=std, source=place.sentence)
    )


@click.command(epilog=f"NAME is one of {', '.join(FIGURES)}, or all.")
@click.argument("name", metavar="NAME", type=click.Choice([*FIGURES, "all"]))
@click.argument("experiments", nargs=-1, shell_complete=complete_experiments)
@_results_option
@_out_option
def plot(
    name: str,
    experiments: tuple[str, ...],
    reference: bool,
    results: Path,
    out: Path | None,
) -> None:
    """Draw a figure as PDF and PNG, with its numbers as CSV and its caption.

    EXPERIMENTS limit the drawing to some experiments. What cannot be drawn yet is
    named with the command that makes it.
    """
    from dataclasses import replace

    from symmf.reporting.plots.base import save

    found, place = _load(results, experiments, reference, out)
    written: list[Path] = []
    for each in FIGURES if name == "all" else (name,):
        gallery = draw(each, found)
        for drawing in gallery.drawings:
            if len(experiments) == 1 and not drawing.experiment:
                drawing = replace(drawing, experiment=experiments[0])
            written += save(drawing, place.out)
        if found.of_paper or name != "all":
            _say_missing(gallery.missing, "Not drawn")
    _say_written(written)


@click.command()
@click.argument("experiments", nargs=-1, shell_complete=complete_experiments)
@_results_option
@_out_option
def compare(
    experiments: tuple[str, ...], reference: bool, results: Path, out: Path | None
) -> None:
    """Set means beside published values, decide the paper's claims, test differences.

    Values and claims of the paper concern its reproduction; a study of one's own is
    set beside what its file gives as published, and tested by itself.
    """
    from symmf.reporting.selection.studies import own_studies
    from symmf.reporting.verdicts.write import write_paper, write_study

    found, place = _load(results, experiments, reference, out)
    folder, written = place.out / "verdicts", []
    if found.of_paper:
        _show_paper(found)
        written += write_paper(found, folder)
    for study in own_studies(found):
        words, paths = write_study(study, folder)
        say("\n".join([f"{study.title}:", *(f"  {text}" for text in words)]))
        written += paths
    say()
    _say_written(written)


def _show_paper(found: Results) -> None:
    """Print the verdicts on the paper's values and claims."""
    from symmf.reporting.verdicts import claims
    from symmf.reporting.verdicts import values as verdicts

    comparison = verdicts.compare(found)
    _show_counts(verdicts.by_row(comparison))
    total = verdicts.counts(comparison)
    parts = ", ".join(f"{n} {verdict}" for verdict, n in total.items())
    say(f"Published values: {parts}.\n")
    say(f"{'own setting':>18} | {'equal terms':<18} claim")
    for each in claims.ledger(found):
        equal = each.decision.equal_terms or "-"
        say(f"{each.verdict:>18} | {equal:<18} {each.claim.claim}")
        say(f"{'':>18} | {'':<18} {each.decision.evidence}")


@click.command()
@click.argument("experiments", nargs=-1, shell_complete=complete_experiments)
@_results_option
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page to write; default: report.html in the results folder.",
)
def report(
    experiments: tuple[str, ...], reference: bool, results: Path, out: Path | None
) -> None:
    """Write everything as one HTML page that needs no network.

    With EXPERIMENTS the page shows these alone: one's own are a study by themselves.
    """
    from symmf.experiment.store.layout import REPORT_FILE
    from symmf.reporting.page.render import write_report

    found, place = _load(results, experiments, reference, None)
    _say_written([write_report(found, out or place.out / REPORT_FILE)])


@click.command()
@click.option("--summary", is_flag=True, help="Write a summary of one page instead.")
@_results_option
@_out_option
def article(summary: bool, reference: bool, results: Path, out: Path | None) -> None:
    """Write the reproduction of the paper as an article, from the results alone.

    HTML and LaTeX with all figures, a PDF where LaTeX is installed; metadata, a
    manifest and questions to the paper's authors beside them. The default folder is
    "article" in the results folder.
    """
    from symmf.reporting.article.write import write_article

    found, place = _load(results, (), reference, None)
    if not found.of_paper:
        say("The article is about the paper, and no experiment of it was run.")
        say("Start: symmf run coil20")
        raise SystemExit(1)
    folder = out or place.out / "article"
    _say_written(write_article(found, folder, summary=summary))


def _load(
    results: Path, names: Sequence[str], reference: bool, out: Path | None
) -> tuple[Results, ResultsPlace]:
    """Read the results and say whose they are; return them and where to write.

    Without any experiment there is nothing to make: a sentence and exit code 1.
    """
    from dataclasses import replace

    from symmf.experiment.store.places import results_place
    from symmf.reporting.results import load_results

    place = results_place(results, reference=reference)
    found = load_results(place.folder, names)
    for text in found.problems:
        say(f"Note: {plain_text(text)}", err=True)
    if not found.experiments:
        say(f"There are no results in {place.folder}. Start: {FIRST_COMMAND}")
        raise SystemExit(1)
    say(place.sentence)
    return found, replace(place, out=out or place.out)


def _show(table: Table, std: bool) -> None:
    """Print a table, one data set at a time where the terminal is too narrow."""
    from symmf.reporting.tables.terminal import fitted

    place = console()
    for part in fitted(table, place.width, std=std):
        place.print(part)


def _show_plain(table: PlainTable) -> None:
    right = [h for h, a in zip(table.heads, table.align, strict=True) if a == "r"]
    show_table(table.heads, table.rows, right=right, title=table.title)
    say(table.notes[0] if table.notes else "")


def _show_counts(counts: pd.DataFrame) -> None:
    heads = [str(column) for column in counts.columns]
    rows = [[str(value) for value in line] for line in counts.itertuples(index=False)]
    show_table(heads, rows, right=heads[1:], title="Published values by row")


def _say_missing(missing: Sequence[Missing], word: str) -> None:
    for gap in missing:
        say(f"{word}: {gap.name}: {gap.reason}. To make it: {gap.command}")


def _say_written(paths: Sequence[Path]) -> None:
    """Name the files that were made; if none was, exit with 1."""
    for folder in dict.fromkeys(path.parent for path in paths):
        names = ", ".join(path.name for path in paths if path.parent == folder)
        say(f"Written to {folder}: {names}")
    if not paths:
        say("Nothing was written.")
        raise SystemExit(1)
