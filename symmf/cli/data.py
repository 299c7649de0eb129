"""``symmf data``: list, fetch, verify and import data sets."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from symmf.datasets import DatasetSpec
    from symmf.datasets.transfer import ProgressBar

_folder = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of data files; default: SYMMF_DATA, datasets/ in a checkout, or the "
    "user's cache folder.",
)


@click.group()
def data() -> None:
    """List, fetch, verify and import the data sets."""


@data.command("list")
@_folder
def list_(folder: Path | None) -> None:
    """Show what there is: sizes, licence, and whether the file is present."""
    from symmf.datasets import DATASETS, data_folder
    from symmf.datasets.local import state

    place = folder or data_folder()
    header = ("name", "state", "classes", "samples", "dims", "size", "what", "licence")
    rows = [
        (
            spec.name,
            state(spec, place).value,
            _number(spec.n_classes),
            _number(spec.n_samples),
            _number(spec.n_features),
            f"{spec.file.size / 1e6:.1f} MB" if spec.file else "-",
            spec.description,
            spec.licence,
        )
        for spec in DATASETS.values()
    ]
    _show_table(header, rows)
    click.echo(f"Folder: {place}")


@data.command()
@click.argument("names", metavar="NAME...|all", nargs=-1, required=True)
@_folder
def fetch(names: tuple[str, ...], folder: Path | None) -> None:
    """Download data sets that are not there yet, each checked before it is used."""
    from symmf.datasets import data_folder
    from symmf.datasets.download import fetch as fetch_file
    from symmf.datasets.local import file_path
    from symmf.errors import DataError

    place = folder or data_folder()
    failures = []
    for spec in _specs(names):
        if spec.file is None:
            click.echo(f"{spec.name}: built in, nothing to download")
            continue
        try:
            with _progress(spec.name) as progress:
                url = fetch_file(spec, place, progress=progress)
        except DataError as error:
            failures.append(str(error))
            continue
        where = file_path(spec, place)
        how = f"downloaded from {url} to" if url else "already there:"
        click.echo(f"{spec.name}: {how} {where}")
    if failures:
        raise DataError("\n".join(failures))


@data.command()
@click.argument("names", metavar="[NAME...|all]", nargs=-1)
@_folder
def verify(names: tuple[str, ...], folder: Path | None) -> None:
    """Recompute checksums, load, and compare classes, samples and dimensions.

    Without a name: all data sets whose file is there.
    """
    from symmf.datasets import data_folder
    from symmf.datasets.local import file_path
    from symmf.datasets.local import verify as verify_file
    from symmf.errors import DataError

    place = folder or data_folder()
    failures = []
    for spec in _specs(names or ("all",)):
        if not names and spec.file and not file_path(spec, place).is_file():
            click.echo(f"{spec.name}: not there")
            continue
        try:
            found = verify_file(spec, place)
        except DataError as error:
            click.echo(f"{spec.name}: WRONG")
            failures.append(str(error))
            continue
        loaded = found.data
        sizes = (
            f"{loaded.n_classes} classes, {loaded.n_samples} samples, "
            f"{loaded.n_features} dimensions"
        )
        if found.sha256 is None:
            click.echo(f"{spec.name}: ok, built in; {sizes}")
        elif found.original:
            click.echo(f"{spec.name}: ok, sha256 {found.sha256}; {sizes}")
        else:
            click.echo(
                f"{spec.name}: ok, the known values in another file, "
                f"sha256 {found.sha256}; {sizes}"
            )
    if failures:
        raise DataError("\n".join(failures))


@data.command("import")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@_folder
def import_(name: str, file: Path, folder: Path | None) -> None:
    """Take a FILE you have: the data set's own, or an official archive or folder."""
    from symmf.datasets import get_spec
    from symmf.datasets.download import import_file

    path = import_file(get_spec(name), file, folder)
    click.echo(f"{name}: checked and imported to {path}")


def _specs(names: Sequence[str]) -> list[DatasetSpec]:
    from symmf.datasets import DATASETS, get_spec

    specs = [get_spec(name) for name in dict.fromkeys(names) if name != "all"]
    return list(DATASETS.values()) if "all" in names else specs


def _on_terminal(stream: TextIO) -> bool:
    return stream.isatty()


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _show_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table that fits the terminal, or one line per row for a pipe."""
    if not _on_terminal(sys.stdout):
        for row in [header, *rows]:
            click.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in header:
        wide = title in ("what", "licence")
        table.add_column(title, no_wrap=not wide, ratio=1 if wide else None)
    for row in rows:
        table.add_row(*row)
    Console().print(table)


@contextmanager
def _progress(name: str) -> Iterator[ProgressBar | None]:
    """Show a bar on standard error if that is a terminal."""
    if not _on_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    columns = ("{task.description}", BarColumn(), DownloadColumn())
    console = Console(stderr=True)
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True
    ) as progress:
        yield _Bar(progress, name)


class _Bar:
    """A bar of rich in the form that pooch expects."""

    def __init__(self, progress: Any, name: str) -> None:
        self._progress = progress
        self._name = name
        self._task: Any = None

    @property
    def total(self) -> float:
        return float(self._progress.tasks[self._task].total or 0)

    @total.setter
    def total(self, value: float) -> None:
        # Set at the start of every attempt; there is no bar before the first.
        if self._task is None:
            self._task = self._progress.add_task(self._name, total=None)
        self._progress.reset(self._task, total=value or None)

    def update(self, n: int) -> None:
        self._progress.update(self._task, advance=n)

    def reset(self) -> None:
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        pass
