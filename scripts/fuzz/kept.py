"""Figures of a part kept as JSON, so that parts run apart are joined in one page."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from scripts.fuzz.harness import Tally

_LIBRARIES = (
    "symmf", "numpy", "scipy", "scikit-learn", "pandas", "h5py", "matplotlib", "PyYAML",
    "distributed",
)  # fmt: skip


def keep(tally: Tally, folder: Path) -> None:
    """Write the figures of a part; those from the same case on are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    content = asdict(tally) | {"made": _made()}
    path = folder / f"{tally.part}-{tally.start}.json"
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")


def load(folder: Path, order: list[str]) -> list[tuple[Tally, dict[str, str]]]:
    """Read what was kept of each part, with when and with what it was made.

    Pieces of a part that follow each other become one.
    """
    found: list[tuple[Tally, dict[str, str]]] = []
    for name in order:
        pieces = []
        for path in folder.glob(f"{name}-*.json"):
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            made = content.pop("made")
            pieces.append((Tally(**content), made))
        for tally, made in sorted(pieces, key=lambda piece: piece[0].start):
            if found and found[-1][1] == made and found[-1][0].goes_on_in(tally):
                found[-1][0].join(tally)
            else:
                found.append((tally, made))
    return found


def _made() -> dict[str, str]:
    """Return the day and the versions, by name."""
    versions = {"Python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "absent"
    system = f"{platform.system()} {platform.machine()}"
    return {"date": f"{datetime.now(UTC):%Y-%m-%d}", "system": system} | versions
