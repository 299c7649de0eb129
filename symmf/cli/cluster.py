"""``symmf cluster``: any data in, clusters and the evidence for them out."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symmf.cli.options import (
    NewFile,
    complete_constraints,
    complete_methods,
    data_options,
)
from symmf.cli.terminal import (
    say,
    say_prose,
    show_notes,
    show_table,
    show_times,
    stages_on_terminal,
)
from symmf.errors import InputError

if TYPE_CHECKING:
    from symmf.app.answer import Answer
    from symmf.app.groups import Group
    from symmf.app.request import Request


def _parse_clusters(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> int | str | None:
    """Return a whole number of clusters, "auto", or None if nothing was given."""
    if text is None or text.strip().lower() == "auto":
        return text and "auto"
    try:
        k = int(text)
    except ValueError:
        k = 0
    if k < 1:
        raise InputError(f"-k is a whole number of at least 1, or auto, not {text!r}.")
    return k


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-k",
    "--clusters",
    "k",
    metavar="K|auto",
    callback=_parse_clusters,
    help="Number of clusters; auto (the default) chooses it.",
)
@data_options
@click.option("--out", type=NewFile, help="Write the clusters (.csv or .npy).")
@click.option(
    "--keep-columns", "keep", is_flag=True, help="Write all columns of the table too."
)
@click.option("--report", type=NewFile, help="Write an HTML page about the clusters.")
@click.option("--save", type=NewFile, help="Save the model (.npz) for new samples.")
@click.option(
    "--model", type=NewFile, help="Assign the samples of FILE with a saved model."
)
@click.option("--factor", type=NewFile, help="Write the factor H (.csv or .npy).")
@click.option(
    "--method",
    metavar="NAME",
    default="symmf",
    show_default=True,
    shell_complete=complete_methods,
    help="Method; see symmf methods.",
)
@click.option("--lambda", "weight", type=float, help="Laplacian weight (symmf).")
@click.option(
    "--constraint",
    metavar="NAME",
    shell_complete=complete_constraints,
    help="Constraint on H (symmf).",
)
@click.option(
    "--stability/--no-stability",
    default=True,
    help="Cluster parts of the data again, to see whether the clusters are stable.",
)
@click.option(
    "--noise", is_flag=True, help="Put outliers into no cluster: label -1 (symmf)."
)
@click.option(
    "--refine",
    is_flag=True,
    help="Refine the clusters of a table by Gaussian mixtures (symmf).",
)
@click.option(
    "--verbose",
    is_flag=True,
    help="Also show the error and the iterations of the solver.",
)
@click.option(
    "--dask",
    metavar="ADDRESS|local",
    help="Leave the rows on the workers of a dask cluster, or of this machine. FILE "
    "is a folder of Parquet or NPY files, or a Zarr store.",
)
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="Any other parameter of the method; may be repeated.",
)
def cluster(file: Path, verbose: bool, **options: Any) -> None:
    """Cluster the rows of FILE, and show how far the clusters can be trusted.

    FILE is a table (CSV, TSV, Parquet, Excel), an array (NPY, NPZ, MAT, HDF5, Matrix
    Market; sparse ones too), a text with one document per line, a list of edges, a
    folder of images, or - for a table from standard input. Clusters are numbered from
    0, the largest first.

    \b
    symmf cluster customers.csv --id customer --out clusters.csv
    symmf cluster customers.csv -k 4 --standardize --report page.html
    symmf cluster notes.txt -k 10 --format text
    symmf cluster photos/ -k 6 --report page.html
    symmf cluster friends.csv --format edges -k auto
    symmf cluster customers.csv -k 4 --save model.npz
    symmf cluster new.csv --model model.npz --out new_clusters.csv
    symmf cluster measured/ -k 8 --dask tcp://HOST:8786 --out clusters.csv
    symmf cluster iris.csv -k 3 --labels species --method spectral
    """  # noqa: D301 - click reads the backspace as "keep these lines"
    from symmf.app.request import make_request

    request = make_request(file, options)
    if request.dask is not None:
        written = _cluster_on_dask(request)
    elif request.model is not None:
        written = _assign(request)
    else:
        written = _cluster(request, verbose=verbose)
    for path in written:
        say(f"Wrote {path}")
    if request.out is None:
        say("The clusters were not written; use --out clusters.csv to keep them.")


def _cluster(request: Request, *, verbose: bool) -> list[Path]:
    """Make and show a clustering; return the files written."""
    from symmf.app.request import run_request

    with stages_on_terminal() as stages:
        command = f"symmf {shlex.join(sys.argv[1:])}"
        found, written = run_request(request, stages, command)
    _show_answer(request.name, found)
    if verbose:
        _show_facts(_about_solver(found.model))
    show_times(stages)
    return written


def _assign(request: Request) -> list[Path]:
    """Assign new samples with a saved model; return the files written."""
    from symmf.app.answer import scores_against
    from symmf.app.request import apply_model

    data, labels, written = apply_model(request)
    show_notes(data.notes, data.warnings)
    say(f"{request.name}: {data.n} new samples")
    _show_sizes(labels)
    _show_facts(_scores(scores_against(data.y, labels)))
    return written


def _cluster_on_dask(request: Request) -> list[Path]:
    """Make and show a clustering on a dask cluster; return the files written."""
    from symmf.app.on_dask import cluster_on_dask

    with stages_on_terminal() as stages:
        rows, model, warnings, written = cluster_on_dask(request, stages)
    show_notes([], warnings)
    # How many rows a Parquet file has is known when they are read.
    n, m, blocks = len(model.labels_), rows.X.shape[1], rows.X.numblocks[0]
    say(f"{request.name}: {n} samples, {m} features in {blocks} blocks; symmf")
    _show_sizes(model.labels_)
    show_times(stages)
    return written


def _show_sizes(labels: Any, about: Sequence[str] = ()) -> None:
    """Print the size of each cluster, and what is in it."""
    import numpy as np

    header, n = ["cluster", "samples", "share"], len(labels)
    sizes = np.bincount(labels[labels >= 0], minlength=len(about)).tolist()
    rows = [[str(c), str(size), f"{size / n:.1%}"] for c, size in enumerate(sizes)]
    if about:
        rows = [[*row, text] for row, text in zip(rows, about, strict=True)]
        header.append("about")
    show_table(header, rows, wide=("about",), right=header[:3])


def _show_answer(name: str, found: Answer) -> None:
    show_notes(found.notes, found.warnings)
    say(f"{name}: {found.task.shape}; {found.task.method}")
    _show_sizes(found.labels, [_about(found, group) for group in found.groups])
    for sentence in (found.evidence.sentence, found.evidence.number):
        if sentence:
            say_prose(sentence)
    _show_facts(_facts(found))


def _about(found: Answer, group: Group) -> str:
    if group.terms:
        return ", ".join(group.terms)
    if group.traits:
        return ", ".join(
            f"{t.name} {t.shown} ({t.shown_off})" for t in group.traits[:3]
        )
    typical = ", ".join(found.ids[i] for i in group.typical[:3])
    return f"typical: {typical}" if typical else ""


def _facts(found: Answer) -> list[tuple[str, str]]:
    """Return name and value of what was measured."""
    evidence, facts = found.evidence, []
    silhouettes = {
        "in the data": evidence.silhouette,
        "in the embedding": evidence.silhouette_of_h,
    }
    each = ", ".join(f"{v:.2f} {w}" for w, v in silhouettes.items() if v is not None)
    if each:
        facts.append(("silhouette", each))
    if found.cut is not None:
        facts.append(("neighbours in other clusters", f"{found.cut:.0%}"))
    if found.outliers is not None:
        facts.append(("outliers", str(int(found.outliers.sum()))))
    return [*facts, *_scores(found.scores)]


def _scores(scores: dict[str, float]) -> list[tuple[str, str]]:
    return [(name, f"{value:.4f}") for name, value in scores.items()]


def _about_solver(model: Any) -> list[tuple[str, str]]:
    """Return name and value of what a solver reports."""
    fitted = vars(model)
    names = {
        "objective_": "objective",
        "inertia_": "objective",
        "error_": "relative error",
    }
    facts = [(names[key], f"{fitted[key]:.6g}") for key in names if key in fitted]
    stop = f" ({fitted['stop_']})" if "stop_" in fitted else ""
    return [*facts, ("iterations", f"{model.n_iter_}{stop}")]


def _show_facts(facts: Sequence[tuple[str, str]]) -> None:
    for name, value in facts:
        say(f"{name}: {value}")
