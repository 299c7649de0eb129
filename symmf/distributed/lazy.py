"""Folders of Parquet, NPY or Zarr as dask arrays: nothing is read before it is used.

Names and types are read here, those of Parquet in a child process. Blocks of rows are
read by whoever computes with them, so workers must see the folder under the same path.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from glob import escape
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from symmf.common.notation import FloatArray
from symmf.common.sandbox import read_in_child
from symmf.common.validation import check_name
from symmf.distributed.rows import imported, unreadable
from symmf.errors import DataError, InputError
from symmf.io.samples import UserMatrix

# Blocks of rows have about so many bytes.
_BLOCK_BYTES = 32_000_000
_ZARR = ("zarr.json", ".zarray", ".zgroup")


def open_lazily(
    path: Path,
    *,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    id: str | None = None,
    variable: str | None = None,
) -> UserMatrix:
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

    Returns
    -------
    UserMatrix
        X is a dask array; of Parquet the heights of its blocks are not known.

    Raises
    ------
    DataError, InputError
        If it is none of these, or a package that reads it is missing.
    """
    imported("dask")
    kind, files = _kind_and_files(path)
    if kind == "Parquet":
        return _parquet(path, files, columns, drop, id)
    if columns or drop or id:
        raise InputError(f"--columns, --drop and --id are for Parquet; this is {kind}.")
    return UserMatrix(X=_zarr(path, variable) if kind == "Zarr" else _npy(path, files))


def _kind_and_files(path: Path) -> tuple[str, list[str]]:
    """Return "Parquet", "NPY" or "Zarr", and the files in the order of their rows."""
    path = path.absolute()
    if not path.exists():
        raise DataError(f"{path} does not exist. Give the folder that holds the data.")
    if any((path / name).exists() for name in _ZARR):
        return "Zarr", []
    files = [path]
    if path.is_dir():
        inside = [p.relative_to(path) for p in path.rglob("*") if p.is_file()]
        shown = [p for p in inside if not any(part[0] in "._" for part in p.parts)]
        files = [path / p for p in sorted(shown, key=_natural)]
    parquet = [str(p) for p in files if p.suffix.lower() in (".parquet", ".pq")]
    arrays = [str(p) for p in files if p.suffix.lower() == ".npy"]
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


def _parquet(
    path: Path,
    files: list[str],
    columns: Sequence[str],
    drop: Sequence[str],
    id: str | None,
) -> UserMatrix:
    known = read_in_child(parse_schemas, path, files=files, id=id)
    names: list[str] = known["names"]
    for name in (*columns, *drop, *([] if id is None else [id])):
        check_name(f"column of {path} called", name, names)
    chosen = columns or [n for n in known["own"] if n not in (*drop, id)]
    left = list(dict.fromkeys(chosen))
    texts = [name for name in left if name not in known["numeric"]]
    if texts:
        drops = " ".join(f"--drop {quote(name)}" for name in texts[:4])
        raise DataError(
            f"{path}: not every column holds numbers (first {texts[0]!r}). Leave such "
            f"columns out ({drops}), or name rows with one of them (--id)."
        )
    if not left:
        raise DataError(f"{path} has no column of numbers left to cluster.")
    from dask import dataframe

    try:
        # Names are no patterns, and those of folders (year=2020) no columns.
        rows: Any = dataframe.read_parquet(
            [escape(file) for file in files],
            columns=left,
            index=False,
            split_row_groups="adaptive",
            blocksize=_BLOCK_BYTES,
            dataset={"partitioning": None},
        )
    except (OSError, ValueError) as error:
        raise unreadable(error, path) from None
    X = rows.astype(np.float64).to_dask_array()
    return UserMatrix(X=X, names=left, ids=known["ids"], id_name=id or "row")


def parse_schemas(path: Path, files: list[str], id: str | None) -> dict[str, Any]:
    """Return what Parquet files hold, and one column as texts; in a child process."""
    from pyarrow import parquet, types

    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    first = parquet.read_schema(files[0])
    numeric, ids = set(first.names), []
    for file in files:
        schema = parquet.read_schema(file)
        if schema.names != first.names:
            raise DataError(
                f"{file} has other columns than {files[0]}; the files of {path} must "
                "have the same ones in the same order."
            )
        numeric &= {c.name for c in schema if any(kind(c.type) for kind in kinds)}
        if id in first.names:
            column = parquet.read_table(file, columns=[id]).column(0).to_pylist()
            ids += ["" if value is None else str(value) for value in column]
    # What pandas stores of its row index is no feature.
    index = (first.pandas_metadata or {}).get("index_columns", [])
    return {
        "names": first.names,
        "own": [name for name in first.names if name not in index],
        "numeric": sorted(numeric),
        "ids": None if id is None else ids,
    }


def _npy(path: Path, files: list[str]) -> Any:
    array = imported("dask.array")
    width = _mapped(files[0]).shape[1]
    parts = []
    for file in files:
        mapped = _mapped(file)
        if mapped.shape[1] != width:
            raise DataError(
                f"{file} has {mapped.shape[1]} columns, and {files[0]} has another "
                f"number; the files of {path} must have the same."
            )
        rows = max(1, _BLOCK_BYTES // max(1, mapped.itemsize * width))
        chunks = array.core.normalize_chunks((rows, -1), mapped.shape)
        parts.append(
            array.map_blocks(read_rows, file, chunks=chunks, dtype=mapped.dtype)
        )
    return array.concatenate(parts)


def read_rows(file: str, block_info: Any = None) -> FloatArray:
    """Return a block of rows of an NPY file; runs on a worker."""
    first, last = block_info[None]["array-location"][0]
    return np.array(_mapped(file)[first:last])


def _mapped(file: str) -> Any:
    """Return the matrix of an NPY file without reading it."""
    try:
        return _matrix(file, np.load(file, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        raise unreadable(error, file) from None


def _zarr(path: Path, variable: str | None) -> Any:
    zarr = imported("zarr", "zarr")
    try:
        store = zarr.open(str(path.absolute()), mode="r")
        arrays = dict(store.arrays()) if hasattr(store, "arrays") else {"": store}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise unreadable(error, path) from None
    there = ", ".join(f"{name} {a.shape}" for name, a in arrays.items()) or "nothing"
    wide = [name for name, a in arrays.items() if a.ndim == 2 or len(arrays) == 1]
    if variable is None and len(wide) != 1:
        raise DataError(f"{path} has: {there}. Choose a matrix with --variable.")
    chosen = variable or wide[0]
    check_name(f"variable of {path} called", chosen, arrays)
    # A codec of that name would run what is stored.
    if "pickle" in str(arrays[chosen].metadata.to_dict()).lower():
        raise DataError(f"{path} holds pickled objects, which are not read.")
    return imported("dask.array").from_zarr(_matrix(path, arrays[chosen]))


def _matrix(path: Path | str, array: Any) -> Any:
    """Return the array of a file if it has one sample per row."""
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise DataError(
            f"{path} holds an array of shape {array.shape} and type {array.dtype}; a "
            "matrix of real numbers with one sample per row is needed."
        )
    return array
