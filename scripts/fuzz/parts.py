"""The parts of the attack by name; a new one is a file and a line here."""

from __future__ import annotations

from scripts.fuzz import (
    configs,
    dask,
    disk,
    files,
    imports,
    kills,
    models,
    numerics,
    options,
    results,
)
from scripts.fuzz.harness import Part

PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        configs.PART,
        options.PART,
        files.PART,
        models.PART,
        imports.PART,
        results.PART,
        numerics.PART,
        kills.PART,
        disk.PART,
        dask.PART,
    )
}
