"""Calls of the system that fail on request: builds and arms ``faults.c``."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

CALLS = ("open", "write", "fsync", "rename", "unlink", "mkdir", "socket", "memory")
ERRORS = (errno.ENOSPC, errno.EIO, errno.EMFILE, errno.EINTR)
_SOURCE = Path(__file__).with_name("faults.c")


def available() -> bool:
    """Tell whether calls can be made to fail here."""
    return sys.platform == "linux" and shutil.which("cc") is not None


def preload() -> None:
    """Begin this program again, with the library in front of the system's."""
    if "FAULTS" in os.environ:
        return
    library = Path(tempfile.gettempdir()) / f"symmf-faults-{os.getpid()}.so"
    build = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(_SOURCE), "-ldl"]
    subprocess.run(build, check=True)
    os.environ |= {"FAULTS": str(library), "LD_PRELOAD": str(library)}
    os.execv(sys.executable, sys.orig_argv)


def arm(
    folder: Path, under: Path, *, call: str = "", n: int = 0, error: int = 0
) -> None:
    """Let the n-th call of a kind fail in this process and its children.

    Without ``call`` every change below ``under`` is logged.
    """
    shared, log = folder / "shared", folder / "log-of-changes"
    shared.write_bytes(bytes(4096))
    log.touch()
    os.environ |= {
        "FAULT_SHARED": str(shared),
        "FAULT_CALL": call,
        "FAULT_NTH": str(n),
        "FAULT_ERRNO": str(error),
        "FAULT_UNDER": f"{under}",
        "FAULT_LOG": "" if call else str(log),
    }
    ctypes.CDLL(None).faults_arm()


def was_met(folder: Path) -> bool:
    """Tell whether the call came, and failed."""
    return struct.unpack("qq", (folder / "shared").read_bytes()[:16])[1] == 1
