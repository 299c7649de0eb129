"""Reading a user's data: tables, arrays, sparse matrices, texts, images, graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from symmf.common.notation import LabelArray
from symmf.common.validation import check_choice, check_number
from symmf.errors import DataError, InputError
from symmf.io import source as sources
from symmf.io.arrays import pick_matrix, read_arrays
from symmf.io.choose import Chosen, choose_columns
from symmf.io.columns import is_number
from symmf.io.edges import graph_of
from symmf.io.images import SIDE, read_images
from symmf.io.sheets import read_sheet
from symmf.io.source import Source
from symmf.io.table import Table, read_table

#: what the rows of X are
Kind = Literal["rows", "images", "graph", "documents"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMatrix:
    """What was read: the matrix, dense or csr, and what is known of its rows.

    Attributes
    ----------
    X : array, csr_array or data frame, shape (n, m)
        One sample per row; a data frame if there are words or holes; pixels of images;
        the adjacency of a graph. Of documents there is no matrix yet: X is None and
        ``documents`` holds them.
    y : array of int or None
        Known class of each row, if labels were named; ``classes[c]`` is its name.
    names : list of str
        Names of the columns of X, or nothing.
    ids : list of str or None
        Names of the rows; ``id_name`` says what they are.
    stop_words : {"english", "none"} or None
        What was asked for documents.
    kept : list of list of str or None
        All cells of the table, the names first, if they were asked for.
    comma : bool
        Numbers of the table have a decimal comma.
    notes, warnings : list of str
        What was decided without being asked, and what may be wrong.
    """

    X: Any
    y: LabelArray | None
    kind: Kind = "rows"
    names: list[str] = field(default_factory=list)
    ids: list[str] | None = None
    id_name: str = "row"
    classes: list[str] = field(default_factory=list)
    documents: list[str] | None = None
    stop_words: str | None = None
    kept: list[list[str]] | None = None
    comma: bool = False
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.documents) if self.documents is not None else self.X.shape[0]


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
    layout = {"header": header, "decimal": decimal, "separator": separator}
    tabular = kind in ("table", "sheet")
    if not tabular:
        _refuse_table_options(kind, id=id, columns=columns, drop=drop, keep=keep)
    inside, apart = _split_labels(labels, path, tabular)
    text = None
    if kind == "text" or (kind == "table" and format is None and source.may_be_lines):
        text = sources.decode(source, encoding)
    if kind == "images":
        check_number("--image-size", image_side, least=12, whole=True, most=256)
        X, names = read_images(path, side=image_side)
        found = UserMatrix(X=X, y=None, kind="images", ids=names, id_name="image")
    elif kind == "array":
        found = _read_array(source, variable, labels, apart)
    elif text is not None and (kind == "text" or are_documents(text)):
        found = _documents(source, text, stop_words, asked=kind == "text")
    elif kind in ("edges", "sheet edges"):
        table = _read_cells(source, kind, layout, encoding, variable)
        W, nodes = graph_of(table)
        found = UserMatrix(
            X=W, y=None, kind="graph", ids=nodes, id_name="node", notes=table.notes
        )
    else:
        as_text = [name for name in (id, inside, *drop) if name is not None]
        table = _read_cells(source, kind, layout, encoding, variable, as_text, keep)
        chosen = choose_columns(
            table,
            id=id,
            columns=columns,
            drop=drop,
            labels=inside,
            points=format == "table",
            missing=missing,
            categories=categories,
        )
        found = _from_table(table, chosen)
    if apart is None:
        return found
    return _with_labels(found, str(apart), read_labels(apart, found.n))


def _read_cells(
    source: Source,
    kind: str,
    layout: dict[str, Any],
    encoding: str | None,
    sheet: str | None,
    as_text: Sequence[str] = (),
    keep: bool = False,
) -> Table:
    """Read the cells of a table or of a list of edges, from a text or a sheet."""
    edges = kind.endswith("edges")
    if kind.startswith("sheet"):
        header = layout["header"]
        table = read_sheet(source.path, source.ending, sheet=sheet, header=header)
        if keep:
            texts = [table.texts(j) for j in range(len(table.names))]
            table.rows = [list(row) for row in zip(*texts, strict=True)]
        return table
    text = sources.decode(source, encoding)
    as_text = ("1", "2") if edges else as_text
    return read_table(
        text, source.name, as_text=as_text, keep=keep, edges=edges, **layout
    )


def _from_table(table: Table, chosen: Chosen) -> UserMatrix:
    y: LabelArray | None = None
    classes: list[str] = []
    if chosen.classes is not None:
        y, classes = encode(chosen.classes)
    kept = None
    if table.rows is not None:
        rows = range(table.n) if chosen.rows is None else chosen.rows
        kept = [table.names, *(table.rows[i] for i in rows)]
        if table.index is not None:
            name, index = table.index
            kept = [[name, *kept[0]], *([index[i], *table.rows[i]] for i in rows)]
    names = chosen.names if table.named else [f"column {n}" for n in chosen.names]
    if not isinstance(chosen.X, np.ndarray):
        names = _told_apart(names)
        chosen.X.columns = names
    return UserMatrix(
        X=chosen.X,
        y=y,
        names=names,
        ids=chosen.ids,
        id_name=chosen.id_name,
        classes=classes,
        kept=kept,
        comma=table.comma,
        notes=[*table.notes, *chosen.notes],
        warnings=chosen.warnings,
    )


def _told_apart(names: list[str]) -> list[str]:
    """Return names with a number behind those that come again."""
    told: list[str] = []
    for name in names:
        taken = sum(other == name or other.startswith(f"{name} (") for other in told)
        told.append(f"{name} ({taken + 1})" if name in told else name)
    return told


def _read_array(
    source: Source, variable: str | None, labels: str | None, apart: Path | None
) -> UserMatrix:
    ending = source.ending if source.ending in sources.ARRAYS else ".npy"
    arrays = read_arrays(source.path, ending)
    others = {name: a for name, a in arrays.items() if name != labels}
    X = pick_matrix(source.name, others or arrays, variable)
    found = UserMatrix(X=X, y=None)
    if labels is None or apart is not None:
        return found
    if labels not in arrays:
        there = ", ".join(name for name in arrays if name)
        raise InputError(
            f"{source.name} has no variable {labels!r}, and there is no file of that "
            f"name with labels. It has: {there or 'one matrix'}."
        )
    inside = as_labels(f"{labels!r} of {source.name}", arrays[labels])
    return _with_labels(found, source.name, inside)


def _documents(
    source: Source, text: str, stop_words: str | None, *, asked: bool
) -> UserMatrix:
    lines = [
        (str(i), stripped)
        for i, line in enumerate(sources.lines_of(text), start=1)
        if (stripped := line.strip())
    ]
    if len(lines) < 2:
        raise DataError(f"{source.name} has {len(lines)} documents; two are needed.")
    note = "Each line was read as a document; use --format table if it is a table."
    return UserMatrix(
        X=None,
        y=None,
        kind="documents",
        ids=[i for i, _ in lines],
        id_name="line",
        documents=[text for _, text in lines],
        stop_words=stop_words,
        notes=[] if asked else [note],
    )


def are_documents(text: str) -> bool:
    """Tell whether the first lines of a text are sentences and not cells.

    They are if they hold few numbers, and words of no fixed number or nothing else.
    """
    lines = [line for line in sources.lines_of(text)[:200] if line.strip()]
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


def _refuse_table_options(kind: str, **given: Any) -> None:
    for name, value in given.items():
        if value:
            option = {"keep": "--keep-columns"}.get(name, f"--{name}")
            raise InputError(f"{option} is for tables; this is read as {kind}.")


def _split_labels(
    labels: str | None, path: Path, tabular: bool
) -> tuple[str | None, Path | None]:
    """Tell a column or variable from a file of labels."""
    if labels is None:
        return None, None
    numeric = labels.lstrip("-").isdigit()
    other = Path(labels)
    try:
        is_file = not numeric and other.is_file() and other != path
    except (OSError, ValueError):
        is_file = False
    if is_file:
        return None, other
    if not tabular and path.is_dir():
        raise InputError(f"There is no file {labels!r} with labels.")
    return labels, None


def _with_labels(data: UserMatrix, source: str, labels: Any) -> UserMatrix:
    if len(labels) != data.n:
        raise DataError(
            f"The labels of {source} are {len(labels)} for {data.n} samples."
        )
    y, classes = encode([str(label) for label in labels])
    return replace(data, y=y, classes=classes)


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
            f"{source} has the shape {array.shape}; labels are one for each sample."
        )
    labels = array.ravel()
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        at = int(np.flatnonzero(~np.isfinite(labels))[0]) + 1
        raise DataError(f"{source}: the label of sample {at} is missing.")
    return labels


def encode(labels: Sequence[str]) -> tuple[LabelArray, list[str]]:
    """Give classes the numbers 0, 1, ... in the order of their names."""
    classes, codes = np.unique(np.asarray(labels, dtype=str), return_inverse=True)
    return codes.astype(np.int64), classes.tolist()
