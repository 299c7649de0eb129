"""Progress of a run: bars on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import time
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, Self

from symmf.cli.terminal import drawing_console, say
from symmf.common.texts import terminal_text

if TYPE_CHECKING:
    from rich.progress import TaskID

    from symmf.experiment.recorder import Event

# Seconds between two lines where there is no terminal.
LINE_EVERY = 10.0


def make_progress(*, quiet: bool, n_experiments: int) -> Silence:
    """Choose bars on a terminal, lines elsewhere, nothing when quiet."""
    if quiet:
        return Silence()
    if drawing_console() is None:
        return Lines()
    return Bars(overall=n_experiments > 1)


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
            self._say(f"{event.experiment}: {event.details['text']}")

    def _say(self, text: str) -> None:
        say(text, err=True)


@dataclass(slots=True)
class Counts:
    """How many trials an experiment has."""

    total: int
    done: int
    failed: int


class Lines(Silence):
    """Prints a line per experiment and failure, and one every few seconds."""

    def __init__(self) -> None:
        self.counts: dict[str, Counts] = {}
        self._ran = 0
        self._start = self._last = time.monotonic()

    def __call__(self, event: Event) -> None:
        """Count trials and tell what is worth a line."""
        super().__call__(event)
        name, about = event.experiment, event.details
        trial = str(about.get("trial", ""))
        if event.kind == "run_started":
            failed = about.get("failed", 0)
            self.counts[name] = Counts(about["total"], about["done"], failed)
        elif event.kind == "trial_lost":
            self._say(f"{name}: {trial}: {about['message']} It will be run again.")
        elif event.kind == "trial_finished":
            self._ran += 1
            self.counts[name].done += 1
            self.counts[name].failed += about["status"] != "ok"
        if name in self.counts:
            self._show(event, self.counts[name], trial)

    def _show(self, event: Event, own: Counts, trial: str) -> None:
        name, about, now = event.experiment, event.details, time.monotonic()
        if event.kind == "run_started":
            self._say(f"{name}: {own.done} of {own.total} trials done")
        elif event.kind == "trial_finished":
            if about["status"] != "ok":
                self._say(f"{name}: {trial}: {about['status']}: {about['message']}")
            if now - self._last >= LINE_EVERY:
                self._last = now
                left = sum(each.total - each.done for each in self.counts.values())
                time_left = duration(left * (now - self._start) / self._ran)
                failed = f", {own.failed} failed" if own.failed else ""
                at = f"{own.done}/{own.total}{failed}, {time_left} left ({trial})"
                self._say(f"{name}: {at}")


# What a terminal puts where the cursor is when Ctrl-C is typed must fit on the line:
# else it begins another one, and the bar is drawn a second time below the first.
_MARGIN = 3
# Of the name and of the narrowest bar. A wide line has room for the current trial too.
_NAME, _BAR, _WIDE = 18, 10, 100


class Bars(Lines):
    """Draws a bar per experiment and, for several, one for all."""

    def __init__(self, *, overall: bool, width: int | None = None) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            ProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.table import Column

        super().__init__()
        width = (width or Console(stderr=True).width) - _MARGIN
        cut: dict[str, Any] = {"no_wrap": True, "overflow": "ellipsis"}
        columns: list[ProgressColumn] = [
            TextColumn(
                "{task.description}",
                markup=False,
                table_column=Column(max_width=_NAME, **cut),
            ),
            BarColumn(bar_width=None, table_column=Column(width=_BAR, ratio=1)),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[failed]}", style="red"),
        ]
        if width >= _WIDE:
            current = Column(ratio=2, **cut)
            columns.append(
                TextColumn(
                    "{task.fields[current]}",
                    style="dim",
                    markup=False,
                    table_column=current,
                )
            )
        console = Console(stderr=True, width=width)
        self.bars = Progress(*columns, console=console, expand=True)
        self._tasks: dict[str, TaskID] = {}
        self._overall = overall

    def __enter__(self) -> Self:
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bars.stop()

    def _say(self, text: str) -> None:
        shown = terminal_text(text)
        self.bars.console.print(shown, markup=False, highlight=False, soft_wrap=True)

    def _show(self, event: Event, own: Counts, trial: str) -> None:
        """Move the bars."""
        if self._overall:
            total, done, failed = zip(*map(astuple, self.counts.values()), strict=True)
            self._draw("", Counts(sum(total), sum(done), sum(failed)))
        self._draw(event.experiment, own, trial)

    def _draw(self, name: str, counts: Counts, current: str = "") -> None:
        if name not in self._tasks:
            self._tasks[name] = self.bars.add_task(name or "all", failed="", current="")
        self.bars.update(
            self._tasks[name],
            total=counts.total,
            completed=counts.done,
            failed=f"{counts.failed} failed" if counts.failed else "",
            current=current,
        )


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
