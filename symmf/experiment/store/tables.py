"""The tables and the description of an experiment as they are now, for who reads them.

Nothing is written: where records are newer than the tables beside them, the tables are
made anew in memory. Anybody may have edited a file: what cannot be read is left out and
said in a sentence.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from symmf.common.files import read_file, read_text
from symmf.errors import SymmfError
from symmf.experiment.store.layout import (
    EXPERIMENT_FILE,
    RECORD_SUFFIX,
    RECORDS_FOLDER,
    TRACES_FILE,
    TRIALS_FILE,
    trial_columns,
)

MAX_JSON_BYTES = 10_000_000


def table_texts(folder: Path, problems: list[str]) -> dict[str, str]:
    """Return the CSV text of trials and of traces, empty where there is none."""
    if is_behind(folder):
        try:
            return _from_records(folder)
        except (SymmfError, OSError) as error:
            problems.append(
                f"The tables of {folder.name} could not be brought up to date with its "
                f"records; they are used as they are. {error}"
            )
    return {name: _text(folder / name, problems) for name in (TRIALS_FILE, TRACES_FILE)}


def read_mapping(path: Path, problems: list[str]) -> dict[str, Any]:
    """Return a YAML or JSON file that holds a mapping; empty where there is none."""
    if not path.is_file():
        return {}
    try:
        value = _json(path) if path.suffix == ".json" else _yaml(path)
    except (SymmfError, OSError, ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    problems.append(f"{path.parent.name}/{path.name} could not be read; left out.")
    return {}


def is_behind(folder: Path) -> bool:
    """Tell whether the table of trials may lack something that the records have.

    Records or the config are newer (a run was killed, or is going on), or the table
    has other columns than it would get now (a metric was added).
    """
    records, table = folder / RECORDS_FOLDER, folder / TRIALS_FILE
    if not (folder / EXPERIMENT_FILE).is_file():
        return False
    try:
        with os.scandir(records) as found:
            if not any(entry.name.endswith(RECORD_SUFFIX) for entry in found):
                return False
    except OSError:
        return False
    if not table.is_file():
        return True
    try:
        made = table.stat().st_mtime_ns
        with table.open(encoding="utf-8", errors="replace") as lines:
            columns = lines.readline().rstrip("\n").split(",")
        # A folder is touched by every record that is written to it or removed.
        changed = [records, folder / EXPERIMENT_FILE]
        return columns != list(trial_columns()) or any(
            path.stat().st_mtime_ns >= made for path in changed
        )
    except OSError:
        return True


def _from_records(folder: Path) -> dict[str, str]:
    from symmf.experiment.store.export import make_tables
    from symmf.experiment.store.folder import ExperimentStore

    return make_tables(ExperimentStore(folder))


def _text(path: Path, problems: list[str]) -> str:
    if not path.is_file():
        return ""
    try:
        return read_text(path)
    except (OSError, ValueError):
        problems.append(f"{path.parent.name}/{path.name} could not be read; left out.")
        return ""


def _json(path: Path) -> Any:
    return json.loads(read_file(path, largest=MAX_JSON_BYTES))


def _yaml(path: Path) -> Any:
    from symmf.common.yaml import read_yaml

    return read_yaml(path).data
