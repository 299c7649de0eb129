"""Folders of Parquet, NPY or Zarr as dask arrays: nothing is read before it is used.

Only names, types and numbers of rows are looked at here. Blocks of rows are read by
whoever computes with them, so workers must see the folder under the same path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from symmf.common.notation import FloatArray
from symmf.common.sandbox import read_in_child
from symmf.common.validation import did_you_mean
from symmf.errors import DataError, InputError, SymmfError

# Blocks of rows hold about this many numbers, 32 MB.
_BLOCK_ENTRIES = 4_000_000
_ZARR = ("zarr.json", ".zarray", ".zgroup")


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyRows:
    """A dask array with one sample per row, and the names of its columns."""

    X: Any
    names: list[str] = field(default_factory=list)
    ids: list[str] | None = None
    id_name: str = "row"


def open_lazily(
    path: Path,
    *,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    id: str | None = None,
    variable: str | None = None,
) -> LazyRows:
    """Open a folder (or one file) of rows without reading them.

    Parameters
    ----------
    path : Path
        A folder of ``.parquet`` files, in the order of their names; of ``.npy`` files
        with the same number of columns; or a Zarr store.
    columns, drop, id
        Columns of Parquet: the only ones to use, ones to leave out, names of the rows.
    variable : str or None
        Which array of a Zarr store.

    Raises
    ------
    DataError, InputError
        If it is none of these, or a package that reads it is missing.
    """
    try:
        import dask.array  # noqa: F401
    except ImportError:
        raise InputError(
            "--dask needs the package dask: pip install 'symmf[dask]'."
        ) from None
    kind, files = _look(path)
    if kind == "Parquet":
        return _parquet(path, files, columns, drop, id)
    if columns or drop or id:
        raise InputError(f"--columns, --drop and --id are for Parquet; this is {kind}.")
    if kind == "Zarr":
        return _zarr(path, variable)
    return _stack(path, files)


def _look(path: Path) -> tuple[str, list[Path]]:
    """Return "Parquet", "NPY" or "Zarr", and the files in their order."""
    if path.is_file():
        files = [path]
    elif path.is_dir():
        if any((path / name).exists() for name in _ZARR):
            return "Zarr", []
        found = (p for p in path.rglob("*") if p.is_file())
        shown = (p for p in found if not _hidden(p.relative_to(path)))
        files = sorted(shown, key=lambda p: _natural(p.relative_to(path)))
    else:
        raise DataError(f"{path} does not exist. Give the folder that holds the data.")
    parquet = [p for p in files if p.suffix.lower() in (".parquet", ".pq")]
    arrays = [p for p in files if p.suffix.lower() == ".npy"]
    if bool(parquet) == bool(arrays):
        what = "has both" if parquet else "has neither"
        raise DataError(
            f"With --dask a folder of Parquet (.parquet) or NPY (.npy) files or a Zarr "
            f"store is read; {path} {what}."
        )
    return ("Parquet", parquet) if parquet else ("NPY", arrays)


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """Sort part-2 before part-10."""
    pieces = re.split(r"(\d+)", str(path))
    return [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in pieces]


def _array_of(pieces: list[tuple[int, Any]], width: int, dtype: Any) -> Any:
    """Stack (rows, task) into a dask array."""
    import dask.array as da

    join: Any = da.concatenate
    block: Any = da.from_delayed
    return join([block(task, (n, width), dtype=dtype) for n, task in pieces])


def _task(function: Any, *given: Any) -> Any:
    import dask

    delayed: Any = dask.delayed(function, pure=False)  # type: ignore[attr-defined]
    return delayed(*given)


def _parquet(
    path: Path,
    files: list[Path],
    columns: Sequence[str],
    drop: Sequence[str],
    id: str | None,
) -> LazyRows:
    known = read_in_child(read_footers, path, files=[str(p.absolute()) for p in files])
    names: list[str] = known["names"]
    for option, given in (("--columns", columns), ("--drop", drop), ("--id", [id])):
        for name in given:
            if name is not None and name not in names:
                raise InputError(
                    f"{option}: {path} has no column {name!r}."
                    f"{did_you_mean(name, names)} It has: {', '.join(names)}."
                )
    # What pandas stores of its row index is no feature.
    own = [name for name in names if not name.startswith("__index_level_")]
    left = list(columns) or [n for n in own if n not in drop and n != id]
    texts = [name for name in left if not known["numeric"][names.index(name)]]
    if texts:
        drops = " ".join(f"--drop {quote(name)}" for name in texts[:4])
        raise DataError(
            f"{path}: not every column holds numbers (first {texts[0]!r}). Leave such "
            f"columns out ({drops}), or name rows with one of them (--id)."
        )
    if not left:
        raise DataError(f"{path} has no column of numbers left to cluster.")
    pieces = []
    for file, counts in zip(files, known["rows"], strict=True):
        for groups, n in _joined(counts, len(left)):
            task = _task(read_row_groups, str(file.absolute()), groups, left)
            pieces.append((n, task))
    if not pieces:
        raise DataError(f"{path} has no rows.")
    ids = None
    if id is not None:
        paths = [str(p.absolute()) for p in files]
        ids = read_in_child(read_column, path, files=paths, name=id)
    return LazyRows(
        X=_array_of(pieces, len(left), np.float64),
        names=left,
        ids=ids,
        id_name=id or "row",
    )


def _joined(counts: Sequence[int], width: int) -> Iterator[tuple[list[int], int]]:
    """Join small row groups of a file to blocks of a usual size."""
    groups: list[int] = []
    rows = 0
    for i, n in enumerate(counts):
        if groups and (rows + n) * width > _BLOCK_ENTRIES:
            yield groups, rows
            groups, rows = [], 0
        if n:
            groups.append(i)
            rows += n
    if groups:
        yield groups, rows


def read_footers(path: Path, files: list[str]) -> dict[str, Any]:
    """Return names, kinds and rows of Parquet files; runs in a child process."""
    import pyarrow as pa

    names: list[str] = []
    numeric: list[bool] = []
    rows = []
    for file in files:
        with _opened(file) as opened:
            schema = opened.schema_arrow
            here = [str(name) for name in schema.names]
            if names and here != names:
                raise DataError(
                    f"{file} has other columns than {files[0]}; the files of {path} "
                    "must have the same ones in the same order."
                )
            plain = [_is_number(pa, kind) for kind in schema.types]
            numeric = [a and b for a, b in zip(numeric or plain, plain, strict=True)]
            names = here
            footer = opened.metadata
            counts = [footer.row_group(i) for i in range(footer.num_row_groups)]
            rows.append([group.num_rows for group in counts])
    return {"names": names, "numeric": numeric, "rows": rows}


def read_column(path: Path, files: list[str], name: str) -> list[str]:  # noqa: ARG001
    """Return one column of Parquet files as texts; runs in a child process."""
    found: list[str] = []
    for file in files:
        with _opened(file) as opened:
            column = opened.read(columns=[name]).column(0).to_pylist()
            found += ["" if value is None else str(value) for value in column]
    return found


def read_row_groups(file: str, groups: list[int], names: list[str]) -> FloatArray:
    """Return rows of a Parquet file, missing values as NaN; runs on a worker."""
    import pyarrow as pa

    try:
        with _opened(file) as opened:
            table = opened.read_row_groups(groups, columns=names)
            out = np.empty((table.num_rows, len(names)))
            for j, name in enumerate(names):
                column = table.column(name).cast(pa.float64())
                out[:, j] = column.to_pandas().to_numpy(dtype=np.float64)
    except (OSError, pa.ArrowException) as error:
        raise DataError(_unreadable(file, error)) from None
    return out


def _opened(file: str) -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise DataError(
            "Parquet files need the extra io: pip install 'symmf[io]'"
        ) from None
    return parquet.ParquetFile(file)


def _is_number(pa: Any, kind: Any) -> bool:
    types = pa.types
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(test(kind) for test in tests)


def _stack(path: Path, files: list[Path]) -> LazyRows:
    pieces, widths, kinds = [], set(), []
    for file in files:
        shape, dtype = _header(file)
        widths.add(shape[1])
        kinds.append(dtype)
        if len(widths) > 1:
            raise DataError(
                f"{file} has {shape[1]} columns, and {files[0]} has another number; "
                f"the files of {path} must have the same."
            )
        step = max(1, _BLOCK_ENTRIES // max(1, shape[1]))
        for first in range(0, shape[0], step):
            last = min(first + step, shape[0])
            task = _task(read_rows, str(file.absolute()), first, last)
            pieces.append((last - first, task))
    if not pieces:
        raise DataError(f"{path} has no rows.")
    return LazyRows(X=_array_of(pieces, widths.pop(), np.result_type(*kinds)))


def _header(file: Path) -> tuple[tuple[int, int], Any]:
    try:
        array = np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(_unreadable(str(file), error)) from None
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise DataError(
            f"{file} holds an array of shape {array.shape} and type {array.dtype}; a "
            "matrix of real numbers with one sample per row is needed."
        )
    return (int(array.shape[0]), int(array.shape[1])), array.dtype


def read_rows(file: str, first: int, last: int) -> FloatArray:
    """Return rows of an NPY file; runs on a worker."""
    try:
        array = np.load(file, mmap_mode="r", allow_pickle=False)
        return np.array(array[first:last])
    except (OSError, ValueError, EOFError) as error:
        raise DataError(_unreadable(file, error)) from None


def _unreadable(file: str, error: Exception) -> str:
    return (
        f"{file} cannot be read ({type(error).__name__}: {error}). Workers must see it "
        "under this path, and it must be whole."
    )


def _zarr(path: Path, variable: str | None) -> LazyRows:
    try:
        import zarr
    except ImportError:
        raise DataError("Zarr stores need the package zarr: pip install zarr") from None
    import dask.array as da

    try:
        store = zarr.open(str(path.absolute()), mode="r")
        if not hasattr(store, "ndim"):
            store = _one_of(path, dict(store.arrays()), variable)
        # A codec of that name would run what is stored.
        if "pickle" in str(store.metadata.to_dict()).lower():
            raise DataError(f"{path} holds pickled objects, which are not read.")
    except SymmfError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(_unreadable(str(path), error)) from None
    if store.ndim != 2 or store.dtype.kind not in "biuf":
        raise DataError(
            f"{path} holds an array of shape {store.shape} and type {store.dtype}; a "
            "matrix of real numbers with one sample per row is needed."
        )
    from_zarr: Any = da.from_zarr
    return LazyRows(X=from_zarr(store))


def _one_of(path: Path, arrays: dict[str, Any], variable: str | None) -> Any:
    there = ", ".join(f"{name} {a.shape}" for name, a in arrays.items()) or "nothing"
    wide = [name for name, a in arrays.items() if a.ndim == 2]
    chosen = variable or (wide[0] if len(wide) == 1 else None)
    if chosen is None:
        raise DataError(f"{path} has: {there}. Choose a matrix with --variable.")
    if chosen not in arrays:
        raise InputError(
            f"{path} has no variable {chosen!r}.{did_you_mean(chosen, arrays)} It has: "
            f"{there}."
        )
    return arrays[chosen]
