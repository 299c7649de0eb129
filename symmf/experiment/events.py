"""What happens during a run, as events: for the event log and for progress."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from symmf.experiment.store.layout import EVENTS_FILE
from symmf.experiment.values import now

if TYPE_CHECKING:
    from symmf.experiment.plan import Plan


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
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
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
    """Tells the events of an experiment to its log and to a listener."""

    def __init__(self, plan: Plan, listener: Listener | None) -> None:
        self._experiment, self._listener = plan.name, listener
        self._log = EventLog(plan.store.folder)

    def tell(self, kind: str, **details: Any) -> None:
        """Say that something happened."""
        event = Event(kind=kind, experiment=self._experiment, details=details)
        self._log(event)
        if self._listener is not None:
            self._listener(event)

    def close(self) -> None:
        """Close the log."""
        self._log.close()
