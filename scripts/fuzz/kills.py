"""Runs that are killed, whole or a worker, at random moments, until they are done."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

from scripts.fuzz import study
from scripts.fuzz.harness import LOST, Part, Session

TRIALS = 60
MOST = 40
# A run needs about a second to begin; a strike that late meets it at work.
LATEST = 3.0


def prepare() -> None:
    """Run undisturbed once, for comparison."""
    study.undisturbed(TRIALS)


def make(rng: random.Random, folder: Path) -> Session:
    """Start, strike, look; again until a run ends by itself; compare the tables."""
    session = Session()
    results = folder / "r"
    config = study.write_config(folder, trials=TRIALS)
    command = ("run", config, "--results", results, "--jobs", 2, "--quiet")
    records: set[str] = set()
    for number in range(MOST):
        process = study.start(folder, *command, log=f"log{number}")
        struck = _strike(rng, process, session)
        text = (folder / f"log{number}").read_text(errors="replace")
        if struck == "interrupt" and "__main__.py" not in text:
            # Before our first line the interpreter speaks for itself.
            text = text.replace("Traceback", "")
        session.look("run", process.returncode, text, allowed=_expected(struck))
        there = {path.name for path in results.rglob("records/*.h5")}
        if not records <= there:
            session.blame(LOST, f"records are gone: {sorted(records - there)}")
        records = there
        if process.returncode == 0:
            break
    code, text = study.run(folder, *command)
    session.look("the last run", code, text, allowed=(0,))
    if code == 0 and study.fingerprint(results) != study.undisturbed(TRIALS)[1]:
        session.blame(LOST, "the tables differ from those of an undisturbed run")
    left = [path.name for path in results.rglob("*.tmp")]
    if left:
        session.blame(LOST, f"left behind: {left}")
    return session


def _expected(struck: str) -> tuple[int, ...]:
    return {
        "run": (-signal.SIGKILL, 0),
        "terminate": (-signal.SIGTERM, 130, 143, 0),
        "interrupt": (-signal.SIGINT, 130, 1, 0),
        "worker": (0, 1, 2),
        "": (0,),
    }[struck]


def _strike(
    rng: random.Random, process: subprocess.Popen[bytes], session: Session
) -> str:
    """Wait a random time, strike, wait for the end; return what was struck."""
    what = rng.choice(("run",) * 6 + ("worker", "worker", "interrupt", "terminate"))
    try:
        process.wait(rng.uniform(0, LATEST))
        return ""
    except subprocess.TimeoutExpired:
        pass
    # Forks that have begun no work count as the run; there may be none yet.
    family = descendants(process.pid) if what == "worker" else []
    if what == "worker" and not family:
        what = "run"
    number = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM}.get(
        what, signal.SIGKILL
    )
    victim = rng.choice(family) if family else process.pid
    try:
        os.kill(victim, number)
    except ProcessLookupError:
        what = ""
    session.tried += bool(what)
    try:
        process.wait(120)
    except subprocess.TimeoutExpired:
        session.blame("hangs", f"the run goes on after {what} was struck")
        process.kill()
        process.wait()
    _wait_for_children(process.pid, session)
    return what


def _wait_for_children(group: int, session: Session) -> None:
    """Nothing may outlive the run by more than a moment."""
    limit = time.monotonic() + 20
    while time.monotonic() < limit:
        if not _session_members(group):
            return
        time.sleep(0.05)
    session.blame(LOST, f"processes outlive the run: {_session_members(group)}")


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and theirs."""
    found = []
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    for child in children:
        found += [int(child), *descendants(int(child))]
    return found


def _session_members(session: int) -> list[int]:
    """Return the processes of a session, those that are dead but unburied left out."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(entry.name))
    return found


PART = Part(
    name="kills",
    what="SIGKILL of runs and workers, SIGINT, SIGTERM at random moments, --jobs 2",
    make=make,
    full=200,
    preload=("pandas", "symmf.experiment.store.layout"),
    prepare=prepare,
)
