"""An experiment file completed and checked: data, members, methods, in one pass."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from symmf.common.validation import is_number, nearest
from symmf.common.yaml import Document, YamlPath, shown
from symmf.errors import InputError
from symmf.experiment.config.messages import Problems, hint
from symmf.experiment.config.model import (
    ALL,
    CLASSES,
    MOST_SAMPLES,
    DatasetEntry,
    ExperimentConfig,
    MethodEntry,
)
from symmf.experiment.data import FEATURES, FILE, LEARN_FROM, MEMBERS, file_options
from symmf.experiment.values import canonical_json
from symmf.paper.roles import Role
from symmf.paper.values import PAPER_ROWS, ROWS
from symmf.plugins import all_datasets, all_methods, find_method
from symmf.plugins.source import parameters_of, plain

WEIGHT = "laplacian_weight"
# Set by the runner for every trial, each from a key of the experiment file.
SET_BY_TRIAL = {"n_clusters": "n_clusters", "random_state": "seed", WEIGHT: "lambda"}
# The paper_row of an entry that stands for no row of the published tables.
NO_ROW = "none"
# Option of a collection's members that tells labellings of the same samples apart.
LABELS = "labels"


def resolve(config: ExperimentConfig, document: Document) -> ExperimentConfig:
    """Check the file against data sets and methods; return it completed.

    Members are listed. Each method gets its name, label, paper row, preprocessing and,
    if its estimator has a Laplacian weight, its list of them; parameters that say the
    estimator's default are left out.

    Raises
    ------
    ConfigError
        For unknown methods, parameters, preprocessing steps or data sets, parameters
        that belong elsewhere, and names used twice.
    """
    problems = Problems(document)
    dataset = _dataset(config, problems)
    _check_steps(config.preprocess, ("preprocess",), problems)
    places: dict[str, int] = {}
    methods = []
    for i, entry in enumerate(config.methods):
        if entry.entry in places:
            problems.add(
                ("methods", i),
                f'the name "{entry.entry}" is already that of method number '
                f"{places[entry.entry] + 1}; give this one a name of its own.",
            )
        places.setdefault(entry.entry, i)
        methods.append(_method(entry, config, ("methods", i), problems))
    methods = _with_primaries(methods, problems)
    _check_names(config, places, problems)
    problems.raise_if_any()
    completed = {
        "dataset": dataset,
        "methods": methods,
        "lambdas": None,
        "role": config.role or Role.STUDY,
    }
    return config.model_copy(update=completed)


# The data set


def _dataset(config: ExperimentConfig, problems: Problems) -> DatasetEntry:
    """Return the data set with its members listed."""
    entry, known = config.dataset, all_datasets()
    is_file, place = FILE in entry.options, ("dataset",)
    if is_file and entry.name in known:
        problems.add(
            place,
            f'"{entry.name}" is another data set; call the file otherwise: '
            "`name: ...`.",
        )
    if not is_file and entry.name not in known:
        near = hint(entry.name, known)
        if "." in entry.name or "/" in entry.name:
            near = f"for a file write `dataset: {{file: {entry.name}, labels: ...}}`."
        problems.add(place, f'there is no data set "{entry.name}"; {near}')
        return entry
    spec = None if is_file else known[entry.name]
    _check_options(entry, entry.options, spec, place, problems)
    return entry if entry.members is None else _listed(config, spec, problems)


def _check_options(
    entry: DatasetEntry,
    options: Mapping[str, Any],
    spec: Any,
    place: YamlPath,
    problems: Problems,
) -> None:
    """Refuse options that a data set, or a file (no ``spec``), does not have."""
    known = list(file_options() if spec is None else spec.options)
    what = "a file" if spec is None else f'the data set "{entry.name}"'
    for option, value in options.items():
        here = (*place, option)
        if option == FEATURES:
            _check_steps(value if isinstance(value, list) else [value], here, problems)
        elif option == LEARN_FROM and spec is not None and spec.wider:
            if value not in list(spec.wider):
                problems.unknown(here, f"{LEARN_FROM} cannot be", value, spec.wider)
            if FEATURES not in options:
                text = f"{LEARN_FROM} is for steps under {FEATURES}; name them."
                problems.add(here, text)
        elif option not in known:
            near = hint(option, known) if known else "it has none."
            if spec is not None and spec.members and nearest(option, [MEMBERS]):
                near = hint(option, [MEMBERS])
            problems.add(here, f'{what} has no option "{option}"; {near}')
        elif spec is None and not _fits_file(option, value):
            problems.add(here, f"dataset.{option} cannot be {shown(value)}.")
        elif spec is not None and (isinstance(value, (list, dict)) or value is None):
            text = f"dataset.{option} must be a single value, not {shown(value)}."
            problems.add(here, text)


def _fits_file(option: str, value: Any) -> bool:
    if option in ("columns", "drop"):
        return isinstance(value, list) and all(isinstance(v, str) for v in value)
    return isinstance(value, {"header": bool, "image_side": int}.get(option, str))


def _listed(config: ExperimentConfig, spec: Any, problems: Problems) -> DatasetEntry:
    """Return a collection with its members listed, each data set once."""
    entry, place = config.dataset, ("dataset", MEMBERS)
    if config.n_clusters:
        problems.add(
            ("n_clusters",),
            f"the members of a collection have classes of their own: write "
            f"`n_clusters: {CLASSES}`.",
        )
    if spec is None:
        problems.add(place, "a file is one data set; leave members out.")
        return entry
    if isinstance(entry.members, list):
        _check_members(entry, spec, problems)
        return entry
    most = math.inf if entry.members == ALL else entry.members[MOST_SAMPLES]
    sizes = spec.member_sizes or [math.inf] * len(spec.members)
    found: dict[str, Mapping[str, Any]] = {}
    for member, size in zip(spec.members, sizes, strict=True):
        if size <= most:
            rest = {name: value for name, value in member.items() if name != LABELS}
            found.setdefault(canonical_json(rest), member)
    if not spec.members:
        problems.add(
            place,
            f'"{entry.name}" is no collection; leave members out, or list the options '
            "of each member: `members: [{...}, {...}]`.",
        )
    elif not found:
        problems.add(place, f"no member has at most {most} samples.")
    return entry.model_copy(update={MEMBERS: [dict(m) for m in found.values()]})


def _check_members(entry: DatasetEntry, spec: Any, problems: Problems) -> None:
    """Refuse listed members that are there twice or have options of something else."""
    texts = [canonical_json(member) for member in entry.members]
    for i, member in enumerate(entry.members):
        place = ("dataset", MEMBERS, i)
        if (first := texts.index(texts[i])) < i:
            problems.add(place, f"this is member {first + 1} again; keep one.")
        for option in member.keys() & entry.options.keys():
            text = f'"{option}" stands beside members, too; keep one of them.'
            problems.add((*place, option), text)
        _check_options(entry, member, spec, place, problems)


# Methods


def _method(
    entry: MethodEntry, config: ExperimentConfig, place: YamlPath, problems: Problems
) -> MethodEntry:
    """Return an entry completed, its parameters checked against the estimator."""
    if entry.preprocess is not None:
        _check_steps(entry.preprocess, (*place, "preprocess"), problems)
    known_rows = (*ROWS, NO_ROW)
    if entry.paper_row is not None and entry.paper_row not in known_rows:
        here = (*place, "paper_row")
        problems.unknown(here, "the paper has no row", entry.paper_row, known_rows)
    estimator = _find(entry.method, place, problems)
    if estimator is None:
        return entry
    known = parameters_of(estimator)
    for name in entry.parameters:
        here = (*place, "parameters", name)
        _check_parameter(entry, name, known, here, problems)
    lambdas = entry.lambdas
    if WEIGHT in known:
        default = [float(known[WEIGHT])] if is_number(known[WEIGHT]) else None
        lambdas = lambdas or config.lambdas or default
    elif lambdas is not None:
        text = f'the method "{entry.method}" has no Laplacian weight; leave lambda out.'
        problems.add((*place, "lambda"), text)
    if lambdas is not None and len(set(lambdas)) < len(lambdas):
        problems.add((*place, "lambda"), "a weight is listed twice; keep one.")
    steps = config.preprocess if entry.preprocess is None else entry.preprocess
    row = PAPER_ROWS.get(entry.method, entry.method)
    completed = {
        "name": entry.entry,
        "label": entry.label or entry.name or entry.method.rpartition(".")[2],
        "paper_row": entry.paper_row or (row if row in ROWS else NO_ROW),
        "preprocess": [step for step in steps if step != "none"],
        "lambdas": lambdas,
        "parameters": {
            name: value
            for name, value in entry.parameters.items()
            # As text, in which 1 is not true.
            if name not in known
            or canonical_json(value) != canonical_json(plain(known[name]))
        },
    }
    return entry.model_copy(update=completed)


def _find(name: str, place: YamlPath, problems: Problems) -> Any:
    try:
        return find_method(name)
    except InputError as error:
        known = all_methods()
        near = hint(name, known)
        if nearest(name, known) is None:
            near += " A method of your own comes with --plugin FILE."
        text = str(error) if "." in name else f'there is no method "{name}"; {near}'
        problems.add(place, text)
    return None


def _check_parameter(
    entry: MethodEntry,
    name: str,
    known: Mapping[str, Any],
    place: YamlPath,
    problems: Problems,
) -> None:
    """Refuse a parameter that an estimator cannot have."""
    value, default = entry.parameters[name], known.get(name)
    if name in SET_BY_TRIAL:
        problems.add(
            place,
            f'"{name}" is set for every trial; use the key "{SET_BY_TRIAL[name]}" of '
            "the experiment instead.",
        )
    elif name not in known:
        what = f'the method "{entry.method}" has no parameter'
        problems.unknown(place, what, name, set(known) - set(SET_BY_TRIAL))
    elif isinstance(value, bool) and type(default) in (str, int, float):
        word = problems.document.words.get(place, shown(value))
        kind, end = "a number", "."
        if type(default) is str:
            kind, end = "text", ". Put it in quotes."
        text = f"{name} must be {kind}, but YAML reads {word} as {shown(value)}{end}"
        problems.add(place, text)


def _with_primaries(
    entries: Sequence[MethodEntry], problems: Problems
) -> list[MethodEntry]:
    """Say for every entry of a row of the paper whether it stands for that row.

    The file says so where a row has several entries; order never does.
    """
    rows: dict[str | None, list[MethodEntry]] = {}
    for entry in entries:
        rows.setdefault(entry.paper_row, []).append(entry)
    out = []
    for i, entry in enumerate(entries):
        row, place = entry.paper_row, ("methods", i, "primary")
        rivals = [other.entry for other in rows[row] if other.primary]
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


def _check_names(
    config: ExperimentConfig, known: Mapping[str, int], problems: Problems
) -> None:
    """Refuse names of entries that the experiment does not have."""
    named: dict[YamlPath, str | None] = {
        ("illustration",): config.illustration,
        ("proposed",): config.proposed,
    }
    figure = config.figures.convergence
    for i, panel in enumerate(figure.panels if figure else ()):
        place = ("figures", "convergence", "panels", i, "methods")
        named |= {(*place, j): name for j, name in enumerate(panel.methods)}
    for where, name in named.items():
        if name is not None and name not in known:
            problems.unknown(where, "no method is called", name, known)


def _check_steps(steps: Sequence[Any], place: YamlPath, problems: Problems) -> None:
    from symmf.features.preprocess import PREPROCESS

    for i, step in enumerate(steps):
        if not isinstance(step, str) or step not in PREPROCESS:
            what = "there is no preprocessing"
            problems.unknown((*place, i), what, step, PREPROCESS)
