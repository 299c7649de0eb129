"""Where outside code comes from, and loading it: only ever in a child or a worker."""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
import traceback
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

#: What a plugin may offer: a dict of this name in a file, or the group of entry points
#: ``symmf.methods`` and so on.
KINDS = ("METHODS", "DATASETS", "SOLVERS", "CONSTRAINTS", "SIMILARITIES", "METRICS")
# Of a plugin file; a program of this size is no plugin.
LARGEST = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSource:
    """A file or an installed package with methods and data sets.

    ``text`` is the code of a file: it travels with every job, so that a worker on
    another machine has it too. A package is named and must be installed there.
    """

    name: str
    version: str
    sha256: str
    path: str
    text: str | None = None

    def identity(self) -> dict[str, str]:
        """Return what enters keys: not the path, so a plugin may be moved."""
        return {"name": self.name, "version": self.version, "sha256": self.sha256}

    def objects(self, kind: str) -> dict[str, Any]:
        """Load the code and return what it offers of a kind."""
        if self.text is None:
            return entry_points(kind, self.name)
        return vars(load_module(self.text, self.path, self.sha256)).get(kind) or {}

    def install(self, kinds: Iterable[str]) -> None:
        """Put solvers, sets, similarities or metrics beside ours, in this process."""
        from symmf.metrics import Metric

        for kind in kinds:
            for name, thing in self.objects(kind).items():
                if kind == "METRICS" and not isinstance(thing, Metric):
                    thing = Metric(name=name, title=name, function=thing)
                own_table(kind)[name] = thing


def own_table(kind: str) -> dict[str, Any]:
    """Return the table in which a kind is looked up by name where it is used."""
    from symmf import clustering, constraints, datasets, metrics, similarity, solvers

    owners = (clustering, datasets, solvers, constraints, similarity, metrics)
    table: dict[str, Any] = getattr(owners[KINDS.index(kind)], kind)
    return table


def entry_points(kind: str, package: str | None = None) -> dict[str, Any]:
    """Load the entry points of a group, or those of one package."""
    found = metadata.entry_points(group=f"symmf.{kind.lower()}")
    return {
        entry.name: entry.load()
        for entry in found
        if package is None or (entry.dist is not None and entry.dist.name == package)
    }


def load_module(text: str, path: str, sha256: str) -> types.ModuleType:
    """Execute the code of a plugin file as a module, once in a process."""
    name = f"symmf_plugin_{sha256[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    module = types.ModuleType(name)
    module.__file__ = path
    folder = str(Path(path).parent)
    if folder not in sys.path:
        sys.path.append(folder)
    sys.modules[name] = module
    try:
        exec(compile(text, path, "exec"), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module


# Read in a child process; what they return is plain data.


def describe_file(path: Path) -> dict[str, Any]:
    """Say what a plugin file offers; its failures are part of the answer."""
    content = path.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    try:
        text = content.decode("utf-8")
        offered = vars(load_module(text, str(path), sha256))
        version = str(offered.get("__version__", ""))
    except (Exception, SystemExit) as error:
        return {"error": _sentence(error, path)}
    return {"sha256": sha256, "text": text, "version": version} | _describe(offered)


def describe_package(path: Path, *, package: str) -> dict[str, Any]:
    """Say what the entry points of an installed package offer."""
    try:
        offered = {kind: entry_points(kind, package) for kind in KINDS}
    except (Exception, SystemExit) as error:
        return {"error": _sentence(error, path)}
    sha = hashlib.sha256()
    for found in offered.values():
        for name in sorted(found):
            sha.update(f"{name}\0{_source_of(found[name])}\0".encode())
    return {"sha256": sha.hexdigest()} | _describe(offered)


def load_data(path: Path, *, source: dict[str, Any], name: str, options: Any) -> Any:
    """Call a function of DATASETS and return its arrays."""
    from symmf.errors import DataError

    found = CodeSource(**source).objects("DATASETS")[name](**options)
    if not isinstance(found, tuple) or len(found) != 2:
        raise DataError(f"The data set {name} of {path.name} must return (X, y).")
    X, y = found[0], np.asarray(found[1])
    if y.ndim != 1 or y.dtype.kind in "Oc":
        raise DataError(f"The data set {name} of {path.name}: y holds a label per row.")
    if y.dtype.kind not in "iub":
        y = np.unique(y, return_inverse=True)[1]
    return {"X": X, "y": y.astype(np.int64)}


def _describe(offered: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {kind: {} for kind in KINDS}
    for kind in KINDS:
        found = offered.get(kind)
        if not isinstance(found, (dict, type(None))):
            return {"error": f"{kind} is a {type(found).__name__}, not a dict of names"}
        for name, thing in (found or {}).items():
            if problem := _problem(kind, name, thing):
                return {"error": problem}
            answer[kind][name] = _parameters(thing)
    if not any(answer.values()):
        return {"error": f"it has none of the dicts {', '.join(KINDS)}"}
    return answer


def _problem(kind: str, name: Any, thing: Any) -> str:
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][\w.]*", name):
        return f"{kind} has the name {name!r}; use letters, digits, dots, underscores"
    if not callable(thing) and kind != "METRICS":
        return f"{kind}[{name!r}] is not a class or function"
    if kind == "METHODS" and isinstance(thing, type) and not hasattr(thing, "fit"):
        return f"{kind}[{name!r}] has no method fit"
    needed = {"SOLVERS": "iterates", "CONSTRAINTS": "project"}.get(kind)
    if needed is not None and not hasattr(thing, needed):
        return f"{kind}[{name!r}] has no method {needed}"
    return ""


def parameters_of(thing: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters that a class or function takes by name, with defaults.

    Examples
    --------
    >>> parameters_of(lambda X, size=2, **others: None)
    {'X': None, 'size': 2}
    """
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {
        p.name: None if p.default is p.empty else p.default
        for p in inspect.signature(thing).parameters.values()
        if p.kind not in variable
    }


def _parameters(thing: Any) -> dict[str, Any]:
    """Return the parameters as plain data, and whether any others are taken."""
    try:
        kinds = {p.kind for p in inspect.signature(thing).parameters.values()}
    except (TypeError, ValueError):  # a metric object, or compiled code
        return {"names": {}, "others": True}
    others = inspect.Parameter.VAR_KEYWORD in kinds
    return {"names": plain(parameters_of(thing)), "others": others}


def plain(value: Any) -> Any:
    """Return JSON data that stand for a parameter's value; of an object, its name.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"radius": np.float64(0.5), "shape": (2, 3), "kind": np.mean})
    {'radius': 0.5, 'shape': [2, 3], 'kind': 'numpy.mean'}
    """
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"


def _source_of(thing: Any) -> str:
    try:
        return inspect.getsource(inspect.getmodule(thing) or thing)
    except (OSError, TypeError):
        return repr(getattr(thing, "__qualname__", type(thing)))


def _sentence(error: BaseException, path: Path) -> str:
    """Say what went wrong in outside code, with the line of the file if it has one."""
    trace = traceback.extract_tb(error.__traceback__)
    lines = [getattr(error, "lineno", None)]
    lines += [frame.lineno for frame in trace if frame.filename == str(path)]
    line = lines[-1]
    where = f" on line {line}" if line else ""
    return f"{type(error).__name__}{where}: {error}".rstrip(": ")
