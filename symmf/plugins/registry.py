"""Outside methods and data sets put beside ours, for this process."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from symmf.errors import ConfigError, SymmfError
from symmf.plugins.methods import OutsideMethod
from symmf.plugins.source import (
    DATASETS,
    GROUPS,
    LARGEST,
    METHODS,
    CodeSource,
    describe_file,
    describe_package,
    load_data,
)

# How long a plugin may take to be imported; numpy, scipy and PyTorch take seconds.
IMPORT_SECONDS = 60.0
DATA_SECONDS = 600.0
OUTSIDE = "that of the plugin"

_registered: dict[str, CodeSource] = {}


def registered() -> list[CodeSource]:
    """Return the plugins of this process, for provenance."""
    return list(_registered.values())


def register_plugin(path: Path | str) -> CodeSource:
    """Add the METHODS and DATASETS of a Python file to ours.

    Raises
    ------
    ConfigError
        If the file cannot be imported, offers nothing, or a name is taken.
    """
    path = Path(path)
    if not path.is_file():
        raise ConfigError(f"--plugin {path}: there is no such file.")
    found = _in_child(describe_file, path, f"--plugin {path}")
    source = CodeSource(
        name=path.stem,
        version=found["version"],
        sha256=found["sha256"],
        path=str(path.absolute()),
        text=found["text"],
    )
    _add(source, found, f"--plugin {path}")
    return source


@cache
def register_packages() -> None:
    """Add what installed packages offer through entry points, once."""
    packages = {
        entry.dist.name: entry.dist
        for group in GROUPS.values()
        for entry in metadata.entry_points(group=group)
        if entry.dist is not None
    }
    for name, dist in packages.items():
        place = Path(str(dist.locate_file("")))
        what = f"The package {name}"
        found = _in_child(describe_package, place, what, package=name)
        source = CodeSource(
            name=name, version=dist.version, sha256=found["sha256"], path=""
        )
        _add(source, found, what)


def _in_child(function: Any, path: Path, what: str, **options: Any) -> dict[str, Any]:
    from symmf.common.sandbox import read_in_child

    try:
        found: dict[str, Any] = read_in_child(
            function, path, seconds=IMPORT_SECONDS, largest=LARGEST, **options
        )
    except SymmfError as error:
        raise ConfigError(
            f"{what} was tried in a process of its own, which crashed or took more "
            f"than {IMPORT_SECONDS:g} seconds. ({error})"
        ) from None
    if "error" in found:
        raise ConfigError(f"{what} cannot be used: {found['error']}.")
    return found


def _add(source: CodeSource, found: dict[str, Any], what: str) -> None:
    from symmf import clustering, datasets

    for name, about in found[METHODS].items():
        method = OutsideMethod(
            name=name,
            source=source,
            parameters=about["names"],
            others=about["others"],
        )
        _put(clustering.METHODS, name, method, what, "method")
    for name, about in found[DATASETS].items():
        spec = _spec(name, source, about["names"])
        _put(datasets.DATASETS, name, spec, what, "data set")
    _registered[source.sha256] = source


def _put(known: dict[str, Any], name: str, thing: Any, what: str, kind: str) -> None:
    if known.get(name, thing) != thing and not _is_outside(known[name]):
        raise ConfigError(
            f"{what}: there is a {kind} {name!r} already; give this one another name."
        )
    known[name] = thing


def _is_outside(thing: Any) -> bool:
    outside = getattr(thing, "licence", "") == OUTSIDE
    return outside or isinstance(thing, OutsideMethod)


def _spec(name: str, source: CodeSource, options: dict[str, Any]) -> Any:
    from symmf.datasets import Dataset, DatasetSpec

    def read(**given: Any) -> Dataset:
        from dataclasses import asdict

        from symmf.common.sandbox import read_in_child

        found = read_in_child(
            load_data,
            Path(source.path or "."),
            seconds=DATA_SECONDS,
            source=asdict(source),
            name=name,
            options=given,
        )
        return Dataset.from_arrays(
            found["X"], found["y"], name=name, title=name, kind="vector"
        )

    return DatasetSpec(
        name=name,
        title=name,
        description=f"of the plugin {source.name}",
        licence=OUTSIDE,
        citation="",
        read=read,
        options=dict.fromkeys(options, "option of the plugin"),
    )
