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
    "plugins": 3.5,
    "cli": 6,
    "reporting": 5,
    "experiment": 4,
    "explain": 4,
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
    "errors": -2,
    "notation": -2,
    "texts": -1,
    "files": 0,
    "shipped": 0.5,
    "validation": -1,
    "isolation": 0,
    "linalg": 0,
    "seeds": 0,
}
MODULES = sorted(PACKAGE.rglob("*.py"))
NAMES = {
    ".".join(("symmf", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in MODULES
} | {
    ".".join(("symmf", *path.parent.relative_to(PACKAGE).parts))
    for path in MODULES
    if path.name == "__init__.py"
}


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
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name for name in inner if name in NAMES}
            if node.module == "symmf":
                found |= inner
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


# Inside experiment and reporting: what a room may import beside itself. A room is a
# module or a folder; the longest name that fits a module is its room.
_VALUES = {"experiment.values", "experiment.store.layout"}
_KEPT = {*_VALUES, "experiment.config", "experiment.store"}
_RUN = {*_KEPT, "experiment.provenance", "experiment.execution", "experiment.events"}
_SELECTED = {"experiment.store", "experiment.store.layout", "reporting.results"}
_MEASURED = {*_SELECTED, "reporting.selection"}
_SHOWN = {*_MEASURED, "reporting.statistics", "reporting.tables"}
ROOMS = {
    "experiment": set(),
    "experiment.values": set(),
    "experiment.data": {"experiment.values"},
    "experiment.provenance": set(),
    # The contract of the results folder stands below all: it imports nothing.
    "experiment.store.layout": set(),
    "experiment.events": _VALUES,
    "experiment.config": {*_VALUES, "experiment.data"},
    "experiment.store": {*_VALUES, "experiment.config"},
    "experiment.execution": {"experiment.values", "experiment.provenance"},
    "experiment.plan": {*_KEPT, "experiment.data"},
    "experiment.estimate": {*_KEPT, "experiment.plan"},
    "experiment.preflight": {"experiment.plan", "experiment.estimate"},
    "experiment.recorder": {*_KEPT, "experiment.provenance", "experiment.plan"},
    "experiment.runner": {*_RUN, "experiment.plan", "experiment.recorder"},
    "experiment.replay": {*_RUN, "experiment.data"},
    "experiment.verify": {*_RUN, "experiment.replay"},
    "experiment.status": {*_KEPT, "experiment.estimate"},
    "reporting": set(),
    "reporting.tidy": {"experiment.store", "experiment.store.layout"},
    "reporting.results": {
        *("experiment.store", "experiment.store.layout", "reporting.tidy")
    },
    "reporting.selection": _SELECTED,
    "reporting.statistics": _MEASURED,
    "reporting.tables": _MEASURED,
    # The figure of the published values shows the verdicts on them.
    "reporting.plots": {*_SHOWN, "reporting.verdicts"},
    "reporting.verdicts": _SHOWN,
    "reporting.page": {*_SHOWN, "reporting.plots", "reporting.verdicts"},
}
# Edges that still point the wrong way; the list only ever gets shorter.
KNOWN_VIOLATIONS: set[tuple[str, str]] = set()


def room_of(module: str) -> str:
    """symmf.experiment.store.export -> experiment.store."""
    pieces = module.removeprefix("symmf.").split(".")
    while ".".join(pieces) not in ROOMS and len(pieces) > 1:
        pieces.pop()
    return ".".join(pieces)


@pytest.mark.parametrize("part", ["experiment", "reporting"])
def test_rooms_import_only_the_rooms_before_them(part: str) -> None:
    found = set()
    for path in sorted((PACKAGE / part).rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        module = ".".join(p for p in parts if p != "__init__")
        own = room_of(module)
        assert own != part or module == part, f"{module} has no room: add it above"
        for name in imports_of(path):
            other = room_of(name)
            if part_of(name) not in ("experiment", "reporting") or other == own:
                continue
            if other not in ROOMS[own] and other not in LAYERS:
                found.add((own, other))
    known = {edge for edge in KNOWN_VIOLATIONS if edge[0].startswith(part)}
    assert found <= known, f"wrong way: {sorted(found - known)}"
    assert known <= found, f"mended; take them off the list: {sorted(known - found)}"


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


def test_status_of_what_is_known_imports_no_heavy_module(tmp_path: Path) -> None:
    folder = tmp_path / "known"
    folder.mkdir()
    (folder / "experiment.yaml").write_text("")
    keep = (
        "from pathlib import Path\n"
        "from symmf.experiment.store.counts import Counts, inputs_digest, keep_counts\n"
        "from symmf.experiment.store.places import results_place\n"
        f"results = Path({str(tmp_path)!r})\n"
        "study = results_place(results, reference=True).folder\n"
        "folder = results / 'known'\n"
        "counts = Counts(total=1, done=1, failed=0, seconds=1.0, left=0.0)\n"
        "keep_counts(folder, inputs_digest(folder, study), counts)\n"
        "from symmf.cli.main import cli\n"
        "cli.main(['status', '--results', str(results)], standalone_mode=False)\n"
    )
    modules = modules_after(keep)
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
