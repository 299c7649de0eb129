"""Reading a user's data: tables, arrays, sparse matrices, texts, images, graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from symmf.common.notation import AnyMatrix, LabelArray
from symmf.common.validation import check_number
from symmf.errors import DataError, InputError
from symmf.io import source as sources
from symmf.io.arrays import pick_matrix, read_arrays
from symmf.io.choose import Chosen, choose_columns
from symmf.io.edges import graph_of
from symmf.io.images import SIDE, read_images
from symmf.io.sheets import read_sheet
from symmf.io.sniff import is_number
from symmf.io.source import Source
from symmf.io.table import Table, read_table

#: what the rows of X are
Kind = Literal["rows", "images", "graph", "documents"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMatrix:
    """What was read: the matrix, dense or csr, and what is known of its rows.

    Attributes
    ----------
    X : array or csr_array, shape (n, m)
        One sample per row; pixels of images; the adjacency of a graph. Of documents
        there is no matrix yet: X is None and ``documents`` holds them.
    y : array of int or None
        Known class of each row, if labels were named; ``classes[c]`` is its name.
    names : list of str
        Names of the columns of X, or nothing.
    ids : list of str or None
        Names of the rows; ``id_name`` says what they are.
    kept : list of list of str or None
        All cells of the table, the names first, if they were asked for.
    notes, warnings : list of str
        What was decided without being asked, and what may be wrong.
    """

    X: AnyMatrix
    y: LabelArray | None
    kind: Kind = "rows"
    names: list[str] = field(default_factory=list)
    ids: list[str] | None = None
    id_name: str = "row"
    classes: list[str] = field(default_factory=list)
    documents: list[str] | None = None
    kept: list[list[str]] | None = None
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
    encoding: str | None = None,
    decimal: str | None = None,
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
    encoding, decimal
        Of a text; by default they are looked at.
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
    source = sources.open_source(path, format=format)
    kind = sources.kind_of(source, format)
    tabular = kind in ("table", "sheet")
    _check_table_options(kind, tabular, id=id, columns=columns, drop=drop, keep=keep)
    inside, apart = _split_labels(labels, path, tabular)
    if kind == "images":
        check_number("--image-size", image_side, least=12, whole=True, most=256)
        X, names = read_images(path, side=image_side)
        found = UserMatrix(X=X, y=None, kind="images", ids=names, id_name="image")
    elif kind == "array":
        found, inside_labels = _read_array(source, variable, labels, apart)
        if inside_labels is not None:
            return _with_labels(found, source.name, inside_labels)
    elif kind == "text":
        found = _documents(source, encoding)
    elif kind in ("edges", "sheet edges"):
        found = _read_edges(source, kind, header, encoding, decimal, variable)
    else:
        return _with_labels_apart(
            _read_table(
                source,
                kind,
                header=header,
                variable=variable,
                encoding=encoding,
                decimal=decimal,
                keep=keep,
                id=id,
                columns=columns,
                drop=drop,
                labels=inside,
                points=format == "table",
                documents=format is None and sources.may_be_documents(source),
            ),
            apart,
        )
    return _with_labels_apart(found, apart)


def _read_table(
    source: Source,
    kind: str,
    *,
    header: bool | None,
    variable: str | None,
    encoding: str | None,
    decimal: str | None,
    keep: bool,
    id: str | None,
    columns: Sequence[str],
    drop: Sequence[str],
    labels: str | None,
    points: bool,
    documents: bool,
) -> UserMatrix:
    if kind == "sheet":
        table = read_sheet(source.path, source.ending, sheet=variable, header=header)
        if keep:
            table.rows = _cells(table)
    else:
        text = sources.decode(source, encoding)
        if documents and _are_documents(text):
            return _as_documents(source, text)
        table = read_table(
            text,
            source.name,
            header=header,
            decimal=decimal,
            as_text=[name for name in (id, labels, *drop) if name is not None],
            keep=keep,
        )
    chosen = choose_columns(
        table, id=id, columns=columns, drop=drop, labels=labels, points=points
    )
    return _from_table(table, chosen)


def _from_table(table: Table, chosen: Chosen) -> UserMatrix:
    y: LabelArray | None = None
    classes: list[str] = []
    if chosen.classes is not None:
        y, classes = encode(chosen.classes)
    kept = None
    if table.rows is not None:
        kept = [table.names, *table.rows]
    return UserMatrix(
        X=chosen.X,
        y=y,
        names=chosen.names if table.named else [f"column {n}" for n in chosen.names],
        ids=chosen.ids,
        id_name=chosen.id_name,
        classes=classes,
        kept=kept,
        notes=[*table.notes, *chosen.notes],
        warnings=chosen.warnings,
    )


def _read_array(
    source: Source, variable: str | None, labels: str | None, apart: Path | None
) -> tuple[UserMatrix, Any]:
    ending = source.ending if source.ending in sources.ARRAYS else ".npy"
    arrays = read_arrays(source.path, ending)
    others = {name: a for name, a in arrays.items() if name != labels}
    X = pick_matrix(source.name, others or arrays, variable)
    found = UserMatrix(X=X, y=None)
    if labels is not None and labels in arrays:
        return found, as_labels(f"{labels!r} of {source.name}", arrays[labels])
    if labels is not None and apart is None:
        there = ", ".join(name for name in arrays if name)
        raise InputError(
            f"{source.name} has no variable {labels!r}, and there is no file of that "
            f"name with labels. It has: {there or 'one matrix'}."
        )
    return found, None


def _read_edges(
    source: Source,
    kind: str,
    header: bool | None,
    encoding: str | None,
    decimal: str | None,
    variable: str | None,
) -> UserMatrix:
    if kind == "sheet edges":
        table = read_sheet(source.path, source.ending, sheet=variable, header=header)
    else:
        table = read_table(
            sources.decode(source, encoding),
            source.name,
            header=header,
            decimal=decimal,
            as_text=("1", "2"),
            any_header=True,
        )
    W, names = graph_of(table)
    return UserMatrix(X=W, y=None, kind="graph", ids=names, id_name="node")


def _documents(source: Source, encoding: str | None) -> UserMatrix:
    return _as_documents(source, sources.decode(source, encoding), asked=True)


def _as_documents(source: Source, text: str, *, asked: bool = False) -> UserMatrix:
    lines = [
        (i, t)
        for i, line in enumerate(sources.lines_of(text), 1)
        if (t := line.strip())
    ]
    if len(lines) < 2:
        raise DataError(f"{source.name} has {len(lines)} documents; two are needed.")
    notes = (
        []
        if asked
        else ["Each line was read as a document; use --format table if it is a table."]
    )
    return UserMatrix(
        X=None,
        y=None,
        kind="documents",
        ids=[str(i) for i, _ in lines],
        id_name="line",
        documents=[t for _, t in lines],
        notes=notes,
    )


def _are_documents(text: str) -> bool:
    """Whether the first lines are sentences: words of no fixed number, few numbers."""
    lines = [line for line in sources.lines_of(text)[:200] if line.strip()]
    words = [word for line in lines for word in line.replace(",", " ").split()]
    numbers = sum(is_number(word) for word in words)
    lengths = {len(line.split()) for line in lines}
    return len(lines) > 1 and len(lengths) > 1 and 4 * numbers < len(words)


def _check_table_options(kind: str, tabular: bool, **given: Any) -> None:
    for name, value in given.items():
        if value and not tabular:
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


def _with_labels_apart(data: UserMatrix, path: Path | None) -> UserMatrix:
    if path is None:
        return data
    return _with_labels(data, str(path), read_labels(path, data.n))


def _with_labels(data: UserMatrix, source: str, labels: Any) -> UserMatrix:
    import dataclasses

    if len(labels) != data.n:
        raise DataError(
            f"The labels of {source} are {len(labels)} for {data.n} samples."
        )
    y, classes = encode([str(label) for label in labels])
    return dataclasses.replace(data, y=y, classes=classes)


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


def _cells(table: Table) -> list[list[str]]:
    texts = [table.texts(j) for j in range(len(table.names))]
    return [list(row) for row in zip(*texts, strict=True)]
