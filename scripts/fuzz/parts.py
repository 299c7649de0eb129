"""The parts of the attack by name; a new one is a file and a word here."""

from __future__ import annotations

from importlib import import_module

from scripts.fuzz.harness import Part

_NAMES = (
    "configs", "options", "files", "models", "imports", "results", "numerics", "kills",
    "dask", "nth", "power",
)  # fmt: skip
PARTS: dict[str, Part] = {
    name: import_module(f"scripts.fuzz.{name}").PART for name in _NAMES
}
