"""The work behind ``symmf cluster``: check what was asked, fit, score, write."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import os
import tempfile
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from symmf.clustering import METHODS
from symmf.errors import InputError
from symmf.io.matrix import read_matrix
from symmf.metrics import METRICS
from symmf.notation import FloatArray, LabelArray

# Methods that have a factor, and the attribute that holds it.
_FACTORS = {
    "nmf": "V_",
    "gnmf": "V_",
    "spectral": "H_",
    "symhals": "H_",
    "snmf": "H_",
    "symnmf": "H_",
    "symmf": "H_",
}
_SCORES = ("ac", "nmi", "ari")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A checked request; nothing has been read yet."""

    file: Path
    k: int
    method: str
    parameters: dict[str, Any]
    labels: str | None
    variable: str | None
    header: bool | None
    out: Path | None
    factor: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What is printed and written."""

    title: str
    n: int
    labels: LabelArray
    sizes: list[int]
    facts: list[tuple[str, str]]
    warnings: list[str]
    factor: FloatArray | None


def method_class(name: str) -> Any:
    """Return a class of METHODS; a wrong name gets the nearest one."""
    if name not in METHODS:
        raise InputError(
            f"There is no method {name!r}.{_hint(name, METHODS)} "
            f"Known: {', '.join(METHODS)}."
        )
    return METHODS[name]


def check_request(
    *,
    file: Path,
    k: int,
    method: str,
    weight: float | None,
    similarity: str | None,
    constraint: str | None,
    precomputed: bool,
    labels: str | None,
    variable: str | None,
    header: bool | None,
    out: Path | None,
    factor: Path | None,
    seed: int,
    settings: tuple[str, ...],
) -> Request:
    """Turn the options into parameters of the method, before anything is read."""
    known = list(inspect.signature(method_class(method)).parameters)
    if k < 1:
        raise InputError(f"-k must be at least 1, not {k}.")
    if precomputed and similarity is not None:
        raise InputError("Give --similarity or --precomputed, not both.")
    given = {
        ("--lambda", "laplacian_weight"): weight,
        ("--similarity", "similarity"): similarity,
        ("--constraint", "constraint"): constraint,
        ("--precomputed", "similarity"): "precomputed" if precomputed else None,
    }
    parameters: dict[str, Any] = {"n_clusters": k, "random_state": seed}
    for (option, name), value in given.items():
        if value is None:
            continue
        if name not in known:
            fitting = [key for key, kind in METHODS.items() if name in _names(kind)]
            raise InputError(
                f"The method {method!r} has no {option}; "
                f"{', '.join(fitting)} {'have' if len(fitting) > 1 else 'has'}."
            )
        parameters[name] = value
    parameters |= _read_settings(settings, method, known)
    if factor is not None and method not in _FACTORS:
        raise InputError(f"The method {method!r} has no factor to write to {factor}.")
    _check_outputs(file, out, factor)
    return Request(
        file=file,
        k=k,
        method=method,
        parameters=parameters,
        labels=labels,
        variable=variable,
        header=header,
        out=out,
        factor=factor,
    )


def run_request(request: Request) -> Outcome:
    """Read, fit and score."""
    data = read_matrix(
        request.file,
        header=request.header,
        labels=request.labels,
        variable=request.variable,
    )
    X = data.X
    n, m = X.shape
    if request.k > n:
        raise InputError(
            f"{request.k} clusters were asked for, but {request.file} has {n} samples. "
            f"Choose -k between 1 and {n}."
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        model = _fit(request, X)
        seconds = time.perf_counter() - began
    labels = np.asarray(model.labels_, dtype=np.int64)
    facts = [*_facts(model), ("seconds", f"{seconds:.2f}")]
    if data.y is not None:
        for name in _SCORES:
            score = METRICS[name].function(data.y, labels)
            facts.append((METRICS[name].title, f"{score:.4f}"))
    what = "similarity" if request.parameters.get("similarity") == "precomputed" else ""
    kind = what or f"{m} features"
    stored = ", sparse" if sparse.issparse(X) else ""
    factor = None
    if request.factor is not None:
        factor = np.asarray(getattr(model, _FACTORS[request.method]))
    return Outcome(
        title=f"{request.file}: {n} samples, {kind}{stored}; {request.method}",
        n=n,
        labels=labels,
        sizes=np.bincount(labels, minlength=request.k).tolist(),
        facts=facts,
        warnings=list(dict.fromkeys(str(item.message) for item in caught)),
        factor=factor,
    )


def write_files(request: Request, outcome: Outcome) -> list[Path]:
    """Write what was asked for; all files, or none of them."""
    wanted: list[tuple[Path, Any]] = []
    if request.out is not None:
        wanted.append((request.out, outcome.labels))
    if request.factor is not None:
        wanted.append((request.factor, outcome.factor))
    written: list[tuple[Path, Path]] = []
    try:
        for path, content in wanted:
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            written.append((Path(name), path))
            with os.fdopen(handle, "wb") as file:
                _write(file, path, content)
            # mkstemp keeps files private; these are ordinary ones.
            Path(name).chmod(0o666 & ~_umask())
        for temporary, path in written:
            temporary.replace(path)
    finally:
        for temporary, _ in written:
            temporary.unlink(missing_ok=True)
    return [path for path, _ in wanted]


def _write(file: Any, path: Path, content: Any) -> None:
    if path.suffix.lower() == ".npy":
        np.save(file, content, allow_pickle=False)
    elif content.ndim == 1:
        lines = ["row,cluster", *(f"{i},{c}" for i, c in enumerate(content, start=1))]
        file.write(("\n".join(lines) + "\n").encode())
    else:
        names = ",".join(f"h{j}" for j in range(1, content.shape[1] + 1))
        np.savetxt(file, content, fmt="%.17g", delimiter=",", header=names, comments="")


def _fit(request: Request, X: Any) -> Any:
    kind = METHODS[request.method]
    try:
        return kind(**request.parameters).fit(X)
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        # scikit-learn's own checks of parameters and data.
        raise InputError(f"{request.method}: {error}") from error
    except ImportError as error:
        raise InputError(str(error)) from error


def _facts(model: Any) -> list[tuple[str, str]]:
    """Objective, relative error and iterations, where the method has them."""
    facts = []
    objective = getattr(model, "objective_", getattr(model, "inertia_", None))
    if objective is not None:
        facts.append(("objective", f"{objective:.6g}"))
    if hasattr(model, "error_"):
        facts.append(("relative error", f"{model.error_:.6g}"))
    stop = f" ({model.stop_})" if hasattr(model, "stop_") else ""
    facts.append(("iterations", f"{model.n_iter_}{stop}"))
    return facts


def _read_settings(
    settings: Iterable[str], method: str, known: list[str]
) -> dict[str, Any]:
    """Read KEY=VALUE; values are numbers, words, true, null, lists or mappings."""
    import yaml

    found: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise InputError(f"--set takes KEY=VALUE, not {setting!r}.")
        if name not in known:
            raise InputError(
                f"The method {method!r} has no parameter {name!r}.{_hint(name, known)} "
                f"It has: {', '.join(known)}."
            )
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise InputError(f"--set {setting}: the value cannot be read.") from error
        if isinstance(value, str):
            # YAML 1.1 takes 1e-3 for a word.
            with contextlib.suppress(ValueError):
                value = float(value)
        found[name] = value
    return found


def _check_outputs(file: Path, out: Path | None, factor: Path | None) -> None:
    """Refuse, before any work, outputs that could not or should not be written."""
    if out is not None and factor is not None and out.resolve() == factor.resolve():
        raise InputError(f"--out and --factor are both {out}.")
    for path in (out, factor):
        if path is None:
            continue
        if path.resolve() == file.resolve():
            raise InputError(f"{path} is the input; it would be overwritten.")
        if path.suffix.lower() not in (".csv", ".npy"):
            raise InputError(f"{path} must end in .csv or .npy.")
        if not path.parent.is_dir():
            raise InputError(f"The folder {path.parent} does not exist.")
        if not os.access(path.parent, os.W_OK):
            raise InputError(f"The folder {path.parent} cannot be written to.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _names(kind: Any) -> list[str]:
    return list(inspect.signature(kind).parameters)


def _hint(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
