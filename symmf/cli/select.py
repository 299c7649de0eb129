"""``symmf select``: how many clusters, and which lambda, with the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symmf.cli.cluster import reading_options, take_reading
from symmf.cli.terminal import say, say_prose, show_notes, stages_on_terminal

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
    help="A Laplacian weight to compare; repeat it.",
)
@reading_options
@click.option(
    "--standardize/--no-standardize",
    default=None,
    help="Bring columns to mean 0 and deviation 1, or leave them as they are.",
)
@click.option("--similarity", metavar="NAME", help="See symmf methods.")
@click.option("--precomputed", is_flag=True, help="FILE is the similarity itself.")
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the evidence (.png, .svg or .pdf).",
)
@click.option("--seed", type=int, default=0, show_default=True)
def select(
    file: Path, least: int, most: int, weights: tuple[float, ...], **options: Any
) -> None:
    """Recommend a number of clusters for FILE, and show the evidence.

    FILE is anything that symmf cluster reads. No rule is always right: the
    recommendation says how often its rule was.

    \b
    symmf select customers.csv --standardize
    symmf select notes.txt --to 30 --plot evidence.png
    symmf select customers.csv --lambda 0 --lambda 0.5 --lambda 2
    """  # noqa: D301 - click reads the backspace as "keep these lines"
    from symmf.app.choice import select_for
    from symmf.app.request import Request, make_task_of
    from symmf.errors import InputError

    plot, seed = options.pop("plot"), options.pop("seed")
    reading = take_reading(options)
    if not 2 <= least <= most:
        raise InputError(f"--from {least} --to {most}: 2 <= from <= to is needed.")
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InputError(f"--plot {plot} must end in .png, .svg or .pdf.")
    request = Request(file=file, k="auto", reading=reading, **options)
    given = {"similarity": request.similarity} if request.similarity else {}
    if request.precomputed:
        given = {"similarity": "precomputed"}
    try:
        with stages_on_terminal() as stages:
            with stages("reading"):
                task = make_task_of(request)
            with stages("comparing numbers of clusters"):
                found = select_for(
                    task,
                    parameters=given,
                    n_clusters=range(least, most + 1),
                    laplacian_weight=weights or None,
                    seed=seed,
                )
    except MemoryError as error:
        raise InputError(f"{file}: there is not enough memory for this.") from error
    show_notes([*task.data.notes, *task.notes], task.data.warnings)
    _show(found)
    parts = ", ".join(f"{name} {value:.1f}" for name, value in stages.seconds.items())
    say(f"seconds: {sum(stages.seconds.values()):.1f} ({parts})")
    if plot is not None:
        _draw(found, plot)
        say(f"Wrote {plot}")


def _show(found: Selection) -> None:
    from symmf.cli.terminal import show_table

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
    show_table(header, rows, right=header[:4])
    if found.weights is not None:
        say()
        names = list(found.weights.columns)
        cells = [
            [
                f"{value:.4g}" if isinstance(value, float) else str(value)
                for value in row
            ]
            for row in found.weights.itertuples(index=False)
        ]
        show_table([str(name) for name in names], cells, right=[str(n) for n in names])
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
