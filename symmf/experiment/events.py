"""What happens during a run, as events: for the event log and for progress."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from symmf.common.files import read_file
from symmf.experiment.store.layout import EVENTS_FILE
from symmf.experiment.values import now


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in an experiment.

    ``kind`` is one of ``notice`` (text), ``run_started`` (total, done, failed),
    ``trial_started``, ``trial_lost`` (message; it will be begun again),
    ``trial_finished`` (status, message, seconds), ``interrupted`` and ``run_finished``
    (remaining, failed).
    """

    kind: str
    experiment: str
    details: Mapping[str, Any] = field(default_factory=dict)


Listener: TypeAlias = Callable[[Event], None]


class EventLog:
    """Appends events to a file, one JSON object per line.

    A log that cannot be written ends there: it is no result, and what is one says so
    itself when the disk is full.
    """

    def __init__(self, folder: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        self._handle: int | None = None
        with suppress(OSError):
            self._handle = os.open(folder / EVENTS_FILE, flags, 0o666)
            end = os.lseek(self._handle, 0, os.SEEK_END)
            # A run killed in mid-line must not spoil the first line of this one.
            if end and os.pread(self._handle, 1, end - 1) != b"\n":
                self._write(b"\n")

    def __call__(self, event: Event) -> None:
        """Write one event."""
        line = json.dumps({"time": now(), "event": event.kind, **event.details})
        self._write(line.encode() + b"\n")

    def _write(self, data: bytes) -> None:
        try:
            if self._handle is not None:
                os.write(self._handle, data)
        except OSError:
            self.close()

    def close(self) -> None:
        """Close the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


class Journal:
    """Tells every event to the log of its experiment and to a listener."""

    def __init__(self, folders: Mapping[str, Path], listener: Listener | None) -> None:
        self._logs = {name: EventLog(folder) for name, folder in folders.items()}
        self._listener = listener

    def tell(self, kind: str, experiment: str, **details: Any) -> None:
        """Say that something happened."""
        event = Event(kind=kind, experiment=experiment, details=details)
        self._logs[experiment](event)
        if self._listener is not None:
            self._listener(event)

    def close(self) -> None:
        """Close the logs."""
        for log in self._logs.values():
            log.close()


def read_events(folder: Path) -> list[dict[str, Any]]:
    """Read an event log, leaving out lines that are unfinished or no events."""
    try:
        text = read_file(folder / EVENTS_FILE).decode("utf-8", "replace")
    except OSError:
        return []
    lines = text.splitlines()
    events = []
    for line in lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            events.append(event)
    return events
