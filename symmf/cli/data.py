"""``symmf data``: list, fetch, verify and import data sets."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symmf.cli.options import Folder, complete_datasets
from symmf.cli.terminal import progress_bar, say, show_table

if TYPE_CHECKING:
    from symmf.datasets import DatasetSpec
    from symmf.datasets.local import Verification

_folder = click.option(
    "--folder",
    type=Folder,
    help="Folder of data files; default: SYMMF_DATA, datasets/ in a checkout, or the "
    "user's cache folder.",
)


@click.group()
def data() -> None:
    """List, fetch, verify and import the data sets."""


@data.command("list")
@_folder
def list_(folder: Path | None) -> None:
    """List the data sets, and whether their files are present.

    In a pipe the columns are separated by tabs.
    """
    from symmf.datasets import DATASETS, data_folder
    from symmf.datasets.local import state

    place = folder or data_folder()
    header = ("name", "state", "classes", "samples", "dims", "size", "what", "licence")
    rows = []
    for spec in DATASETS.values():
        counts = (spec.n_classes, spec.n_samples, spec.n_features)
        numbers = ["-" if n is None else str(n) for n in counts]
        size = sum(file.size for file in spec.all_files)
        numbers.append(f"{size / 1e6:.1f} MB" if size else "-")
        about = (spec.description, spec.licence)
        rows.append([spec.name, state(spec, place).value, *numbers, *about])
    show_table(header, rows, wide=("what", "licence"), right=header[2:6])
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
    """Download the data sets that are missing.

    Every file is checked; a damaged one is replaced.
    """
    from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn

    from symmf.datasets import data_folder
    from symmf.datasets.download import fetch as fetch_files
    from symmf.errors import DataError

    place = folder or data_folder()
    columns = ("{task.description}", BarColumn(), DownloadColumn())
    failures = []
    for spec in _specs(names):
        if not spec.all_files:
            say(f"{spec.name}: built in, nothing to download")
            continue
        try:
            with progress_bar(spec.name, *columns, TimeRemainingColumn()) as change:
                urls = fetch_files(
                    spec,
                    place,
                    progress=change and (lambda n, of: change(completed=n, total=of)),
                )
        except DataError as error:
            failures.append(str(error))
            continue
        where = place / (spec.file.path if spec.file else spec.name)
        how = "already there:"
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
    """Check the files and contents of data sets.

    Checksums are computed again; classes, samples and dimensions are compared with
    the known ones. Without a NAME, all data sets are verified. The exit code is 3 if
    data are missing or damaged.
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
    """Import a file of a data set.

    FILE is what `symmf data fetch NAME` would download, or an official archive or
    folder of it.
    """
    from symmf.datasets import get_spec
    from symmf.datasets.imports import import_file

    path = import_file(get_spec(name), file, folder)
    say(f"{name}: checked and imported to {path}")


def _specs(names: Sequence[str]) -> list[DatasetSpec]:
    from symmf.datasets import DATASETS, get_spec

    specs = [get_spec(name) for name in dict.fromkeys(names) if name != "all"]
    return list(DATASETS.values()) if "all" in names else specs


def _common(urls: Sequence[str]) -> str:
    """Return the folder that several addresses share."""
    scheme = urls[0].partition("://")[0]
    paths = [url.partition("://")[2].rpartition("/")[0] for url in urls]
    return f"{scheme}://{posixpath.commonpath(paths)}"
