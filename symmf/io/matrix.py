"""Reading a user's matrix: CSV, TSV, NPY, NPZ, MAT, HDF5, Matrix Market."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse

from symmf.errors import DataError, InputError
from symmf.io.text import read_labels, read_text_table
from symmf.notation import AnyMatrix, LabelArray

# Of several matrices in a file, one with such a name is meant.
_USUAL_NAMES = ("X", "fea", "data", "A", "M")
TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMatrix:
    """The matrix, dense or csr, and the class of each row if labels were named."""

    X: AnyMatrix
    y: LabelArray | None


def read_matrix(
    path: Path,
    *,
    header: bool | None = None,
    labels: str | None = None,
    variable: str | None = None,
) -> UserMatrix:
    """Read a matrix with one sample per row; the format follows the file's name.

    Parameters
    ----------
    path : Path
        ``.csv .tsv .txt`` (text), ``.npy``, ``.npz`` (arrays, or a scipy sparse
        matrix), ``.mat``, ``.h5 .hdf5``, ``.mtx .mtx.gz``. Nothing is ever unpickled.
    header : bool or None
        Whether a text has a line of names; None looks.
    labels : str or None
        A column of a text, a variable of another file, or a file with a label per row.
    variable : str or None
        Which array of a file that has several.

    Raises
    ------
    DataError
        If the file cannot be read as a finite numeric matrix.
    InputError
        If a column or variable that was named is not there.
    """
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"{path} {what}. Give the file that holds the data.")
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty.")
    kind = _kind(path)
    found: Any = None
    if kind in TEXT:
        inside = None if labels is not None and _is_file(path, labels) else labels
        table = read_text_table(path, header=header, labels=inside)
        X, found = table.X, table.labels
    else:
        arrays = _open(path, _READERS[kind])
        X = _matrix(path, arrays, variable)
        if labels is not None and labels in arrays:
            found = np.asarray(arrays[labels]).ravel()
        elif labels is not None and not Path(labels).is_file():
            raise InputError(
                f"{path} has no variable {labels!r}, and there is no file of that name "
                f"with labels. It has: {', '.join(arrays) or 'one matrix'}."
            )
    if labels is not None and found is None:
        found = _labels_file(Path(labels), X.shape[0])
    return UserMatrix(X=X, y=None if found is None else _encode(path, found, X))


def _kind(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-2:] == [".mtx", ".gz"]:
        return ".mtx"
    kind = suffixes[-1] if suffixes else ""
    if kind not in (*TEXT, *_READERS):
        known = ", ".join((*TEXT, *_READERS))
        raise DataError(
            f"The name of {path} does not tell its format. Known endings: {known}."
        )
    return kind


def _is_file(path: Path, labels: str) -> bool:
    """Whether --labels means a file, not a column of the table."""
    numeric = labels.lstrip("-").isdigit()
    return not numeric and Path(labels).is_file() and Path(labels) != path


def _open(path: Path, reader: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    try:
        return reader(path)
    except (PermissionError, DataError):
        raise
    except MemoryError as error:
        raise DataError(f"{path} does not fit in memory.") from error
    # A damaged file can make a reader fail in nearly any way, all meaning the same.
    except Exception as error:
        raise DataError(
            f"{path} cannot be read as a {path.suffix} file "
            f"({type(error).__name__}: {error})."
        ) from error


def _read_npy(path: Path) -> dict[str, Any]:
    return {"": np.load(path, allow_pickle=False)}


def _read_npz(path: Path) -> dict[str, Any]:
    if not zipfile.is_zipfile(path):
        raise DataError(f"{path} is not an NPZ archive.")
    with np.load(path, allow_pickle=False) as archive:
        if {"format", "shape", "data"} <= set(archive.files):
            return {"": sparse.load_npz(path)}
        return {name: archive[name] for name in archive.files}


def _read_mat(path: Path) -> dict[str, Any]:
    try:
        content = io.loadmat(path)
    except NotImplementedError:
        # Version 7.3 is HDF5, with arrays stored by columns.
        return {
            name: value.T if isinstance(value, np.ndarray) else value
            for name, value in _read_hdf5(path).items()
        }
    return {name: value for name, value in content.items() if name[:2] != "__"}


def _read_hdf5(path: Path) -> dict[str, Any]:
    import h5py

    found: dict[str, Any] = {}

    def visit(name: str, node: Any) -> None:
        if isinstance(node, h5py.Group) and "MATLAB_sparse" in node.attrs:
            found[name] = _matlab_sparse(node)
        elif (
            isinstance(node, h5py.Dataset) and "MATLAB_sparse" not in node.parent.attrs
        ):
            found[name] = node[()]

    with h5py.File(path) as file:
        file.visititems(visit)
    return {name: value for name, value in found.items() if not name.startswith("#")}


def _matlab_sparse(group: Any) -> AnyMatrix:
    """Read a sparse matrix of MATLAB 7.3: columns, and the number of rows apart."""
    jc = group["jc"][()]
    n = int(group.attrs["MATLAB_sparse"])
    if "data" not in group:
        return sparse.csc_array((n, len(jc) - 1))
    content = group["data"][()], group["ir"][()], jc
    return sparse.csc_array(content, shape=(n, len(jc) - 1))


def _read_mtx(path: Path) -> dict[str, Any]:
    return {"": io.mmread(path)}


_READERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".mat": _read_mat,
    ".h5": _read_hdf5,
    ".hdf5": _read_hdf5,
    ".mtx": _read_mtx,
}


def _matrix(path: Path, arrays: Mapping[str, Any], variable: str | None) -> AnyMatrix:
    """Choose the matrix that is meant and check it."""
    if variable is not None:
        if variable not in arrays:
            there = ", ".join(name for name in arrays if name) or "no named variables"
            raise InputError(f"{path} has no variable {variable!r}; it has {there}.")
        return _checked(path, arrays[variable])
    if list(arrays) == [""]:
        return _checked(path, arrays[""])
    wide = {name: a for name, a in arrays.items() if _is_matrix(a)}
    usual = [name for name in _USUAL_NAMES if name in wide]
    if len(wide) == 1:
        return _checked(path, next(iter(wide.values())))
    if usual:
        return _checked(path, wide[usual[0]])
    shapes = ", ".join(
        f"{name} {getattr(a, 'shape', '')}" for name, a in arrays.items()
    )
    if not wide:
        raise DataError(
            f"{path} has no matrix of numbers; it has: {shapes or 'nothing'}."
        )
    raise DataError(f"{path} has several matrices ({shapes}). Choose with --variable.")


def _is_matrix(value: Any) -> bool:
    return (
        getattr(value, "ndim", 0) == 2
        and getattr(value.dtype, "kind", "O") in "biuf"
        and min(value.shape) > 1
    )


def _checked(path: Path, value: Any) -> AnyMatrix:
    """Return a finite float array or csr array."""
    kind = getattr(getattr(value, "dtype", None), "kind", "O")
    if kind not in "biuf":
        raise DataError(f"{path} does not hold real numbers.")
    if value.ndim != 2:
        raise DataError(
            f"{path} holds an array of shape {value.shape}; a matrix with one sample "
            "per row is needed."
        )
    if min(value.shape) == 0:
        raise DataError(f"{path} holds an empty matrix, {value.shape}.")
    X = sparse.csr_array(value) if sparse.issparse(value) else np.asarray(value)
    X = X.astype(np.float64, copy=False)
    values = X.data if sparse.issparse(X) else X
    if not np.isfinite(values).all():
        with np.errstate(invalid="ignore"):
            sums = np.asarray(X.sum(axis=1)).ravel()
        raise DataError(
            f"{path} has NaN or infinite values, first in row "
            f"{int(np.argmin(np.isfinite(sums))) + 1}. Fill in or leave out such rows "
            "first."
        )
    return X


def _labels_file(path: Path, n: int) -> Any:
    if path.suffix.lower() == ".npy":
        found = np.asarray(_open(path, _read_npy)[""]).ravel()
        if len(found) != n:
            raise DataError(f"{path} has {len(found)} labels for {n} samples.")
        return found
    return read_labels(path, n)


def _encode(path: Path, labels: Any, X: AnyMatrix) -> LabelArray:
    """Turn labels of any kind into 0 .. classes - 1."""
    n = X.shape[0]
    if len(labels) != n:
        raise DataError(f"The labels of {path} are {len(labels)} for {n} samples.")
    codes: LabelArray = np.unique(np.asarray(labels), return_inverse=True)[1]
    return codes.astype(np.int64)
