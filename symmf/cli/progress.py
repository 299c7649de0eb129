"""Progress of a run: bars on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from symmf.cli.terminal import say

if TYPE_CHECKING:
    from rich.progress import TaskID

    from symmf.experiment.events import Event

# Seconds between two lines where there is no terminal.
LINE_EVERY = 10.0


def make_progress(*, quiet: bool, n_experiments: int) -> Silence:
    """Choose bars on a terminal, lines elsewhere, nothing when quiet."""
    from rich.console import Console

    if quiet:
        return Silence()
    console = Console(stderr=True)
    if console.is_terminal and not console.is_dumb_terminal:
        return Bars(overall=n_experiments > 1)
    return Lines()


class Silence:
    """Shows no progress, only what a person should know before the run.

    Used in a ``with`` block around the run, and called with each event.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __call__(self, event: Event) -> None:
        """Print a notice and ignore all else."""
        if event.kind == "notice":
            say(f"{event.experiment}: {event.details['text']}", err=True)


class Lines(Silence):
    """Prints a line per experiment and failure, and one every few seconds."""

    def __init__(self) -> None:
        self._total: dict[str, int] = {}
        self._done: dict[str, int] = {}
        self._failed: dict[str, int] = {}
        self._ran = 0
        self._start = self._last = time.monotonic()

    def __call__(self, event: Event) -> None:
        """Print what is worth a line."""
        name, about = event.experiment, event.details
        if event.kind == "run_started":
            self._total[name], self._done[name] = about["total"], about["done"]
            self._failed[name] = about.get("failed", 0)
            say(f"{name}: {about['done']} of {about['total']} trials done", err=True)
        elif event.kind == "trial_finished":
            self._done[name] += 1
            self._ran += 1
            if about["status"] != "ok":
                self._failed[name] += 1
                text = (
                    f"{name}: {about['trial']}: {about['status']}: {about['message']}"
                )
                say(text, err=True)
            now = time.monotonic()
            if now - self._last >= LINE_EVERY:
                self._last = now
                say(self._line(name, str(about["trial"])), err=True)
        elif event.kind == "trial_lost":
            say(f"{name}: {about['trial']}: {_lost(about)}", err=True)
        else:
            super().__call__(event)

    def _line(self, name: str, trial: str) -> str:
        left = sum(self._total.values()) - sum(self._done.values())
        pace = (time.monotonic() - self._start) / max(self._ran, 1)
        failed = f", {self._failed[name]} failed" if self._failed[name] else ""
        return (
            f"{name}: {self._done[name]}/{self._total[name]}{failed}, "
            f"{duration(left * pace)} left ({trial})"
        )


# What a terminal puts where the cursor is when Ctrl-C is typed must fit on the line:
# else it begins another one, and the bar is drawn a second time below the first.
_MARGIN = 3
# Widths of what every bar shows: name, trials, times, failures. The current trial gets
# what is left of the line, and the bar itself grows on a wide one.
_NAME, _COUNT, _TIME, _FAILED, _NARROW, _WIDE = 18, 11, 7, 10, 10, 30
_CURRENT = 16


class Bars(Silence):
    """Draws a bar per experiment and, for several, one for all."""

    def __init__(self, *, overall: bool, width: int | None = None) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        width = (width or Console(stderr=True).width) - _MARGIN
        fixed = _NAME + _COUNT + 2 * _TIME + len("left") + _FAILED + 7
        bar = _WIDE if width - fixed > _WIDE + _CURRENT else _NARROW
        self._current = max(0, width - fixed - bar - 1)
        self._bars = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=bar),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[failed]}", style="red"),
            TextColumn("{task.fields[current]}", style="dim", markup=False),
            console=Console(stderr=True, width=width),
        )
        self._tasks: dict[str, TaskID] = {}
        self._failed: dict[str, int] = {}
        self._overall = self._add("all") if overall else None

    def _add(self, text: str) -> TaskID:
        return self._bars.add_task(_cut(text, _NAME), total=0, failed="", current="")

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, event: Event) -> None:
        """Move the bars."""
        name, about = event.experiment, event.details
        if event.kind == "notice":
            self._print(f"{name}: {about['text']}")
        elif event.kind == "run_started":
            self._tasks[name] = self._add(name)
            self._failed[name] = about.get("failed", 0)
            self._grow(self._tasks[name], about["total"], about["done"])
            if self._overall is not None:
                self._grow(self._overall, about["total"], about["done"])
            self._show_failed(name)
        elif event.kind == "trial_started":
            self._show_current(name, str(about["trial"]))
        elif event.kind == "trial_lost":
            self._print(f"{name}: {about['trial']}: {_lost(about)}")
        elif event.kind == "trial_finished":
            self._failed[name] += about["status"] != "ok"
            for task in self._of(name):
                self._bars.update(task, advance=1)
            self._show_failed(name)
            self._show_current(name, str(about["trial"]))
        else:
            self._show_current(name, "")

    def _of(self, name: str) -> list[TaskID]:
        return [self._tasks[name], *([] if self._overall is None else [self._overall])]

    def _show_current(self, name: str, trial: str) -> None:
        text = _cut(trial, self._current) if self._current >= _CURRENT else ""
        self._bars.update(self._tasks[name], current=text)

    def _show_failed(self, name: str) -> None:
        counts = (self._failed[name], sum(self._failed.values()))
        for task, failed in zip(self._of(name), counts, strict=False):
            self._bars.update(task, failed=f"{failed} failed" if failed else "")

    def _print(self, text: str) -> None:
        self._bars.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _grow(self, task: TaskID, total: int, done: int) -> None:
        before = next(t for t in self._bars.tasks if t.id == task)
        self._bars.update(
            task, total=(before.total or 0) + total, completed=before.completed + done
        )


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _lost(about: Mapping[str, Any]) -> str:
    return f"{about['message']} It will be run again."


def duration(seconds: float) -> str:
    """Write a time for people.

    Examples
    --------
    >>> duration(42.3), duration(150), duration(7500), duration(200_000)
    ('42 s', '2.5 min', '2.1 h', '2.3 days')
    """
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
