"""What an experiment file says about methods, checked against the estimators."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symmf.common.validation import is_number, nearest
from symmf.common.yaml import Document, YamlPath, shown
from symmf.errors import InputError
from symmf.experiment.config.members import with_members
from symmf.experiment.config.messages import Problems, hint
from symmf.experiment.config.model import ExperimentConfig, MethodEntry
from symmf.experiment.data import FEATURES, FILE, FILE_OPTIONS, LEARN_FROM, MEMBERS
from symmf.paper.roles import Role
from symmf.paper.values import PAPER_ROWS, ROWS

WEIGHT = "laplacian_weight"
# Set by the runner for every trial, each from a key of the experiment file.
SET_BY_TRIAL = {"n_clusters": "n_clusters", "random_state": "seed", WEIGHT: "lambda"}
# What is said or watched while a method runs, and cannot change what it finds.
NO_RESULT = ("callback", "verbose")
# The paper_row of an entry that stands for no row of the published tables.
NO_ROW = "none"


def parameters_of(estimator: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters of an estimator class with their defaults."""
    return {
        name: None if parameter.default is parameter.empty else parameter.default
        for name, parameter in inspect.signature(estimator).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }


def plain(value: Any) -> Any:
    """Return JSON data that stand for a parameter's value.

    Examples
    --------
    >>> plain({"radius": np.float64(0.5), "shape": (2, 3)})
    {'radius': 0.5, 'shape': [2, 3]}
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"


def defaults_of(estimator: Callable[..., Any]) -> dict[str, Any]:
    """Return the defaults that enter a trial's key: all that can change a result."""
    return {
        name: plain(default)
        for name, default in parameters_of(estimator).items()
        if name not in SET_BY_TRIAL and name not in NO_RESULT
    }


def resolve(config: ExperimentConfig, document: Document) -> ExperimentConfig:
    """Check the methods and return the config with every default spelled out.

    Each method gets its name, label, paper row, preprocessing and, if its estimator
    has a Laplacian weight, its list of them; a method without ``lambda`` has none.

    Raises
    ------
    ConfigError
        For unknown methods, parameters, preprocessing steps or data sets, parameters
        that belong elsewhere, and names used twice.
    """
    from symmf.datasets import DATASETS

    problems = Problems(document)
    _check_data(config, DATASETS, problems)
    spec = None if FILE in config.dataset.options else DATASETS.get(config.dataset.name)
    if spec is not None or FILE in config.dataset.options:
        config = with_members(config, spec, problems)
    _check_steps(config.preprocess, ("preprocess",), problems)
    resolved, first = [], dict[str, int]()
    for i, entry in enumerate(config.methods):
        place: YamlPath = ("methods", i)
        if entry.entry in first:
            problems.add(
                place,
                f'the name "{entry.entry}" is already that of method number '
                f"{first[entry.entry] + 1}; give this one a name of its own.",
            )
        first.setdefault(entry.entry, i)
        if entry.preprocess is not None:
            _check_steps(entry.preprocess, (*place, "preprocess"), problems)
        if entry.paper_row is not None and entry.paper_row not in (*ROWS, NO_ROW):
            near = hint(entry.paper_row, [*ROWS, NO_ROW])
            problems.add(
                (*place, "paper_row"),
                f'the paper has no row "{entry.paper_row}"; {near}',
            )
        estimator = _find(entry.method, place, problems)
        if estimator is None:
            continue
        _check_parameters(entry, estimator, place, problems)
        resolved.append(_spelled_out(entry, estimator, config))
    for key in ("illustration", "proposed"):
        name = getattr(config, key)
        if name is not None and name not in first:
            problems.add((key,), f'no method is called "{name}"; {hint(name, first)}')
    _check_panels(config, first, problems)
    resolved = _with_primaries(resolved, first, problems)
    problems.raise_if_any()
    role = config.role or Role.COMPARISON
    return config.model_copy(
        update={"methods": resolved, "lambdas": None, "role": role}
    )


def _check_data(
    config: ExperimentConfig, known: Mapping[str, Any], problems: Problems
) -> None:
    """Refuse a data set that is not known, and options its loader does not have."""
    name = config.dataset.name
    if FILE in config.dataset.options:
        _check_file(config, known, problems)
        return
    if name not in known:
        from symmf.plugins.registry import register_packages

        register_packages()
    if name not in known:
        near = hint(name, known)
        if "." in name or "/" in name:
            near = f"for a file write `dataset: {{file: {name}, labels: ...}}`."
        problems.add(("dataset",), f'there is no data set "{name}"; {near}')
        return
    options = known[name].options
    for option, value in config.dataset.options.items():
        place: YamlPath = ("dataset", option)
        if option == FEATURES:
            _check_steps(value if isinstance(value, list) else [value], place, problems)
        elif option == LEARN_FROM and known[name].wider:
            _check_learn_from(config, known[name].wider, problems)
        elif option not in options:
            near = hint(option, options) if options else "it has none."
            if known[name].members and nearest(option, [MEMBERS]):
                near = hint(option, [MEMBERS])
            problems.add(
                place, f'the data set "{name}" has no option "{option}"; {near}'
            )
        elif isinstance(value, (list, dict)) or value is None:
            problems.add(
                place, f"dataset.{option} must be a single value, not {shown(value)}."
            )


def _check_learn_from(
    config: ExperimentConfig, known: Mapping[str, Any], problems: Problems
) -> None:
    value = config.dataset.options[LEARN_FROM]
    place: YamlPath = ("dataset", LEARN_FROM)
    if not isinstance(value, str) or value not in known:
        problems.add(
            place, f"{LEARN_FROM} cannot be {shown(value)}; {hint(value, known)}"
        )
    if FEATURES not in config.dataset.options:
        problems.add(place, f"{LEARN_FROM} is for steps under {FEATURES}; name them.")


def _check_file(
    config: ExperimentConfig, known: Mapping[str, Any], problems: Problems
) -> None:
    """Refuse options that a file does not have, and the name of another data set."""
    name = config.dataset.name
    if name in known:
        problems.add(
            ("dataset",),
            f'"{name}" is another data set; call the file otherwise: `name: ...`.',
        )
    for option, value in config.dataset.options.items():
        place: YamlPath = ("dataset", option)
        if option == FEATURES:
            _check_steps(value if isinstance(value, list) else [value], place, problems)
        elif option not in FILE_OPTIONS:
            problems.add(
                place, f'a file has no option "{option}"; {hint(option, FILE_OPTIONS)}'
            )
        elif not _fits_file(option, value):
            problems.add(place, f"dataset.{option} cannot be {shown(value)}.")


def _fits_file(option: str, value: Any) -> bool:
    if option in ("columns", "drop"):
        return isinstance(value, list) and all(isinstance(v, str) for v in value)
    kind = {"header": bool, "image_side": int}.get(option, str)
    return isinstance(value, kind)


def _with_primaries(
    entries: list[MethodEntry], places: Mapping[str, int], problems: Problems
) -> list[MethodEntry]:
    """Say for every entry of a row of the paper whether it stands for that row.

    The file says so where a row has several entries; order never does.
    """
    rows: dict[str, list[MethodEntry]] = {}
    for entry in entries:
        rows.setdefault(entry.paper_row or NO_ROW, []).append(entry)
    out = []
    for entry in entries:
        row = entry.paper_row or NO_ROW
        rivals = [other.entry for other in rows[row] if other.primary]
        place: YamlPath = ("methods", places[entry.entry], "primary")
        if entry.primary and row not in ROWS:
            problems.add(
                place,
                f'primary: "{entry.entry}" stands for no row of the paper (paper_row '
                f"{row}), so leave primary out.",
            )
        elif entry.primary and rivals[0] != entry.entry:
            problems.add(
                place,
                f'"{rivals[0]}" is primary for the row "{row}" already; keep one.',
            )
        alone = row in ROWS and len(rows[row]) == 1 and entry.primary is None
        out.append(entry.model_copy(update={"primary": True}) if alone else entry)
    return out


def _check_panels(
    config: ExperimentConfig, names: Mapping[str, int], problems: Problems
) -> None:
    """Refuse a panel that names an entry the experiment does not have."""
    figure = config.figures.convergence
    for i, panel in enumerate(figure.panels if figure else ()):
        for j, name in enumerate(panel.methods):
            if name not in names:
                problems.add(
                    ("figures", "convergence", "panels", i, "methods", j),
                    f'no method is called "{name}"; {hint(name, names)}',
                )


def _find(name: str, place: YamlPath, problems: Problems) -> Any:
    from symmf.clustering import METHODS
    from symmf.plugins import find_method

    try:
        return find_method(name)
    except InputError as error:
        if "." in name:
            problems.add(place, str(error))
        else:
            near = hint(name, METHODS)
            if nearest(name, METHODS) is None:
                near += " A method of your own comes with --plugin FILE."
            problems.add(place, f'there is no method "{name}"; {near}')
    return None


def _spelled_out(
    entry: MethodEntry, estimator: Callable[..., Any], config: ExperimentConfig
) -> MethodEntry:
    lambdas = None
    names = parameters_of(estimator)
    if WEIGHT in names:
        lambdas = entry.lambdas or config.lambdas
        if lambdas is None and is_number(names[WEIGHT]):
            lambdas = [float(names[WEIGHT])]
    steps = config.preprocess if entry.preprocess is None else entry.preprocess
    return entry.model_copy(
        update={
            "name": entry.entry,
            "label": entry.label or entry.name or entry.method.rpartition(".")[2],
            "paper_row": entry.paper_row or _paper_row(entry.method),
            "preprocess": [step for step in steps if step != "none"],
            "lambdas": lambdas,
        }
    )


def _paper_row(method: str) -> str:
    row = PAPER_ROWS.get(method, method)
    return row if row in ROWS else NO_ROW


def _check_steps(steps: list[Any], place: YamlPath, problems: Problems) -> None:
    from symmf.features.preprocess import PREPROCESS

    for i, step in enumerate(steps):
        if not isinstance(step, str) or step not in PREPROCESS:
            near = hint(step, PREPROCESS)
            problems.add((*place, i), f'there is no preprocessing "{step}"; {near}')


def _check_parameters(
    entry: MethodEntry,
    estimator: Callable[..., Any],
    place: YamlPath,
    problems: Problems,
) -> None:
    known = parameters_of(estimator)
    if entry.lambdas is not None and WEIGHT not in known:
        problems.add(
            (*place, "lambda"),
            f'the method "{entry.method}" has no Laplacian weight; leave lambda out.',
        )
    if entry.lambdas is not None and len(set(entry.lambdas)) < len(entry.lambdas):
        problems.add((*place, "lambda"), "a weight is listed twice; keep one.")
    for name, value in entry.parameters.items():
        here = (*place, "parameters", name)
        if name in SET_BY_TRIAL:
            problems.add(
                here,
                f'"{name}" is set for every trial; use the key '
                f'"{SET_BY_TRIAL[name]}" of the experiment instead.',
            )
        elif name not in known:
            near = hint(name, set(known) - set(SET_BY_TRIAL))
            problems.add(
                here, f'the method "{entry.method}" has no parameter "{name}"; {near}'
            )
        elif isinstance(value, bool) and _is_word_or_number(known[name]):
            word = problems.document.words.get(here, shown(value))
            kind = "text" if isinstance(known[name], str) else "a number"
            problems.add(
                here,
                f"{name} must be {kind}, but YAML reads {word} as {shown(value)}"
                f"{'. Put it in quotes' if kind == 'text' else ''}.",
            )


def _is_word_or_number(default: Any) -> bool:
    return isinstance(default, (str, int, float)) and not isinstance(default, bool)
