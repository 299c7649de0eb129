"""The folder of an experiment: its records and its description."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from symmf.common.files import (
    make_writable,
    read_text,
    remove_stale_temporaries,
    write_atomically,
)
from symmf.common.yaml import read_yaml
from symmf.errors import ConfigError, SymmfError
from symmf.experiment.config.grid import Facts, MemberFacts, beside_grid, expand
from symmf.experiment.config.model import ExperimentConfig, validate
from symmf.experiment.store.layout import (
    EXPERIMENT_FILE,
    PROVENANCE_FILE,
    RECORD_SUFFIX,
    RECORDS_FOLDER,
)
from symmf.experiment.store.places import experiment_folders
from symmf.experiment.store.record_file import BrokenRecordError, read_record, to_bytes
from symmf.experiment.values import Record, Trial

logger = logging.getLogger(__name__)


class ExperimentStore:
    """Reads and writes the folder of one experiment."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.records_folder = self.folder / RECORDS_FOLDER

    @property
    def name(self) -> str:
        """Name of the experiment, which is that of its folder."""
        return self.folder.name

    # Records

    def path(self, key: str) -> Path:
        """Return the file of a record."""
        return self.records_folder / f"{key}{RECORD_SUFFIX}"

    def list_keys(self) -> list[str]:
        """List the keys of all records, in alphabetical order."""
        if not self.records_folder.is_dir():
            return []
        paths = self.records_folder.glob(f"[!.]*{RECORD_SUFFIX}")
        return sorted(path.name.removesuffix(RECORD_SUFFIX) for path in paths)

    def read(self, key: str) -> Record | None:
        """Return a record, or None if it is missing or broken."""
        path = self.path(key)
        try:
            record = read_record(path)
        except BrokenRecordError as error:
            if path.exists():
                logger.warning("The record %s counts as missing: %s.", path, error)
            return None
        if record.key != key:
            logger.warning("The record %s counts as missing: it is another's.", path)
            return None
        return record

    def write(self, record: Record) -> None:
        """Write a record under its key."""
        self.write_file(self.path(record.key), to_bytes(record))

    def discard(self, key: str) -> None:
        """Delete a record, if it is there; what is no file is set aside."""
        try:
            self.path(key).unlink(missing_ok=True)
        except OSError:
            self.set_aside(key)

    def set_aside(self, key: str) -> None:
        """Rename a broken record, so that it is kept but no longer looked at."""
        set_aside(self.path(key))

    # The experiment

    def prepare(self) -> None:
        """Make the folders, or say in a sentence why that is not possible."""
        make_writable(self.folder)
        make_writable(self.records_folder)

    def clean(self) -> None:
        """Remove stale temporary files; for the holder of the folder's lock only."""
        remove_stale_temporaries(self.folder)
        remove_stale_temporaries(self.records_folder)

    def write_file(self, path: Path, content: bytes | str) -> None:
        """Write a file of the folder, whole or not at all, or raise a sentence."""
        try:
            if path.is_dir():
                set_aside(path)
            write_atomically(path, content)
        except OSError as error:
            raise cannot_write(path, error) from error

    def write_description(
        self, config: ExperimentConfig, facts: Facts, provenance: dict[str, Any]
    ) -> None:
        """Write ``experiment.yaml`` and ``provenance.json``."""
        content = {**provenance, "facts": facts.as_dict()}
        text = json.dumps(content, indent=2, sort_keys=True) + "\n"
        self.write_file(self.folder / PROVENANCE_FILE, text)
        self.write_file(self.folder / EXPERIMENT_FILE, config.as_yaml())

    def config(self) -> ExperimentConfig:
        """Return the resolved config of the latest run."""
        return validate(read_yaml(self.folder / EXPERIMENT_FILE))

    def provenance(self) -> dict[str, Any]:
        """Return the provenance of the latest run."""
        path = self.folder / PROVENANCE_FILE
        try:
            found = json.loads(read_text(path))
        except (OSError, ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or not _are_facts(found.get("facts")):
            raise ConfigError(
                f"{path} is missing or damaged. Run the experiment again: finished "
                "trials are kept and it is written anew."
            )
        return found

    def is_described(self) -> bool:
        """Tell whether provenance and facts are there and whole."""
        try:
            self.provenance()
        except ConfigError:
            return False
        return True

    def environment(self) -> dict[str, Any]:
        """Return the environment in which the trials of the latest run were run."""
        try:
            found = self.provenance().get("environment")
        except ConfigError:
            return {}
        return found if isinstance(found, dict) else {}

    def trials(self) -> list[Trial]:
        """List the whole grid of the latest run's config."""
        return expand(*self.described())

    def described(self) -> tuple[ExperimentConfig, Facts]:
        """Return config and facts of the latest run.

        An entry that ``experiment.yaml`` lists and that run did not know was written
        there by hand; it is left out, and the log says so.
        """
        config, facts = self.config(), Facts.from_dict(self.provenance()["facts"])
        known = [m for m in config.methods if m.entry in facts.defaults]
        if len(known) < len(config.methods):
            strange = {m.entry for m in config.methods} - set(facts.defaults)
            logger.warning(
                "%s lists %s, which the latest run did not know; left out. Run the "
                "experiment again to include it.",
                self.folder / EXPERIMENT_FILE,
                ", ".join(sorted(strange)),
            )
        return config.model_copy(update={"methods": known}), facts

    def read_beside(
        self, config: ExperimentConfig, facts: Facts, grid: Iterable[Trial]
    ) -> Beside:
        """Read the records of trials that the grid does not list."""
        beside = Beside()
        for key in sorted(set(self.list_keys()) - {trial.key for trial in grid}):
            record = self.read(key)
            if record is None:
                continue
            trial = beside_grid(config, facts, record.trial)
            if trial is None:
                beside.others += 1
            else:
                beside.trials.append(trial)
                beside.records[key] = record
        return beside


@dataclass(slots=True)
class Beside:
    """Finished trials that a config does not ask for.

    ``trials`` and their ``records`` are of the same entries, data and seed, for
    another K, draw or lambda: results as good as those that are asked for. ``others``
    counts the records of anything else.
    """

    trials: list[Trial] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)
    others: int = 0


def _are_facts(value: Any) -> bool:
    """Tell whether a value read from a file is what :class:`Facts` holds."""
    if not isinstance(value, dict) or not isinstance(value.get("data_digest"), str):
        return False
    sizes, defaults = value.get("class_sizes"), value.get("defaults")
    members = value.get("members", [])
    return (
        type(value.get("n_samples")) is int
        and type(value.get("n_features")) is int
        and isinstance(sizes, list)
        and all(type(size) is int for size in sizes)
        and isinstance(defaults, dict)
        and all(isinstance(default, dict) for default in defaults.values())
        and isinstance(members, list)
        and all(_is_member(member) for member in members)
    )


def _is_member(value: Any) -> bool:
    kinds = get_type_hints(MemberFacts)
    return (
        isinstance(value, dict)
        and value.keys() == kinds.keys()
        and all(type(value[name]) is kind for name, kind in kinds.items())
    )


def set_aside(path: Path) -> None:
    """Rename what is not what its name says: kept, and no longer in the way."""
    number = 1
    while os.path.lexists(aside := path.with_suffix(_broken_suffix(number))):
        number += 1
    if os.path.lexists(path):
        path.rename(aside)


def _broken_suffix(number: int) -> str:
    return ".broken" if number == 1 else f".broken-{number}"


def cannot_write(path: Path, error: OSError) -> SymmfError:
    """Return the sentence for a file of the results that could not be written."""
    return SymmfError(
        f"{path} could not be written: {error.strerror or error}. What is there is "
        "whole; make room, or make the folder writable, and repeat the same command "
        "to continue."
    )


def list_experiments(results: Path | str) -> list[ExperimentStore]:
    """List the experiments in a results folder, by name."""
    return [ExperimentStore(path) for path in experiment_folders(results)]
