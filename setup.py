"""Puts the shipped experiment files and the reference study inside the wheel.

Everything else is said in pyproject.toml. An editable install reads ``configs/`` and
``results/reference/`` where they are; see symmf/common/shipped.py.
"""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
REFERENCE = ROOT / "results" / "reference"
ALWAYS = ("trials.csv", "experiment.yaml", "provenance.json")
# The figure of convergence and the picture of A and H need more than tables.
FIRST = ("convergence/traces.csv", "illustration/illustration.npz")
# Of the reference, compressed as a wheel compresses it.
LIMIT = 4_700_000


def reference_files() -> list[Path]:
    """Return what of the reference travels: tables always, traces while they fit."""
    experiments = sorted(path.parent for path in REFERENCE.glob("*/trials.csv"))
    chosen = [folder / name for folder in experiments for name in ALWAYS]
    wanted = [REFERENCE / name for name in FIRST]
    wanted += sorted(REFERENCE.glob("*/traces.csv"), key=lambda p: p.stat().st_size)
    size = sum(_compressed(path) for path in chosen if path.is_file())
    for path in dict.fromkeys(wanted):
        if path.is_file() and size + (more := _compressed(path)) <= LIMIT:
            chosen.append(path)
            size += more
    return [path for path in chosen if path.is_file()]


def _compressed(path: Path) -> int:
    return len(zlib.compress(path.read_bytes()))


class BuildWithShipped(build_py):
    """Copies the shipped files beside the modules."""

    def run(self) -> None:
        """Build the package, then add to it."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "symmf" / "_shipped"
        shutil.rmtree(target, ignore_errors=True)
        for path in sorted((ROOT / "configs").glob("*.yaml")):
            _copy(path, target / "configs" / path.name)
        for path in reference_files():
            _copy(path, target / "reference" / path.relative_to(REFERENCE))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


if __name__ == "__main__":
    setup(cmdclass={"build_py": BuildWithShipped})
