"""Tables of Parquet and Excel files (extra ``io``), read in a child process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from symmf.common.sandbox import read_in_child
from symmf.common.validation import did_you_mean
from symmf.errors import DataError, InputError
from symmf.io.columns import as_texts, from_series
from symmf.io.table import Table

if TYPE_CHECKING:
    import pandas as pd

# What a sheet may take: one cell far off the others makes it as large as all between.
_MEMORY = 4 << 30
_INSTALL = "pip install 'symmf[io]'"


def read_sheet(
    path: Path,
    ending: str,
    *,
    sheet: str | None = None,
    header: bool | None = None,
    keep: bool = False,
) -> Table:
    """Read a Parquet file or a sheet of an Excel file.

    Parameters
    ----------
    path, ending
        ``.parquet``, ``.pq`` or ``.xlsx``.
    sheet : str or None
        Name of the sheet (Excel); the first one by default.
    header : bool or None
        Whether the first line of a sheet has names; by default it has them if it holds
        a text.
    keep : bool
        Keep all cells as texts.
    """
    if ending == ".xlsx":
        found = read_in_child(
            parse_excel, path, memory=_MEMORY, sheet=sheet, header=header
        )
    else:
        found = read_in_child(parse_parquet, path)
    first, columns, index = found["first"], found["columns"], found["index"]
    n = len(columns[0]) if columns else 0
    if n == 0:
        raise DataError(f"{path} has no rows.")
    note = "The index of the pandas frame names the rows; it is no feature."
    texts = map(as_texts, columns) if keep else None
    return Table(
        source=str(path),
        names=found["names"],
        named=found["named"],
        columns=columns,
        lines=range(first, first + n),
        unit="row",
        rows=None if texts is None else [list(row) for row in zip(*texts, strict=True)],
        index=None if index is None else (index[0], index[1]),
        notes=[] if index is None else [note],
    )


def parse_parquet(path: Path) -> dict[str, Any]:
    """Return names, columns and the index of pandas, where a frame was stored."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise DataError(f"Parquet files need the extra io: {_INSTALL}") from None
    import pandas as pd

    # pandas.read_parquet takes names of folders (year=2020) for columns, and refuses
    # two columns of one name.
    with parquet.ParquetFile(path) as file:
        frame = file.read().to_pandas()
    index: list[Any] | None = None
    if not isinstance(frame.index, pd.RangeIndex):
        name = " ".join(str(part) for part in frame.index.names if part is not None)
        rows = frame.index.to_frame().to_numpy(dtype=object).tolist()
        index = [name or "index", [" ".join(map(str, row)) for row in rows]]
    return _parsed(frame, index=index)


def parse_excel(
    path: Path, sheet: str | None = None, header: bool | None = None
) -> dict[str, Any]:
    """Return names and columns of one sheet; empty rows at the end are left out."""
    import pandas as pd

    try:
        book = pd.ExcelFile(path, engine="openpyxl")
    except ImportError:
        raise DataError(f"Excel files need the extra io: {_INSTALL}") from None
    there = [str(name) for name in book.sheet_names]
    if sheet is not None and sheet not in there:
        raise InputError(
            f"{path} has no sheet {sheet!r}.{did_you_mean(sheet, there)} It has: "
            f"{', '.join(there)}."
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
    if cells.empty:
        raise DataError(f"{path} has no cells in its sheet {sheet or 1}.")
    if header is None:
        header = any(isinstance(cell, str) for cell in cells.iloc[0])
    if not header:
        return _parsed(
            cells.set_axis(range(1, cells.shape[1] + 1), axis=1), named=False
        )
    names = [
        f"column {j}" if pd.isna(cell) else str(cell)
        for j, cell in enumerate(cells.iloc[0], start=1)
    ]
    return _parsed(cells.iloc[1:].set_axis(names, axis=1), first=2)


def _parsed(
    frame: pd.DataFrame, *, first: int = 1, named: bool = True, index: Any = None
) -> dict[str, Any]:
    """Return a frame as plain data; ``first`` is the number of its first row."""
    return {
        "names": [str(name) for name in frame.columns],
        "columns": [from_series(frame.iloc[:, j]) for j in range(frame.shape[1])],
        "first": first,
        "named": named,
        "index": index,
    }
