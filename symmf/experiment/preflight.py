"""What can be known to fail before the first trial, with the command that mends it."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from symmf.experiment.estimate import Estimate
from symmf.experiment.plan import Plan

# Of the available memory: what a run may plan to take.
SHARE = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """What was found: ``problems`` stop the run, ``warnings`` are told."""

    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def check_before_start(
    plans: Sequence[Plan], estimates: Sequence[Estimate], jobs: int, *, local: bool
) -> Preflight:
    """Look for missing libraries and too little memory.

    Trials on a cluster run with what its machines have, so nothing is looked at then.
    """
    if not local:
        return Preflight()
    return Preflight(
        problems=tuple(missing_libraries(plans)),
        warnings=tuple(memory_warnings(estimates, jobs, available_mb())),
    )


def missing_libraries(plans: Sequence[Plan]) -> list[str]:
    """Say which methods with trials to run need a library that is not installed."""
    from symmf.clustering import REQUIRES

    waiting = [trial for plan in plans for trial in plan.missing()]
    sentences = []
    for method, (library, extra) in REQUIRES.items():
        count = sum(trial.estimator == method for trial in waiting)
        if count and importlib.util.find_spec(library) is None:
            sentences.append(
                f"{count} of {len(waiting)} trials are of the method {method}, which "
                f'needs {library}. Install it: pip install "symmf[{extra}]"; or leave '
                f"the method out: --skip {method}."
            )
    return sentences


def memory_warnings(
    estimates: Sequence[Estimate], jobs: int, available: float | None
) -> list[str]:
    """Say which experiments need more memory than there is, and how many jobs fit."""
    sentences = []
    for cost in estimates:
        need = cost.memory_mb * jobs
        if not cost.missing or available is None or need <= SHARE * available:
            continue
        fit = int(SHARE * available // cost.memory_mb)
        advice = (
            f"Give --jobs {fit}."
            if fit
            else "Even one job may not fit; leave experiments out with --skip."
        )
        sentences.append(
            f"{cost.experiment}: {jobs} jobs of about {cost.memory_mb:.0f} MB need "
            f"more than the {available:.0f} MB that are free. {advice}"
        )
    return sentences


def available_mb() -> float | None:
    """Return the memory that is free for programs, in MB; None if it is not told."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = dict(line.split(":", 1) for line in lines)
        return float(found["MemAvailable"].split()[0]) / 1024
    except (OSError, KeyError, ValueError, IndexError):
        return None
