"""What a run shows while it goes on, at any width, and how it says that it ended."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from symmf.cli.progress import Bars, Lines, Silence
from symmf.cli.summary import MOST_REASONS, show_summary
from symmf.experiment.recorder import Event
from symmf.experiment.runner import Failure, Summary
from symmf.experiment.values import Status

LONG = "symmf_published, K=20, trial 100, lambda 0.5"


def event(kind, name="lambda_coil20_of_a_long_name", **details):
    return Event(kind=kind, experiment=name, details=details)


def drawn(bars):
    """Return the lines of the bars as a terminal shows them."""
    file, width = StringIO(), bars.bars.console.width
    Console(file=file, width=width, color_system=None).print(bars.bars)
    return [line.rstrip() for line in file.getvalue().rstrip("\n").split("\n")]


@pytest.mark.parametrize("width", [80, 81, 100, 132, 200])
def test_a_bar_is_one_line_with_whole_times_at_any_width(width):
    bars = Bars(overall=False, width=width)
    bars(event("run_started", total=12345, done=1234, failed=987))
    bars(event("trial_started", trial=LONG))
    (line,) = drawn(bars)
    # Room is left for what the terminal writes when Ctrl-C is typed.
    assert len(line) <= width - 3
    assert " 1234/12345 0:00:00 left -:--:-- 987 failed" in line
    assert (LONG in line) == (width >= 132)
    assert "lambda_coil20_of_…" in line


def test_bars_count_earlier_failures_and_each_trial_once():
    bars = Bars(overall=True, width=100)
    for name in ("one", "two"):
        bars(event("run_started", name, total=4, done=1, failed=1))
    bars(event("trial_lost", "one", trial="m", message="It was killed."))
    bars(event("trial_finished", "one", trial="m", status="failed", message=""))
    bars(event("trial_finished", "two", trial="m", status="ok", message=""))
    lines = [line.split(" left ")[0] + line[-20:] for line in drawn(bars)]
    assert [line.split()[0] for line in lines] == ["all", "one", "two"]
    for line, done, failed in zip(lines, ("4/8", "2/4", "2/4"), (3, 2, 1), strict=True):
        assert done in line
        assert f"{failed} failed" in line


def test_a_name_that_looks_like_markup_is_shown_as_it_is():
    bars = Bars(overall=False, width=200)
    bars(event("run_started", "[/red]", total=1, done=0))
    bars(event("trial_started", "[/red]", trial="[bold] trial"))
    (line,) = drawn(bars)
    assert line.startswith("[/red]")
    assert "[bold] trial" in line


@pytest.mark.parametrize("kind", [Silence, Lines])
def test_a_notice_is_shown_even_when_progress_is_not(kind, capfd):
    with kind() as progress:
        progress(event("notice", "tiny", text="The folder holds another config."))
        progress(event("run_started", "tiny", total=1, done=0))
    assert "tiny: The folder holds another config.\n" in capfd.readouterr().err


def test_lines_say_that_a_lost_trial_is_run_again(capfd):
    with Lines() as progress:
        progress(event("run_started", "a", total=1, done=0))
        progress(event("trial_lost", "a", trial="m", message="It was killed."))
    assert "a: m: It was killed. It will be run again." in capfd.readouterr().err


def failure(status, count=1, message="why"):
    return Failure(status=status, message=message, count=count, title="m", key="k" * 64)


def ended(capfd, **facts):
    store = SimpleNamespace(folder=Path("results/tiny"))
    plans = [SimpleNamespace(selected=[0] * 9, left_open=[], store=store)]
    show_summary(plans, Summary(**facts), Path("results"))
    return capfd.readouterr()


@pytest.mark.parametrize(
    ("status", "advice", "never"),
    [
        (Status.FAILED, "symmf info KEY", "limits"),
        (Status.DIVERGED, "parameters", "--retry-failed"),
        (Status.TIMEOUT, "limits.seconds", "memory"),
        (Status.MEMORY, "limits.memory_gb", "seconds"),
        (Status.DIED, "fewer --jobs", "limits"),
    ],
)
def test_the_advice_fits_the_reason(capfd, status, advice, never):
    found = ended(
        capfd,
        ran=9,
        failed=2,
        statuses={Status.OK: 7, status: 2},
        failures=(failure(status, 2),),
    )
    assert f"2 of 9 trials did not give a result (2 {status}):" in found.err
    assert found.err.count("why") == 1
    assert f"(first m; key {'k' * 12})" in found.err
    assert advice in found.err
    assert never not in found.err


def test_many_reasons_are_cut_short_and_problems_are_told(capfd):
    reasons = [failure(Status.FAILED, message=f"reason {i}") for i in range(8)]
    found = ended(
        capfd,
        ran=9,
        failed=8,
        statuses={Status.FAILED: 8},
        failures=tuple(reasons),
        problems=("The illustration could not be made.",),
    )
    assert found.err.count("reason ") == MOST_REASONS
    assert "and 3 other reasons: the column `message` of trials.csv" in found.err
    assert found.err.count("symmf info KEY") == 1
    assert "The illustration could not be made." in found.err


def test_an_interrupted_run_tells_its_failures_too(capfd):
    found = ended(
        capfd,
        ran=3,
        failed=1,
        remaining=6,
        interrupted=True,
        statuses={Status.TIMEOUT: 1},
        failures=(failure(Status.TIMEOUT),),
    )
    assert "Interrupted with 6 trials to go; the 3 finished" in found.err
    assert "1 timeout: why (m; key" in found.err
    assert found.out == ""
