"""Whether a page is that of the results as they are, so that it need not be made again.

Beside the page stands a digest of what it was made from, by content: every file of the
results folder that a report may read, the code of the package and the versions of the
libraries that compute and draw. With it is a digest of the page itself.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import symmf
from symmf.common.files import read_text, write_atomically
from symmf.experiment.store.layout import RECORDS_FOLDER

_LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "matplotlib", "jinja2")
# Of a results folder, what reports do not read: what commands write, and what passes.
_WRITTEN = {"clusters", "figures", "tables", "verdicts"}
_PASSING = {".lock", ".jsonl", ".tmp", ".html"}


def inputs_digest(folder: Path) -> str | None:
    """Return a digest of all that decides the page; None where it cannot be told."""
    digest = hashlib.sha256(os.fsencode(folder.absolute()))
    for library in _LIBRARIES:
        digest.update(f"{library} {metadata.version(library)} ".encode())
    try:
        for path in (*_sources(), *_results(folder)):
            # Names of files need not be UTF-8.
            digest.update(b"\0%b\0%d\0" % (os.fsencode(path), path.stat().st_size))
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    except OSError:
        return None
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    for path in sorted(Path(symmf.__file__).parent.rglob("*")):
        if path.is_file() and path.suffix != ".pyc" and "_shipped" not in path.parts:
            yield path


def _results(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        top = Path(place) == folder
        folders[:] = sorted(set(folders) - (_WRITTEN if top else {RECORDS_FOLDER}))
        for name in sorted(names):
            path = Path(place) / name
            # What begins with a dot is nobody's result.
            if not name.startswith(".") and path.suffix not in _PASSING:
                if not path.is_file():
                    raise OSError(f"{path} is not a file")
                yield path


def is_kept(page: Path, digest: str | None) -> bool:
    """Tell whether the page was made from these inputs and is whole."""
    with suppress(OSError, UnicodeDecodeError):
        return (
            digest is not None
            and page.is_file()
            and read_text(_beside(page)) == _line(page, digest)
        )
    return False


def keep(page: Path, digest: str | None) -> None:
    """Remember what a page was made from; without that it is made again."""
    if digest is not None:
        with suppress(OSError):
            write_atomically(_beside(page), _line(page, digest))


def _line(page: Path, digest: str) -> str:
    return f"{digest} {hashlib.sha256(page.read_bytes()).hexdigest()}\n"


def _beside(page: Path) -> Path:
    return page.with_name(f".{page.name[:200]}.sha256")
