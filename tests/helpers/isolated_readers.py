"""Readers that behave as damaged files make real ones behave."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from symmf.errors import InputError


def everything(path: Path) -> dict[str, Any]:
    """Return a value of every kind that can be handed back."""
    return {
        "size": path.stat().st_size,
        "text": "Zürich \udc80\n",
        "large": 2**80,
        "nan": float("nan"),
        "none": None,
        "items": [1, [2.5, True]],
        "rows": np.arange(6.0).reshape(2, 3),
        "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "texts": np.array(["a", "bcd"]),
        "empty": np.empty((0, 3)),
        "csr": sparse.csr_array(np.eye(3)),
        "coo": sparse.coo_matrix(np.eye(3)),
        "bsr": sparse.bsr_array(np.eye(4), blocksize=(2, 2)),
        "dia": sparse.dia_array(np.eye(3)),
    }


def crash(path: Path, *, signal_number: int) -> None:
    """End as a reader that wrote where it should not."""
    del path
    os.kill(os.getpid(), signal_number)


def hang_deaf(path: Path) -> None:
    """Sleep, whatever alarm rings."""
    del path
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    time.sleep(20)


def chatter(path: Path) -> str:
    """Write to standard output, as C code may."""
    del path
    os.write(1, b"from C")
    return "answer"


def hang(path: Path) -> None:
    """Never end; tell who does."""
    path.with_name("pid").write_text(str(os.getpid()))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(0.1)


def take_memory(path: Path) -> int:
    """Take more memory than there should be."""
    del path
    return int(np.ones(1 << 32).sum())


def grow_result(path: Path) -> Any:
    """Return what is small here and large when written out."""
    del path
    return np.broadcast_to(np.zeros(1), (1 << 28, 8))


def misuse(path: Path, *, word: str) -> None:
    """Raise an error of the package."""
    raise InputError(f"{path.name} has no column {word!r}.")


def fail(path: Path) -> None:
    """Raise an error nobody foresaw, with odd characters in its text."""
    raise LookupError(f"{path}\x1b[31m\n")


def wrong_indices(path: Path) -> Any:
    """Return a sparse matrix whose indices lie outside."""
    del path
    X = sparse.csr_array(np.eye(3))
    X.indices[1] = 1000
    return X


def opaque(path: Path) -> Any:
    """Return something that is not plain data."""
    return {"object": object(), "path": str(path)}


def pid(path: Path) -> int:
    """Tell which process reads."""
    del path
    return os.getpid()
