"""``python -m scripts.fuzz [PART...] [--seed S] [--start I] [--count N]``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path


def main() -> int:
    """Run parts of the attack; the exit code tells whether anything failed."""
    # Before numpy is imported: a process with threads must not be forked.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
    # In the background a shell has it ignored, and whatever is started here would too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from scripts.fuzz import faults, page
    from scripts.fuzz.harness import attack
    from scripts.fuzz.parts import PARTS

    given = _arguments(list(PARTS))
    names = list(PARTS) if "all" in given.parts else given.parts
    if given.quick:
        names = [name for name in names if PARTS[name].quick]
    if any(PARTS[name].faults for name in names):
        faults.preload()
    tallies = []
    for name in names:
        part = PARTS[name]
        count = part.full if given.full else given.count
        count = part.quick if given.quick else count
        indices = range(given.start, given.start + count)
        tally = attack(part, seed=given.seed, indices=indices, jobs=given.jobs)
        tallies.append(tally)
        if given.keep:
            page.keep(tally, given.keep)
        print(page.failures(tally), end="", flush=True)
        print(
            f"{name}: {tally.tried} cases in {tally.seconds:.0f} s, "
            f"{len(tally.failures)} failures",
            flush=True,
        )
    what = {name: part.what for name, part in PARTS.items()}
    if names:
        print(f"\n{page.markdown(tallies, what)}")
    if given.write:
        found = page.load(given.keep, list(PARTS))
        given.write.write_text(page.page(found, what), encoding="utf-8")
        tallies = [tally for tally, _ in found]
    return int(any(tally.failures for tally in tallies))


def _arguments(names: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.fuzz", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART",
                        help=f"{', '.join(names)}, or all")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200, help="cases of each part")
    parser.add_argument("--start", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--full", action="store_true", help="as many as a full run has")
    parser.add_argument("--quick", action="store_true", help="the quick selection")
    parser.add_argument("--keep", type=Path, metavar="FOLDER",
                        help="keep the figures of each part here")  # fmt: skip
    parser.add_argument("--write", type=Path, metavar="FILE",
                        help="make the page of all parts that are kept")  # fmt: skip
    given = parser.parse_args()
    if unknown := {*given.parts} - {*names, "all"}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    if not given.parts and not given.write:
        parser.error("name a part, or all")
    if given.write and not given.keep:
        parser.error("--write needs --keep FOLDER, where the figures of the parts are")
    return given


if __name__ == "__main__":
    sys.exit(main())
