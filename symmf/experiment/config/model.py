"""The experiment file: its keys, their types, and reading it with clear errors."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue

from symmf.common.yaml import Document, dump_yaml, read_yaml, shown
from symmf.errors import ConfigError
from symmf.experiment.config.messages import explain
from symmf.experiment.config.overrides import apply_settings
from symmf.experiment.config.parts import Figures, Part, RoleWord, or_empty
from symmf.experiment.data import FILE, MEMBERS
from symmf.experiment.values import canonical_json, is_reserved
from symmf.metrics import METRICS

# Keys that change no result, only how it is shown, stopped or compared.
SHOWN = frozenset(
    {"title", "note", "role", "limits", "proposed", "published", "illustration"}
    | {"figures"}
)
SHOWN_OF_METHODS = frozenset({"label", "paper_row", "primary"})
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


def _as_list(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else [value]


# A word in the file, an empty list in the config.
CLASSES = "classes"
# All members of a collection, or those of at most so many samples.
ALL, MOST_SAMPLES = "all", "most_samples"
# The most trials for a K, so that no grid is larger than memory.
MOST_TRIALS = 1_000_000


def _as_counts(value: Any) -> Any:
    if value == CLASSES:
        return []
    values = _as_list(value)
    if not values or isinstance(value, str):
        raise ValueError(f"give at least one number, or the word {CLASSES}")
    return values


def _as_members(value: Any) -> Any:
    """Refuse what no collection could mean; options are checked with its loader."""
    match value:
        case None | "all":
            return value
        case {"most_samples": int(), **rest} if not rest:
            return value
        case [_, *_] if all(isinstance(item, dict) and item for item in value):
            return value
    raise ValueError(
        f"write {ALL}, {{{MOST_SAMPLES}: N}} or a list with the options of each, such "
        f"as [{{set: fcps/atom}}], not {shown(value)}"
    )


# What stands in the file may be shorter than what the config holds: the validator
# brings it into shape, and editors are told of both.
Steps = Annotated[
    list[str], BeforeValidator(_as_list, json_schema_input_type=str | list[str])
]
_Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_WeightList = Annotated[list[_Weight], Field(min_length=1)]
Weights = Annotated[
    _WeightList,
    BeforeValidator(_as_list, json_schema_input_type=_Weight | _WeightList),
]
_Count = Annotated[int, Field(ge=1)]
_CountList = Annotated[list[_Count], Field(min_length=1)]
Counts = Annotated[
    list[_Count],
    BeforeValidator(
        _as_counts, json_schema_input_type=_Count | _CountList | Literal["classes"]
    ),
    PlainSerializer(lambda counts: counts or CLASSES),
]
ClassList = Annotated[list[int | str], Field(min_length=1)]


_MostSamples = dict[Literal["most_samples"], _Count]
_Listed = Annotated[list[dict[str, Any]], Field(min_length=1)]
Members = Annotated[
    Any,
    BeforeValidator(
        _as_members, json_schema_input_type=Literal["all"] | _MostSamples | _Listed
    ),
]


class _NamedPart(Part):
    """A part for which a bare name is shorthand."""

    named_by: ClassVar[str] = "name"

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {cls.named_by: value} if isinstance(value, str) else value

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: Any, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler(schema)]}


class Limits(Part):
    """Hard limits of one trial; a trial that exceeds one is stopped and recorded."""

    seconds: float | None = Field(None, gt=0)
    """Time for one trial, in seconds."""
    memory_gb: float | None = Field(None, gt=0)
    """Memory one trial may allocate beside the loaded data, in GiB."""


class Draw(Part):
    """Rows drawn anew for each trial, from every class alike."""

    share: float | None = Field(None, gt=0, lt=1)
    """Share of the rows, such as 0.8."""
    rows: int | None = Field(None, ge=2)
    """Number of rows."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Draw:
        if self.share is not None and self.rows is not None:
            raise ValueError("give share or rows, not both")
        return self


class DatasetEntry(_NamedPart):
    """A data set by name, or a file, with the options of its loader."""

    model_config = ConfigDict(extra="allow")

    name: str
    """Name of a data set; see `symmf data list`. Of a file: how it is called,
    default: its name.
    """
    members: Members = None
    """Of a collection: the data sets to run on, each a draw; `all`, `{most_samples:
    N}`, or a list of their options.
    """

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, value: Any) -> Any:
        match value:
            case {"file": str(file)}:
                return {"name": PurePath(file).stem or "file", **value}
        return value

    @model_serializer(mode="plain")
    def _to_name(self) -> Any:
        members = {} if self.members is None else {MEMBERS: self.members}
        rest = {**members, **self.options}
        return {"name": self.name, **rest} if rest else self.name

    @property
    def options(self) -> dict[str, Any]:
        """What is handed to the loader beside the name."""
        return dict(self.model_extra or {})

    def all_options(self) -> list[dict[str, Any]]:
        """Return the options of each data set: one, or those of the listed members."""
        if self.members is None:
            return [self.options]
        return [{**self.options, **member} for member in self.members]


class MethodEntry(_NamedPart):
    """A method to run: an estimator with its parameters, and how tables show it."""

    named_by: ClassVar[str] = "method"

    method: str
    """Name of a method; see `symmf methods`."""
    name: str | None = Field(None, pattern=NAME)
    """Unique name of this entry in the results; default: the method."""
    label: str | None = None
    """Text shown in tables and figures."""
    paper_row: str | None = None
    """Row of the published tables it is compared with, or `none`."""
    primary: bool | None = None
    """Whether this entry represents its row of the paper; at most one per row does, and
    the only entry of a row by default.
    """
    preprocess: Steps | None = None
    """Preprocessing steps, instead of the experiment's."""
    lambdas: Weights | None = Field(None, alias="lambda")
    """Laplacian weights to run, instead of the experiment's."""
    parameters: Annotated[dict[str, Any], BeforeValidator(or_empty)] = Field(
        default_factory=dict
    )
    """Parameters of the estimator."""

    @property
    def entry(self) -> str:
        """The name of this entry: what the ``method`` column of the results holds."""
        return self.name or self.method

    @property
    def weights(self) -> Sequence[float | None]:
        """The Laplacian weights of its trials: None for a method that has none."""
        return self.lambdas or (None,)


class PublishedValue(Part):
    """A mean that somebody published, and the entry it is compared with."""

    method: str
    """The method, as its authors call it."""
    n_clusters: int = Field(ge=1)
    """Number of clusters K."""
    metric: str
    """Name of a metric, such as ac or nmi."""
    value: float
    """The published mean."""
    entry: str | None = None
    """Entry it is compared with; default: the proposed one."""

    @field_validator("metric")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in METRICS:
            raise ValueError(f"a metric is one of {', '.join(METRICS)}, not {name!r}")
        return name


class Published(Part):
    """Values that others published for the same data, with where they are from."""

    source: str
    """Where they were published."""
    how: str = ""
    """How they were read: printed, or off a figure."""
    values: list[PublishedValue] = Field(min_length=1)


class ExperimentConfig(Part):
    """An experiment: data, numbers of clusters, trials, and methods to compare."""

    name: str = Field(pattern=NAME)
    """Name of the folder of its results."""
    title: str | None = None
    """Title shown above its tables."""
    note: str | None = None
    """A note printed under its tables."""
    role: RoleWord | None = None
    """What the experiment is for. study (default): own tables and statistics;
    comparison and the others: a part of the paper's reproduction.
    """
    seed: int = Field(2022, ge=0)
    """All randomness derives from it."""
    dataset: DatasetEntry
    n_clusters: Counts
    """Numbers of clusters K; `classes`: the number of true classes."""
    trials: int = Field(10, ge=1, le=MOST_TRIALS)
    """Trials for each K."""
    classes: Literal["random", "largest"] | ClassList = "random"
    """Which classes the trials of a K use: drawn at random for each trial, the
    largest, or a list of those to use.
    """
    draw: Annotated[Draw, BeforeValidator(or_empty)] = Draw(share=None, rows=None)
    """How many rows of each class a trial uses; default: all."""
    preprocess: Steps = Field(default_factory=list)
    """Preprocessing steps, in order."""
    lambdas: Weights | None = Field(None, alias="lambda")
    """Laplacian weights for the methods that have one."""
    limits: Annotated[Limits, BeforeValidator(or_empty)] = Limits(
        seconds=None, memory_gb=None
    )
    threads: int = Field(1, ge=1)
    """BLAS threads of one trial."""
    methods: list[MethodEntry] = Field(min_length=1)
    proposed: str | None = None
    """Entry that the tables set off and compare with every other: the method the
    study is about.
    """
    published: Published | None = None
    """Values that others published, or the YAML file that holds them; `symmf
    compare` compares the results with them.
    """
    illustration: str | None = None
    """Entry whose A and H, for the first K and trial, are stored for the figures."""
    figures: Annotated[Figures, BeforeValidator(or_empty)] = Figures(convergence=None)

    @field_validator("name")
    @classmethod
    def _not_reserved(cls, name: str) -> str:
        if is_reserved(name):
            raise ValueError(f'"{name}" is a folder of its own; choose another name')
        return name

    @field_validator("n_clusters")
    @classmethod
    def _no_repeats(cls, values: list[Any]) -> list[Any]:
        if len(set(values)) < len(values):
            raise ValueError("a number of clusters is listed twice; keep one")
        return values

    @property
    def listed_classes(self) -> list[int | str] | None:
        """The classes that are listed, if they are."""
        return self.classes if isinstance(self.classes, list) else None

    def drawing(self) -> str:
        """Say in a sentence which samples the trials of a K use.

        Examples
        --------
        >>> common = {"name": "x", "dataset": "digits", "methods": ["kmeans"]}
        >>> config = ExperimentConfig(n_clusters=3, draw={"rows": 50}, **common)
        >>> config.drawing()
        'Each trial takes K classes at random, and 50 of their rows.'
        """
        which = {"random": "K classes at random", "largest": "the K largest classes"}
        taken = which.get(str(self.classes), "the listed classes")
        if self.draw.share or self.draw.rows:
            share = self.draw.share
            part = f"{share:.0%}" if share else str(self.draw.rows)
            return f"Each trial takes {taken}, and {part} of their rows."
        if self.classes == "random":
            return (
                "Each trial draws K classes at random and keeps all their samples; at "
                "K = all classes the trials differ only in the random start."
            )
        return (
            f"Each trial takes {taken} with all their samples; trials differ only in "
            "the random start."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain data from which the same config is read again."""
        data = self.model_dump(by_alias=True, exclude_none=True)
        return {key: value for key, value in data.items() if value != {}}

    def as_yaml(self) -> str:
        """Return the experiment file's text, keys in their usual order."""
        return dump_yaml(self.as_dict())

    def identity(self) -> dict[str, Any]:
        """Return what determines results, as plain data: without :data:`SHOWN`."""
        data = {key: v for key, v in self.as_dict().items() if key not in SHOWN}
        for method in data["methods"]:
            for key in SHOWN_OF_METHODS & method.keys():
                del method[key]
        return data

    def digest(self) -> str:
        """Return the sha256 of :meth:`identity`."""
        return hashlib.sha256(canonical_json(self.identity()).encode()).hexdigest()


def read_config(
    path: Path | str, settings: Sequence[str] = ()
) -> tuple[ExperimentConfig, Document]:
    """Read an experiment file and keep the document for later error messages.

    Parameters
    ----------
    path : path
        The YAML file. Without a ``name`` the experiment is named after the file.
    settings : sequence of "key=value"
        Changes made before validation, as with ``--set``.
    """
    document, folder = read_yaml(path), Path(path).parent
    _check_keys(document)
    document.data.setdefault("name", Path(path).stem)
    document = apply_settings(document, settings)
    match document.data:
        case {"dataset": {"file": str(file)} as dataset}:
            # It is written relative to the YAML.
            dataset[FILE] = str((folder / file).absolute())
    match document.data:
        case {"published": str(file)}:
            # Taken in, so that it travels along.
            document.data["published"] = read_yaml(folder / file).data
    return validate(document), document


def _check_keys(document: Document) -> None:
    if not isinstance(document.data, dict):
        raise ConfigError(
            f"{document.source}: an experiment file is a list of `key: value` lines, "
            "with at least the keys dataset, n_clusters and methods."
        )


def load_config(path: Path | str, settings: Sequence[str] = ()) -> ExperimentConfig:
    """Read an experiment file; see :func:`read_config`."""
    return read_config(path, settings)[0]


def validate(document: Document) -> ExperimentConfig:
    """Turn plain data into a config, or raise sentences with line numbers."""
    _check_keys(document)
    try:
        return ExperimentConfig.model_validate(document.data)
    except ValidationError as error:
        raise explain(error, document, ExperimentConfig) from None
