"""``symmf configs``: the shipped experiment files."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from symmf.cli.options import complete_configs
from symmf.cli.terminal import say, show_table


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
    from symmf.common.files import write_text
    from symmf.common.shipped import config_names, config_path
    from symmf.errors import InputError
    from symmf.experiment.config.model import load_config
    from symmf.experiment.config.schema import starting_point

    if (name and new) or (target and not name):
        raise click.UsageError("--copy needs the NAME of a config; --new takes none.")
    target = target or new
    if target is None and name is None:
        titles = {each: load_config(config_path(each)).title for each in config_names()}
        rows = [(each, title or "") for each, title in titles.items()]
        show_table(["name", "title"], rows, wide=["title"])
        usage = "Run one with `symmf run NAME`, print it with `symmf configs NAME`."
        say(f"\n{usage}", err=not sys.stdout.isatty())
        return
    text = config_path(name).read_text(encoding="utf-8") if name else None
    if target is None:
        say(text, nl=False)
        return
    if target.exists():
        raise InputError(f"{target} exists already; choose another name.")
    write_text(target, text or starting_point(str(target)))
    say(f"{target} written. Edit it, then: symmf run {target}")
