"""Tables of Parquet and Excel files (extra ``io``), read in a child process."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Any

from symmf.common.sandbox import read_in_child
from symmf.common.validation import check_name
from symmf.errors import DataError
from symmf.io.columns import from_series
from symmf.io.table import Table, table_of

# What a sheet may take: one cell far off the others makes it as large as all between.
_MEMORY = 4 << 30


def read_sheet(
    path: Path,
    ending: str,
    *,
    sheet: str | None = None,
    **options: Any,
) -> Table:
    """Read a Parquet file or a sheet of an Excel file.

    Parameters
    ----------
    path, ending
        ``.parquet``, ``.pq`` or ``.xlsx``.
    sheet : str or None
        Name of the sheet (Excel); the first one by default.
    **options
        Of a sheet, those of :func:`~symmf.io.table.table_of`.
    """
    if ending == ".xlsx":
        found = read_in_child(parse_excel, path, memory=_MEMORY, sheet=sheet)
        rows = zip(found["lines"], found["rows"], strict=True)
        return table_of(rows, str(path), unit="row", notes=found["notes"], **options)
    found = read_in_child(parse_parquet, path)
    n = len(found["columns"][0]) if found["columns"] else 0
    if n == 0:
        raise DataError(f"{path} has no rows.")
    lines = range(1, n + 1)
    return Table(source=str(path), named=True, lines=lines, unit="row", **found)


def parse_parquet(path: Path) -> dict[str, Any]:
    """Return names, columns and the index of pandas, where a frame was stored."""
    import pandas as pd
    from pyarrow import parquet

    # pandas.read_parquet takes names of folders (year=2020) for columns, and refuses
    # two columns of one name.
    with parquet.ParquetFile(path) as file:
        frame = file.read().to_pandas()
    names = [str(name) for name in frame.columns]
    columns = [from_series(frame.iloc[:, j]) for j in range(frame.shape[1])]
    if isinstance(frame.index, pd.RangeIndex):
        return {"names": names, "columns": columns}
    name = " ".join(str(part) for part in frame.index.names if part is not None)
    rows = frame.index.to_frame().to_numpy(dtype=object).tolist()
    return {
        "names": [name or "index", *names],
        "columns": [[" ".join(map(str, row)) for row in rows], *columns],
        "indexed": True,
        "notes": ["The index of the pandas frame names the rows; it is not a feature."],
    }


def parse_excel(path: Path, sheet: str | None = None) -> dict[str, Any]:
    """Return the cells of one sheet as texts, and the numbers of its rows."""
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
    # Where a table begins elsewhere than at the first cell.
    cells = cells.dropna(axis=1, how="all").dropna(axis=0, how="all")
    return {
        "lines": [int(i) + 1 for i in cells.index],
        "rows": cells.where(cells.notna(), "").astype(str).to_numpy(object).tolist(),
        "notes": notes,
    }
