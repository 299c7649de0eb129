"""Reading and writing ``fea`` and ``gnd`` in MATLAB 5 files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import io

from symmf.common.notation import AnyMatrix, FloatArray


def read_mat(path: Path) -> tuple[AnyMatrix, Any]:
    """Return the samples ``fea`` (dense or sparse) and the labels ``gnd``.

    The file has known bytes, or this is the child process that parses others: either
    may fail in any way, for the child's parent to tell.
    """
    content = io.loadmat(path, variable_names=["fea", "gnd"], spmatrix=False)
    return content["fea"], content["gnd"]


def write_mat(path: Path | str, fea: FloatArray, gnd: Any) -> None:
    """Write ``fea`` and the column ``gnd`` to a compressed MATLAB 5 file."""
    content = {"fea": fea, "gnd": np.asarray(gnd, dtype=np.uint8).reshape(-1, 1)}
    io.savemat(path, content, do_compression=True)
