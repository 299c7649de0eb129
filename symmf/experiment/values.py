"""The values that travel through an experiment: trial, job, outcome, record.

Pure data. Nothing of the package is imported, so that reading one record loads neither
the reader of configs nor a solver.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symmf.common.notation import FloatArray, LabelArray

# Part of every key: raised when the meaning of a record changes.
FORMAT = 2
# Options of a data set that say where it is and how it is called, not what it is.
PLACES = ("file", "title")
# Folders beside the experiments: the committed study, and what reports write.
RESERVED_NAMES = frozenset(
    {
        "audit",
        "benchmarks",
        "clusters",
        "figures",
        "from_reference",
        "reference",
        "reliability",
        "report",
        "report.html",
        "tables",
        "verdicts",
    }
)
# How often a trial is begun whose worker dies under it, before that counts as final.
MAX_ATTEMPTS = 3


class Status(StrEnum):
    """What became of a trial. Only ``ok`` counts as a result."""

    OK = "ok"
    FAILED = "failed"
    DIVERGED = "diverged"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    DIED = "died"


def is_final(status: str, attempts: int) -> bool:
    """Tell whether a trial is not to be begun again, unless that is asked for."""
    return status != Status.DIED or attempts >= MAX_ATTEMPTS


def is_reserved(name: str) -> bool:
    """Tell whether a folder of results cannot be an experiment's."""
    return name.lower() in RESERVED_NAMES


def canonical_json(value: Any) -> str:
    """Return JSON text that is equal for equal values, whatever the order of keys.

    Examples
    --------
    >>> canonical_json({"b": 1.0, "a": (True, None)})
    '{"a":[true,null],"b":1.0}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def known_fields(kind: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of stored data a dataclass takes; other versions keep other keys."""
    names = [item.name for item in fields(kind) if item.init]
    return {name: data[name] for name in names if name in data}


def _as_dict(value: Any) -> dict[str, Any]:
    return {item.name: getattr(value, item.name) for item in fields(value)}


def now() -> str:
    """Return the time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One computation: everything that determines its result, and its names."""

    experiment: str
    dataset: str
    options: Mapping[str, Any] = field(default_factory=dict)
    data_digest: str
    seed: int
    n_clusters: int
    trial: int
    classes: tuple[int, ...]
    method: str
    estimator: str
    label: str
    paper_row: str
    laplacian_weight: float | None
    preprocess: tuple[str, ...]
    parameters: Mapping[str, Any]
    #: of the estimator: see :class:`symmf.clustering.base.Clusterer`
    behaviour: int | str = 1
    random_state: int
    threads: int = 1
    #: rows drawn from the classes: empty, ``{"share": s}`` or ``{"rows": n}``
    draw: Mapping[str, Any] = field(default_factory=dict)
    #: name, version and digest of the outside code the estimator comes from
    plugin: Mapping[str, str] = field(default_factory=dict)
    #: sha256 of :meth:`identity`: the name of the trial's record
    key: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        text = canonical_json(self.identity())
        object.__setattr__(self, "key", hashlib.sha256(text.encode()).hexdigest())

    def identity(self) -> dict[str, Any]:
        """Return what determines the result; names and labels do not enter.

        Nor does the place of a data file: its digest is there. ``parameters`` are those
        that differ from the estimator's defaults, so that a new one changes no key.
        """
        options = {k: v for k, v in self.options.items() if k not in PLACES}
        if_any = {"plugin": self.plugin, "draw": self.draw}
        return {
            "format": FORMAT,
            "data": self.data_digest,
            "dataset": self.dataset,
            "options": options,
            "seed": self.seed,
            "n_clusters": self.n_clusters,
            "trial": self.trial,
            "classes": self.classes,
            "estimator": self.estimator,
            "laplacian_weight": self.laplacian_weight,
            "parameters": self.parameters,
            "behaviour": self.behaviour,
            "preprocess": self.preprocess,
            "random_state": self.random_state,
            "threads": self.threads,
            **{name: value for name, value in if_any.items() if value},
        }

    @property
    def sample(self) -> tuple[Any, ...]:
        """What decides which rows the trial uses: the same for all its methods."""
        return (self.data_digest, self.n_clusters, self.trial)

    @property
    def title(self) -> str:
        """A short name for progress and messages."""
        weight = self.laplacian_weight
        tail = "" if weight is None else f", lambda {weight:g}"
        return f"{self.method}, K={self.n_clusters}, trial {self.trial}{tail}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return _as_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trial:
        """Read what :meth:`as_dict` wrote."""
        tuples = {name: tuple(data[name]) for name in ("classes", "preprocess")}
        return cls(**known_fields(cls, data) | tuples)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A trial with what a worker needs to run it: the estimator and the limits.

    ``attempt`` counts from 1; ``illustrate`` asks for what a figure of the fit needs.
    """

    trial: Trial
    estimator: Callable[..., Any]
    seconds: float | None = None
    memory_gb: float | None = None
    attempt: int = 1
    illustrate: bool = False
    #: plugins whose solvers, sets or similarities the estimator names
    sources: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What a trial came to. Only an outcome with status ``ok`` counts as a result.

    ``labels`` are the clusters found and ``y`` the classes of the same samples;
    ``scores`` are those computed when the trial ran. ``matrix`` says in words what was
    factored, where the method tells it. ``similarity_seconds`` are those of ``seconds``
    that building the similarity takes. ``attempts`` counts how often the
    trial was begun until it gave this outcome: more than once if workers died.
    ``illustration`` is the content of a file beside the records, where it was asked
    for.
    """

    status: Status
    message: str = ""
    traceback: str = ""
    warnings: tuple[str, ...] = ()
    started: str = ""
    seconds: float | None = None
    similarity_seconds: float | None = None
    peak_memory_mb: float | None = None
    n_samples: int | None = None
    labels: LabelArray | None = None
    y: LabelArray | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    n_iter: int | None = None
    stop: str = ""
    solver: str = ""
    matrix: str = ""
    objective: float | None = None
    error: FloatArray | None = None
    split_error: FloatArray | None = None
    trace_seconds: FloatArray | None = None
    attempts: int = 1
    illustration: bytes | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return everything by name, arrays as they are."""
        return _as_dict(self)

    @property
    def ok(self) -> bool:
        """Whether the trial counts as a result."""
        return self.status is Status.OK

    @property
    def final(self) -> bool:
        """Whether the trial is not to be begun again, unless that is asked for."""
        return is_final(self.status, self.attempts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A finished trial, good or failed, with where it came from."""

    trial: Trial
    outcome: Outcome
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The name of the record."""
        return self.trial.key
