"""The ``symmf`` command: finds subcommands lazily and turns errors into sentences."""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from symmf import __version__
from symmf.errors import SymmfError

INTERRUPTED = 130
_NOT_MAPPED = ("failed to map segment from shared object", "allocate memory")

# Command -> module:attribute. Modules are imported when their command is used, so that
# `symmf --help` needs nothing but click; hence the one-line texts stand here.
COMMANDS = {
    "run": ("symmf.cli.run:run", "Run the trials of one or more experiment files."),
    "configs": (
        "symmf.cli.configs:configs",
        "List the shipped experiment files, or print one.",
    ),
    "status": ("symmf.cli.run:status", "Show what is done per experiment."),
    "info": ("symmf.cli.trials:info", "Show one trial in full."),
    "replay": ("symmf.cli.trials:replay", "Run one trial again and compare."),
    "verify": (
        "symmf.cli.trials:verify",
        "Compare own trials with the reference study.",
    ),
    "merge": ("symmf.cli.run:merge", "Bring the records of several machines together."),
    "tables": ("symmf.cli.report:tables", "Write the result tables."),
    "plot": ("symmf.cli.report:plot", "Draw a figure: PDF, PNG and its numbers."),
    "compare": (
        "symmf.cli.report:compare",
        "Set our values beside the paper's, with verdicts and claims.",
    ),
    "audit": (
        "symmf.cli.audit:audit",
        "Check which published (AC, NMI) pairs are possible at all.",
    ),
    "report": ("symmf.cli.report:report", "Write everything as one HTML page."),
    "article": ("symmf.cli.report:article", "Write the reproduction as an article."),
    "data": ("symmf.cli.data:data", "List, fetch, verify or import the datasets."),
    "methods": ("symmf.cli.methods:methods", "List the methods and their parameters."),
    "cluster": ("symmf.cli.cluster:cluster", "Cluster your own data."),
    "select": (
        "symmf.cli.select:select",
        "Recommend a number of clusters, with evidence.",
    ),
    "help": ("symmf.cli.main:help_page", "Show this page, or that of a command."),
}


def complete_commands(
    context: click.Context,  # noqa: ARG001 - click's signature
    parameter: click.Parameter,  # noqa: ARG001
    incomplete: str,
) -> list[str]:
    """Return the commands that begin so."""
    return [name for name in COMMANDS if name.startswith(incomplete)]


class LazyGroup(click.Group):
    """A group whose commands are imported only when they run."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the commands in the order of a working day."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module and return it."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command when there is none of that name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"There is no command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(
        self, _ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """List commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="symmf")
def cli() -> None:
    """Symmetric matrix factorization for clustering, done and checked.

    \b
    A first look:       symmf run quickstart && symmf tables
    The paper's data:   symmf data fetch all
    The paper's study:  symmf run coil20
    Your own data:      symmf cluster FILE -k 5
    Completion (bash):  eval "$(_SYMMF_COMPLETE=bash_source symmf)"
    """  # noqa: D301 - click reads the backspace as "keep these lines"


@click.command("help")
@click.argument("command", required=False, shell_complete=complete_commands)
@click.pass_context
def help_page(context: click.Context, command: str | None) -> None:
    """Show the help page of symmf, or that of a command."""
    above = context.parent or context
    if command is None:
        click.echo(cli.get_help(above))
        return
    name, found, _ = cli.resolve_command(above, [command])
    if found is not None:
        click.echo(found.get_help(click.Context(found, info_name=name, parent=above)))


def os_sentence(problem: OSError) -> str:
    """Say what the system refused, where, and what to do."""
    what = problem.strerror or str(problem) or type(problem).__name__
    where = f"{problem.filename}: " if problem.filename else ""
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        place = problem.filename or f"a file (the folder is {_folder()})"
        return (
            f"{what}: {place} could not be written. Make room and repeat the command; "
            "what is there is whole."
        )
    return f"{where}{what}."


def _folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return "gone"


def _complain(text: str) -> None:
    """Say what is wrong; where nobody can be told, the exit code still tells."""
    from symmf.cli.terminal import say

    with suppress(OSError):
        say(text, err=True)


def _as_shown(problem: click.ClickException) -> str:
    """Return what click shows of an error of its own, usage and hint included."""
    shown = io.StringIO()
    problem.show(file=shown)
    return shown.getvalue().rstrip("\n")


def _check_arguments(args: list[str]) -> None:
    """Refuse what no shell can pass and no file can be called."""
    for argument in args:
        try:
            usable = b"\0" not in os.fsencode(argument)
        except UnicodeEncodeError:
            usable = False
        if not usable:
            raise click.UsageError(
                f"{argument!a} holds a zero byte or half a character."
            )


def main(args: list[str] | None = None) -> int:
    """Run the command line and exit with its code."""
    try:
        _check_arguments(sys.argv[1:] if args is None else args)
        outcome: Any = cli.main(args, prog_name="symmf", standalone_mode=False)
        code = outcome if isinstance(outcome, int) else 0
    except click.ClickException as problem:
        _complain(_as_shown(problem))
        code = problem.exit_code
    except click.exceptions.Exit as end:
        code = end.exit_code
    except SymmfError as problem:
        _complain(f"Error: {problem}")
        code = problem.exit_code
    except (KeyboardInterrupt, click.Abort):
        _complain("Interrupted.")
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) went away; say nothing more on a closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as problem:
        _complain(f"Error: {os_sentence(problem)}")
        code = 2
    except MemoryError as problem:
        asked = f" ({problem})" if str(problem) else ""
        _complain(
            f"Error: There is not enough memory{asked}. Give less data or fewer "
            "--jobs, or take a machine with more memory."
        )
        code = 2
    except ImportError as problem:
        # The system's words for a library that there was no memory for.
        if not str(problem).endswith(_NOT_MAPPED):
            raise
        _complain(f"Error: There is not enough memory to begin with ({problem}).")
        code = 2
    sys.exit(code)


if __name__ == "__main__":
    main()
