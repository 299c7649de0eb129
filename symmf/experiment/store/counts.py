"""How far an experiment is, kept beside its records until anything changes.

Thousands of records take a while to read. Their counts are kept with a digest of what
they were made from: the description by its content; the records, the times of the
reference study and the code that counts by the identity, size and times of their files.
Where the digest is another one, the counts are made anew.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import symmf
from symmf.common.files import write_atomically
from symmf.experiment.store.layout import (
    COUNTS_FILE,
    EXPERIMENT_FILE,
    PROVENANCE_FILE,
    RECORD_SUFFIX,
    RECORDS_FOLDER,
    TRIALS_FILE,
)

if TYPE_CHECKING:
    from symmf.experiment.values import Record, Trial

_PACKAGE = Path(symmf.__file__).parent
# A file of ours is a few lines.
_LONGEST = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many trials an experiment has, how many are done, and their times.

    ``left``: computing time of what is missing, where something like it was timed.
    """

    total: int
    done: int
    failed: int
    seconds: float
    left: float | None = None


def count(trials: Iterable[Trial], records: Mapping[str, Record]) -> Counts:
    """Count the trials of a grid by their records."""
    trials = list(trials)
    outcomes = [records[t.key].outcome for t in trials if t.key in records]
    # What a killed worker left is run again by the next run, so it is not done.
    final = [outcome for outcome in outcomes if outcome.final]
    return Counts(
        total=len(trials),
        done=len(final),
        failed=sum(not outcome.ok for outcome in final),
        seconds=sum(outcome.seconds or 0.0 for outcome in final),
        left=0.0 if len(final) == len(trials) else None,
    )


def inputs_digest(folder: Path, reference: Path | None) -> str | None:
    """Return the digest of all that counts depend on; None where it cannot be told."""
    try:
        parts: list[Any] = [symmf.__version__]
        for name in (EXPERIMENT_FILE, PROVENANCE_FILE):
            path = folder / name
            content = path.read_bytes() if path.is_file() else b""
            parts.append(hashlib.sha256(content).hexdigest())
        records = folder / RECORDS_FOLDER
        parts.append(sorted(_states(records, RECORD_SUFFIX)))
        parts.append(_code())
        times = None if reference is None else reference / folder.name / TRIALS_FILE
        parts.append(_state(times.stat()) if times and times.is_file() else None)
    except OSError:
        return None
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@cache
def _code() -> list[Any]:
    """Return the state of the modules that list trials and read records."""
    folders = [str(_PACKAGE), *(path for path, *_ in os.walk(_PACKAGE / "experiment"))]
    return [sorted(_states(Path(folder), ".py")) for folder in folders]


def _states(folder: Path, suffix: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Give the state of every file of a folder; of none if it is not there."""
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(suffix):
                yield entry.name, _state(entry.stat())


def _state(found: os.stat_result) -> tuple[int, ...]:
    # A file that is replaced is another one; one that is written into has new times.
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def kept_counts(folder: Path, digest: str | None) -> Counts | None:
    """Return the counts that were kept for a digest, or None."""
    path = folder / COUNTS_FILE
    try:
        if digest is None or not path.is_file() or path.stat().st_size > _LONGEST:
            return None
        kept = json.loads(path.read_bytes())
        if kept.pop("inputs_sha256") != digest:
            return None
        found = Counts(**kept)
        whole = all(type(n) is int for n in (found.total, found.done, found.failed))
        times = (found.seconds, 0.0 if found.left is None else found.left)
        return found if whole and all(map(math.isfinite, times)) else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def keep_counts(folder: Path, digest: str | None, counts: Counts) -> None:
    """Keep counts for a digest that was taken before they were made.

    Where that is not possible they are made again next time.
    """
    if digest is None or kept_counts(folder, digest) == counts:
        return
    text = json.dumps({"inputs_sha256": digest, **asdict(counts)}) + "\n"
    with suppress(OSError):
        write_atomically(folder / COUNTS_FILE, text, sync=False)
