"""The work behind ``symmf cluster``: check what was asked, read, cluster, write."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from symmf.common.texts import plain_text
from symmf.common.validation import check_name, did_you_mean
from symmf.errors import InputError

if TYPE_CHECKING:
    from symmf.app.answer import Answer
    from symmf.app.stages import Stages
    from symmf.app.task import Task
    from symmf.common.notation import LabelArray
    from symmf.io.matrix import UserMatrix

Paths: TypeAlias = list[Path]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was typed; nothing has been read yet."""

    file: Path
    k: int | Literal["auto"] | None = None
    method: str = "symmf"
    weight: float | None = None
    similarity: str | None = None
    constraint: str | None = None
    precomputed: bool = False
    standardize: bool | None = None
    seed: int = 0
    settings: Sequence[str] = ()
    reading: dict[str, Any] = field(default_factory=dict)
    out: Path | None = None
    factor: Path | None = None
    report: Path | None = None
    save: Path | None = None
    model: Path | None = None
    stability: bool = True
    noise: bool = False
    refine: bool = False
    dask: str | None = None

    @property
    def name(self) -> str:
        """What the data are called."""
        text = "standard input" if str(self.file) == "-" else str(self.file)
        return plain_text(text)


def make_request(file: Path, options: Mapping[str, Any]) -> Request:
    """Return a request; options that are not its own say how the file is parsed."""
    own = {item.name for item in fields(Request)}
    reading = {name: value for name, value in options.items() if name not in own}
    rest = {name: value for name, value in options.items() if name in own}
    return Request(file=file, reading=reading, **rest)


def check_request(request: Request) -> tuple[int | str, dict[str, Any]]:
    """Return the number of clusters and the method's parameters, or refuse.

    Options are checked before anything is read.
    """
    from symmf.app.task import merged, parameters_of
    from symmf.clustering import METHODS

    check_name("method", request.method, METHODS)
    known = list(parameters_of(request.method))
    if request.precomputed and request.similarity is not None:
        raise InputError("Give --similarity or --precomputed, not both.")
    given = {
        ("--lambda", "laplacian_weight"): request.weight,
        ("--similarity", "similarity"): request.similarity,
        ("--constraint", "constraint"): request.constraint,
        ("--precomputed", "similarity"): "precomputed" if request.precomputed else None,
        ("--noise", "label_options"): {"noise": True} if request.noise else None,
        ("--refine", "label_options"): {"refine": True} if request.refine else None,
    }
    parameters: dict[str, Any] = {}
    for (option, name), value in given.items():
        if value is None:
            continue
        if name not in known:
            fitting = [key for key in METHODS if name in parameters_of(key)]
            raise InputError(
                f"The method {request.method!r} has no {option}; "
                f"{', '.join(fitting)} {'have' if len(fitting) > 1 else 'has'}."
            )
        parameters = merged(parameters, {name: value})
    settings = read_settings(request.settings, request.method, known)
    parameters = merged(parameters, settings)
    if request.factor is not None and request.method == "kmeans":
        raise InputError(f"kmeans has no factor to write to {request.factor}.")
    check_outputs(request)
    return request.k or "auto", parameters


def run_request(request: Request, stages: Stages, command: str) -> tuple[Answer, Paths]:
    """Read, cluster, describe, and write what was asked for.

    Returns the answer and the paths of the files that were written.
    """
    from symmf.app.answer import answer
    from symmf.app.evidence import factor_of
    from symmf.app.model import check_savable, model_of
    from symmf.app.output import write_outputs

    k, parameters = check_request(request)
    with stages("reading"):
        task = make_task_of(request)
    if request.save is not None:
        check_savable(task.data)
    if (request.noise or request.refine) and (task.square or task.precomputed):
        raise InputError(
            "--noise and --refine are for tables, not for images, graphs and "
            "similarities; leave them out."
        )
    found = answer(
        task,
        k,
        parameters=parameters,
        seed=request.seed,
        check_stability=request.stability,
        stages=stages,
    )

    def page() -> str:
        from symmf.app.page import render_page

        return render_page(found, title=request.name, command=command)

    with stages("writing"):
        written = write_outputs(
            request,
            task.data,
            found.labels,
            factor=lambda: factor_of(found.model, task.X),
            page=page,
            model=lambda: model_of(found),
            outliers=found.outliers,
            membership=found.membership,
        )
    return found, written


def make_task_of(request: Request) -> Task:
    """Read the data and prepare them for the method."""
    from symmf.app.task import make_task
    from symmf.io.matrix import read_matrix

    return make_task(
        read_matrix(request.file, **request.reading),
        method=request.method,
        standardize=request.standardize,
        precomputed=request.precomputed,
        similarity=request.similarity,
    )


def apply_model(request: Request) -> tuple[UserMatrix, LabelArray, Paths]:
    """Read new samples as those of the model were read, and assign its clusters.

    Returns the samples, their clusters, and the paths of the files written.
    """
    from symmf.app.output import write_outputs
    from symmf.clustering.symmf.model_file import MAKE_AGAIN, load_model
    from symmf.common.files import own_file
    from symmf.features.columns import MixedColumns
    from symmf.io.matrix import read_matrix

    assert request.model is not None
    asked = {
        "-k": request.k,
        "--factor": request.factor,
        "--report": request.report,
        "--save": request.save,
    }
    for option, value in asked.items():
        if value is not None:
            raise InputError(
                f"{option} belongs to a new clustering; leave it out with --model."
            )
    check_outputs(request)
    model = load_model(request.model)
    reading = dict(request.reading)
    if model.kind == "documents":
        reading["format"] = "text"
    elif model.kind == "images":
        reading["image_side"] = model.side
    elif model.names and not model.names[0].startswith("column "):
        reading["columns"] = reading["columns"] or model.names
    if isinstance(model.features, MixedColumns):
        reading |= {"missing": "median", "categories": "one-hot"}
    data = read_matrix(request.file, **reading)
    with own_file(request.model, MAKE_AGAIN):
        labels = model.predict(data)
    return data, labels, write_outputs(request, data, labels)


def read_settings(
    settings: Iterable[str], method: str, known: Sequence[str]
) -> dict[str, Any]:
    """Parse KEY=VALUE, where VALUE is YAML, as in the settings of every command."""
    from symmf.common.yaml import parse_value

    found: dict[str, Any] = {}
    instead = {"n_clusters": "-k", "random_state": "--seed"}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or name in instead:
            if equals:
                raise InputError(f"Use {instead[name]} in place of --set {setting}.")
            raise InputError(f"--set takes KEY=VALUE, not {setting!r}.")
        if name not in known:
            raise InputError(
                f"The method {method!r} has no parameter {name!r}."
                f"{did_you_mean(name, known)} It has: {', '.join(known)}."
            )
        found[name] = parse_value(text, source=f"--set {setting}")
    return found


_ENDINGS = {
    "out": (".csv", ".npy"),
    "factor": (".csv", ".npy"),
    "report": (".html", ".htm"),
    "save": (".npz",),
}


def check_outputs(request: Request) -> None:
    """Refuse, before any work, outputs that could not or should not be written."""
    # os.path: it does not raise for a link that leads to itself.
    seen = {os.path.realpath(request.file): "the input"}
    for option, endings in _ENDINGS.items():
        path: Path | None = getattr(request, option)
        if path is None:
            continue
        real, folder = os.path.realpath(path), path.parent
        problems = {
            f"is also {seen.get(real)}; it would be overwritten": real in seen,
            f"must end in {' or '.join(endings)}": path.suffix.lower() not in endings,
            f"cannot be made: the folder {folder} does not exist": not folder.is_dir(),
            "is a folder": path.is_dir(),
            f"cannot be made: {folder} is not writable": not os.access(folder, os.W_OK),
        }
        for problem, found in problems.items():
            if found:
                raise InputError(f"--{option} {path} {problem}.")
        seen[real] = f"--{option}"
