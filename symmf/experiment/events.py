"""What happens during a run, as events: for the event log and for progress."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from symmf.experiment.store.layout import EVENTS_FILE
from symmf.experiment.values import now


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in an experiment.

    ``kind`` is one of ``run_started`` (total, done), ``trial_started``,
    ``trial_finished`` (status, seconds), ``interrupted`` and ``run_finished``.
    """

    kind: str
    experiment: str
    details: Mapping[str, Any] = field(default_factory=dict)


Listener: TypeAlias = Callable[[Event], None]


class EventLog:
    """Appends events to a file, one JSON object per line."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / EVENTS_FILE
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        end = os.lseek(self._handle, 0, os.SEEK_END)
        # A run killed in mid-line must not spoil the first line of this one.
        if end and os.pread(self._handle, 1, end - 1) != b"\n":
            os.write(self._handle, b"\n")

    def __call__(self, event: Event) -> None:
        """Write one event."""
        line = json.dumps({"time": now(), "event": event.kind, **event.details})
        os.write(self._handle, line.encode() + b"\n")

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)


def read_events(folder: Path) -> list[dict[str, Any]]:
    """Read an event log, leaving out lines that a killed run left unfinished."""
    try:
        lines = (folder / EVENTS_FILE).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    events = []
    for line in lines:
        try:
            events.append(json.loads(line))
        except ValueError:
            continue
    return events
