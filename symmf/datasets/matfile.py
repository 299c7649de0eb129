"""Reading and writing ``fea`` and ``gnd`` in MATLAB 5 files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.errors import DataError


def read_mat(path: Path) -> tuple[AnyMatrix, Any]:
    """Return the samples ``fea`` (dense or sparse) and the labels ``gnd``.

    The file has known bytes, or this is the child process that parses others: scipy may
    fail in any way.

    Raises
    ------
    DataError
        If the file is not a MATLAB 5 file with both variables.
    """
    content = io.loadmat(path, variable_names=["fea", "gnd"], spmatrix=False)
    absent = [name for name in ("fea", "gnd") if name not in content]
    if absent:
        raise DataError(f"{path} has no variable {' and no variable '.join(absent)}.")
    fea, gnd = content["fea"], content["gnd"]
    if sparse.issparse(gnd):
        raise DataError(f"{path}: gnd must be a column of numbers, not sparse.")
    # Cells, structures and texts have no numeric type.
    if fea.dtype.kind not in "biuf" or gnd.dtype.kind not in "biuf":
        raise DataError(f"{path}: fea and gnd must hold numbers.")
    return fea, gnd


def write_mat(path: Path, fea: FloatArray, gnd: Any) -> None:
    """Write ``fea`` and the column ``gnd`` to a compressed MATLAB 5 file."""
    content = {"fea": fea, "gnd": np.asarray(gnd, dtype=np.uint8).reshape(-1, 1)}
    with path.open("wb") as file:
        io.savemat(file, content, do_compression=True)
