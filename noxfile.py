#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2024.4.15"]
# ///
"""Checks in environments of their own: ``nox -s tests lowest wheel docs``."""

from __future__ import annotations

import os
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "venv"

PINNED = ("--constraint", "scripts/constraints.txt")
LOWEST = ("--constraint", "scripts/constraints-lowest.txt")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
QUICK = ("-m", "not slow and not network", "-n", "2", "--dist", "worksteal", "-q")


def _data() -> dict[str, str]:
    """Hand the folder of real data on, so that tests on them are not skipped."""
    return {k: v for k, v in os.environ.items() if k == "SYMMF_DATA"}


@nox.session
def lint(session: nox.Session) -> None:
    """Run ruff over everything."""
    session.install("ruff", *PINNED)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check types, strictly: ours, and those a user's own code sees."""
    session.install("-e", ".[test]", *PINNED)
    session.run("mypy")
    session.run("pytest", "-q", "tests/test_public.py")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the quick tests with the pinned versions; arguments go to pytest."""
    session.install("-e", ".[test,dask,io]", *PINNED)
    session.run("pytest", *(session.posargs or QUICK), env=ONE_THREAD | _data())


@nox.session(default=False)
def coverage(session: nox.Session) -> None:
    """Run the quick tests and tell which lines they reach, in workers too."""
    session.install("-e", ".[test,dask,io]", *PINNED)
    session.install("coverage>=7.10.4", "pytest-cov>=7")
    options = session.posargs or QUICK
    session.run("pytest", "--cov", "--cov-report=", *options, env=ONE_THREAD | _data())
    session.run("coverage", "report")


@nox.session(default=False)
def lowest(session: nox.Session) -> None:
    """Run the quick tests with the lowest version of everything."""
    session.install("-e", ".[test,dask,io]", *LOWEST)
    session.run("pytest", *(session.posargs or QUICK), env=ONE_THREAD | _data())


@nox.session(default=False)
def newest(session: nox.Session) -> None:
    """Run the quick tests with the newest version of everything but PyTorch."""
    session.install("-e", ".[test,dask,io]")
    session.run("pytest", *(session.posargs or QUICK), env=ONE_THREAD | _data())


@nox.session(default=False)
def windows(session: nox.Session) -> None:
    """Test what works without POSIX: the library, and files of users."""
    session.install("-e", ".[test,io]", *PINNED)
    parts = ("clustering", "solvers", "similarity", "linalg", "features", "io", "app")
    folders = [f"tests/{part}" for part in parts]
    session.run("pytest", *(session.posargs or QUICK), *folders, env=ONE_THREAD)


@nox.session(default=False)
def lock(session: nox.Session) -> None:
    """Write pylock.toml: the pinned versions with the hashes of their files.

    It names the addresses of files on one package index, so it is attached to a release
    and not committed.
    """
    session.install("pip>=25.1")
    pins = ("--requirement", "scripts/constraints.txt")
    session.run("python", "-m", "pip", "lock", *pins, "--output", "pylock.toml")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation, warnings as errors."""
    session.install("-e", ".[docs,io]", *PINNED)
    session.run("python", "-m", "scripts.docs_pages")
    session.run(
        *("python", "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"),
        *("docs", "docs/_build/html"),
    )


@nox.session
def wheel(session: nox.Session) -> None:
    """Build, check, install outside the checkout, and start every command."""
    session.install("build", "twine", "pip")
    out = Path(session.create_tmp()) / "dist"
    session.run("python", "-m", "build", "--outdir", str(out), ".", silent=True)
    files = sorted(map(str, out.iterdir()))
    session.run("twine", "check", "--strict", *files)
    built = next(name for name in files if name.endswith(".whl"))
    session.install("--force-reinstall", built, *PINNED)
    with session.chdir(session.create_tmp()):
        session.run("symmf", "--version")
        for command in ("configs", "methods", "status", "tables", "compare"):
            session.run("symmf", command, silent=True)
        session.run("symmf", "run", "quickstart", "--set", "trials=1", silent=True)


@nox.session(default=False)
def repo_review(session: nox.Session) -> None:
    """Run the repository review of Scientific Python."""
    session.install("sp-repo-review[cli]")
    session.run("repo-review", ".")


if __name__ == "__main__":
    nox.main()
