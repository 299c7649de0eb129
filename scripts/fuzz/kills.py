"""Runs that are killed, whole or a worker, at random moments, until they are done."""

from __future__ import annotations

import functools
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

from scripts.fuzz import study
from scripts.fuzz.harness import Case
from scripts.fuzz.process import HANG, LOST, Process, descendants
from symmf.experiment.store.layout import EVENTS_FILE

TRIALS = 60
prepare = functools.partial(study.undisturbed, TRIALS)
# Strikes of a case; then its run may end.
STRIKES = 50
MOST_STARTS = 60
# Seconds from the start to a strike that may meet the imports, from the first trial to
# one that meets the run at work, and between strikes at the workers of one run.
EARLY, AT_WORK, NEXT = 1.5, 0.8, 0.15
# Share of the runs that are started as a user would; see Process.
FRESH = 0.2
_STARTS = {True: "runs started in a fresh interpreter", False: "runs started by a fork"}
# The signal of a strike, and how it is counted.
_STRIKES = {
    "run": (signal.SIGKILL, "SIGKILL of the run"),
    "worker": (signal.SIGKILL, "SIGKILL of a worker, or of what starts them"),
    "interrupt": (signal.SIGINT, "SIGINT"),
    "terminate": (signal.SIGTERM, "SIGTERM"),
}


def live(case: Case) -> None:
    """Start, strike, look; again until a run ends by itself; compare the tables."""
    rng, folder, results = case.rng, case.folder, case.folder / "r"
    config = study.write_config(folder, trials=TRIALS)
    command = ("run", config, "--results", results, "--jobs", 2, "--quiet")
    records: set[str] = set()
    for number in range(MOST_STARTS):
        begun = _begun(results)
        fresh = rng.random() < FRESH
        run = Process(folder, command, log=folder / f"log{number}", fresh=fresh)
        case.notes[_STARTS[fresh]] += 1
        if rng.random() < 0.7:
            _wait_for_work(run, results, begun)
            first = rng.uniform(0, AT_WORK)
        else:
            first = rng.uniform(0, EARLY)
        struck = _strike(case, run, results, first)
        ended = run.ended
        if struck & {"interrupt", "terminate"} and "__main__.py" not in ended.text:
            # Before our first line the interpreter speaks for itself.
            ended = replace(ended, text=ended.text.replace("Traceback", ""))
        case.look("the run", ended, _expected(struck))
        there = {path.name for path in results.rglob("records/*.h5")}
        if not records <= there:
            case.blame(LOST, f"records are gone: {sorted(records - there)}")
        records = there
        if ended.code == 0 or case.tried >= STRIKES:
            break
    code = case.run(*command, seconds=1800, allowed=(0, 1)).code
    if code == 1 and (count := _given_up(results)):
        # What was killed three times is kept as died, until somebody asks for it.
        case.notes["trials killed three times, run again by --retry-failed"] += count
        command = (*command, "--retry-failed")
    study.finish(case, command, TRIALS)
    case.notes["tables compared byte for byte"] += 1
    if left := [path.name for path in results.rglob("*.tmp")]:
        case.blame(LOST, f"left behind: {left}")


def _given_up(results: Path) -> int:
    """Return the number of trials that died as often as they may."""
    import pandas as pd

    from symmf.experiment.values import MAX_ATTEMPTS

    trials = pd.read_csv(results / "small" / "trials.csv")
    bad = trials[trials["status"] != "ok"]
    died = bad[(bad["status"] == "died") & (bad["attempts"] >= MAX_ATTEMPTS)]
    return len(died) if len(died) == len(bad) else 0


def _expected(struck: set[str]) -> set[int]:
    """Return the exit codes of a run after such strikes; the last may come too late."""
    codes = {
        "run": {-signal.SIGKILL},
        "terminate": {-signal.SIGTERM, 130, 143},
        "interrupt": {-signal.SIGINT, 130, 1},
        "worker": {1, 2},
    }
    return {0}.union(*(codes[what] for what in struck))


def _begun(results: Path) -> int:
    """Return a number that grows when a run begins its trials."""
    try:
        return (results / "small" / EVENTS_FILE).stat().st_size
    except OSError:
        return 0


def _wait_for_work(run: Process, results: Path, begun: int) -> None:
    limit = time.monotonic() + 60
    while time.monotonic() < limit and _begun(results) <= begun:
        if run.ends_within(0.02):
            return


def _strike(case: Case, run: Process, results: Path, pause: float) -> set[str]:
    """Strike at workers, then at the run; return what was struck."""
    rng = case.rng
    plan = ["worker"] * rng.choice((0, 0, 1, 2, 4, 8, 16))
    plan += rng.choices(("run", "interrupt", "terminate"), weights=(7, 1, 1))
    struck, family = set[str](), set[tuple[int, str]]()
    for what in plan:
        if run.ends_within(pause):
            break
        begun, pause = _begun(results), rng.uniform(0, NEXT)
        # One that has ended meanwhile has no birth, and is not waited for.
        alive = [(pid, born(pid)) for pid in descendants(run.pid)]
        found = [member for member in alive if member[1]]
        family |= set(found)
        # Before there are workers, the run is struck, which ends it.
        target = "run" if what == "worker" and not found else what
        victim = rng.choice(found)[0] if target == "worker" else run.pid
        try:
            os.kill(victim, _STRIKES[target][0])
        except ProcessLookupError:
            continue
        struck.add(target)
        case.tried += 1
        case.notes[_STRIKES[target][1]] += 1
        if target != "worker":
            break
        # Something is to happen between strikes, or the same trials die again.
        _wait_for_work(run, results, begun)
    if not run.ends_within(600):
        case.blame(HANG, f"the run goes on after strikes at {sorted(struck)}")
        run.kill()
    _wait_for_family(family, case)
    return struck


def _wait_for_family(family: set[tuple[int, str]], case: Case) -> None:
    """Nothing may outlive the run by more than a moment."""
    limit = time.monotonic() + 120
    while alive := [pid for pid, birth in family if born(pid) == birth]:
        if time.monotonic() > limit:
            case.blame(LOST, f"processes outlive the run: {alive}")
            return
        time.sleep(0.05)


def born(pid: int) -> str:
    """Return when a process began; nothing if it is gone, or dead and unburied."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]
