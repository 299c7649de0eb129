"""Folders of Parquet, NPY or Zarr as dask arrays: nothing is read before it is used.

Only names, types and numbers of rows are looked at here. Blocks of rows are read by
whoever computes with them, so workers must see the folder under the same path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
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
    kind, files = _kind_and_files(path)
    if kind == "Parquet":
        return _parquet(path, files, columns, drop, id)
    if columns or drop or id:
        raise InputError(f"--columns, --drop and --id are for Parquet; this is {kind}.")
    return _zarr(path, variable) if kind == "Zarr" else _npy(path, files)


def _kind_and_files(path: Path) -> tuple[str, list[Path]]:
    """Return "Parquet", "NPY" or "Zarr", and the files in the order of their rows."""
    if not path.exists():
        raise DataError(f"{path} does not exist. Give the folder that holds the data.")
    if any((path / name).exists() for name in _ZARR):
        return "Zarr", []
    files = [path]
    if path.is_dir():
        inside = [p.relative_to(path) for p in path.rglob("*") if p.is_file()]
        shown = [p for p in inside if not any(part[0] in "._" for part in p.parts)]
        files = [path / p for p in sorted(shown, key=_natural)]
    parquet = [p for p in files if p.suffix.lower() in (".parquet", ".pq")]
    arrays = [p for p in files if p.suffix.lower() == ".npy"]
    if bool(parquet) == bool(arrays):
        what = "has both" if parquet else "has neither"
        raise DataError(
            f"With --dask a folder of Parquet (.parquet) or NPY (.npy) files or a Zarr "
            f"store is read; {path} {what}."
        )
    return ("Parquet", parquet) if parquet else ("NPY", arrays)


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """Sort part-2 before part-10."""
    pieces = re.split(r"(\d+)", str(path))
    return [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in pieces]


def _stacked(
    path: Path, pieces: Iterable[tuple[int, Any]], width: int, dtype: Any
) -> Any:
    """Return a dask array of (rows, function and its arguments) in their order."""
    import dask
    import dask.array as da

    delayed: Any = dask.delayed  # type: ignore[attr-defined]
    block: Any = da.from_delayed
    join: Any = da.concatenate
    blocks = [
        block(delayed(function, pure=False)(*given), (n, width), dtype=dtype)
        for n, (function, *given) in pieces
    ]
    if not blocks:
        raise DataError(f"{path} has no rows.")
    return join(blocks)


def _parquet(
    path: Path,
    files: list[Path],
    columns: Sequence[str],
    drop: Sequence[str],
    id: str | None,
) -> LazyRows:
    paths = [str(p.absolute()) for p in files]
    known = read_in_child(read_footers, path, files=paths, id=id)
    names: list[str] = known["names"]
    ids = [] if id is None else [id]
    for option, given in (("--columns", columns), ("--drop", drop), ("--id", ids)):
        for name in given:
            if name not in names:
                raise InputError(
                    f"{option}: {path} has no column {name!r}."
                    f"{did_you_mean(name, names)} It has: {', '.join(names)}."
                )
    # What pandas stores of its row index is no feature.
    own = [name for name in names if not name.startswith("__index_level_")]
    left = list(columns) or [n for n in own if n not in (*drop, id)]
    texts = [name for name in left if name not in known["numeric"]]
    if texts:
        drops = " ".join(f"--drop {quote(name)}" for name in texts[:4])
        raise DataError(
            f"{path}: not every column holds numbers (first {texts[0]!r}). Leave such "
            f"columns out ({drops}), or name rows with one of them (--id)."
        )
    if not left:
        raise DataError(f"{path} has no column of numbers left to cluster.")
    pieces = (
        (n, (read_row_groups, file, groups, left))
        for file, counts in zip(paths, known["rows"], strict=True)
        for groups, n in _joined(counts, len(left))
    )
    return LazyRows(
        X=_stacked(path, pieces, len(left), np.float64),
        names=left,
        ids=known["ids"],
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


def read_footers(path: Path, files: list[str], id: str | None) -> dict[str, Any]:
    """Return what Parquet files hold, and one column as texts; in a child process."""
    from pyarrow import types

    names: list[str] = []
    numeric: set[str] = set()
    rows, ids = [], []
    for file in files:
        with _opened(file) as opened:
            schema, footer = opened.schema_arrow, opened.metadata
            here = [str(name) for name in schema.names]
            if names and here != names:
                raise DataError(
                    f"{file} has other columns than {files[0]}; the files of {path} "
                    "must have the same ones in the same order."
                )
            plain = {
                name
                for name, kind in zip(here, schema.types, strict=True)
                if types.is_integer(kind)
                or types.is_floating(kind)
                or types.is_boolean(kind)
                or types.is_decimal(kind)
            }
            numeric = plain & numeric if names else plain
            names = here
            groups = range(footer.num_row_groups)
            rows.append([footer.row_group(i).num_rows for i in groups])
            if id in names:
                column = opened.read(columns=[id]).column(0).to_pylist()
                ids += ["" if value is None else str(value) for value in column]
    return {
        "names": names,
        "numeric": sorted(numeric),
        "rows": rows,
        "ids": None if id is None else ids,
    }


def read_row_groups(file: str, groups: list[int], names: list[str]) -> FloatArray:
    """Return rows of a Parquet file, missing values as NaN; runs on a worker."""
    from pyarrow import ArrowException

    try:
        with _opened(file) as opened:
            table = opened.read_row_groups(groups, columns=names)
        frame = table.to_pandas(ignore_metadata=True)[names]
        return np.asarray(frame.to_numpy(dtype=np.float64))
    except (OSError, ArrowException) as error:
        raise DataError(_unreadable(file, error)) from None


def _opened(file: str) -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise DataError(
            "Parquet files need the extra io: pip install 'symmf[io]'"
        ) from None
    return parquet.ParquetFile(file)


def _npy(path: Path, files: list[Path]) -> LazyRows:
    arrays = [(str(file.absolute()), _mapped(str(file.absolute()))) for file in files]
    width = arrays[0][1].shape[1]
    for file, array in arrays:
        if array.shape[1] != width:
            raise DataError(
                f"{file} has {array.shape[1]} columns, and {files[0]} has another "
                f"number; the files of {path} must have the same."
            )
    step = max(1, _BLOCK_ENTRIES // max(1, width))
    pieces = (
        (min(step, len(array) - first), (read_rows, file, first, first + step))
        for file, array in arrays
        for first in range(0, len(array), step)
    )
    dtype = np.result_type(*(array.dtype for _, array in arrays))
    return LazyRows(X=_stacked(path, pieces, width, dtype))


def read_rows(file: str, first: int, last: int) -> FloatArray:
    """Return rows of an NPY file; runs on a worker."""
    return np.array(_mapped(file)[first:last])


def _mapped(file: str) -> Any:
    """Return the matrix of an NPY file without reading it."""
    try:
        array = np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(_unreadable(file, error)) from None
    return _matrix(file, array)


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
    from_zarr: Any = da.from_zarr
    return LazyRows(X=from_zarr(_matrix(path, store)))


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


def _matrix(path: Path | str, array: Any) -> Any:
    """Return the array of a file if it has one sample per row."""
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise DataError(
            f"{path} holds an array of shape {array.shape} and type {array.dtype}; a "
            "matrix of real numbers with one sample per row is needed."
        )
    return array


def _unreadable(file: str, error: Exception) -> str:
    return (
        f"{file} cannot be read ({type(error).__name__}: {error}). Workers must see it "
        "under this path, and it must be whole."
    )
