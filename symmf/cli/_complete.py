"""What the shell may complete; each list is made when the user presses Tab.

Switch it on for bash with ``eval "$(_SYMMF_COMPLETE=bash_source symmf)"``; zsh and fish
likewise. A completion never fails: without an answer it is silent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completer(
    names: Callable[[click.Context], Iterable[str]], *, files: bool = False
) -> Completer:
    def complete(
        context: click.Context,
        parameter: click.Parameter,  # noqa: ARG001 - click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        try:
            found = sorted(name for name in names(context) if _fits(name, incomplete))
        except Exception:  # a key press must not print a traceback
            found = []
        items = [CompletionItem(name) for name in found]
        return [*items, CompletionItem(incomplete, type="file")] if files else items

    return complete


def _fits(name: Any, incomplete: str) -> bool:
    return str(name).startswith(incomplete)


def _configs(context: click.Context) -> list[str]:  # noqa: ARG001
    from symmf.common.shipped import config_names

    return config_names()


def _methods(context: click.Context) -> list[str]:  # noqa: ARG001
    from symmf.clustering import METHODS

    return list(METHODS)


def _datasets(context: click.Context) -> list[str]:  # noqa: ARG001
    from symmf.datasets import DATASETS

    return list(DATASETS)


def _experiments(context: click.Context) -> list[str]:
    from symmf.common.shipped import reference_folder
    from symmf.experiment.store.places import own_experiments

    results = Path(context.params.get("results") or "results")
    names = own_experiments(results) or own_experiments(reference_folder())
    return names or own_experiments(results / "reference")


complete_configs = _completer(_configs, files=True)
complete_methods = _completer(_methods)
complete_datasets = _completer(_datasets)
complete_experiments = _completer(_experiments)
