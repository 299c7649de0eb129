"""What happens during a run, as events: for the event log and for progress."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
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


class Journal:
    """Tells the events of an experiment to a listener and to its log.

    The log has one JSON object per line. If it cannot be written it ends there: it is
    no result, and what is one says so itself when the disk is full.
    """

    def __init__(self, plan: Plan, listener: Listener | None) -> None:
        self._experiment, self._listener = plan.name, listener
        self._log: io.FileIO | None = None
        with suppress(OSError):
            self._log = io.FileIO(plan.store.folder / EVENTS_FILE, "a+")
            self._log.seek(-1, os.SEEK_END)  # fails in an empty file
            # A run killed in mid-line must not spoil the first line of this one.
            if self._log.read(1) != b"\n":
                self._log.write(b"\n")

    def tell(self, kind: str, **details: Any) -> None:
        """Say that something happened."""
        line = json.dumps({"time": now(), "event": kind, **details})
        try:
            if self._log is not None:
                self._log.write(line.encode() + b"\n")
        except OSError:
            self.close()
        if self._listener is not None:
            event = Event(kind=kind, experiment=self._experiment, details=details)
            self._listener(event)

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()
            self._log = None
