"""The ``symmf`` command: finds subcommands lazily and turns errors into sentences."""

from __future__ import annotations

import errno
import importlib
import io
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import click

from symmf import __version__
from symmf.cli.options import completer
from symmf.errors import SymmfError

INTERRUPTED = 130

# Command -> its module, and its line of help. A module is imported when its command is
# used, so that `symmf --help` needs nothing but click.
COMMANDS = {
    "run": ("run", "Run the trials of one or more experiments."),
    "configs": ("configs", "List the shipped experiment files, or print one."),
    "status": ("run", "Show the progress of each experiment."),
    "info": ("trials", "Show one trial in full."),
    "replay": ("trials", "Run one trial again and compare the results."),
    "verify": ("trials", "Compare your own trials with the reference study."),
    "merge": ("run", "Merge the records of several machines."),
    "tables": ("report", "Write the result tables."),
    "plot": ("report", "Draw a figure as PDF and PNG, with its numbers."),
    "compare": ("report", "Compare the results with the paper: values, claims, tests."),
    "audit": ("audit", "Check which published (AC, NMI) pairs are possible."),
    "report": ("report", "Write all results as one HTML page."),
    "article": ("report", "Write the reproduction as an article."),
    "data": ("data", "List, fetch, verify or import the data sets."),
    "methods": ("methods", "List the methods and their parameters."),
    "cluster": ("cluster", "Cluster your own data."),
    "select": ("select", "Recommend a number of clusters."),
    "help": ("main", "Show this page, or the help of a command."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported only when they run."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they are used."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module and return it."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"symmf.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command when there is none of that name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from symmf.common.validation import did_you_mean

            hint = did_you_mean(args[0], COMMANDS)
            ctx.fail(f"There is no command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(
        self, _ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="symmf")
def cli() -> None:
    """Clustering by symmetric matrix factorization, and a reproduction of a paper.

    \b
    First steps:        symmf run quickstart && symmf tables
    The paper's data:   symmf data fetch all
    The paper's study:  symmf run coil20
    Your own data:      symmf cluster FILE -k 5
    Completion, bash:   eval "$(_SYMMF_COMPLETE=bash_source symmf)"
    Completion, zsh:    eval "$(_SYMMF_COMPLETE=zsh_source symmf)"
    Completion, fish:   _SYMMF_COMPLETE=fish_source symmf | source
    """  # noqa: D301 - click reads the backspace as "keep these lines"


def _commands(_context: click.Context) -> Iterable[str]:
    return COMMANDS


@click.command()
@click.argument("command", required=False, shell_complete=completer(_commands))
@click.pass_context
def help(context: click.Context, command: str | None) -> None:
    """Show the help of symmf, or of one command."""
    above = context.parent or context
    if command is None:
        click.echo(cli.get_help(above))
        return
    name, found, _ = cli.resolve_command(above, [command])
    if found is not None:
        click.echo(found.get_help(click.Context(found, info_name=name, parent=above)))


def os_sentence(problem: OSError) -> str:
    """Return what the system refused, where, and what to do."""
    what = problem.strerror or str(problem) or type(problem).__name__
    where = f"{problem.filename}: " if problem.filename else ""
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        place = problem.filename or f"a file (the folder is {Path.cwd()})"
        return (
            f"{what}: {place} could not be written. Free some space and repeat "
            "the command; files already written are complete."
        )
    return f"{where}{what}."


def _complain(text: str) -> None:
    """Say what is wrong; a closed error stream leaves the exit code alone to say it."""
    from symmf.cli.terminal import say

    with suppress(OSError):
        say(text, err=True)


def main(args: list[str] | None = None) -> int:
    """Run the command line and exit with its code."""
    try:
        code: int = cli.main(args, prog_name="symmf", standalone_mode=False) or 0
    except click.ClickException as problem:
        # As click shows it, usage and hint included.
        problem.show(file=(shown := io.StringIO()))
        _complain(shown.getvalue().rstrip("\n"))
        code = problem.exit_code
    except SymmfError as problem:
        _complain(f"Error: {problem}")
        code = problem.exit_code
    except (KeyboardInterrupt, click.Abort):
        _complain("Interrupted.")
        code = INTERRUPTED
    except OSError as problem:
        _complain(f"Error: {os_sentence(problem)}")
        code = 2
    except (MemoryError, ImportError) as problem:
        # The system's words for a library that there was no memory for.
        if isinstance(problem, ImportError) and "map segment" not in str(problem):
            raise
        asked = f" ({problem})" if str(problem) else ""
        _complain(
            f"Error: There is not enough memory{asked}. Use fewer rows or columns, a "
            "sparse format or fewer --jobs, or a machine with more memory."
        )
        code = 2
    sys.exit(code)


if __name__ == "__main__":
    main()
