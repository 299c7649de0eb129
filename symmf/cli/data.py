"""``symmf data``: list, fetch, verify and import data sets."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from symmf.cli.options import complete_datasets
from symmf.cli.terminal import say

if TYPE_CHECKING:
    from symmf.datasets import DatasetSpec
    from symmf.datasets.download import Progress as Told
    from symmf.datasets.local import Verification

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
    """Show what there is: sizes, licence, and whether the file is present.

    Into a pipe go tab-separated lines with a line of names.
    """
    from symmf.cli.terminal import show_table
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
            _megabytes(spec),
            spec.description,
            spec.licence,
        )
        for spec in DATASETS.values()
    ]
    numbers = ("classes", "samples", "dims", "size")
    show_table(header, rows, wide=("what", "licence"), right=numbers)
    # Not among the lines that a program reads.
    say(f"Folder: {place}", err=not sys.stdout.isatty())


@data.command()
@click.argument(
    "names",
    metavar="NAME...|all",
    nargs=-1,
    required=True,
    shell_complete=complete_datasets,
)
@_folder
def fetch(names: tuple[str, ...], folder: Path | None) -> None:
    """Download data sets that are not there yet, each checked before it is used.

    A damaged file is replaced.
    """
    from symmf.datasets import data_folder
    from symmf.datasets.download import fetch as fetch_files
    from symmf.errors import DataError

    place = folder or data_folder()
    failures = []
    for spec in _specs(names):
        if not spec.all_files:
            say(f"{spec.name}: built in, nothing to download")
            continue
        try:
            with _progress(spec.name) as progress:
                urls = fetch_files(spec, place, progress=progress)
        except DataError as error:
            failures.append(str(error))
            continue
        where = place / (spec.file.path if spec.file else spec.name)
        how = "downloaded" if urls else "already there:"
        if spec.file and urls:
            how = f"downloaded from {urls[0]} to"
        elif urls:
            how = f"{len(urls)} files downloaded from {_common(urls)} to"
        say(f"{spec.name}: {how} {where}")
    if failures:
        raise DataError("\n".join(failures))


@data.command()
@click.argument(
    "names", metavar="[NAME...|all]", nargs=-1, shell_complete=complete_datasets
)
@_folder
def verify(names: tuple[str, ...], folder: Path | None) -> None:
    """Recompute checksums, load, and compare classes, samples and dimensions.

    Without a name: all data sets. The exit code is 3 if data are missing or damaged.
    """
    from symmf.datasets import data_folder
    from symmf.datasets.local import State, state
    from symmf.datasets.local import verify as verify_files
    from symmf.errors import DataError

    place = folder or data_folder()
    failures, missing = [], []
    for spec in _specs(names or ("all",)):
        found = state(spec, place)
        if found is State.MISSING:
            say(f"{spec.name}: missing")
            missing.append(spec.name)
            continue
        try:
            verified = verify_files(spec, place)
        except DataError as error:
            bad = found in (State.DAMAGED, State.INCOMPLETE)
            say(f"{spec.name}: {found.value if bad else 'WRONG'}")
            failures.append(str(error))
            continue
        say(f"{spec.name}: {_verdict(spec, verified)}")
    if missing:
        failures.append(
            f"Missing: {', '.join(missing)}. Run `symmf data fetch "
            f"{' '.join(missing)}` to download what is missing to {place}."
        )
    if failures:
        raise DataError("\n".join(failures))


def _verdict(spec: DatasetSpec, found: Verification) -> str:
    if spec.files:
        return (
            f"ok, sha256 of {len(spec.files)} files; {len(found.data)} labellings of "
            f"{len({data.title for data in found.data})} data sets"
        )
    (loaded,) = found.data
    sizes = (
        f"{loaded.n_classes} classes, {loaded.n_samples} samples, "
        f"{loaded.n_features} dimensions"
    )
    if found.sha256 is None:
        return f"ok, built in; {sizes}"
    if found.original:
        return f"ok, sha256 {found.sha256}; {sizes}"
    return f"ok, the known values in another file, sha256 {found.sha256}; {sizes}"


@data.command("import")
@click.argument("name", shell_complete=complete_datasets)
@click.argument("file", type=click.Path(path_type=Path))
@_folder
def import_(name: str, file: Path, folder: Path | None) -> None:
    """Take a FILE you have: the data set's own, or an official archive or folder."""
    from symmf.datasets import get_spec
    from symmf.datasets.imports import import_file

    path = import_file(get_spec(name), file, folder)
    say(f"{name}: checked and imported to {path}")


def _specs(names: Sequence[str]) -> list[DatasetSpec]:
    from symmf.datasets import DATASETS, get_spec

    specs = [get_spec(name) for name in dict.fromkeys(names) if name != "all"]
    return list(DATASETS.values()) if "all" in names else specs


def _on_terminal(stream: TextIO) -> bool:
    return stream.isatty()


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _megabytes(spec: DatasetSpec) -> str:
    size = sum(file.size for file in spec.all_files)
    return f"{size / 1e6:.1f} MB" if size else "-"


def _common(urls: Sequence[str]) -> str:
    """Return the folder that several addresses share."""
    scheme = urls[0].partition("://")[0]
    paths = [url.partition("://")[2].rpartition("/")[0] for url in urls]
    return f"{scheme}://{posixpath.commonpath(paths)}"


@contextmanager
def _progress(name: str) -> Iterator[Told | None]:
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
        task = progress.add_task(name, total=None)
        yield lambda here, total: progress.update(task, completed=here, total=total)
