"""``symmf select``: how many clusters, and which lambda, with the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symmf.cli.options import NewFile, data_options
from symmf.cli.terminal import (
    say,
    say_prose,
    show_notes,
    show_table,
    show_times,
    stages_on_terminal,
)

if TYPE_CHECKING:
    from symmf.clustering.symmf.select import Selection


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--from", "least", type=int, default=2, show_default=True, help="Smallest K."
)
@click.option(
    "--to", "most", type=int, default=20, show_default=True, help="Largest K."
)
@click.option(
    "--lambda",
    "weights",
    type=float,
    multiple=True,
    help="A Laplacian weight to compare; may be repeated.",
)
@data_options
@click.option("--plot", type=NewFile, help="Draw the evidence (.png, .svg or .pdf).")
def select(
    file: Path,
    least: int,
    most: int,
    weights: tuple[float, ...],
    plot: Path | None,
    seed: int,
    **options: Any,
) -> None:
    """Recommend a number of clusters for FILE, and show the evidence.

    FILE is anything that symmf cluster reads. No rule is always right: the
    recommendation says how often such agreement of rules was right.

    \b
    symmf select customers.csv --standardize
    symmf select notes.txt --to 30 --plot evidence.png
    symmf select customers.csv --lambda 0 --lambda 0.5 --lambda 2
    """  # noqa: D301 - click reads the backspace as "keep these lines"
    from symmf.app.choice import select_for
    from symmf.app.request import enough_memory, make_request, make_task_of
    from symmf.errors import InputError

    if not 2 <= least <= most:
        raise InputError(f"--from {least} --to {most}: 2 <= from <= to is needed.")
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InputError(f"--plot {plot} must end in .png, .svg or .pdf.")
    request = make_request(file, options)
    similarity = "precomputed" if request.precomputed else request.similarity
    with enough_memory(request), stages_on_terminal() as stages:
        with stages("reading"):
            task = make_task_of(request)
        with stages("comparing numbers of clusters"):
            found = select_for(
                task,
                parameters={"similarity": similarity} if similarity else {},
                n_clusters=range(least, most + 1),
                laplacian_weight=weights or None,
                seed=seed,
            )
    show_notes([*task.data.notes, *task.notes], task.data.warnings)
    _show(found)
    show_times(stages)
    if plot is not None:
        _draw(found, plot)
        say(f"Wrote {plot}")


def _show(found: Selection) -> None:
    chosen: dict[int, list[str]] = {}
    for rule, k in found.by_rule.items():
        chosen.setdefault(k, []).append(rule)
    rows = [
        [
            str(row["n_clusters"]),
            f"{row['score']:.3f}",
            f"{row['silhouette']:.3f}",
            "" if row["stability"] != row["stability"] else f"{row['stability']:.3f}",
            ", ".join(chosen.get(row["n_clusters"], [])),
        ]
        for row in found.table.to_dict("records")
    ]
    header = ["K", "score", "silhouette", "stability", "best by"]
    show_table(header, rows, wide=header[4:], right=header[:4])
    if found.weights is not None:
        say()
        names = [str(name) for name in found.weights.columns]
        lines = found.weights.itertuples(index=False)
        cells = [[f"{value:.4g}" for value in line] for line in lines]
        show_table(names, cells, right=names)
        say(f"lambda: {found.laplacian_weight:g} is recommended.")
    say()
    say_prose(found.recommendation)


def _draw(found: Selection, path: Path) -> None:
    import io

    from symmf.common.files import write_bytes

    out = io.BytesIO()
    figure: Any = found.plot().figure
    figure.savefig(out, format=path.suffix.lower()[1:], dpi=150)
    write_bytes(path, out.getvalue())
