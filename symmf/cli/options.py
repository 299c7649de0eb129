"""Options that several commands share, and what the shell completes.

How completion is switched on stands in ``symmf --help``. Names are collected when the
user presses Tab.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click
from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
#: A file, as an option names it; and a folder.
NewFile = click.Path(dir_okay=False, path_type=Path)
Folder = click.Path(file_okay=False, path_type=Path)


def completer(
    names: str | Callable[[click.Context], Iterable[str]], *, files: bool = False
) -> Completer:
    """Return what completes the names that begin as the word does, and files.

    ``names`` are those of ``module:registry``, or what a function returns.
    """

    def complete(
        context: click.Context,
        parameter: click.Parameter,  # noqa: ARG001 - click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        try:
            found = names(context) if callable(names) else resolve_name(names)
            found = found() if callable(found) else found
            known = sorted(name for name in found if name.startswith(incomplete))
        except Exception:  # a key press must not print a traceback
            known = []
        items = [CompletionItem(name) for name in known]
        return [*items, CompletionItem(incomplete, type="file")] if files else items

    return complete


def _experiments(context: click.Context) -> Iterable[str]:
    from symmf.common.shipped import reference_folder
    from symmf.experiment.store.places import experiment_folders

    results = Path(context.params.get("results") or "results")
    places = (results, reference_folder(), results / "reference")
    found = next(filter(None, map(experiment_folders, places)), [])
    return [folder.name for folder in found]


complete_configs = completer("symmf.common.shipped:config_names", files=True)
complete_experiments = completer(_experiments)
complete_methods = completer("symmf.plugins:all_methods")
complete_datasets = completer("symmf.plugins:all_datasets")
complete_similarities = completer("symmf.similarity:SIMILARITIES")
complete_constraints = completer("symmf.constraints:CONSTRAINTS")


def _register(
    context: click.Context,  # noqa: ARG001 - click's signature
    parameter: click.Parameter,  # noqa: ARG001
    paths: tuple[Path, ...],
) -> None:
    if paths:
        from symmf.plugins import REGISTRY

        for path in paths:
            REGISTRY.add_file(path)


# Eager, so that the methods of a plugin are known when other options are parsed.
plugin_option = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    callback=_register,
    expose_value=False,
    is_eager=True,
    help="A Python file with METHODS, DATASETS, METRICS ... of your own.",
)

jobs_option = click.option(
    "--jobs", "-j", type=click.IntRange(min=1), help="Number of parallel trials."
)

results_option = click.option(
    "--results",
    type=Folder,
    default=Path("results"),
    show_default=True,
    help="Folder of results, one folder per experiment.",
)


def _split_names(
    _context: click.Context, _parameter: click.Parameter, given: Sequence[str]
) -> list[str]:
    """Return names that were separated by commas, or given one by one."""
    pieces = (piece.strip() for text in given for piece in text.split(","))
    return [piece for piece in pieces if piece]


_DATA_OPTIONS = (
    click.option(
        "--format",
        metavar="WHAT",
        help="table, text (one document per line), edges, images or array; by default "
        "it follows from the name of FILE.",
    ),
    click.option("--id", metavar="COLUMN", help="Column with the names of the rows."),
    click.option(
        "--columns",
        metavar="NAMES",
        multiple=True,
        callback=_split_names,
        help="Use these columns only; separated by commas, or repeated.",
    ),
    click.option(
        "--drop",
        metavar="NAMES",
        multiple=True,
        callback=_split_names,
        help="Leave these columns out.",
    ),
    click.option(
        "--labels",
        metavar="NAME",
        help="Known classes to compare with: a column or variable of FILE, or another "
        "file.",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether line 1 holds the names of the columns; detected by default.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["median", "drop", "error"]),
        default="median",
        show_default=True,
        help="Missing values: fill them in, leave out rows that have any, or refuse.",
    ),
    click.option(
        "--categories",
        type=click.Choice(["one-hot", "drop", "error"]),
        default="one-hot",
        show_default=True,
        help="Columns of words: encode them, leave them out, or refuse.",
    ),
    click.option(
        "--separator",
        metavar="SIGN",
        help="Separator of the cells: ',', ';', '|', tab or space; detected by "
        "default.",
    ),
    click.option(
        "--stop-words",
        type=click.Choice(["english", "none"]),
        help="Which common words to leave out of texts; by default those of English "
        "texts are left out.",
    ),
    click.option(
        "--encoding", metavar="NAME", help="Text encoding: utf-8, latin-1, cp1252, ..."
    ),
    click.option(
        "--decimal",
        metavar="SIGN",
        help="Decimal sign: '.' or ','; detected by default.",
    ),
    click.option(
        "--variable",
        metavar="NAME",
        help="Which array of a file, or which sheet of a workbook.",
    ),
    click.option(
        "--image-size",
        "image_side",
        type=int,
        default=32,
        show_default=True,
        help="Scale images to this many pixels along each side.",
    ),
    click.option(
        "--standardize/--no-standardize",
        default=None,
        help="Scale columns to mean 0 and standard deviation 1, or use them as they "
        "are; by default symmf decides.",
    ),
    click.option(
        "--similarity",
        metavar="NAME",
        shell_complete=complete_similarities,
        help="Similarity of rows; see symmf methods.",
    ),
    click.option("--precomputed", is_flag=True, help="FILE is a similarity matrix."),
    click.option("--seed", type=int, default=0, show_default=True, help="Random seed."),
)


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how FILE is parsed and compared."""
    for option in reversed(_DATA_OPTIONS):
        command = option(command)
    return command
