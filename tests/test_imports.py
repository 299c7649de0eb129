"""`symmf --help` imports little; the layers are contracts in pyproject.toml."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import symmf

PACKAGE = Path(symmf.__file__).parent


def test_the_contract_of_the_results_folder_is_cheap() -> None:
    loaded = modules_after("import symmf.experiment.store.layout")
    assert not loaded & {*HEAVY, "h5py", "pydantic", "yaml"}


def modules_after(code: str) -> set[str]:
    """Names of the modules a fresh interpreter has imported after ``code``."""
    script = f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"
    out = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(out.stdout.split())


HEAVY = {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "torch", "rich", "dask"}


def test_help_imports_no_heavy_module() -> None:
    help_page = (
        "import contextlib, io\n"
        "from symmf.cli.main import cli\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    cli.main(['--help'], standalone_mode=False)\n"
    )
    modules = modules_after(help_page)
    assert not modules & HEAVY
    # click and what it brings: a few hundred small modules, not thousands.
    assert len(modules) < 400


def test_status_of_finished_experiments_imports_no_heavy_module(tmp_path: Path) -> None:
    folder = tmp_path / "known"
    folder.mkdir()
    (folder / "experiment.yaml").write_text("")
    (folder / "provenance.json").write_text('{"trials": {"total": 1, "beside": 0}}')
    (folder / "trials.csv").write_text("status,seconds,attempts\nok,1.5,1\n")
    status = (
        "from symmf.cli.main import cli\n"
        f"cli.main(['status', '--results', {str(tmp_path)!r}], standalone_mode=False)\n"
    )
    modules = modules_after(status)
    assert "complete" in modules  # of what is printed
    assert not modules & {*HEAVY, "h5py", "pydantic", "yaml"}
    assert len(modules) < 400


def test_clustering_does_not_import_torch() -> None:
    assert "torch" not in modules_after("import symmf.clustering")


def test_public_names_are_lazy_and_real() -> None:
    assert not modules_after("import symmf") & HEAVY
    for name in symmf.__all__:
        assert getattr(symmf, name) is not None
    assert set(symmf.__all__) <= set(dir(symmf))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = symmf.no_such_name


WITHOUT_POSIX = """
import os, sys
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
del os.fork, os.sysconf, os.memfd_create, os.O_NONBLOCK
import signal
del signal.SIGHUP, signal.SIGALRM, signal.setitimer
from symmf.__main__ import start
sys.argv = ["symmf", *sys.argv[1:]]
start()
"""


def without_posix(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command as on Windows: without its modules of POSIX, and in cp1252."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "cp1252:strict"},
        encoding="cp1252",
        capture_output=True,
        check=False,
    )


def test_tables_are_clustered_without_posix(tmp_path: Path) -> None:
    rows = [f"{i % 3 * 9 + i / 40},{i % 3},\u03b1" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,\u03bb", *rows]), encoding="utf-8")
    command = ("cluster", "t.csv", "-k", "3", "--no-stability", "--report", "p.html")
    done = without_posix(tmp_path, *command)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "p.html").is_file()


def test_a_study_says_that_it_needs_posix(tmp_path: Path) -> None:
    done = without_posix(tmp_path, "run", "quickstart", "--results", "r")
    assert done.returncode == 2
    assert "Studies need Linux or macOS" in done.stderr
    assert "Traceback" not in done.stderr
