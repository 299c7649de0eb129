"""The grid of trials: K x trial x method x lambda, each with its key and its seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from symmf.common.seeds import generator, seed
from symmf.common.yaml import Document
from symmf.errors import ConfigError
from symmf.experiment.config.model import ExperimentConfig, MethodEntry
from symmf.experiment.values import Trial, canonical_json

if TYPE_CHECKING:
    from symmf.datasets import Dataset

# What a run lists without being asked to (`--max-trials`), and what it lists at all.
MAX_TRIALS = 50_000
MOST_TRIALS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
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
    samples. ``defaults`` holds, for each method entry, the estimator's defaults;
    ``plugins`` names the outside code of the entries that have any. Of a collection,
    ``members`` tells of each data set, and the rest of all of them together.
    """

    data_digest: str
    n_samples: int
    n_features: int
    class_sizes: tuple[int, ...]
    defaults: Mapping[str, Mapping[str, Any]]
    plugins: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    members: tuple[MemberFacts, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        data = asdict(self) | {"class_sizes": list(self.class_sizes)}
        members = data.pop("members")
        return data | ({"members": list(members)} if members else {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Facts:
        """Read what :meth:`as_dict` wrote."""
        known = {
            item.name: data[item.name] for item in fields(cls) if item.name in data
        }
        members = tuple(MemberFacts(**member) for member in data.get("members", ()))
        sizes = tuple(data["class_sizes"])
        return cls(**known | {"class_sizes": sizes, "members": members})


def gather_facts(config: ExperimentConfig, *datasets: Dataset) -> Facts:
    """Take from data and estimators what :func:`expand` needs."""
    from symmf.clustering import METHODS
    from symmf.experiment.config.resolve import defaults_of
    from symmf.plugins import OutsideMethod

    return Facts(
        **_data_facts(config, datasets),
        defaults={
            entry.entry: defaults_of(METHODS[entry.method]) for entry in config.methods
        },
        plugins={
            entry.entry: method.identity()
            for entry in config.methods
            if isinstance(method := METHODS[entry.method], OutsideMethod)
        },
    )


def _data_facts(
    config: ExperimentConfig, datasets: Sequence[Dataset]
) -> dict[str, Any]:
    import numpy as np

    if config.dataset.members is not None:
        digests = canonical_json([data.digest for data in datasets])
        return {
            "data_digest": hashlib.sha256(digests.encode()).hexdigest(),
            "n_samples": sum(data.n_samples for data in datasets),
            "n_features": max(data.n_features for data in datasets),
            "class_sizes": (),
            "members": tuple(_member_facts(data) for data in datasets),
        }
    (data,) = datasets
    whole = data.kind == "matrix"
    counts = np.bincount(data.y[data.is_scored])
    return {
        "data_digest": data.digest,
        "n_samples": data.n_samples,
        "n_features": data.n_features,
        "class_sizes": () if whole else tuple(int(size) for size in counts),
    }


def _member_facts(data: Dataset) -> MemberFacts:
    return MemberFacts(
        data_digest=data.digest,
        n_samples=data.n_samples,
        n_features=data.n_features,
        n_classes=data.n_classes,
    )


def check_n_clusters(
    config: ExperimentConfig, facts: Facts, document: Document
) -> None:
    """Refuse a K that the data cannot give."""
    limit, what = len(facts.class_sizes), "classes"
    if not limit:
        limit, what = facts.n_samples, "samples"
    for i, k in enumerate(config.n_clusters):
        if k > limit:
            where = document.where(("n_clusters", i))
            raise ConfigError(
                f"{document.source}, {where}: n_clusters {k} is more than the {limit} "
                f"{what} of {config.dataset.name}. Use at most {limit}."
            )


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


def _weights(entry: MethodEntry) -> Sequence[float | None]:
    return entry.lambdas or (None,)


def count_trials(config: ExperimentConfig) -> int:
    """Return how many trials :func:`expand` would list."""
    readings = sum(len(_weights(entry)) for entry in config.methods)
    return _count_settings(config) * config.trials * readings


def _count_settings(config: ExperimentConfig) -> int:
    """Count the K, or the members of a collection."""
    if config.dataset.members is not None:
        return len(config.dataset.all_options())
    # `classes` of a single data set is one K, known when it is loaded.
    return max(1, len(config.n_clusters))


def check_trials(
    config: ExperimentConfig, document: Document, limit: int = MAX_TRIALS
) -> None:
    """Refuse a resolved config of more trials than one means to run by accident."""
    count = count_trials(config)
    if count > limit:
        where = document.where(("trials",))
        settings = _count_settings(config)
        per_draw = count // (settings * config.trials)
        what = "K" if config.dataset.members is None else "members"
        more = f"or allow as many with --max-trials {count}"
        raise ConfigError(
            f"{document.source}, {where}: {count:,} trials are asked for "
            f"({settings} {what} x {config.trials:,} draws x {per_draw} "
            f"entries with their lambdas), more than {limit:,}. Ask for fewer"
            f"{f', {more}' if count <= MOST_TRIALS else ''}."
        )


def expand(config: ExperimentConfig, facts: Facts) -> list[Trial]:
    """List the trials of a resolved config, in the order in which they run.

    All methods of a trial (K, t) get the same classes and the same ``random_state``.
    Trials come before methods, so that an interrupted run leaves whole comparisons.
    Of a collection, each member is a draw: trial t of member i has the number
    i * trials + t.

    Raises
    ------
    ConfigError
        If there are more trials than any run may list, or facts of other members than
        the config's.
    """
    if len(facts.members) != (
        0 if config.dataset.members is None else len(config.dataset.all_options())
    ):
        raise ConfigError(
            f"The experiment {config.name} lists other members than those it was run "
            "on. Run it again."
        )
    if count_trials(config) > MOST_TRIALS:
        raise ConfigError(
            f"The experiment {config.name} has {count_trials(config):,} trials; at "
            f"most {MOST_TRIALS:,} can be listed."
        )
    return [
        _trial(config, facts, entry, k, t, weight)
        for k, t in _draws(config, facts)
        for entry in config.methods
        for weight in _weights(entry)
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
        classes=draw_classes(config.seed, name, k, t, n_classes),
        method=entry.entry,
        estimator=entry.method,
        label=entry.label or entry.entry,
        paper_row=entry.paper_row or "none",
        laplacian_weight=weight,
        preprocess=tuple(entry.preprocess or ()),
        parameters=entry.parameters,
        defaults=facts.defaults[entry.entry],
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
