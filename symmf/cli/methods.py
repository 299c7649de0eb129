"""``symmf methods``: what can cluster, and with which parameters."""

from __future__ import annotations

import inspect
import re
from typing import Any

import click

from symmf.cli.options import complete_methods
from symmf.cli.terminal import say, show_table


@click.command()
@click.argument("name", required=False, shell_complete=complete_methods)
@click.option(
    "--cite", metavar="NAME", help="Print BibTeX of a method, solver or data set."
)
def methods(name: str | None, cite: str | None) -> None:
    """List every method with its parameters, their defaults, and its reference.

    With NAME, show only that method.
    """
    from symmf.common.citations import citations

    if cite is not None:
        click.echo("\n\n".join(entry.bibtex for entry in citations(cite)))
        return
    from symmf.clustering import METHODS
    from symmf.common.validation import check_name

    chosen = {name: METHODS[check_name("method", name, METHODS)]} if name else METHODS
    for key, kind in chosen.items():
        reference = " ".join(_docstring(kind)["References"]).strip()
        if key == "kmeans":  # scikit-learn's docstring names no source
            reference = "S. Lloyd 1982; the implementation is scikit-learn's."
        click.secho(f"{key}: {_summary(kind)}", bold=True)
        show_table(
            ["parameter", "default", "meaning"], _parameters(kind), wide=("meaning",)
        )
        say(f"Reference: {reference}\n")
    if name is None:
        _show_lists()


def _show_lists() -> None:
    """Name what the parameters similarity, solver and constraint can be."""
    from symmf.constraints import CONSTRAINTS
    from symmf.similarity import SIMILARITIES
    from symmf.solvers import SOLVERS

    similarities = [[name, _summary(build)] for name, build in SIMILARITIES.items()]
    show_table(["similarity", "meaning"], similarities, wide=("meaning",))
    say()
    solvers = [[name, kind.title, kind.reference] for name, kind in SOLVERS.items()]
    show_table(["solver", "title", "reference"], solvers, wide=("reference",))
    say()
    sets = [[name, kind.meaning] for name, kind in CONSTRAINTS.items()]
    show_table(["constraint", "meaning"], sets, wide=("meaning",))


def _docstring(thing: Any) -> Any:
    from numpydoc.docscrape import NumpyDocString

    return NumpyDocString(inspect.getdoc(thing) or "")


def _summary(thing: Any) -> str:
    return " ".join(_docstring(thing)["Summary"])


def _parameters(kind: Any) -> list[list[str]]:
    """Return name, default and meaning of each parameter of an estimator.

    The meaning is the first sentence of its docstring, or of that of a class it is
    made from.
    """
    sections = (_docstring(each)["Parameters"] for each in kind.__mro__)
    meanings = {
        name: _first_sentence(entry.desc)
        for entry in next(filter(None, sections), ())
        for name in entry.name.split(", ")
    }
    return [
        [name, _default(parameter), meanings.get(name, "")]
        for name, parameter in inspect.signature(kind).parameters.items()
    ]


def _first_sentence(lines: list[str]) -> str:
    """Return the text up to its first full stop or empty line, on one line."""
    paragraph = "\n".join(lines).split("\n\n")[0].replace("``", "")
    sentence = re.split(r"(?<!e\.g)(?<!i\.e)\.\s", paragraph, maxsplit=1)[0]
    return " ".join(sentence.split()).rstrip(".:")


def _default(parameter: inspect.Parameter) -> str:
    required = parameter.default is inspect.Parameter.empty
    return "required" if required else repr(parameter.default)
