"""What plugins offer, by kind and name: asked after our own, which stays as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from symmf.errors import ConfigError, SymmfError
from symmf.plugins.methods import OutsideMethod
from symmf.plugins.source import (
    KINDS,
    LARGEST,
    CodeSource,
    describe_file,
    describe_package,
    load_data,
    own_table,
)

# How long a plugin may take to be imported; numpy, scipy and PyTorch take seconds.
IMPORT_SECONDS = 60.0
DATA_SECONDS = 600.0
# Parameters of our methods that may name what a plugin brought.
_NAMED_BY = {
    "solver": "SOLVERS",
    "constraint": "CONSTRAINTS",
    "similarity": "SIMILARITIES",
}


class Registry:
    """The plugins of this process: files, and installed packages once it is asked."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
        self._has_packages = False

    def of(self, kind: str) -> Mapping[str, Any]:
        """Return what plugins offer of a kind.

        Methods and data sets are as ours; of the rest, the :class:`CodeSource` that
        has them.
        """
        if not self._has_packages:
            self._has_packages = True
            self._add_packages()
        return self._found[kind]

    def add_file(self, path: Path | str) -> CodeSource:
        """Add what a Python file offers.

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
        self._add(source, found, f"--plugin {path}")
        return source

    def _add_packages(self) -> None:
        """Add what installed packages offer through entry points."""
        packages = {
            entry.dist.name: entry.dist
            for kind in KINDS
            for entry in metadata.entry_points(group=f"symmf.{kind.lower()}")
            if entry.dist is not None
        }
        for name, dist in packages.items():
            place, what = Path(str(dist.locate_file(""))), f"The package {name}"
            found = _in_child(describe_package, place, what, package=name)
            source = CodeSource(
                name=name, version=dist.version, sha256=found["sha256"], path=""
            )
            self._add(source, found, what)

    def _add(self, source: CodeSource, found: dict[str, Any], what: str) -> None:
        for kind in KINDS:
            for name, about in found[kind].items():
                # Metrics of plugins stand beside ours in the same table.
                if name in own_table(kind).keys() - self._found[kind].keys():
                    raise ConfigError(
                        f"{what}: {kind}[{name!r}] is a name of symmf's own; give "
                        "this one another name."
                    )
                thing: Any = source
                if kind == "METHODS":
                    thing = OutsideMethod(
                        name=name,
                        source=source,
                        parameters=about["names"],
                        others=about["others"],
                    )
                elif kind == "DATASETS":
                    thing = _spec(name, source, about["names"])
                self._found[kind][name] = thing
        if found["METRICS"]:
            # Tables are made in this process, from the labels that records keep.
            source.install(["METRICS"])


REGISTRY = Registry()


def sources_of(method: Any, parameters: Mapping[str, Any]) -> tuple[CodeSource, ...]:
    """Return the plugins that a method with these parameters comes from."""
    found = [method.source] if isinstance(method, OutsideMethod) else []
    for parameter, kind in _NAMED_BY.items():
        value = parameters.get(parameter)
        # A set may be given with its parameters: [name, {...}].
        name = value[0] if isinstance(value, list) and value else value
        if isinstance(name, str) and name in REGISTRY.of(kind):
            found.append(REGISTRY.of(kind)[name])
    return tuple(dict.fromkeys(found))


def identity_of(sources: tuple[CodeSource, ...]) -> dict[str, str]:
    """Return what of plugins enters a key: names, versions and digest of their code."""
    if len(sources) < 2:
        return sources[0].identity() if sources else {}
    digests = "".join(sorted(source.sha256 for source in sources))
    return {
        "name": ", ".join(source.name for source in sources),
        "version": ", ".join(source.version for source in sources),
        "sha256": hashlib.sha256(digests.encode()).hexdigest(),
    }


def _in_child(function: Any, path: Path, what: str, **options: Any) -> dict[str, Any]:
    from symmf.common.sandbox import read_in_child

    try:
        found: dict[str, Any] = read_in_child(
            function, path, seconds=IMPORT_SECONDS, largest=LARGEST, **options
        )
    except SymmfError as error:
        raise ConfigError(
            f"{what} was tested in a separate process, which crashed or took more "
            f"than {IMPORT_SECONDS:g} seconds. ({error})"
        ) from None
    if "error" in found:
        raise ConfigError(f"{what} cannot be used: {found['error']}.")
    return found


def _spec(name: str, source: CodeSource, options: dict[str, Any]) -> Any:
    from symmf.datasets import Dataset, DatasetSpec

    def read(**given: Any) -> Dataset:
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
        licence="that of the plugin",
        citation="",
        read=read,
        options=dict.fromkeys(options, "option of the plugin"),
    )
