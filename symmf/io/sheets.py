"""Tables of Parquet and Excel files (extra ``io``), read in a child process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from symmf.common.sandbox import read_in_child
from symmf.common.validation import did_you_mean
from symmf.errors import DataError, InputError
from symmf.io.columns import from_series
from symmf.io.table import Table

# Excel itself is slow beyond this.
_MOST_CELLS = 50_000_000
_INSTALL = "pip install 'symmf[io]'"


def read_sheet(
    path: Path, ending: str, *, sheet: str | None = None, header: bool | None = None
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
    """
    if ending == ".xlsx":
        found = read_in_child(parse_excel, path, sheet=sheet, header=header)
    else:
        found = read_in_child(parse_parquet, path)
    n = len(found["columns"][0]) if found["columns"] else 0
    if n == 0:
        raise DataError(f"{path} has no rows.")
    notes = []
    if found["index"] is not None:
        found["index"] = tuple(found["index"])
        notes.append("The index of the pandas frame names the rows; it is no feature.")
    return Table(
        source=str(path),
        names=found["names"],
        named=found["named"],
        columns=found["columns"],
        lines=range(found["first"], found["first"] + n),
        unit="row",
        index=found["index"],
        notes=notes,
    )


def parse_parquet(path: Path) -> dict[str, Any]:
    """Return names, columns and the index of pandas, where a frame was stored."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise DataError(f"Parquet files need the extra io: {_INSTALL}") from None
    import pandas as pd

    # The file alone: names of folders above it (year=2020) are no columns.
    with parquet.ParquetFile(path) as file:
        frame = file.read().to_pandas()
    index: list[Any] | None = None
    if not isinstance(frame.index, pd.RangeIndex):
        names = [str(name) for name in frame.index.names if name is not None]
        rows = frame.index.to_frame().to_numpy(dtype=object).tolist()
        index = [" ".join(names) or "index", [" ".join(map(str, r)) for r in rows]]
    found = [from_series(frame.iloc[:, j]) for j in range(frame.shape[1])]
    return {
        **{"names": [str(name) for name in frame.columns], "columns": found},
        **{"first": 1, "named": True, "index": index},
    }


def parse_excel(
    path: Path, sheet: str | None = None, header: bool | None = None
) -> dict[str, Any]:
    """Return names and columns of one sheet; empty rows at the end are left out."""
    try:
        import openpyxl
    except ImportError:
        raise DataError(f"Excel files need the extra io: {_INSTALL}") from None
    import pandas as pd

    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    if sheet is not None and sheet not in book.sheetnames:
        raise InputError(
            f"{path} has no sheet {sheet!r}.{did_you_mean(sheet, book.sheetnames)} It "
            f"has: {', '.join(book.sheetnames)}."
        )
    page = book[sheet] if sheet is not None else book.worksheets[0]
    # A cell far off makes a sheet of 17 billion, which pandas would fill; the size it
    # states is not believed.
    page.reset_dimensions()
    rows = _without_end([_without_end(row) for row in page.iter_rows(values_only=True)])
    if not rows:
        raise DataError(f"{path}, sheet {page.title!r}, is empty.")
    width = max(len(row) for row in rows)
    if width * len(rows) > _MOST_CELLS:
        raise DataError(
            f"{path}, sheet {page.title!r}, has {len(rows):,} rows and {width:,} "
            f"columns, more than {_MOST_CELLS:,} cells. Look for a cell far off the "
            "others, or store the table as Parquet."
        )
    named = any(isinstance(cell, str) for cell in rows[0]) if header is None else header
    cells = pd.DataFrame(rows, dtype=object, columns=range(width))
    names = [
        str(j) if not named else f"column {j}" if cell is None else str(cell)
        for j, cell in enumerate(cells.iloc[0], start=1)
    ]
    columns = [from_series(cells.iloc[int(named) :, j]) for j in range(width)]
    first = 1 + named
    return {
        **{"names": names, "columns": columns, "first": first, "named": named},
        "index": None,
    }


def _without_end(cells: Any) -> list[Any]:
    """Return what comes up to the last that holds something."""
    found = list(cells)
    while found and (found[-1] is None or found[-1] == []):
        found.pop()
    return found
