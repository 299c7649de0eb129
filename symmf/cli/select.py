"""``symmf select``: how many clusters, and which lambda, with the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symmf.cli.options import NewFile, data_options
from symmf.cli.terminal import (
    say,
    say_prose,
    show_frame,
    show_notes,
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
    from symmf.app.request import check_request, make_request, make_task_of
    from symmf.errors import InputError

    if not 2 <= least <= most:
        raise InputError(f"--from {least} --to {most}: 2 <= from <= to is needed.")
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InputError(f"--plot {plot} must end in .png, .svg or .pdf.")
    request = make_request(file, options)
    _, parameters = check_request(request)
    with stages_on_terminal() as stages:
        with stages("reading"):
            task = make_task_of(request)
        with stages("comparing numbers of clusters"):
            found = select_for(
                task,
                parameters=parameters,
                n_clusters=range(least, most + 1),
                laplacian_weight=weights or None,
                seed=seed,
            )
    show_notes([*task.data.notes, *task.notes], task.data.warnings)
    _show(found)
    show_times(stages)
    if plot is not None:
        from symmf.common.figures import figure_bytes
        from symmf.common.files import write_bytes

        figure: Any = found.plot().figure
        write_bytes(plot, figure_bytes(figure, plot.suffix.lower()[1:]))
        say(f"Wrote {plot}")


def _show(found: Selection) -> None:
    measures = found.table[["score", "silhouette", "stability"]]
    frame = measures.map("{:.3f}".format).replace("nan", "")
    frame.insert(0, "K", found.table["n_clusters"])
    frame["best by"] = [
        ", ".join(rule for rule, best in found.by_rule.items() if best == k)
        for k in frame["K"]
    ]
    show_frame(frame, wide=["best by"], right=list(frame.columns[:-1]))
    if found.weights is not None:
        say()
        show_frame(
            found.weights.map("{:.4g}".format), right=list(found.weights.columns)
        )
        say(f"lambda: {found.laplacian_weight:g} is recommended.")
    say()
    say_prose(found.recommendation)
