"""What can be known to fail before the first trial, with the command that mends it."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from symmf.experiment.estimate import Timings, rough_memory_mb
from symmf.experiment.plan import Plan

# Of the available memory: what a run may plan to take.
SHARE = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """What was found: ``problems`` stop the run, ``warnings`` are told."""

    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def check_before_start(
    plans: Sequence[Plan], jobs: int, *, reference: Path, local: bool
) -> Preflight:
    """Look for missing libraries and too little memory.

    Records are read only where something is amiss, since a run reads them anyway.
    Trials on a cluster run with what its machines have, so nothing is looked at then.
    """
    if not local:
        return Preflight()
    free = available_mb()
    found = [memory_warning(plan, jobs, free, reference) for plan in plans]
    return Preflight(
        problems=tuple(missing_libraries(plans)),
        warnings=tuple(sentence for sentence in found if sentence),
    )


def missing_libraries(plans: Sequence[Plan]) -> list[str]:
    """Say which methods with trials to run need a library that is not installed."""
    from symmf.clustering import REQUIRES

    asked = {trial.estimator for plan in plans for trial in plan.selected}
    sentences = []
    for method, (library, extra) in REQUIRES.items():
        if method not in asked or importlib.util.find_spec(library) is not None:
            continue
        waiting = [trial for plan in plans for trial in plan.missing()]
        count = sum(trial.estimator == method for trial in waiting)
        if count:
            sentences.append(
                f"{count} of {len(waiting)} trials are of the method {method}, which "
                f'needs {library}. Install it: pip install "symmf[{extra}]"; or leave '
                f"the method out: --skip {method}."
            )
    return sentences


def memory_warning(
    plan: Plan, jobs: int, available: float | None, reference: Path
) -> str:
    """Say that an experiment needs more memory than there is, and how many jobs fit."""
    each = memory_mb(plan, reference)
    if available is None or each * jobs <= SHARE * available or not plan.missing():
        return ""
    fit = int(SHARE * available // each)
    advice = (
        f"Give --jobs {fit}."
        if fit
        else "Even one job may not fit; leave experiments out with --skip."
    )
    return (
        f"{plan.name}: {jobs} jobs of about {each:.0f} MB need more than the "
        f"{available:.0f} MB that are free. {advice}"
    )


def memory_mb(plan: Plan, reference: Path) -> float:
    """Return what one worker takes: the highest in a table of trials, or a guess."""
    known = Timings()
    for folder in (plan.store.folder, reference / plan.name):
        known.add_rows(folder)
    return max(known.peaks_mb, default=0.0) or rough_memory_mb(plan)


def available_mb() -> float | None:
    """Return the memory that is free for programs, in MB; None if it is not told."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = dict(line.split(":", 1) for line in lines)
        return float(found["MemAvailable"].split()[0]) / 1024
    except (OSError, KeyError, ValueError, IndexError):
        return None
