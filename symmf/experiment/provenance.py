"""Where a result comes from: versions, machine, code, command."""

from __future__ import annotations

import platform
import shlex
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import joblib

import symmf

LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "joblib",
    "threadpoolctl",
    "h5py",
    "pandas",
    "torch",
    "distributed",
)


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of the libraries a result may depend on."""
    found = {}
    for name in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@cache
def cpu_model() -> str:
    """Return the processor's name, as far as the system tells it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def blas() -> list[dict[str, Any]]:
    """Return the BLAS and OpenMP libraries loaded now, with their threads."""
    from threadpoolctl import threadpool_info

    kept = ("user_api", "internal_api", "version", "num_threads", "architecture")
    # A library may register a controller of its own (scipy's Matrix Market reader
    # does) whose facts need not be plain values.
    found = [
        {k: lib[k] for k in kept if isinstance(lib.get(k), str | int)}
        for lib in threadpool_info()
    ]
    return sorted(found, key=str)


def environment() -> dict[str, Any]:
    """Describe the machine and the libraries of this process."""
    return {
        "python": platform.python_version(),
        "libraries": dict(library_versions()),
        "blas": blas(),
        "cpu": cpu_model(),
        "cpus": joblib.cpu_count(),
        "platform": platform.platform(),
    }


@cache
def git_state() -> dict[str, Any]:
    """Return commit and dirty flag of the checkout the package lies in, if any.

    Dirty means that files of the package itself differ from the commit; results and
    notes beside it do not count.
    """
    root = Path(symmf.__file__).resolve().parents[1]
    commit = _git(root, "rev-parse", "HEAD") if (root / ".git").exists() else ""
    if not commit:
        return {}
    changes = _git(root, "status", "--porcelain", "--", "symmf")
    return {"commit": commit, "dirty": changes != ""}


def _git(root: Path, *arguments: str) -> str | None:
    git = ["git", "-C", str(root), *arguments]
    try:
        return subprocess.check_output(
            git, stderr=subprocess.DEVNULL, text=True, timeout=20
        ).strip()
    except (OSError, subprocess.SubprocessError):
        return None


def command() -> str:
    """Return the command line of this process, as one could type it again."""
    name = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    return shlex.join([name, *sys.argv[1:]])


def code() -> dict[str, Any]:
    """Describe the running code: package version, git state, command."""
    return {"symmf": symmf.__version__, "git": git_state(), "command": command()}
