"""The project file: bounds that are tested, imports that are declared."""

from __future__ import annotations

import ast
import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import symmf

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
EXTRAS = PROJECT["optional-dependencies"]
# What `nox -s lowest` installs, without the tools that only check the source.
TESTED = [*PROJECT["dependencies"], *EXTRAS["dask"], *EXTRAS["io"], *EXTRAS["test"]]
TOOLS = {"ruff", "mypy", "import-linter", "types-pyyaml", "pandas-stubs"}
# Distributions whose module has another name.
MODULES = {
    "markdown-it-py": "markdown_it",
    "scikit-learn": "sklearn",
    "pyyaml": "yaml",
    "pillow": "PIL",
}
# Named to the user where it is missing, and in no extra.
OPTIONAL = {"zarr"}


RECIPE = yaml.safe_load((ROOT / "scripts/conda/recipe.yaml").read_text("utf-8"))


def pins(name: str) -> dict[str, Version]:
    lines = (ROOT / "scripts" / name).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in pairs}


def bounds(requirements: list[str]) -> dict[str, Version]:
    """Return the lower bound of every requirement, 0 where it has none."""
    found: dict[str, Version] = {}
    for text in requirements:
        asked = Requirement(text)
        low = [item.version for item in asked.specifier if item.operator == ">="]
        found[canonicalize_name(asked.name)] = Version(low[0]) if low else Version("0")
    return found


@pytest.mark.parametrize("name", sorted(set(bounds(TESTED)) - TOOLS))
def test_the_lowest_version_that_is_tested_is_the_lower_bound(name: str) -> None:
    # 1.7 and 1.7.0 are one version.
    assert pins("constraints-lowest.txt")[name] == bounds(TESTED)[name]


def test_the_pinned_versions_are_allowed() -> None:
    pinned = pins("constraints.txt")
    every = [*TESTED, *EXTRAS["deep"], *EXTRAS["docs"]]
    low = bounds(every)
    assert {name for name in low if pinned[name] < low[name]} == set()


def imported(path: Path) -> Iterator[str]:
    """Yield the first part of every module that a file imports by name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_what_is_imported_is_declared() -> None:
    every = [*PROJECT["dependencies"], *(r for extra in EXTRAS.values() for r in extra)]
    declared = {MODULES.get(name, name) for name in bounds(every)}
    used = {name for path in (ROOT / "symmf").rglob("*.py") for name in imported(path)}
    others = used - set(sys.stdlib_module_names) - {"symmf"}
    assert others - declared - OPTIONAL == set()


def test_every_file_that_names_the_version_names_the_same() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    described = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    assert f"\nversion: {symmf.__version__}\n" in citation
    assert described["version"] == symmf.__version__
    assert RECIPE["context"]["version"] == symmf.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{symmf.__version__}]" in changes


def test_the_conda_recipe_asks_for_the_same() -> None:
    # matplotlib-base is matplotlib without a graphical interface.
    python, *others = RECIPE["requirements"]["run"]
    assert python == f"python {PROJECT['requires-python']}"
    asked = [line.replace("matplotlib-base", "matplotlib") for line in others]
    assert bounds(asked) == bounds(PROJECT["dependencies"])
    (script,) = RECIPE["build"]["python"]["entry_points"]
    assert script == f"symmf = {PROJECT['scripts']['symmf']}"
