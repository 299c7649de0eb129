"""``symmf cluster``: any data in, clusters and the evidence for them out."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symmf.cli.terminal import say, say_prose, show_notes, stages_on_terminal

if TYPE_CHECKING:
    from symmf.app.answer import Answer
    from symmf.app.groups import Group
    from symmf.app.on_dask import DistributedAnswer

_output = click.Path(dir_okay=False, path_type=Path)
_READING = (
    *("header", "labels", "variable", "format", "id", "columns", "drop"),
    *("missing", "categories", "encoding", "decimal", "separator", "stop_words"),
    *("keep", "image_side"),
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how FILE is read."""
    options = [
        click.option(
            "--format",
            metavar="WHAT",
            help="table, text (a document per line), edges, images or array; by "
            "default the name of FILE tells.",
        ),
        click.option("--id", metavar="COLUMN", help="Column with names of the rows."),
        click.option(
            "--columns",
            metavar="NAMES",
            multiple=True,
            help="Use these columns only; separated by commas, or repeated.",
        ),
        click.option(
            "--drop", metavar="NAMES", multiple=True, help="Leave these columns out."
        ),
        click.option(
            "--labels",
            metavar="NAME",
            help="Known classes, to compare with: a column or variable of FILE, or "
            "another file.",
        ),
        click.option(
            "--header/--no-header",
            default=None,
            help="Whether line 1 has names of columns; by default it is looked at.",
        ),
        click.option(
            "--missing",
            type=click.Choice(["median", "drop", "error"]),
            default="median",
            show_default=True,
            help="Missing values: fill them, leave out rows that have any, or refuse.",
        ),
        click.option(
            "--categories",
            type=click.Choice(["one-hot", "drop", "error"]),
            default="one-hot",
            show_default=True,
            help="Columns of words: use them, leave them out, or refuse.",
        ),
        click.option(
            "--separator",
            metavar="SIGN",
            help="What stands between cells: ';', '|', tab, space; by default it is "
            "detected.",
        ),
        click.option(
            "--stop-words",
            type=click.Choice(["english", "none"]),
            help="Leave out the commonest words of English texts; by default if the "
            "texts are English.",
        ),
        click.option(
            "--encoding", metavar="NAME", help="Of a text: utf-8, latin-1, cp1252, ..."
        ),
        click.option(
            "--decimal", metavar="SIGN", help="Decimal sign: '.' or ','. It is seen."
        ),
        click.option(
            "--variable", metavar="NAME", help="Which array of a file, which sheet."
        ),
        click.option(
            "--image-size",
            "image_side",
            type=int,
            default=32,
            show_default=True,
            help="Pixels along a side to which images are brought.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-k",
    "--clusters",
    "k",
    default="",
    metavar="K|auto",
    help="How many clusters; auto (the default) chooses.",
)
@reading_options
@click.option(
    "--standardize/--no-standardize",
    default=None,
    help="Bring columns to mean 0 and deviation 1, or leave them without a warning.",
)
@click.option("--out", type=_output, help="Write the clusters here (.csv or .npy).")
@click.option(
    "--keep-columns", "keep", is_flag=True, help="Write all columns of the table too."
)
@click.option("--report", type=_output, help="Write a page to show (.html).")
@click.option("--save", type=_output, help="Keep the model (.npz) for new samples.")
@click.option("--model", type=_output, help="Put FILE into the clusters of a model.")
@click.option("--factor", type=_output, help="Write H here (.csv or .npy).")
@click.option("--method", default="symmf", show_default=True, help="See symmf methods.")
@click.option("--lambda", "weight", type=float, help="Laplacian weight (symmf).")
@click.option("--similarity", metavar="NAME", help="See symmf methods.")
@click.option("--constraint", metavar="NAME", help="The set H lies in (symmf).")
@click.option("--precomputed", is_flag=True, help="FILE is the similarity itself.")
@click.option(
    "--stability/--no-stability",
    default=True,
    help="Cluster parts of the data again, to see whether clusters last.",
)
@click.option(
    "--noise", is_flag=True, help="Put rows that lie apart into no cluster, -1 (symmf)."
)
@click.option(
    "--refine",
    is_flag=True,
    help="Let mixtures of Gaussians refine the clusters of a table (symmf).",
)
@click.option("--verbose", is_flag=True, help="Say how the solver went, too.")
@click.option(
    "--dask",
    metavar="ADDRESS|local",
    help="FILE is a folder of Parquet or NPY files or a Zarr store; workers of a dask "
    "cluster, or of this machine, read it and keep its rows.",
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="Any other parameter of the method; may be repeated.",
)
def cluster(file: Path, **options: Any) -> None:
    """Cluster the rows of FILE, and say why to believe it.

    FILE is a table (CSV, TSV, Parquet, Excel), an array (NPY, NPZ, MAT, HDF5, Matrix
    Market; sparse ones too), a text with a document per line, a list of edges, a folder
    of images, or - for a table through standard input. Clusters are numbered from 0,
    the largest first.

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
    from symmf.app.request import (
        Request,
        apply_model,
        run_request,
        write_answer,
        write_clusters,
    )

    reading, verbose = take_reading(options), options.pop("verbose")
    request = Request(file=file, reading=reading, **options)
    if request.dask is not None:
        from dataclasses import replace

        from symmf.app.on_dask import cluster_on_dask, write_distributed

        distributed = cluster_on_dask(replace(request, k=request.k or "auto"))
        _show_distributed(request.name, distributed)
        written = write_distributed(request, distributed)
    elif request.model is not None:
        data, labels = apply_model(request)
        _show_counts(request.name, data, labels)
        written = write_clusters(request, data, labels)
    else:
        if not request.k:
            request = Request(file=file, reading=reading, **{**options, "k": "auto"})
        with stages_on_terminal() as stages:
            found = run_request(request, stages)
            command = f"symmf {shlex.join(sys.argv[1:])}"
            with stages("writing"):
                written = write_answer(request, found, command)
        _show_answer(request.name, found, verbose=verbose)
    for path in written:
        say(f"Wrote {path}")
    if request.out is None:
        say("The clusters were not written; use --out clusters.csv to keep them.")


def take_reading(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of reading out of all options."""
    reading = {name: options.pop(name) for name in _READING if name in options}
    for name in ("columns", "drop"):
        reading[name] = [
            piece.strip()
            for given in reading.get(name, ())
            for piece in given.split(",")
            if piece.strip()
        ]
    return reading


def _show_answer(name: str, found: Answer, *, verbose: bool) -> None:
    from symmf.cli.terminal import show_table
    from symmf.common.texts import plain_text

    task = found.task
    show_notes(
        [*task.data.notes, *task.notes],
        [*task.data.warnings, *found.warnings],
    )
    say(plain_text(f"{name}: {_shape(found)}; {task.method}"))
    rows = [
        [
            str(group.number),
            str(group.size),
            f"{group.size / len(found.labels):.1%}",
            _about(found, group),
        ]
        for group in found.groups
    ]
    header = ["cluster", "samples", "share", "about"]
    show_table(header, rows, wide=("about",), right=("cluster", "samples", "share"))
    for sentence in (found.evidence.sentence, found.evidence.number):
        if sentence:
            say_prose(sentence)
    for label, value in _facts(found, verbose=verbose):
        say(f"{label}: {value}")


def _shape(found: Answer) -> str:
    from scipy import sparse

    data, n = found.task.data, len(found.labels)
    if data.kind == "documents":
        return f"{n} documents, {len(found.task.terms)} terms"
    if data.kind == "images":
        return f"{n} images"
    if data.kind == "graph":
        return f"{n} nodes, {data.X.nnz // 2} edges"
    stored = ", sparse" if sparse.issparse(data.X) else ""
    square = found.model.get_params().get("similarity") == "precomputed"
    what = "similarity" if square else f"{data.X.shape[1]} features"
    return f"{n} samples, {what}{stored}"


def _about(found: Answer, group: Group) -> str:
    from symmf.app.groups import shown_number

    if group.terms:
        return ", ".join(group.terms)
    if group.traits:
        return ", ".join(
            f"{n} {shown_number(mean)} ({off:+.1f})"
            for n, mean, off in group.traits[:3]
        )
    typical = ", ".join(found.ids[i] for i in group.typical[:3])
    return f"typical: {typical}" if typical else ""


def _facts(found: Answer, *, verbose: bool) -> list[tuple[str, str]]:
    """Name and value of what is measured; how the solver went only if asked for."""
    evidence, model = found.evidence, found.model
    silhouettes = {
        "in the data": evidence.silhouette,
        "in the embedding": evidence.silhouette_of_h,
    }
    each = ", ".join(f"{v:.2f} {w}" for w, v in silhouettes.items() if v is not None)
    facts = [("silhouette", each)] if each else []
    if found.cut is not None:
        facts.append(("neighbours in other clusters", f"{found.cut:.0%}"))
    if found.outliers is not None:
        facts.append(("samples that lie apart", str(int(found.outliers.sum()))))
    facts += [(name, f"{value:.4f}") for name, value in found.scores.items()]
    if verbose:
        objective = getattr(model, "objective_", getattr(model, "inertia_", None))
        if objective is not None:
            facts.append(("objective", f"{objective:.6g}"))
        if hasattr(model, "error_"):
            facts.append(("relative error", f"{model.error_:.6g}"))
        stop = f" ({model.stop_})" if hasattr(model, "stop_") else ""
        facts.append(("iterations", f"{model.n_iter_}{stop}"))
    parts = ", ".join(f"{name} {value:.1f}" for name, value in found.seconds.items())
    return [*facts, ("seconds", f"{sum(found.seconds.values()):.1f} ({parts})")]


def _show_distributed(name: str, found: DistributedAnswer) -> None:
    import numpy as np

    from symmf.cli.terminal import show_table
    from symmf.common.texts import plain_text

    model = found.model
    show_notes([], found.warnings)
    n, m = len(model.labels_), model.n_features_in_
    blocks = found.data.X.numblocks[0]
    say(plain_text(f"{name}: {n} samples, {m} features in {blocks} blocks; symmf"))
    header = ["cluster", "samples", "share"]
    counts = np.bincount(model.labels_)
    rows = [[str(c), str(size), f"{size / n:.1%}"] for c, size in enumerate(counts)]
    show_table(header, rows, right=header)
    say(f"seconds: {found.seconds:.2f}")


def _show_counts(name: str, data: Any, labels: Any) -> None:
    import numpy as np

    from symmf.cli.terminal import show_table
    from symmf.common.texts import plain_text
    from symmf.metrics import METRICS

    show_notes(data.notes, data.warnings)
    say(plain_text(f"{name}: {data.n} new samples"))
    counts = np.bincount(labels)
    rows = [[str(c), str(n), f"{n / data.n:.1%}"] for c, n in enumerate(counts)]
    show_table(
        ["cluster", "samples", "share"], rows, right=("cluster", "samples", "share")
    )
    if data.y is not None:
        for key in ("ac", "nmi", "ari"):
            score = METRICS[key].function(data.y, labels)
            say(f"{METRICS[key].title}: {score:.4f}")
