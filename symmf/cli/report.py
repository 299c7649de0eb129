"""``symmf tables``, ``plot``, ``compare`` and ``report``: read results, write pages."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from symmf.cli.options import (
    Folder,
    NewFile,
    complete_experiments,
    completer,
    plugin_option,
    results_option,
)
from symmf.cli.terminal import console, say, show_frame, show_table
from symmf.common.texts import plain_text
from symmf.common.validation import check_name
from symmf.reporting.plots.registry import FIGURES, draw

if TYPE_CHECKING:
    from symmf.experiment.store.places import ResultsPlace
    from symmf.reporting.results import Missing, Results
    from symmf.reporting.tables.model import Table


_FIGURES = [*FIGURES, "all"]
_experiments = click.argument(
    "experiments", nargs=-1, shell_complete=complete_experiments
)


def reads_results(
    *,
    named: bool = True,
    out: click.Path = Folder,
    default: str = "",
    help: str = "Folder to write to; default: the results folder.",
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Hand a command the results and their place, from options that all share.

    Parameters
    ----------
    named : bool
        Whether the command takes names of experiments.
    out, default, help
        What ``--out`` is, its default in the folder to write to, and its help.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @results_option
        @click.option(
            "--reference",
            is_flag=True,
            help="Read the committed study; default: your own runs, if there are any.",
        )
        @click.option("--out", type=out, help=help)
        @functools.wraps(command)
        def with_results(
            *,
            results: Path,
            reference: bool,
            out: Path | None,
            experiments: tuple[str, ...] = (),
            **own: Any,
        ) -> None:
            found, place = _load(results, experiments, reference)
            place = replace(place, out=out or place.out / default)
            command(
                found, place, **{"experiments": experiments} if named else {}, **own
            )

        return _experiments(with_results) if named else with_results

    return decorate


@click.command()
@click.option(
    "--format",
    "kind",
    type=click.Choice(["latex", "markdown", "csv", "all"]),
    default="all",
    show_default=True,
    help="Format of the files.",
)
@click.option("--std", is_flag=True, help="Add standard deviations.")
@plugin_option
@reads_results()
def tables(
    found: Results,
    place: ResultsPlace,
    experiments: tuple[str, ...],
    kind: str,
    std: bool,
) -> None:
    """Show and write the tables of scores.

    Parts of the paper's reproduction are combined into its tables; each experiment
    also gets its own. With EXPERIMENTS (names, or patterns such as 'mine_*') only
    theirs are shown and written; studies of your own are combined into one table.
    """
    from symmf.reporting.tables.formats import FORMATS
    from symmf.reporting.tables.model import missing_tables
    from symmf.reporting.tables.write import make_tables, write_tables

    made = make_tables(found)
    paper = {e.name for e in found.of_paper} if made.combined else set()
    shown = [own for name, own in made.own.items() if name not in paper]
    for table in (*made.combined, *itertools.chain(*shown)):
        _show(table, std)
    for plain in made.plain:
        if plain.name not in ("datasets", "used_well"):
            right = [
                h for h, a in zip(plain.heads, plain.align, strict=True) if a == "r"
            ]
            show_table(plain.heads, plain.rows, right=right, title=plain.title)
            say(plain.notes[0] if plain.notes else "")
    if not experiments:
        _say_missing(missing_tables(found), "Missing")
    kinds = tuple(FORMATS) if kind == "all" else (kind,)
    _say_written(
        write_tables(made, place.out, kinds=kinds, std=std, source=place.sentence)
    )


@click.command(epilog=f"NAME is one of {', '.join(FIGURES)}, or all.")
@click.argument(
    "name",
    shell_complete=completer(lambda _: _FIGURES),
    callback=lambda _context, _option, name: check_name("figure", name, _FIGURES),
)
@reads_results()
def plot(
    found: Results, place: ResultsPlace, experiments: tuple[str, ...], name: str
) -> None:
    """Draw a figure as PDF and PNG, with its numbers as CSV and its caption.

    EXPERIMENTS limit the drawing to some experiments. For what cannot be drawn yet,
    the command that makes it is shown.
    """
    from symmf.reporting.plots.base import save

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
@reads_results()
def compare(found: Results, place: ResultsPlace, **_: object) -> None:
    """Compare means with published values, check the paper's claims, test differences.

    The paper's values and claims are compared with its reproduction. A study of your
    own is compared with the published values in its file, and tested separately.
    """
    from symmf.reporting.selection.studies import own_studies
    from symmf.reporting.verdicts.write import write_paper, write_study

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
    show_frame(verdicts.by_row(comparison), title="Published values by row")
    total = verdicts.counts(comparison)
    parts = ", ".join(f"{n} {verdict}" for verdict, n in total.items())
    say(f"Published values: {parts}.\n")
    header = ["own setting", "equal terms", "claim", "evidence"]
    ledger = [
        (c.verdict, c.decision.equal_terms or "-", c.claim.claim, c.decision.evidence)
        for c in claims.ledger(found)
    ]
    show_table(header, ledger, wide=header[2:])


@click.command()
@reads_results(
    out=NewFile,
    default="report.html",
    help="The page to write; default: report.html in the results folder.",
)
def report(found: Results, place: ResultsPlace, **_: object) -> None:
    """Write all results as one HTML page that needs no network access.

    With EXPERIMENTS the page shows only these. Without experiments of the paper it
    shows only studies of your own.
    """
    from symmf.reporting.page.render import write_report

    _say_written([write_report(found, place.out)])


@click.command()
@click.option("--summary", is_flag=True, help="Write a summary of one page instead.")
@reads_results(
    named=False,
    default="article",
    help="Folder to write to; default: article in the results folder.",
)
def article(found: Results, place: ResultsPlace, summary: bool, **_: object) -> None:
    """Write the reproduction of the paper as an article, from the results alone.

    It consists of HTML and LaTeX with all figures, a PDF if LaTeX is installed,
    metadata, a manifest and questions to the paper's authors.
    """
    from symmf.reporting.article.write import write_article

    if not found.of_paper:
        _end(
            "The article is about the paper, and no experiment of it was run. "
            "Start: symmf run coil20"
        )
    _say_written(write_article(found, place.out, summary=summary))


def _load(
    results: Path, names: Sequence[str], reference: bool
) -> tuple[Results, ResultsPlace]:
    """Read the results and say whose they are; return them and where to write.

    Without any experiment there is nothing to make: a sentence and exit code 1.
    """
    from symmf.experiment.store.places import results_place
    from symmf.reporting.results import load_results

    place = results_place(results, reference=reference)
    found = load_results(place.folder, names)
    for text in found.problems:
        say(f"Note: {plain_text(text)}", err=True)
    if not found.experiments:
        _end(f"There are no results in {place.folder}. Start: symmf run quickstart")
    say(place.sentence)
    return found, place


def _show(table: Table, std: bool) -> None:
    """Print a table, one data set at a time where the terminal is too narrow."""
    from symmf.reporting.tables.terminal import fitted

    place = console()
    for part in fitted(table, place.width, std=std):
        place.print(part)


def _say_missing(missing: Sequence[Missing], word: str) -> None:
    for gap in missing:
        say(f"{word}: {gap.name}: {gap.reason}. To make it: {gap.command}")


def _say_written(paths: Sequence[Path]) -> None:
    """Name the files that were made; if none was, exit with 1."""
    for folder in dict.fromkeys(path.parent for path in paths):
        names = ", ".join(path.name for path in paths if path.parent == folder)
        say(f"Written to {folder}: {names}")
    if not paths:
        _end("Nothing was written.")


def _end(why: str) -> NoReturn:
    """Say why there is nothing to make, and end with exit code 1."""
    say(why)
    raise SystemExit(1)
