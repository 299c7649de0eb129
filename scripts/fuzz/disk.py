"""Disks that fill up at any moment: a small file system that is enlarged afterwards."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

from scripts.fuzz import study
from scripts.fuzz.harness import LOST, Part, Session

TRIALS = 3


def prepare() -> None:
    """Run undisturbed once, for comparison."""
    if os.geteuid() != 0:
        raise SystemExit("The part `disk` mounts small file systems: run it as root.")
    study.undisturbed(TRIALS)


def make(rng: random.Random, folder: Path) -> Session:
    """Run on a file system of a few kilobytes; enlarge it; run again; compare."""
    session = Session()
    disk = folder / "disk"
    disk.mkdir()
    kilobytes = rng.choice((4, 16, 40, 100, 200, 400, 700, rng.randint(4, 1500)))
    mount = [
        "mount",
        "-t",
        "tmpfs",
        "-o",
        f"size={kilobytes}k",
        "symmf-fuzz",
        str(disk),
    ]
    subprocess.run(mount, check=True)
    try:
        _live(rng, folder, disk, session)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
    return session


def _live(rng: random.Random, folder: Path, disk: Path, session: Session) -> None:
    results = disk / "r"
    config = study.write_config(folder, trials=TRIALS)
    where = ("--results", results)
    run = ("run", config, *where, "--jobs", 2, "--quiet")
    points = folder / "points.csv"
    points.write_text("\n".join(f"{i % 7},{i % 3}" for i in range(2000)))
    cluster = (
        "cluster",
        points,
        "-k",
        3,
        "--method",
        "kmeans",
        "--out",
        disk / "o.csv",
    )
    others = [
        ("tables", *where),
        ("plot", "convergence", *where),
        ("compare", *where),
        cluster,
    ]
    commands = [run, *rng.sample(others, 2)]
    for command in commands:
        session.tried += 1
        code, text = study.run(folder, *command)
        session.look(f"{command[0]} on a full disk", code, text, allowed=(0, 1, 2, 3))
        if code and "space" in text.lower() and str(disk) not in text.replace("\n", ""):
            session.blame(LOST, f"{command[0]} does not name the path:\n{text}")
    left = [p.name for p in disk.rglob("*") if p.suffix in (".tmp", ".part")]
    if left:
        session.blame(LOST, f"left behind: {left}")
    subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
    code, text = study.run(folder, *run)
    session.look("run with room again", code, text, allowed=(0,))
    if code == 0 and study.fingerprint(results) != study.undisturbed(TRIALS)[1]:
        session.blame(LOST, "the tables differ from those of an undisturbed run")


PART = Part(
    name="disk",
    what="run, tables, plot, compare, cluster on a disk that fills up, then has room",
    make=make,
    full=20,
    preload=study.PRELOAD,
    prepare=prepare,
)
