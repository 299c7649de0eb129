"""The work behind ``symmf cluster``: check what was asked, read, cluster, write."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symmf.common.validation import check_name, did_you_mean
from symmf.errors import InputError

if TYPE_CHECKING:
    from symmf.app.answer import Answer
    from symmf.app.stages import Stages
    from symmf.app.task import Task
    from symmf.io.matrix import UserMatrix

_MEMORY = (
    "There is not enough memory for this. Use fewer rows or columns, or a sparse "
    "format."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was typed; nothing has been read yet."""

    file: Path
    k: str
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
        return "standard input" if str(self.file) == "-" else str(self.file)


def check_request(request: Request) -> tuple[int | str, dict[str, Any]]:
    """Return the number of clusters and the method's parameters, or refuse.

    Everything that can be wrong with the options is said before anything is read.
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
    return number_of_clusters(request.k), parameters


def number_of_clusters(text: str) -> int | str:
    """Return a whole number of clusters, or "auto"."""
    if text.strip().lower() == "auto":
        return "auto"
    try:
        k = int(text)
    except ValueError:
        raise InputError(f"-k is a whole number or auto, not {text!r}.") from None
    if k < 1:
        raise InputError(f"-k must be at least 1, not {k}.")
    return k


def run_request(request: Request, stages: Stages | None = None) -> Answer:
    """Read, cluster and describe."""
    from symmf.app.answer import answer
    from symmf.app.model import check_savable
    from symmf.app.stages import Stages

    k, parameters = check_request(request)
    stages = Stages() if stages is None else stages
    try:
        with stages("reading"):
            task = make_task_of(request)
        if request.save is not None:
            check_savable(task.data)
        return answer(
            task,
            k,
            parameters=parameters,
            seed=request.seed,
            check_stability=request.stability,
            stages=stages,
        )
    except MemoryError as error:
        raise InputError(f"{request.name}: {_MEMORY}") from error


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


def apply_model(request: Request) -> tuple[UserMatrix, Any]:
    """Read new samples as the model's were read, and put them into its clusters."""
    from symmf.clustering.symmf.model_file import MAKE_AGAIN, load_model
    from symmf.common.files import own_file
    from symmf.features.columns import MixedColumns
    from symmf.io.matrix import read_matrix

    assert request.model is not None
    if request.k != "":
        raise InputError("The model has its number of clusters; leave -k out.")
    for option in ("factor", "report", "save"):
        if getattr(request, option) is not None:
            raise InputError(f"--{option} is for making a clustering; leave it out.")
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
    try:
        data = read_matrix(request.file, **reading)
        with own_file(request.model, MAKE_AGAIN):
            return data, model.predict(data)
    except MemoryError as error:
        raise InputError(f"{request.name}: {_MEMORY}") from error


def write_answer(request: Request, found: Answer, command: str) -> list[Path]:
    """Write what was asked for; each file whole or not at all."""
    from symmf.app.model import model_of
    from symmf.clustering.symmf.model_file import save_model
    from symmf.common.files import write_text

    data = found.task.data
    written = write_clusters(
        request,
        data,
        found.labels,
        outliers=found.outliers,
        membership=found.membership,
    )
    if request.factor is not None:
        from symmf.app.evidence import factor_of

        written += write_factor(request, factor_of(found.model, found.task.X))
    if request.report is not None:
        from symmf.app.page import render_page

        page = render_page(found, title=request.name, command=command)
        write_text(request.report, page)
        written.append(request.report)
    if request.save is not None:
        save_model(request.save, model_of(found))
        written.append(request.save)
    return written


def write_factor(request: Request, H: Any) -> list[Path]:
    """Write H, if that was asked for."""
    from symmf.app.output import factor_csv, npy_bytes
    from symmf.common.files import write_bytes, write_text

    if request.factor is None:
        return []
    if request.factor.suffix.lower() == ".npy":
        write_bytes(request.factor, npy_bytes(H))
    else:
        write_text(request.factor, factor_csv(H))
    return [request.factor]


def write_clusters(
    request: Request, data: UserMatrix, labels: Any, **about: Any
) -> list[Path]:
    """Write the clusters with the names of the samples."""
    from symmf.app.output import clusters_csv, npy_bytes
    from symmf.common.files import write_bytes, write_text

    if request.out is None:
        return []
    if request.out.suffix.lower() == ".npy":
        write_bytes(request.out, npy_bytes(labels))
    else:
        text = clusters_csv(
            labels,
            ids=data.ids,
            id_name=data.id_name,
            kept=data.kept,
            comma=data.comma,
            **about,
        )
        write_text(request.out, text)
    return [request.out]


def read_settings(
    settings: Iterable[str], method: str, known: Sequence[str]
) -> dict[str, Any]:
    """Read KEY=VALUE as everywhere: numbers, words, true, null, lists or mappings."""
    from symmf.common.yaml import parse_value

    found: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise InputError(f"--set takes KEY=VALUE, not {setting!r}.")
        if name not in known:
            raise InputError(
                f"The method {method!r} has no parameter {name!r}."
                f"{did_you_mean(name, known)} It has: {', '.join(known)}."
            )
        if name in ("n_clusters", "random_state"):
            option = "-k" if name == "n_clusters" else "--seed"
            raise InputError(f"Use {option} instead of --set {name}=...")
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
    seen: dict[str, str] = {}
    for name, endings in _ENDINGS.items():
        path: Path | None = getattr(request, name)
        if path is None:
            continue
        # os.path: it does not raise for a link that leads to itself.
        real = os.path.realpath(path)
        if real == os.path.realpath(request.file):
            raise InputError(f"{path} is the input; it would be overwritten.")
        if real in seen:
            raise InputError(f"--{seen[real]} and --{name} are both {path}.")
        seen[real] = name
        if path.suffix.lower() not in endings:
            raise InputError(f"--{name} {path} must end in {' or '.join(endings)}.")
        if not path.parent.is_dir():
            raise InputError(f"The folder {path.parent} does not exist.")
        if path.is_dir():
            raise InputError(f"--{name} {path} is a folder.")
        if not os.access(path.parent, os.W_OK):
            raise InputError(f"The folder {path.parent} cannot be written to.")
