"""``symmf cluster`` and ``symmf methods``: the methods on a user's own data."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from symmf.cli._cluster_run import Outcome

_output = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-k", "--clusters", "k", type=int, required=True, help="How many.")
@click.option("--method", default="symmf", show_default=True, help="See symmf methods.")
@click.option("--lambda", "weight", type=float, help="Laplacian weight (symmf).")
@click.option("--similarity", help="How similarities are built; see symmf methods.")
@click.option("--constraint", help="The set H lies in (symmf).")
@click.option("--precomputed", is_flag=True, help="FILE is the similarity itself.")
@click.option(
    "--labels", help="Known classes: a column or variable of FILE, or another file."
)
@click.option("--variable", help="Which array of an NPZ, MAT or HDF5 file.")
@click.option(
    "--header/--no-header",
    default=None,
    help="Whether a text has a line of names; by default it is looked at.",
)
@click.option("--out", type=_output, help="Write the clusters here (.csv or .npy).")
@click.option("--factor", type=_output, help="Write H here (.csv or .npy).")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="Any other parameter of the method; may be repeated.",
)
def cluster(file: Path, k: int, out: Path | None, **options: Any) -> None:
    r"""Cluster the rows of FILE into K clusters.

    FILE is CSV, TSV, NPY, NPZ (dense or scipy sparse), MAT, HDF5 or Matrix Market, one
    sample per row. Clusters are numbered from 0.

    \b
    symmf cluster measurements.csv -k 5 --out clusters.csv
    symmf cluster iris.csv -k 3 --labels species
    symmf cluster COIL20.mat -k 20 --labels gnd --method spectral
    symmf cluster graph.mtx -k 4 --precomputed --method symnmf --factor H.npy
    symmf cluster text.npz -k 10 --lambda 0 --set n_init=50
    """
    from symmf.cli._cluster_run import check_request, run_request, write_files

    request = check_request(file=file, k=k, out=out, **options)
    outcome = run_request(request)
    _show_outcome(outcome)
    for path in write_files(request, outcome):
        click.echo(f"Wrote {path}")
    if out is None:
        click.echo(
            "The clusters were not written; use --out clusters.csv to keep them."
        )


def _show_outcome(outcome: Outcome) -> None:
    for warning in outcome.warnings:
        click.echo(f"Warning: {warning}", err=True)
    click.echo(outcome.title)
    header = ["cluster", "samples", "share"]
    rows = [
        [str(number), str(size), f"{size / outcome.n:.1%}"]
        for number, size in enumerate(outcome.sizes)
    ]
    _show_table(header, rows)
    for name, value in outcome.facts:
        click.echo(f"{name}: {value}")


@click.command()
@click.argument("name", required=False)
def methods(name: str | None) -> None:
    """List every method: parameters, defaults, meaning and reference.

    With NAME, that method alone.
    """
    from symmf.cli._cluster_run import method_class
    from symmf.cli._describe import describe
    from symmf.clustering import METHODS

    chosen = {name: method_class(name)} if name else METHODS
    for key, kind in chosen.items():
        about = describe(kind)
        reference = about.reference or _REFERENCES.get(key, "")
        click.secho(f"{key}: {about.summary}", bold=True)
        rows = [[p.name, p.default, p.meaning] for p in about.parameters]
        _show_table(["parameter", "default", "meaning"], rows)
        click.echo(f"Reference: {reference}\n")
    if name is None:
        _show_lists()


# scikit-learn's docstring names no source.
_REFERENCES = {
    "kmeans": 'S. Lloyd, "Least squares quantization in PCM", IEEE Trans. Inf. Theory '
    "28, 1982; the implementation is scikit-learn's."
}


def _show_lists() -> None:
    """Name what the parameters similarity, solver and constraint can be."""
    from symmf.cli._describe import describe
    from symmf.constraints import CONSTRAINTS
    from symmf.similarity import SIMILARITIES
    from symmf.solvers import SOLVERS

    similarities = [
        [name, describe(build).summary] for name, build in SIMILARITIES.items()
    ]
    _show_table(["similarity", "meaning"], similarities)
    click.echo()
    solvers = [[name, kind.title, kind.reference] for name, kind in SOLVERS.items()]
    _show_table(["solver", "title", "reference"], solvers)
    click.echo()
    sets = [[name, kind.meaning] for name, kind in CONSTRAINTS.items()]
    _show_table(["constraint", "meaning"], sets)


def _show_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table that fits the terminal, or one line per row for a pipe."""
    if not sys.stdout.isatty():
        for row in [header, *rows]:
            click.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in header:
        table.add_column(title, no_wrap=title not in ("meaning", "reference"))
    for row in rows:
        table.add_row(*map(escape, row))
    Console().print(table)
