"""Brings the records of several machines together: the other half of ``--shard``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symmf.common.files import read_file
from symmf.errors import InputError
from symmf.experiment.store.folder import ExperimentStore, list_experiments
from symmf.experiment.store.layout import EXPERIMENT_FILE, PROVENANCE_FILE
from symmf.experiment.store.lock import FolderLock
from symmf.experiment.store.trials_table import write_trials

# What of the provenance tells whether records belong together.
DIGESTS = ("data_digest", "config_digest")


@dataclass(slots=True, kw_only=True)
class Merged:
    """What was brought into one experiment."""

    experiment: str
    copied: int = 0
    present: int = 0
    left_out: int = 0


def merge(folders: Sequence[Path | str], into: Path | str) -> list[Merged]:
    """Copy the records of experiments in ``folders`` into the results folder ``into``.

    A folder is a results folder or that of one experiment. All is checked before
    anything is copied: records of another config or other data are refused. A good
    record replaces a failed one, never the other way round.

    Raises
    ------
    InputError
        If a folder holds no experiment, or digests differ.
    """
    by_name: dict[str, list[ExperimentStore]] = {}
    for folder in folders:
        for store in _experiments(Path(folder)):
            by_name.setdefault(store.config().name, []).append(store)
    targets = {name: ExperimentStore(Path(into) / name) for name in by_name}
    for name, stores in by_name.items():
        _check_same(stores, targets[name])
    return [_merge(name, by_name[name], targets[name]) for name in by_name]


def _experiments(folder: Path) -> list[ExperimentStore]:
    if (folder / EXPERIMENT_FILE).is_file():
        return [ExperimentStore(folder)]
    found = list_experiments(folder)
    if not found:
        raise InputError(
            f"{folder} holds no experiment: there is no {EXPERIMENT_FILE} in it or in "
            "a folder of it."
        )
    return found


def _check_same(stores: Sequence[ExperimentStore], target: ExperimentStore) -> None:
    first = target if (target.folder / EXPERIMENT_FILE).is_file() else stores[0]
    expected = first.provenance()
    for store in stores:
        if name := _other_digest(store.provenance(), expected):
            raise InputError(
                f"{store.folder} and {first.folder} do not belong together: their "
                f"{name} digests differ. Nothing was merged."
            )


def _other_digest(one: Mapping[str, Any], two: Mapping[str, Any]) -> str:
    """Name what tells that two provenances do not belong together; empty if nothing."""
    differ = [name for name in DIGESTS if one.get(name) != two.get(name)]
    return differ[0].removesuffix("_digest") if differ else ""


def _merge(
    name: str, stores: Sequence[ExperimentStore], target: ExperimentStore
) -> Merged:
    result = Merged(experiment=name)
    target.prepare()
    with FolderLock(target.folder):
        target.clean()
        for file in (PROVENANCE_FILE, EXPERIMENT_FILE):
            if not (target.folder / file).is_file():
                content = read_file(stores[0].folder / file)
                target.write_file(target.folder / file, content)
        wanted = {trial.key for trial in target.trials()}
        for store in stores:
            if not store.folder.samefile(target.folder):
                _copy(store, target, wanted, result)
        write_trials(target, *target.finished())
    return result


def _copy(
    source: ExperimentStore, target: ExperimentStore, wanted: set[str], result: Merged
) -> None:
    origin = source.provenance()
    for key in source.list_keys():
        record = source.read(key) if key in wanted else None
        if record is None or _other_digest(record.provenance, origin):
            result.left_out += 1
            continue
        present = target.read(key)
        if present is not None and (present.outcome.ok or not record.outcome.ok):
            result.present += 1
            continue
        target.write(record)
        result.copied += 1
