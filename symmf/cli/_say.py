"""The one way to a terminal: names of files, cells and messages of others are texts."""

from __future__ import annotations

import click

from symmf.common.texts import terminal_text


def say(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text; characters that would steer the terminal are shown as escapes."""
    click.echo(terminal_text(text), err=err, nl=nl)
