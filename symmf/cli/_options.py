"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

results_option = click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder of results.",
)


def _register(
    context: click.Context,  # noqa: ARG001 - click's signature
    parameter: click.Parameter,  # noqa: ARG001
    paths: tuple[Path, ...],
) -> tuple[Path, ...]:
    if paths:
        from symmf.plugins import register_plugin

        for path in paths:
            register_plugin(path)
    return paths


# Eager, so that the methods of a plugin are known when other options are read.
plugin_option = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    callback=_register,
    expose_value=False,
    is_eager=True,
    help="A Python file with dicts METHODS and DATASETS of your own.",
)
