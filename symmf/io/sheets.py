"""Tables of Parquet and Excel files (extra ``io``), read in a child process."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from symmf.common.sandbox import read_in_child
from symmf.common.validation import check_name
from symmf.errors import DataError
from symmf.io.columns import from_series
from symmf.io.sniff import LOOK, has_names
from symmf.io.table import Table

if TYPE_CHECKING:
    import pandas as pd

# What a sheet may take: one cell far off the others makes it as large as all between.
_MEMORY = 4 << 30


def read_sheet(
    path: Path,
    ending: str,
    *,
    sheet: str | None = None,
    header: bool | None = None,
) -> Table:
    """Read a Parquet file or a sheet of an Excel file.

    Parameters
    ----------
    path, ending
        ``.parquet``, ``.pq`` or ``.xlsx``.
    sheet : str or None
        Name of the sheet (Excel); the first one by default.
    header : bool or None
        Whether the first line of a sheet has names; None looks.
    """
    if ending == ".xlsx":
        found = read_in_child(
            parse_excel, path, memory=_MEMORY, sheet=sheet, header=header
        )
    else:
        found = read_in_child(parse_parquet, path)
    columns, first = found["columns"], found.pop("first")
    if not columns or not len(columns[0]):
        raise DataError(f"{path} has no rows.")
    return Table(
        source=str(path),
        lines=range(first, first + len(columns[0])),
        unit="row",
        **found,
    )


def parse_parquet(path: Path) -> dict[str, Any]:
    """Return names, columns and the index of pandas, where a frame was stored."""
    import pandas as pd
    from pyarrow import parquet

    # pandas.read_parquet takes names of folders (year=2020) for columns, and refuses
    # two columns of one name.
    with parquet.ParquetFile(path) as file:
        frame = file.read().to_pandas()
    if isinstance(frame.index, pd.RangeIndex):
        return _parsed(frame)
    name = " ".join(str(part) for part in frame.index.names if part is not None)
    rows = frame.index.to_frame().to_numpy(dtype=object).tolist()
    return _parsed(
        frame,
        index=[name or "index", [" ".join(map(str, row)) for row in rows]],
        notes=["The index of the pandas frame names the rows; it is no feature."],
    )


def parse_excel(
    path: Path, sheet: str | None = None, header: bool | None = None
) -> dict[str, Any]:
    """Return names and columns of one sheet; empty rows at the end are left out."""
    import pandas as pd

    book = pd.ExcelFile(path, engine="openpyxl")
    there, notes = [str(name) for name in book.sheet_names], list[str]()
    if sheet is not None:
        check_name(f"sheet of {path} called", sheet, there)
    elif there[1:]:
        notes.append(
            f"The first sheet, {there[0]!r}, was read; others are "
            f"{', '.join(map(repr, there[1:5]))} (--variable {quote(there[1])})."
        )
    try:
        cells = book.parse(
            0 if sheet is None else sheet,
            header=None,
            dtype=object,
            keep_default_na=False,
            na_values=[""],
        )
    except MemoryError:
        raise DataError(
            f"{path} does not fit in memory. Look for a cell far off the others, or "
            "store the table as Parquet."
        ) from None
    # Where a table begins elsewhere than at the first cell, or below a title.
    cells = cells.dropna(axis=1, how="all")
    while cells.shape[1] > 1 and cells.iloc[0, 1:].isna().all():
        titles = cells.iloc[0].dropna()
        notes += [f"{str(title)[:40]!r} was left out as a title." for title in titles]
        cells = cells.iloc[1:].dropna(axis=1, how="all")
    if cells.empty:
        raise DataError(f"{path} has no cells in its sheet {sheet or 1}.")
    first = int(cells.index[0]) + 1
    if header is None:
        texts = cells.iloc[:LOOK].fillna("").astype(str)
        rows = list(enumerate(texts.to_numpy().tolist(), start=first))
        header = has_names(rows, str(path), False, notes)
    names = [
        str(j) if not header else f"column {j}" if pd.isna(cell) else str(cell)
        for j, cell in enumerate(cells.iloc[0], start=1)
    ]
    table = cells.iloc[int(header) :].set_axis(names, axis=1)
    return _parsed(table, first=first + header, named=header, notes=notes)


def _parsed(
    frame: pd.DataFrame,
    *,
    first: int = 1,
    named: bool = True,
    index: Any = None,
    notes: Any = (),
) -> dict[str, Any]:
    """Return a frame as plain data; ``first`` is the number of its first row."""
    return {
        "names": [str(name) for name in frame.columns],
        "columns": [from_series(frame.iloc[:, j]) for j in range(frame.shape[1])],
        "first": first,
        "named": named,
        "index": index,
        "notes": list(notes),
    }
