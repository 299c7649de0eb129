"""Options that several commands share, and what the shell completes.

Switch completion on for bash with ``eval "$(_SYMMF_COMPLETE=bash_source symmf)"``; zsh
and fish likewise. Names are collected when the user presses Tab.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

results_option = click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder of results, one folder per experiment.",
)


def _register(
    context: click.Context,  # noqa: ARG001 - click's signature
    parameter: click.Parameter,  # noqa: ARG001
    paths: tuple[Path, ...],
) -> None:
    if paths:
        from symmf.plugins import register_plugin

        for path in paths:
            register_plugin(path)


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


def _completer(
    names: Callable[[click.Context], Iterable[str]], *, files: bool = False
) -> Completer:
    def complete(
        context: click.Context,
        parameter: click.Parameter,  # noqa: ARG001 - click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        try:
            known = sorted(
                name for name in names(context) if name.startswith(incomplete)
            )
        except Exception:  # a key press must not print a traceback
            known = []
        items = [CompletionItem(name) for name in known]
        return [*items, CompletionItem(incomplete, type="file")] if files else items

    return complete


def _configs(context: click.Context) -> Iterable[str]:  # noqa: ARG001
    from symmf.common.shipped import config_names

    return config_names()


def _methods(context: click.Context) -> Iterable[str]:  # noqa: ARG001
    from symmf.plugins import all_methods

    return all_methods()


def _datasets(context: click.Context) -> Iterable[str]:  # noqa: ARG001
    from symmf.plugins import all_datasets

    return all_datasets()


def _experiments(context: click.Context) -> Iterable[str]:
    from symmf.common.shipped import reference_folder
    from symmf.experiment.store.places import experiment_folders

    results = Path(context.params.get("results") or "results")
    places = (results, reference_folder(), results / "reference")
    found = next(filter(None, map(experiment_folders, places)), [])
    return [folder.name for folder in found]


complete_configs = _completer(_configs, files=True)
complete_methods = _completer(_methods)
complete_datasets = _completer(_datasets)
complete_experiments = _completer(_experiments)
