"""The layers: a module imports only from below; `symmf --help` imports little."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import symmf

PACKAGE = Path(symmf.__file__).parent

LAYERS = {
    "__init__": 6,
    "__main__": 7,
    "cli": 6,
    "reporting": 5,
    "experiment": 4,
    "clustering": 3,
    "solvers": 2,
    "audit": 2,
    "features": 1,
    "io": 1,
    "paper": 1,
    "datasets": 1,
    "similarity": 1,
    "constraints": 1,
    "labels": 1,
    "metrics": 1,
    "errors": -1,
    "notation": -1,
    "texts": -1,
    "files": 0,
    "validation": 0,
    "isolation": 0,
    "linalg": 0,
    "seeds": 0,
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def part_of(module: str) -> str:
    """symmf.solvers._loop -> solvers."""
    pieces = module.split(".")
    return pieces[1] if len(pieces) > 1 else "__init__"


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
            if node.module == "symmf":
                found |= {f"symmf.{alias.name}" for alias in node.names}
    return {name for name in found if name.startswith("symmf.")}


@pytest.mark.parametrize(
    "path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)).replace("/", ".")
)
def test_imports_point_downward(path: Path) -> None:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    own = parts[0]
    assert own in LAYERS, f"{own} has no layer: add it to the design first"
    if own == "__init__":
        return
    for name in imports_of(path):
        other = part_of(name)
        if other in ("__version__", own):
            continue
        assert LAYERS[other] < LAYERS[own], f"{own} must not import {name}"


def test_reporting_sees_only_the_store() -> None:
    for path in (PACKAGE / "reporting").rglob("*.py"):
        for name in imports_of(path):
            if part_of(name) == "experiment":
                assert name.startswith("symmf.experiment.store"), f"{path}: {name}"
            assert part_of(name) not in ("solvers", "datasets", "clustering"), name


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


def test_clustering_does_not_import_torch() -> None:
    assert "torch" not in modules_after("import symmf.clustering")


def test_public_names_are_lazy_and_real() -> None:
    assert not modules_after("import symmf") & HEAVY
    for name in symmf.__all__:
        assert getattr(symmf, name) is not None
    assert set(symmf.__all__) <= set(dir(symmf))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = symmf.no_such_name
