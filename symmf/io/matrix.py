"""Reading a user's data: tables, arrays, sparse matrices, texts, images, graphs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from symmf.common.validation import check_choice, check_name, check_number
from symmf.errors import DataError, InputError
from symmf.io import source as sources
from symmf.io.arrays import pick_matrix, read_arrays
from symmf.io.choose import choose_columns
from symmf.io.columns import is_number
from symmf.io.edges import graph_of
from symmf.io.images import SIDE, read_images
from symmf.io.samples import UserMatrix
from symmf.io.sheets import read_sheet
from symmf.io.source import Source
from symmf.io.table import read_table

__all__ = ["UserMatrix", "read_matrix"]


def read_matrix(
    path: Path,
    *,
    header: bool | None = None,
    labels: str | None = None,
    variable: str | None = None,
    format: str | None = None,
    id: str | None = None,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    missing: str = "error",
    categories: str = "error",
    encoding: str | None = None,
    decimal: str | None = None,
    separator: str | None = None,
    stop_words: str | None = None,
    keep: bool = False,
    image_side: int = SIDE,
) -> UserMatrix:
    """Read data with one sample per row; the format follows the file's name.

    Parameters
    ----------
    path : Path
        ``.csv .tsv .txt`` (tables, documents), ``.parquet .xlsx``, ``.npy``, ``.npz``
        (arrays, or a scipy sparse matrix), ``.mat``, ``.h5 .hdf5``, ``.mtx .mtx.gz``,
        ``.edges``, a folder of images, ``-`` for a table through standard input.
        Nothing is ever unpickled.
    header : bool or None
        Whether a table has a line of names; None looks.
    labels : str or None
        A column of a table, a variable of another file, or a file with a label per row.
    variable : str or None
        Which array of a file that has several; which sheet of an Excel file.
    format : {"table", "text", "edges", "images", "array"} or None
        What the file is, where its name does not tell.
    id, columns, drop
        Columns of a table: names of the rows, the only ones to use, ones to leave out.
    missing : {"median", "drop", "error"}
        Leave holes of a table to be filled, leave out rows that have any, or refuse.
    categories : {"one-hot", "drop", "error"}
        Keep columns of words to be encoded, leave them out, or refuse.
    encoding, decimal, separator
        Of a text; by default they are looked at.
    stop_words : {"english", "none"} or None
        Commonest words that documents are counted without; None looks.
    keep : bool
        Keep all cells of the table.
    image_side : int
        Pixels along a side to which images are brought.

    Raises
    ------
    DataError
        If the data cannot be read; the sentence names file, line and column.
    InputError
        If a column or variable that was named is not there.
    """
    check_choice("--missing", missing, ("median", "drop", "error"))
    check_choice("--categories", categories, ("one-hot", "drop", "error"))
    source = sources.open_source(path, format=format)
    kind = sources.kind_of(source, format)
    inside, apart = _split_labels(labels, path)
    text = ""
    if kind in ("text", "table", "edges"):
        text = sources.decode(source, encoding)
        lines = kind == "table" and format is None and source.ending in sources.LINES
        kind = "text" if lines and are_documents(text) else kind
    chosen: dict[str, Any] = {"id": id, "columns": columns, "drop": drop, "keep": keep}
    given = [name for name, value in chosen.items() if value]
    if given and kind not in ("table", "sheet"):
        option = given[0].replace("keep", "keep-columns")
        raise InputError(f"--{option} is for tables; this is read as {kind}.")
    if kind == "images":
        check_number("--image-size", image_side, least=12, whole=True, most=256)
        X, names = read_images(path, side=image_side)
        found = UserMatrix(X=X, kind="images", ids=names, id_name="image")
    elif kind == "array":
        found = _read_array(source, variable, inside)
    elif kind == "text":
        found = _documents(source, text, stop_words, asked=format == "text")
    else:
        edges = kind.endswith("edges")
        asked: dict[str, Any] = {"header": header, "edges": edges}
        if kind.startswith("sheet"):
            table = read_sheet(path, source.ending, sheet=variable, **asked)
        else:
            asked |= {"decimal": decimal, "separator": separator}
            table = read_table(text, source.name, **asked)
        if edges:
            found = graph_of(table)
        else:
            chosen |= {"missing": missing, "categories": categories}
            points = format == "table"
            found = choose_columns(table, labels=inside, points=points, **chosen)
    if apart is not None:
        return found.with_labels(str(apart), read_labels(apart, found.n))
    if inside is not None and found.y is None:
        raise InputError(f"There is no file {inside!r} with labels.")
    return found


def _read_array(source: Source, variable: str | None, labels: str | None) -> UserMatrix:
    """Read a matrix, with labels of another variable."""
    ending = source.ending if source.ending in sources.ARRAYS else ".npy"
    arrays = read_arrays(source.path, ending)
    others = {name: a for name, a in arrays.items() if name != labels}
    found = UserMatrix(X=pick_matrix(source.name, others or arrays, variable))
    if labels is None:
        return found
    what = f"file of labels, and no variable of {source.name}, called"
    check_name(what, labels, filter(None, arrays))
    inside = as_labels(f"{labels!r} of {source.name}", arrays[labels])
    return found.with_labels(source.name, inside)


def _documents(
    source: Source, text: str, stop_words: str | None, *, asked: bool
) -> UserMatrix:
    lines = {
        str(i): line.strip()
        for i, line in enumerate(sources.lines_of(text), start=1)
        if line.strip()
    }
    if len(lines) < 2:
        raise DataError(f"{source.name} has {len(lines)} documents; two are needed.")
    note = (
        "Each line was read as a document; use --format table if it is a table, or "
        "--format edges if it is a graph."
    )
    return UserMatrix(
        X=None,
        kind="documents",
        ids=list(lines),
        id_name="line",
        documents=list(lines.values()),
        stop_words=stop_words,
        notes=[] if asked else [note],
    )


def are_documents(text: str) -> bool:
    """Tell whether the first lines of a text are sentences and not cells.

    They are if they hold few numbers, and words of no fixed number or nothing else.
    """
    lines = [line for line in islice(sources.lines_of(text), 200) if line.strip()]
    words = [word for line in lines for word in line.replace(",", " ").split()]
    numbers = sum(is_number(word) for word in words)
    lengths = {len(line.split()) for line in lines}
    loose = len(lengths) > 1 and 4 * numbers < len(words)
    only_words = numbers == 0 and max(lengths, default=0) > 1
    return len(lines) > 1 and (loose or (only_words and not _has_separator(lines)))


def _has_separator(lines: list[str]) -> bool:
    """Whether every line has the same number of tabs, or of semicolons."""
    counts = [{line.count(sign) for line in lines} for sign in "\t;"]
    return any(len(found) == 1 and found != {0} for found in counts)


def _split_labels(labels: str | None, path: Path) -> tuple[str | None, Path | None]:
    """Tell a column or variable from a file of labels."""
    # os.path: it does not raise for a name that no file can have.
    if labels is None or labels.lstrip("-").isdigit() or not os.path.isfile(labels):  # noqa: PTH113
        return labels, None
    return (labels, None) if Path(labels) == path else (None, Path(labels))


def read_labels(path: Path, n: int) -> list[str]:
    """Read n labels: the last column of a text, with or without a header, or an NPY."""
    if path.suffix.lower() == ".npy":
        found = as_labels(str(path), read_arrays(path, ".npy")[""])
        return [str(label) for label in found]
    source = sources.open_source(path, format="table")
    lines = sources.lines_of(sources.decode(source, None))
    labels = [line for line in lines if line.strip() and not line.startswith("#")]
    for sign in ("\t", ";", ","):
        labels = [line.split(sign)[-1] for line in labels]
    labels = [label.strip().strip('"') for label in labels]
    return labels[1:] if len(labels) == n + 1 else labels


def as_labels(source: str, found: Any) -> Any:
    """Return labels of an array: one for each sample, in a row or a column.

    Raises
    ------
    DataError
        If it has several columns, or a label is missing.
    """
    if isinstance(found, str):
        raise DataError(f"{source} holds {found}; labels are numbers or texts.")
    if sparse.issparse(found):
        found = found.toarray()
    array = np.asarray(found)
    if array.ndim > 2 or (array.ndim == 2 and 1 not in array.shape):
        raise DataError(
            f"{source} has the shape {array.shape}; one label per sample is needed."
        )
    labels = array.ravel()
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        at = int(np.flatnonzero(~np.isfinite(labels))[0]) + 1
        raise DataError(f"{source}: the label of sample {at} is missing.")
    return labels
