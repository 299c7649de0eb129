"""What a run will do: configs read, data loaded, trials listed, done ones known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symmf.common.yaml import Document
from symmf.errors import ConfigError, DataError, InputError, SymmfError
from symmf.experiment.config.grid import (
    MAX_TRIALS,
    Facts,
    check_trials,
    expand,
    with_data,
)
from symmf.experiment.config.messages import hint
from symmf.experiment.config.model import ExperimentConfig, read_config
from symmf.experiment.config.resolve import resolve
from symmf.experiment.data import MEMBERS
from symmf.experiment.store.folder import Beside, ExperimentStore
from symmf.experiment.values import Record, Trial, canonical_json

if TYPE_CHECKING:
    from symmf.datasets import Dataset

# Differences of two configs that are named one by one, and the length of a value.
MOST_CHANGES, _SHOWN_LENGTH = 4, 40
NO_MEMORY = "the data do not fit in memory. Ask for fewer samples."


@dataclass(kw_only=True)
class Plan:
    """One experiment of a run.

    ``trials`` is the whole grid, ``selected`` what this run is asked to care for
    (``--only``, ``--shard``). ``datasets`` are the members of a collection, or one.
    """

    config: ExperimentConfig
    facts: Facts
    datasets: tuple[Dataset, ...]
    store: ExperimentStore
    trials: list[Trial]
    selected: list[Trial]
    #: selected trials that cannot run here
    left_open: list[Trial] = field(default_factory=list)

    @property
    def data(self) -> Dataset:
        """The data set; of a collection, its first."""
        return self.datasets[0]

    @cached_property
    def records(self) -> dict[str, Record]:
        """What is finished, by key; read from the folder when first asked for."""
        return self.store.records(self.trials)

    @cached_property
    def beside(self) -> Beside:
        """What is finished and not asked for; read when first asked for."""
        return self.store.read_beside(self.config, self.facts, self.trials)

    def read_again(self) -> None:
        """Forget what was read: another run may have ended since."""
        for name in ("records", "beside"):
            self.__dict__.pop(name, None)

    def notices(self) -> list[str]:
        """Say what becomes of results of another config that the folder holds."""
        try:
            found = changes(self.store.config(), self.config)
        except SymmfError:
            return []
        if not found:
            return []
        some = "; ".join(found[:MOST_CHANGES])
        more = f"; {len(found) - MOST_CHANGES} more" if found[MOST_CHANGES:] else ""
        texts = [f"{self.store.folder} holds results of another config ({some}{more})."]
        kept, others = len(self.beside.trials), self.beside.others
        if kept:
            texts.append(f"{kept} finished trials that are not requested now are kept.")
        if others:
            texts.append(
                f"{others} records of trials with other settings leave the tables; "
                "they stay in the folder, and the earlier config finds them again."
            )
        texts.append(f"{len(self.missing())} trials are to be run.")
        return [" ".join(texts)]

    @property
    def name(self) -> str:
        """Name of the experiment."""
        return self.config.name

    def is_done(self, trial: Trial) -> bool:
        """Tell whether a trial needs no run: its record is good, or finally bad."""
        record = self.records.get(trial.key)
        return record is not None and record.outcome.final

    def missing(self) -> list[Trial]:
        """List the selected trials that are not done, each computation once."""
        wanted = {trial.key: trial for trial in reversed(self.selected)}
        return [
            trial
            for trial in self.selected
            if not self.is_done(trial) and wanted[trial.key] is trial
        ]

    def failed(self) -> list[Trial]:
        """List the selected trials that are done and gave no result."""
        done = [trial for trial in self.selected if self.is_done(trial)]
        return [t for t in done if not self.records[t.key].outcome.ok]

    def done(self) -> int:
        """Count the selected trials that are done."""
        return sum(self.is_done(trial) for trial in self.selected)

    def leave_open(self, estimator: str) -> None:
        """Take the trials of a method that cannot run here out of the selected ones."""
        left = [t for t in self.missing() if t.estimator == estimator]
        self.left_open += left
        self.selected = [trial for trial in self.selected if trial not in left]

    def illustrated(self) -> Trial | None:
        """Return the trial of which the experiment wants an illustration."""
        name = self.config.illustration
        return next((trial for trial in self.trials if trial.method == name), None)


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``index`` of ``count`` (counted from 1) of a list of trials."""

    index: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read ``2/5``.

        Examples
        --------
        >>> Shard.parse("2/5")
        Shard(index=2, count=5)
        """
        # No list of trials has more parts than six digits count.
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            raise InputError(
                f'--shard needs i/n with 1 <= i <= n, such as 2/5, not "{text}".'
            )
        return cls(int(match[1]), int(match[2]))

    def of(self, trials: Sequence[Trial]) -> list[Trial]:
        """Take every ``count``-th trial, so that parts are about equally hard."""
        return list(trials[self.index - 1 :: self.count])


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """The experiments of a run, checked; their data are loaded one after another."""

    experiments: Sequence[tuple[ExperimentConfig, Document]]
    results: Path
    only: Sequence[str] = ()
    skip: Sequence[str] = ()
    shard: Shard = field(default_factory=Shard)

    @property
    def names(self) -> list[str]:
        """Names of the experiments, in the order in which they run."""
        return [config.name for config, _ in self.experiments]

    def plans(self) -> Iterator[Plan]:
        """Load data and list trials, an experiment at a time."""
        loaded: dict[str, Dataset] = {}
        for config, document in self.experiments:
            # Of the experiments before, only what this one needs again is kept.
            wanted = _data_entries(config)
            loaded = {name: loaded[name] for name in wanted if name in loaded}
            datasets = _load(config, document, loaded)
            config, facts = with_data(config, datasets, document)
            trials = expand(config, facts)
            chosen = [t for t in trials if _is_wanted(t, self.only, self.skip)]
            yield Plan(
                config=config,
                facts=facts,
                datasets=datasets,
                store=ExperimentStore(self.results / config.name),
                trials=trials,
                selected=self.shard.of(chosen),
            )


def read_study(
    paths: Iterable[Path | str],
    *,
    results: Path | str = "results",
    settings: Sequence[str] = (),
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    shard: Shard | None = None,
    max_trials: int = MAX_TRIALS,
) -> Study:
    """Read experiment files and check them, before anything is loaded or run.

    With ``only`` and ``skip`` some methods are left to another run; ``skip`` may also
    name whole experiments.

    Raises
    ------
    ConfigError
        If a config is not valid, or two have the same name.
    DataError
        If files of data sets are missing.
    """
    read = [read_config(path, settings) for path in paths]
    resolved = [(resolve(config, document), document) for config, document in read]
    _check_names(resolved)
    for config, document in resolved:
        check_trials(config, document, max_trials)
    _check_chosen(only, skip, [config for config, _ in resolved])
    kept = [pair for pair in resolved if pair[0].name not in skip]
    _check_data([config for config, _ in kept])
    return Study(
        experiments=kept,
        results=Path(results),
        only=only,
        skip=skip,
        shard=shard or Shard(),
    )


def make_plans(paths: Iterable[Path | str], **options: Any) -> list[Plan]:
    """Plan all experiments at once; see :func:`read_study`."""
    return list(read_study(paths, **options).plans())


def _is_wanted(trial: Trial, only: Sequence[str], skip: Sequence[str]) -> bool:
    names = {trial.method, trial.estimator}
    return (not only or bool(names & set(only))) and not names & set(skip)


def _check_data(configs: Sequence[ExperimentConfig]) -> None:
    """Refuse a study of which files of data sets are not there, all in one message."""
    from symmf.datasets import DATASETS, missing_files

    found = {
        config.name: missing_files(config.dataset.name, config.dataset.all_options())
        for config in configs
        if config.dataset.name in DATASETS
    }
    missing = {name: sentence for name, sentence in found.items() if sentence}
    if missing:
        text = "\n".join(dict.fromkeys(missing.values()))
        if len(missing) < len(configs):
            skips = " ".join(f"--skip {name}" for name in missing)
            text += f"\nTo run the other experiments now: {skips}"
        raise DataError(text)


def _data_entries(config: ExperimentConfig) -> list[str]:
    """Name the data sets of an experiment: the same name means the same data."""
    name = config.dataset.name
    return [canonical_json([name, options]) for options in config.dataset.all_options()]


def _load(
    config: ExperimentConfig, document: Document, loaded: dict[str, Dataset]
) -> tuple[Dataset, ...]:
    from symmf.experiment.data import load_data

    found, listed = [], config.dataset.all_options()
    for i, entry in enumerate(_data_entries(config)):
        if entry not in loaded:
            try:
                loaded[entry] = load_data(config.dataset.name, listed[i])
            except (InputError, MemoryError) as error:
                alone = config.dataset.members is None
                where = document.where(("dataset", *(() if alone else (MEMBERS, i))))
                reason = error if isinstance(error, InputError) else NO_MEMORY
                raise ConfigError(f"{document.source}, {where}: {reason}") from None
        found.append(loaded[entry])
    return tuple(found)


def _check_names(resolved: Sequence[tuple[ExperimentConfig, Document]]) -> None:
    first: dict[str, str] = {}
    for config, document in resolved:
        if config.name in first:
            raise ConfigError(
                f"{first[config.name]} and {document.source} both describe the "
                f'experiment "{config.name}"; give one another name.'
            )
        first[config.name] = document.source


def _check_chosen(
    only: Sequence[str], skip: Sequence[str], configs: Sequence[ExperimentConfig]
) -> None:
    entries = [entry for config in configs for entry in config.methods]
    methods = {name for entry in entries for name in (entry.entry, entry.method)}
    names = methods | {config.name for config in configs}
    for option, what, wanted, known in (
        ("--only", "method", only, methods),
        ("--skip", "method and no experiment", skip, names),
    ):
        for name in wanted:
            if name not in known:
                text = f'{option} {name}: no {what} is called "{name}"'
                raise InputError(f"{text}; {hint(name, known)}")


def changes(old: ExperimentConfig, new: ExperimentConfig) -> list[str]:
    """List what determines results and is not the same in two configs.

    Examples
    --------
    >>> common = {"name": "x", "dataset": "digits", "methods": ["kmeans"]}
    >>> old = ExperimentConfig(n_clusters=[2, 3], trials=10, **common)
    >>> changes(old, ExperimentConfig(n_clusters=[2], trials=10, **common))
    ['n_clusters [2,3] -> [2]']
    """
    return _changes(_named(old.identity()), _named(new.identity()), "")


def _named(data: dict[str, Any]) -> dict[str, Any]:
    """Put entries under their names, so that their order is no difference."""
    names = [entry.get("name", entry["method"]) for entry in data["methods"]]
    return {**data, "methods": dict(zip(names, data["methods"], strict=True))}


def _changes(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> list[str]:
    found = []
    for key in dict.fromkeys([*old, *new]):
        one, two = old.get(key), new.get(key)
        if isinstance(one, Mapping) and isinstance(two, Mapping):
            found += _changes(one, two, f"{path}{key}.")
        elif one != two:
            found.append(f"{path}{key} {_shown(one)} -> {_shown(two)}")
    return found


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    text = value if isinstance(value, str) else canonical_json(value)
    return text if len(text) <= _SHOWN_LENGTH else f"{text[: _SHOWN_LENGTH - 3]}..."
