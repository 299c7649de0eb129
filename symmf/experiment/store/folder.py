"""The folder of an experiment: its records and its description."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symmf.common.files import (
    make_writable,
    own_file,
    read_text,
    remove_stale_temporaries,
    sync_to_disk,
    write_atomically,
)
from symmf.common.yaml import read_yaml
from symmf.errors import DataError, SymmfError
from symmf.experiment.config.grid import Facts, beside_grid, expand
from symmf.experiment.config.model import ExperimentConfig, validate
from symmf.experiment.store.layout import (
    EXPERIMENT_FILE,
    PROVENANCE_FILE,
    RECORD_SUFFIX,
    RECORDS_FOLDER,
)
from symmf.experiment.store.places import experiment_folders
from symmf.experiment.store.record_file import read_record, to_bytes
from symmf.experiment.values import Record, Trial

SYNC_THREADS = 8

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

    def prepare(self) -> None:
        """Make the folders, or say in a sentence why that is not possible."""
        make_writable(self.folder)
        # Not tried by writing: a touched folder would look as if records were new.
        with writing(self.records_folder):
            self.records_folder.mkdir(exist_ok=True)

    def clean(self) -> None:
        """Remove stale temporary files; for the holder of the folder's lock only."""
        remove_stale_temporaries(self.folder)
        remove_stale_temporaries(self.records_folder)

    def write_file(
        self, path: Path, content: bytes | str, *, sync: bool = True
    ) -> None:
        """Write a file of the folder, whole or not at all, or raise a sentence."""
        with writing(path):
            write_atomically(path, content, sync=sync)

    # Records

    def path(self, key: str) -> Path:
        """Return the file of a record."""
        return self.records_folder / f"{key}{RECORD_SUFFIX}"

    def list_keys(self) -> list[str]:
        """List the keys of all records, in alphabetical order."""
        paths = self.records_folder.glob(f"[!.]*{RECORD_SUFFIX}")
        return sorted(path.name.removesuffix(RECORD_SUFFIX) for path in paths)

    def read(self, key: str) -> Record | None:
        """Return a record, or None if it is missing or damaged."""
        path = self.path(key)
        if not path.exists():
            return None
        try:
            return read_record(path)
        except DataError as error:
            logger.warning("A record counts as missing: %s", error)
            return None

    def write(self, record: Record, *, sync: bool = True) -> None:
        """Write a record under its key; without ``sync`` call :meth:`sync` later."""
        self.write_file(self.path(record.key), to_bytes(record), sync=sync)

    def sync(self, keys: Iterable[str]) -> None:
        """Bring records to the disk, and then the folder that names them."""
        # Flushes that wait together are committed together by the file system.
        with ThreadPoolExecutor(SYNC_THREADS) as threads:
            list(threads.map(_sync, map(self.path, keys)))
        _sync(self.records_folder)

    def discard(self, key: str) -> None:
        """Delete a record, if it is there."""
        self.path(key).unlink(missing_ok=True)

    def set_aside(self, key: str) -> None:
        """Rename a damaged record, if there is one: it is kept and no longer read."""
        path = self.path(key)
        if path.exists():
            names = (path.with_suffix(f".broken-{i}") for i in itertools.count(1))
            path.rename(next(name for name in names if not name.exists()))

    def records(self, trials: Iterable[Trial]) -> dict[str, Record]:
        """Return the records of trials, by key, as far as there are any."""
        keys = dict.fromkeys(trial.key for trial in trials)
        found = {key: self.read(key) for key in keys}
        return {key: record for key, record in found.items() if record is not None}

    def finished(self) -> tuple[list[Trial], dict[str, Record]]:
        """Return the trials that the tables list, and the records there are.

        These are the grid of the latest run, and the trials it does not ask for that
        are as good: see :class:`Beside`.
        """
        grid = self.trials()
        beside = self.read_beside(*self.described(), grid)
        return [*grid, *beside.trials], {**beside.records, **self.records(grid)}

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

    # The description

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
        """Return the provenance of the latest run, with its facts."""
        path = self.folder / PROVENANCE_FILE
        with own_file(path):
            found: dict[str, Any] = json.loads(read_text(path))
            Facts.from_dict(found["facts"])
            return found

    def environment(self) -> dict[str, Any]:
        """Return the environment of the latest run's trials; empty if not known."""
        try:
            return dict(self.provenance().get("environment", {}))
        except SymmfError:
            return {}

    def described(self) -> tuple[ExperimentConfig, Facts]:
        """Return config and facts of the latest run."""
        return self.config(), Facts.from_dict(self.provenance()["facts"])

    def trials(self) -> list[Trial]:
        """List the whole grid of the latest run's config."""
        with own_file(self.folder / PROVENANCE_FILE):
            return expand(*self.described())


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


def _sync(path: Path) -> None:
    # A record that was removed meanwhile is nothing to lose.
    with writing(path), suppress(FileNotFoundError):
        sync_to_disk(path)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failure to write a file of the results into a sentence."""
    try:
        yield
    except OSError as error:
        raise SymmfError(
            f"{path} could not be written: {error.strerror or error}. Files already "
            "written are complete. Free some space, or make the folder writable, and "
            "repeat the same command to continue."
        ) from error


def list_experiments(results: Path | str) -> list[ExperimentStore]:
    """List the experiments in a results folder, by name."""
    return [ExperimentStore(path) for path in experiment_folders(results)]
