"""``symmf configs``: the shipped experiment files."""

from __future__ import annotations

from pathlib import Path

import click

from symmf.cli.options import complete_configs
from symmf.cli.terminal import say


@click.command()
@click.argument("name", required=False, shell_complete=complete_configs)
@click.option(
    "--copy",
    "target",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Copy it to FILE, to be edited; FILE must not exist yet.",
)
@click.option(
    "--new",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a template for a study of your own; FILE must not exist yet.",
)
def configs(name: str | None, target: Path | None, new: Path | None) -> None:
    """List the shipped experiment files, or print one.

    \b
    symmf configs                      list them
    symmf configs coil20               print it
    symmf configs coil20 --copy a.yaml copy it, to be edited
    symmf configs --new study.yaml     begin a study of your own
    symmf run coil20                   run it
    """  # noqa: D301 - click reads the backspace as "keep these lines"
    if new is not None:
        from symmf.experiment.config.starting_point import starting_point

        if name is not None or target is not None:
            raise click.UsageError("--new needs no NAME and no --copy.")
        _write(new, starting_point(str(new)))
        return
    if name is None:
        if target is not None:
            raise click.UsageError("--copy needs the NAME of a config.")
        _list()
        return
    from symmf.common.shipped import config_path

    text = config_path(name).read_text(encoding="utf-8")
    if target is None:
        say(text, nl=False)
    else:
        _write(target, text)


def _write(target: Path, text: str) -> None:
    from symmf.common.files import write_text
    from symmf.errors import InputError

    if target.exists():
        raise InputError(f"{target} exists already; choose another name.")
    write_text(target, text)
    say(f"{target} written. Edit it, then: symmf run {target}")


def _list() -> None:
    from symmf.common.shipped import config_names, config_path
    from symmf.experiment.config.model import load_config

    found = [(name, load_config(config_path(name))) for name in config_names()]
    width = max((len(name) for name, _ in found), default=0)
    for name, config in found:
        say(f"{name:{width}}  {config.title or ''}")
    say("\nRun one with `symmf run NAME`, print it with `symmf configs NAME`.")
