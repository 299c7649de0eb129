"""``python -m scripts.fuzz [PART...] [--seed S] [--start I] [--count N]``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from importlib import import_module
from pathlib import Path

from scripts.fuzz.harness import Tally, attack, preload


def main() -> int:
    """Run parts of the attack; the exit code tells whether anything failed."""
    # Before numpy is imported: a process with threads must not be forked.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    # In the background a shell has it ignored, and whatever is started here would too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from scripts.fuzz import faults, page
    from scripts.fuzz.parts import FAULTS, PARTS

    given = _arguments(list(PARTS))
    names = list(PARTS) if "all" in given.parts else given.parts
    if given.quick:
        names = [name for name in names if PARTS[name].quick]
    if {*names} & {*FAULTS}:
        faults.preload()
    preload()
    kept = page.load(given.write) if given.write else {}
    limit = time.monotonic() + 60 * given.minutes
    tallies = []
    for name in names:
        if (left := limit - time.monotonic()) <= 0:
            break
        part = PARTS[name]
        end = part.full if given.full else part.quick if given.quick else given.count
        new = Tally(part=name, what=part.what, seed=given.seed, start=given.start)
        tally, old = page.stamp(new), kept.get(name)
        # One that was stopped goes on.
        same = ("seed", "start", "made")
        known = old and all(getattr(old, key) == getattr(new, key) for key in same)
        if old and known and old.cases < end:
            tally = old
        indices = range(tally.start + tally.cases, tally.start + end)
        tallies.append(tally)
        module = import_module(f"scripts.fuzz.{name}")
        getattr(module, "prepare", bool)()
        for _ in attack(module.live, tally, indices, jobs=given.jobs, seconds=left):
            if given.write:
                kept[name] = page.stamp(tally)
                page.save(given.write, kept.values())
        print(page.failures(tally), end="", flush=True)
        print(
            f"{name}: {tally.cases} of {end} cases in {tally.seconds:.0f} s, "
            f"{len(tally.failures)} failures",
            flush=True,
        )
    print(f"\n{page.markdown(tallies)}")
    return int(any(tally.failures for tally in tallies))


def _arguments(names: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.fuzz", description=__doc__)
    parser.add_argument("parts", nargs="+", metavar="PART",
                        choices=[*names, "all"],
                        help=f"{', '.join(names)}, or all")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200, help="cases of each part")
    parser.add_argument("--start", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=float("inf"),
                        help="begin no case after so long")  # fmt: skip
    parser.add_argument("--full", action="store_true", help="as many as a full run has")
    parser.add_argument("--quick", action="store_true", help="the quick selection")
    parser.add_argument("--write", type=Path, metavar="FILE",
                        help="add to this page; what was stopped goes on")  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
