"""How a run ended, in sentences: what is done, what failed and why, what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from symmf.cli.terminal import say
from symmf.common.texts import count
from symmf.experiment.store.layout import TRIALS_FILE

if TYPE_CHECKING:
    from symmf.experiment.plan import Plan
    from symmf.experiment.runner import Failure, Summary

# Reasons listed one by one; a run rarely fails for more.
MOST_REASONS = 5
_MESSAGE = 300
_ADVICE = {
    "failed": "`symmf info KEY` shows where it failed; once the cause is removed, "
    "repeat the command with --retry-failed.",
    "diverged": "The same start would diverge again: change the method's parameters, "
    "for example use a smaller step.",
    "timeout": "Allow more time and repeat: --set limits.seconds=... --retry-failed.",
    "memory": "Allow more memory and repeat: --set limits.memory_gb=... "
    "--retry-failed, or give fewer --jobs.",
    "died": "A worker that is killed again and again has most likely run out of "
    "memory: give fewer --jobs and --retry-failed.",
}


def show_summary(
    plans: Sequence[Plan],
    summary: Summary,
    results: Path,
    *,
    not_begun: Sequence[str] = (),
) -> None:
    """Print how a run ended; what went wrong goes to standard error."""
    left_open = sum(len(plan.left_open) for plan in plans)
    if summary.interrupted:
        say(
            f"Interrupted with {count(summary.remaining, 'trial')} to go; the "
            f"{summary.ran} finished in this run are kept. Repeat the same command to "
            "continue.",
            err=True,
        )
    elif summary.ran:
        say(f"Ran {count(summary.ran, 'trial')}.")
    elif not left_open:
        say("Nothing to do: every trial is recorded.")
    if left_open:
        say(f"{count(left_open, 'trial')} left out; see above.", err=True)
    if not_begun:
        say(f"Not started: {', '.join(not_begun)}.", err=True)
    _show_failures(plans, summary)
    for text in summary.problems:
        say(text, err=True)
    if summary.interrupted:
        return
    if summary.remaining:
        say(f"{count(summary.remaining, 'trial')} still to run.", err=True)
    for plan in plans:
        say(f"Results: {plan.store.folder / TRIALS_FILE}")
    option = "" if results == Path("results") else f" --results {results}"
    say(f"Next: symmf tables{option}")


def _show_failures(plans: Sequence[Plan], summary: Summary) -> None:
    if not summary.failed:
        return
    total = sum(len(plan.selected) for plan in plans)
    counts = ((s, n) for s, n in summary.statuses.items() if s != "ok")
    kinds = ", ".join(f"{n} {status}" for status, n in counts)
    say(
        f"{summary.failed} of {count(total, 'trial')} did not give a result ({kinds}):",
        err=True,
    )
    for failure in summary.failures[:MOST_REASONS]:
        say(f"  {_reason(failure)}", err=True)
    more = len(summary.failures) - MOST_REASONS
    if more > 0:
        say(
            f"  and {count(more, 'other reason')}: the column `message` of "
            f"{TRIALS_FILE} has them all.",
            err=True,
        )
    for status in dict.fromkeys(failure.status for failure in summary.failures):
        say(_ADVICE[status], err=True)


def _reason(failure: Failure) -> str:
    text = " ".join(failure.message.split()) or "no message"
    text = text if len(text) <= _MESSAGE else f"{text[: _MESSAGE - 4]} ..."
    first = "" if failure.count == 1 else "first "
    return (
        f"{failure.count} {failure.status}: {text} ({first}{failure.title}; key "
        f"{failure.key[:12]})"
    )
