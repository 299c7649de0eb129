"""Where a user's data come from: a file, a folder or standard input; and their text."""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from symmf.common.sandbox import LARGEST, check_file
from symmf.common.validation import check_choice
from symmf.errors import DataError, InputError

#: what a file may be read as
FORMATS = ("table", "text", "edges", "images", "array")

TABLES = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data")
ARRAYS = (".npy", ".npz", ".mat", ".h5", ".hdf5", ".mtx", ".mtx.gz")
SHEETS = (".parquet", ".pq", ".xlsx")
_EDGES = (".edges", ".edgelist")
# Endings of files that hold others.
_PACKED = (".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".tar", ".tgz")
#: texts that may have a document in each line
LINES = (".txt", ".text", ".md")
STDIN = Path("-")
# Texts are held in memory as numbers; beyond this a binary format is the better one.
LARGEST_TEXT = 4 << 30
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LINE = re.compile(r"[^\r\n]+(?:\r\n?|\n)?|\r\n?|\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file, a folder, or what came through standard input."""

    path: Path
    ending: str
    content: bytes | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.content is not None else str(self.path)

    def read(self) -> bytes:
        """Return the bytes; texts only."""
        return self.path.read_bytes() if self.content is None else self.content


def open_source(path: Path, *, format: str | None = None) -> Source:
    """Look at what is there, without reading it; ``-`` is standard input.

    Raises
    ------
    DataError
        If there is nothing, or something that is no file (a named pipe, a device).
    """
    if format is not None:
        check_choice("--format", format, FORMATS)
    if path == STDIN:
        if sys.stdin.isatty():
            raise InputError(
                "Standard input is a terminal. Give a file, or pipe one: "
                "symmf cluster - < table.csv"
            )
        content = sys.stdin.buffer.read(LARGEST_TEXT + 1)
        if len(content) > LARGEST_TEXT:
            raise DataError("Standard input holds more than 4 GB; give a file.")
        if not content.strip():
            raise DataError("Standard input is empty.")
        return Source(path=path, ending=".csv", content=content)
    # os.path: it does not raise for a name that no file can have.
    if os.path.isdir(path):  # noqa: PTH112
        if format not in (None, "images"):
            raise DataError(f"{path} is a folder; --format {format} needs a file.")
        return Source(path=path, ending="")
    ending = _ending(path)
    if check_file(path, largest=LARGEST_TEXT if is_text(ending) else LARGEST) == 0:
        raise DataError(f"{path} is empty.")
    if ending in _PACKED:
        raise DataError(
            f"{path} is compressed. Unpack it first, and give the file that it holds."
        )
    if format is None and not (is_text(ending) or ending in (*ARRAYS, *SHEETS)):
        known = ", ".join((*TABLES, *SHEETS, *ARRAYS, *_EDGES))
        raise DataError(
            f"The name of {path} does not indicate its format. Known endings: {known}; "
            f"or give the format with --format ({', '.join(FORMATS)})."
        )
    return Source(path=path, ending=ending)


def is_text(ending: str) -> bool:
    """Tell whether files of this ending are texts."""
    return ending in TABLES or ending in _EDGES or ending in LINES


def kind_of(source: Source, format: str | None) -> str:
    """Return "images", "edges", "array", "sheet", "text" or "table"."""
    if format == "images" or (source.content is None and source.path.is_dir()):
        return "images"
    if source.ending in SHEETS:
        return "sheet" if format != "edges" else "sheet edges"
    if format is not None:
        return format
    if source.ending in _EDGES:
        return "edges"
    return "array" if source.ending in ARRAYS else "table"


def decode(source: Source, encoding: str | None) -> str:
    """Return a text; without an encoding by its byte-order mark, else UTF-8.

    Raises
    ------
    DataError
        If the bytes are no text in that encoding; the sentence names the line.
    """
    data = source.read()
    known = (name for mark, name in _BOMS if data.startswith(mark))
    chosen = encoding or next(known, "utf-8")
    if chosen == "utf-8" and b"\0" in data[:10_000]:
        raise DataError(
            f"{source.name} is not a text. If it is UTF-16, use --encoding utf-16; if "
            "it is of another format, give it the ending of that format."
        )
    try:
        text = data.decode(chosen)
    except LookupError:
        raise InputError(
            f"There is no encoding {chosen!r}. Usual ones: utf-8, utf-16, latin-1, "
            "cp1252."
        ) from None
    except UnicodeError as error:
        line = data[: getattr(error, "start", 0)].count(b"\n") + 1
        raise DataError(
            f"{source.name}, line {line}: not text in {chosen.upper()}. Give its "
            "encoding, for example --encoding cp1252 (Windows, Excel) or --encoding "
            "latin-1."
        ) from error
    return text.removeprefix("\ufeff")


def lines_of(text: str) -> Iterator[str]:
    r"""Yield the lines of a text with their ends.

    Only line feeds and carriage returns end a line, as for editors and spreadsheets: a
    form feed or a separator of paragraphs may stand inside a document or a label.

    Examples
    --------
    >>> list(lines_of("one\ftwo\r\nthree\rfour\n"))
    ['one\x0ctwo\r\n', 'three\r', 'four\n']
    """
    # io.StringIO would need four bytes for each character.
    return (match[0] for match in _LINE.finditer(text))


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-2:] == [".mtx", ".gz"]:
        return ".mtx.gz"
    return suffixes[-1] if suffixes else ""
