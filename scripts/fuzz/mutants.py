"""Defects put into the code: the tests of a room must see each of them.

A mutant that survives is a test that is missing, or changes nothing that can be seen.
"""

from __future__ import annotations

import ast
import functools
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.fuzz.harness import Case
from scripts.fuzz.process import ROOT

# The tests of each room.
ROOMS = {
    "symmf/common": ("tests/common",),
    "symmf/experiment/store": (
        "tests/experiment/test_*store*.py", "tests/experiment/test_*table*.py",
        "tests/experiment/test_damaged*.py",
    ),
    "symmf/metrics.py": ("tests/test_metrics.py",),
    "symmf/constraints.py": ("tests/test_constraints.py",),
    "symmf/clustering/labels": ("tests/clustering/test_label*.py",),
}  # fmt: skip
_OTHER: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Add, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
# Tests that go on for so long hang, which is seen.
_SECONDS = 300


def mutants(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, object]]:
    """Yield each node that may change, the name of its field, and the other value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _OTHER:
            yield node, "ops", [_OTHER[type(node.ops[0])](), *node.ops[1:]]
        elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in _OTHER:
            yield node, "op", _OTHER[type(node.op)]()
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            flipped = isinstance(node.value, bool)
            yield node, "value", not node.value if flipped else node.value + 1
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield node, "test", ast.UnaryOp(ast.Not(), node.test)
        elif isinstance(node, ast.Return) and node.value is not None:
            yield node, "value", None


def mutate(tree: ast.AST, number: int) -> str:
    """Change one place of the code; say which and how."""
    node, field, other = list(mutants(tree))[number]
    before = ast.unparse(node).splitlines()[0]
    setattr(node, field, other)
    after = ast.unparse(ast.fix_missing_locations(node)).splitlines()[0]
    return f"{node.lineno}: {before} as {after}"


@functools.cache
def places() -> list[tuple[str, Path, int]]:
    """Return room, file and number of every mutant, in an order that mixes them."""
    found = []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")) or [ROOT / room]:
            count = sum(1 for _ in mutants(ast.parse(path.read_text())))
            found += [(room, path.relative_to(ROOT), i) for i in range(count)]
    return random.Random(0).sample(found, len(found))


def live(case: Case) -> None:
    """Put one defect into a copy of the project, and run the tests of its room."""
    room, path, number = places()[case.index % len(places())]
    copied = shutil.ignore_patterns("__pycache__", "tests-data")
    for name in ("symmf", "tests", "configs", "scripts"):
        shutil.copytree(ROOT / name, case.folder / name, ignore=copied)
    for each in ("pyproject.toml", "results", "docs", "README.md", "setup.py"):
        (case.folder / each).symlink_to(ROOT / each)
    tree = ast.parse((ROOT / path).read_text())
    change = mutate(tree, number)
    (case.folder / path).write_text(ast.unparse(tree))
    seen = _tests_fail(case.folder, room)
    case.notes[f"killed in {room}" if seen else f"survived in {room}"] += 1
    if not seen:
        case.notes[f"{path}:{change}"] += 1


def prepare() -> None:
    """Where nothing was changed the tests must pass, or all mutants would be seen."""
    for room in ROOMS:
        if _tests_fail(ROOT, room):
            raise AssertionError(f"The tests of {room} fail without a defect.")


def _tests_fail(folder: Path, room: str) -> bool:
    tests = [str(path) for name in ROOMS[room] for path in folder.glob(name)]
    chosen = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not network"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *chosen, room, *tests],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(folder)},
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0
