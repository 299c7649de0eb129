"""The grid of trials: K x trial x method x lambda, each with its key and its seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from symmf.common.seeds import generator, seed
from symmf.common.yaml import Document
from symmf.errors import ConfigError
from symmf.experiment.config.messages import Problems, hint
from symmf.experiment.config.model import (
    MOST_TRIALS,
    ExperimentConfig,
    MethodEntry,
)
from symmf.experiment.values import Trial, canonical_json, known_fields
from symmf.plugins import find_method, identity_of, sources_of

if TYPE_CHECKING:
    from symmf.datasets import Dataset

# What a run lists without being asked to (`--max-trials`).
MAX_TRIALS = 50_000


@dataclass(frozen=True, slots=True)
class MemberFacts:
    """What the grid needs to know about one data set of a collection."""

    data_digest: str
    n_samples: int
    n_features: int
    n_classes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the grid needs to know about data and code, kept beside the results.

    ``class_sizes`` is empty for a similarity matrix, of which every trial uses all
    samples. ``behaviours`` holds that of each entry's estimator, ``plugins`` names the
    outside code of the entries that have any. Of a collection, ``members`` tells of
    each data set, and the rest of all of them together.
    """

    data_digest: str
    n_samples: int
    n_features: int
    class_sizes: tuple[int, ...]
    class_ids: tuple[int | str, ...] = ()
    behaviours: Mapping[str, int | str] = field(default_factory=dict)
    plugins: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    members: tuple[MemberFacts, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Facts:
        """Read what :meth:`as_dict` wrote."""
        known = known_fields(cls, data)
        for name in {"class_sizes", "class_ids"} & known.keys():
            known[name] = tuple(known[name])
        known["members"] = tuple(MemberFacts(**m) for m in data.get("members", ()))
        return cls(**known)


def with_data(
    config: ExperimentConfig, datasets: Sequence[Dataset], document: Document
) -> tuple[ExperimentConfig, Facts]:
    """Return a resolved config with numbers of clusters, and what :func:`expand` needs.

    Raises
    ------
    ConfigError
        For a K that the data cannot give, classes that are not there, and a data set
        of a single class.
    """
    members, name = config.dataset.members, config.dataset.name
    problems = Problems(document)
    if not config.n_clusters:
        for i, data in enumerate(datasets):
            if data.n_classes < 2:
                which = "" if members is None else f" {canonical_json(members[i])}"
                place = ("dataset", "members", i) if which else ("n_clusters",)
                text = f"{name}{which} has one class, so there is nothing to find."
                problems.add(place, f"{text} Leave it out.")
        if members is None:
            k = len(config.listed_classes or ()) or datasets[0].n_classes
            config = config.model_copy(update={"n_clusters": [k]})
    methods = {entry.entry: find_method(entry.method) for entry in config.methods}
    facts = Facts(
        **(_of_one(*datasets) if members is None else _of_members(datasets)),
        behaviours={n: getattr(m, "behaviour", 1) for n, m in methods.items()},
        plugins={
            entry.entry: identity_of(sources)
            for entry in config.methods
            if (sources := sources_of(methods[entry.entry], entry.parameters))
        },
    )
    _check_classes(config, facts, problems)
    problems.raise_if_any()
    return config, facts


def _check_classes(config: ExperimentConfig, facts: Facts, problems: Problems) -> None:
    """Refuse more clusters than there are classes, and classes that are not there."""
    name = config.dataset.name
    limit = len(facts.class_sizes) or facts.n_samples
    what = "classes" if facts.class_sizes else "samples"
    listed = config.listed_classes
    for i, k in enumerate(config.n_clusters):
        if k > limit:
            text = f"n_clusters {k} is more than the {limit} {what} of {name}."
            problems.add(("n_clusters", i), f"{text} Use at most {limit}.")
        if listed is not None and k != len(listed):
            text = f"{len(listed)} classes are listed, so n_clusters cannot be {k}."
            problems.add(("n_clusters", i), text)
    known = [str(identity) for identity in facts.class_ids]
    for i, wanted in enumerate(listed or () if facts.class_ids else ()):
        if str(wanted) not in known:
            text = f"{name} has no class {wanted}; {hint(str(wanted), known)}"
            problems.add(("classes", i), text)


def _of_one(data: Dataset) -> dict[str, Any]:
    import numpy as np

    counts = np.bincount(data.y[data.is_scored])
    whole = data.kind == "matrix"
    return {
        "data_digest": data.digest,
        "n_samples": data.n_samples,
        "n_features": data.n_features,
        "class_sizes": () if whole else tuple(int(size) for size in counts),
        "class_ids": () if whole else data.class_ids,
    }


def _of_members(datasets: Sequence[Dataset]) -> dict[str, Any]:
    members = tuple(
        MemberFacts(data.digest, data.n_samples, data.n_features, data.n_classes)
        for data in datasets
    )
    digests = canonical_json([data.digest for data in datasets])
    return {
        "data_digest": hashlib.sha256(digests.encode()).hexdigest(),
        "n_samples": sum(member.n_samples for member in members),
        "n_features": max(member.n_features for member in members),
        "class_sizes": (),
        "members": members,
    }


def draw_classes(
    experiment_seed: int, dataset: str, n_clusters: int, trial: int, n_classes: int
) -> tuple[int, ...]:
    """Draw the classes of a trial, in increasing order; all of them if K is all.

    Examples
    --------
    >>> draw_classes(2022, "digits", 3, 0, 3)
    (0, 1, 2)
    """
    if n_clusters >= n_classes:
        return tuple(range(n_classes))
    rng = generator(experiment_seed, dataset, n_clusters, trial, "classes")
    drawn = rng.choice(n_classes, size=n_clusters, replace=False)
    return tuple(sorted(int(c) for c in drawn))


def _classes(
    config: ExperimentConfig, facts: Facts, k: int, t: int, n_classes: int
) -> tuple[int, ...]:
    """Return the classes of a trial: drawn, the largest, or those that are listed."""
    if (listed := config.listed_classes) and facts.class_ids:
        known = [str(identity) for identity in facts.class_ids]
        return tuple(sorted(known.index(str(wanted)) for wanted in listed))
    if config.classes == "largest" and facts.class_sizes:
        sizes = facts.class_sizes
        largest = sorted(range(len(sizes)), key=lambda c: (-sizes[c], c))
        return tuple(sorted(largest[:k]))
    return draw_classes(config.seed, config.dataset.name, k, t, n_classes)


def check_trials(
    config: ExperimentConfig, document: Document, limit: int = MAX_TRIALS
) -> None:
    """Refuse a resolved config of more trials than one means to run by accident."""
    members = config.dataset.members
    # `classes` of a single data set is one K, known when it is loaded.
    settings = max(1, len(config.n_clusters if members is None else members))
    readings = sum(len(entry.weights) for entry in config.methods)
    count = settings * config.trials * readings
    if count > limit:
        what = "K" if members is None else "members"
        more = f"or allow as many with --max-trials {count}"
        raise ConfigError(
            f"{document.source}, {document.where(('trials',))}: {count:,} trials are "
            f"asked for ({settings} {what} x {config.trials:,} draws x {readings} "
            f"entries with their lambdas), more than {limit:,}. Ask for fewer"
            f"{f', {more}' if count <= MOST_TRIALS else ''}."
        )


def expand(config: ExperimentConfig, facts: Facts) -> list[Trial]:
    """List the trials of a resolved config, in the order in which they run.

    All methods of a trial (K, t) get the same classes and the same ``random_state``.
    Trials come before methods, so that an interrupted run leaves whole comparisons.
    Of a collection, each member is a draw: trial t of member i has the number
    i * trials + t.
    """
    return [
        _trial(config, facts, entry, k, t, weight)
        for k, t in _draws(config, facts)
        for entry in config.methods
        for weight in entry.weights
    ]


def _draws(config: ExperimentConfig, facts: Facts) -> Iterator[tuple[int, int]]:
    """List K and number of each draw."""
    if not facts.members:
        yield from ((k, t) for k in config.n_clusters for t in range(config.trials))
    for i, member in enumerate(facts.members):
        for t in range(i * config.trials, (i + 1) * config.trials):
            yield member.n_classes, t


def _trial(
    config: ExperimentConfig,
    facts: Facts,
    entry: MethodEntry,
    k: int,
    t: int,
    weight: float | None,
) -> Trial:
    name = config.dataset.name
    options, digest = config.dataset.options, facts.data_digest
    n_classes = len(facts.class_sizes)
    if facts.members:
        i = t // config.trials
        options |= config.dataset.members[i]
        digest, n_classes = facts.members[i].data_digest, facts.members[i].n_classes
    return Trial(
        experiment=config.name,
        dataset=name,
        options=options,
        data_digest=digest,
        seed=config.seed,
        n_clusters=k,
        trial=t,
        classes=_classes(config, facts, k, t, n_classes),
        method=entry.entry,
        estimator=entry.method,
        label=entry.label or entry.entry,
        paper_row=entry.paper_row or "none",
        laplacian_weight=weight,
        preprocess=tuple(entry.preprocess or ()),
        parameters=entry.parameters,
        behaviour=facts.behaviours[entry.entry],
        draw=config.draw.model_dump(exclude_none=True),
        plugin=facts.plugins.get(entry.entry, {}),
        random_state=seed(config.seed, name, k, t, "start"),
        threads=config.threads,
    )


def beside_grid(config: ExperimentConfig, facts: Facts, trial: Trial) -> Trial | None:
    """Return a trial as this config would list it if it asked for more, or None.

    More is another K, draw or lambda of an entry: the same data, seed, parameters.
    """
    for entry in config.methods:
        if entry.entry == trial.method:
            k, t, weight = trial.n_clusters, trial.trial, trial.laplacian_weight
            if facts.members and t >= len(facts.members) * config.trials:
                return None
            again = _trial(config, facts, entry, k, t, weight)
            return again if again.key == trial.key else None
    return None
