"""Arrays of NPY, NPZ, MAT, HDF5 and Matrix Market files, read in a child process.

Readers of these formats are C code that trusts what it reads, so a damaged file can
crash them; see :mod:`symmf.common.sandbox`. Nothing is ever unpickled.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse

from symmf.common.notation import AnyMatrix
from symmf.common.sandbox import read_in_child
from symmf.common.validation import check_name
from symmf.errors import DataError

# Of several matrices in a file, one with such a name is meant.
_USUAL_NAMES = ("X", "fea", "data", "A", "M")
# A sparse file of a few bytes can declare more rows than any machine holds.
_MOST_ROWS = 50_000_000


def read_arrays(path: Path, ending: str) -> dict[str, Any]:
    """Return the arrays of a file by name; the only one of a plain file is ``""``."""
    found: dict[str, Any] = read_in_child(parse_arrays, path, ending=ending)
    return found


def parse_arrays(path: Path, ending: str) -> dict[str, Any]:
    """Read a file in the process that calls; sparse index arrays are checked."""
    found = _PARSERS[ending](path)
    return {name: _plain(str(path), value) for name, value in found.items()}


def pick_matrix(
    source: str, arrays: Mapping[str, Any], variable: str | None
) -> AnyMatrix:
    """Choose the matrix that is meant, as finite float64, dense or csr.

    Raises
    ------
    DataError
        If there is none, or several without a usual name.
    InputError
        If ``variable`` is not there.
    """
    if variable is not None:
        check_name(f"variable of {source} called", variable, filter(None, arrays))
        return checked(source, arrays[variable])
    wide = [name for name in arrays if name == "" or _is_matrix(arrays[name])]
    usual = [name for name in _USUAL_NAMES if name in wide]
    if len(wide) == 1 or usual:
        return checked(source, arrays[(usual or wide)[0]])
    shapes = ", ".join(
        f"{name} {getattr(a, 'shape', '')}".strip() for name, a in arrays.items()
    )
    if not wide:
        raise DataError(
            f"{source} has no matrix of numbers; it has: {shapes or 'nothing'}."
        )
    raise DataError(
        f"{source} has several matrices ({shapes}). Choose one with --variable."
    )


def checked(source: str, value: Any) -> AnyMatrix:
    """Return a finite float64 array or csr array of two dimensions."""
    if isinstance(value, str) or value.dtype.kind not in "biuf":
        raise DataError(f"{source} does not hold real numbers.")
    if value.ndim != 2:
        raise DataError(
            f"{source} holds an array of shape {value.shape}; a matrix with one sample "
            "per row is needed."
        )
    if min(value.shape) == 0:
        raise DataError(f"{source} holds an empty matrix, {value.shape}.")
    X: Any = sparse.csr_array(value) if sparse.issparse(value) else np.asarray(value)
    with np.errstate(over="ignore"):
        X = X.astype(np.float64, copy=False)
    from symmf.linalg.checks import first_not_finite

    row = first_not_finite(X)
    if row is not None:
        raise DataError(
            f"{source} has NaN or infinite values, first in row {row + 1}. Fill in or "
            "leave out such rows first."
        )
    return X


def _plain(source: str, value: Any) -> Any:
    """Return an array or a sparse matrix; of anything else its kind alone."""
    if sparse.issparse(value):
        if max(value.shape) > _MOST_ROWS:
            raise DataError(
                f"{source} declares a sparse matrix of shape {value.shape}; up to "
                f"{_MOST_ROWS:,} rows and columns are read."
            )
        # Costs as much as all other imports here, in a process made for one file.
        from symmf.linalg.checks import check_sparse

        check_sparse(value)
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "biufU":
            return value
        if value.dtype.kind == "S":
            return np.char.decode(value, "utf-8", "replace")
        if value.dtype.kind == "O":
            # MATLAB's cells of texts and HDF5's texts; anything else is no label.
            texts = (np.asarray(item).ravel()[:1].tolist() for item in value.ravel())
            return np.array([_text(text[0] if text else "") for text in texts])
    return f"a {type(value).__name__}"


def _text(item: Any) -> str:
    text = item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)
    return text[:1000]


def _parse_npy(path: Path) -> dict[str, Any]:
    # numpy.load would take anything else for a pickle, and advise to trust it.
    with path.open("rb") as file:
        return {"": np.lib.format.read_array(file, allow_pickle=False)}


def _parse_npz(path: Path) -> dict[str, Any]:
    if not zipfile.is_zipfile(path):
        raise DataError(f"{path} is not an NPZ archive.")
    with np.load(path, allow_pickle=False) as archive:
        if {"format", "shape", "data"} <= set(archive.files):
            return {"": sparse.load_npz(path)}
        return {name: archive[name] for name in archive.files}


def _parse_mat(path: Path) -> dict[str, Any]:
    try:
        content = io.loadmat(path, spmatrix=False)
    except NotImplementedError:
        # Version 7.3 is HDF5, with arrays stored by columns.
        return {
            name: value.T if isinstance(value, np.ndarray) else value
            for name, value in _parse_hdf5(path).items()
        }
    return {name: value for name, value in content.items() if name[:2] != "__"}


def _parse_hdf5(path: Path) -> dict[str, Any]:
    """Return the arrays that lie in the file itself: links are not followed."""
    import h5py

    found: dict[str, Any] = {}

    def visit(name: str, node: Any) -> None:
        if "MATLAB_sparse" in node.parent.attrs or name.startswith("#"):
            # Parts of a sparse matrix; what MATLAB's cells refer to.
            return
        if "MATLAB_sparse" in node.attrs:
            found[name] = _matlab_sparse(node)
        elif isinstance(node, h5py.Dataset):
            found[name] = _content(node)

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def _content(node: Any) -> Any:
    if node.external or node.is_virtual:
        raise DataError(
            f"{node.file.filename}: {node.name!r} lies in another file, which is not "
            "read. Store the data in the file itself."
        )
    return node[()]


def _matlab_sparse(group: Any) -> AnyMatrix:
    """Read a sparse matrix of MATLAB 7.3: columns, and the number of rows apart."""
    jc = _content(group["jc"])
    shape = (int(group.attrs["MATLAB_sparse"]), len(jc) - 1)
    if "data" not in group:
        return sparse.csc_array(shape)
    parts = (_content(group["data"]), _content(group["ir"]), jc)
    return sparse.csc_array(parts, shape=shape)


def _is_matrix(value: Any) -> bool:
    """Tell whether it is a matrix of numbers; what is no array is its kind in words."""
    if isinstance(value, str) or value.ndim != 2:
        return False
    return value.dtype.kind in "biuf" and min(value.shape) > 1


_PARSERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    ".npy": _parse_npy,
    ".npz": _parse_npz,
    ".mat": _parse_mat,
    **dict.fromkeys((".h5", ".hdf5"), _parse_hdf5),
    **dict.fromkeys(
        (".mtx", ".mtx.gz"), lambda path: {"": io.mmread(path, spmatrix=False)}
    ),
}
