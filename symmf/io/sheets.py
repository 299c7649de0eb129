"""Tables of Parquet and Excel files (extra ``io``), read in a child process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from symmf.common.sandbox import read_in_child
from symmf.common.validation import did_you_mean
from symmf.errors import DataError, InputError
from symmf.io.table import Table, quoted

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
    parse = parse_excel if ending == ".xlsx" else parse_parquet
    options: dict[str, Any] = {}
    if ending == ".xlsx":
        options = {"sheet": sheet, "header": header}
    found = read_in_child(parse, path, **options)
    columns: list[Any] = []
    n = len(found["columns"][0]) if found["columns"] else 0
    if n == 0:
        raise DataError(f"{path} has no rows.")
    for name, column in zip(found["names"], found["columns"], strict=True):
        if isinstance(column, np.ndarray):
            wrong = np.flatnonzero(~np.isfinite(column))
            if wrong.size:
                raise DataError(
                    f"{path}, row {found['first'] + int(wrong[0])}, column {name!r}: "
                    "the "
                    "value is missing or not finite. Fill in or leave out such rows "
                    f"first, or leave out the column: --drop {quoted(name)}"
                )
        columns.append(column)
    return Table(
        source=str(path),
        names=found["names"],
        named=found["named"],
        columns=columns,
        lines=range(found["first"], found["first"] + n),
    )


def parse_parquet(path: Path) -> dict[str, Any]:
    """Return names and columns; numbers as float64, everything else as texts."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise DataError(f"Parquet files need the extra io: {_INSTALL}") from None
    import pyarrow as pa

    # The file alone: names of folders above it (year=2020) are no columns, and two
    # columns may have the same name.
    with parquet.ParquetFile(path) as file:
        table = file.read()
    names, columns = [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        names.append(str(name))
        plain = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if plain or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
            # Whole numbers above 2**53 round, as in every other format.
            floats = column.cast(pa.float64(), safe=False)
            values = floats.to_pandas().to_numpy(dtype=np.float64)
            columns.append(values)
        else:
            columns.append(["" if v is None else str(v) for v in column.to_pylist()])
    return {"names": names, "columns": columns, "first": 1, "named": True}


def parse_excel(
    path: Path, sheet: str | None = None, header: bool | None = None
) -> dict[str, Any]:
    """Return names and columns of one sheet; empty rows at the end are left out."""
    try:
        import openpyxl
    except ImportError:
        raise DataError(f"Excel files need the extra io: {_INSTALL}") from None
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    if sheet is not None and sheet not in book.sheetnames:
        raise InputError(
            f"{path} has no sheet {sheet!r}.{did_you_mean(sheet, book.sheetnames)} It "
            f"has: {', '.join(book.sheetnames)}."
        )
    page = book[sheet] if sheet is not None else book.worksheets[0]
    # A cell far off makes a sheet of 17 billion; the size it states is not believed.
    page.reset_dimensions()
    rows = [_without_end(row) for row in page.iter_rows(values_only=True)]
    while rows and not rows[-1]:
        rows.pop()
    if not rows:
        raise DataError(f"{path}, sheet {page.title!r}, is empty.")
    width = max(len(row) for row in rows)
    if width * len(rows) > _MOST_CELLS:
        raise DataError(
            f"{path}, sheet {page.title!r}, has {len(rows):,} rows and {width:,} "
            f"columns, more than {_MOST_CELLS:,} cells. Look for a cell far off the "
            "others, or store the table as Parquet."
        )
    rows = [(row + [None] * width)[:width] for row in rows]
    named = any(isinstance(cell, str) for cell in rows[0]) if header is None else header
    head = rows.pop(0) if named else range(1, width + 1)
    names = [
        str(cell) if cell is not None else f"column {j}"
        for j, cell in enumerate(head, start=1)
    ]
    columns: list[Any] = []
    for j in range(width):
        cells = [row[j] for row in rows]
        numbers = [c is None or isinstance(c, int | float) for c in cells]
        if all(numbers) and any(c is not None for c in cells):
            columns.append(np.array([np.nan if c is None else float(c) for c in cells]))
        else:
            columns.append(["" if c is None else str(c) for c in cells])
    return {"names": names, "columns": columns, "first": 1 + named, "named": named}


def _without_end(row: Any) -> list[Any]:
    """Return the cells up to the last that holds something."""
    cells = list(row)
    while cells and cells[-1] is None:
        cells.pop()
    return cells
