"""``symmf methods``: what can cluster, and with which parameters."""

from __future__ import annotations

import click

from symmf.cli._say import say


@click.command()
@click.argument("name", required=False)
def methods(name: str | None) -> None:
    """List every method: parameters, defaults, meaning and reference.

    With NAME, that method alone.
    """
    from symmf.cli._describe import describe
    from symmf.cli._tables import show_table
    from symmf.clustering import METHODS
    from symmf.common.validation import check_name

    chosen = {name: METHODS[check_name("method", name, METHODS)]} if name else METHODS
    for key, kind in chosen.items():
        about = describe(kind)
        reference = about.reference or _REFERENCES.get(key, "")
        click.secho(f"{key}: {about.summary}", bold=True)
        rows = [[p.name, p.default, p.meaning] for p in about.parameters]
        show_table(["parameter", "default", "meaning"], rows, wide=("meaning",))
        say(f"Reference: {reference}\n")
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
    from symmf.cli._tables import show_table
    from symmf.constraints import CONSTRAINTS
    from symmf.similarity import SIMILARITIES
    from symmf.solvers import SOLVERS

    similarities = [
        [name, describe(build).summary] for name, build in SIMILARITIES.items()
    ]
    show_table(["similarity", "meaning"], similarities, wide=("meaning",))
    say()
    solvers = [[name, kind.title, kind.reference] for name, kind in SOLVERS.items()]
    show_table(["solver", "title", "reference"], solvers, wide=("reference",))
    say()
    sets = [[name, kind.meaning] for name, kind in CONSTRAINTS.items()]
    show_table(["constraint", "meaning"], sets, wide=("meaning",))
