"""``python -m scripts.fuzz PART... [--seed S] [--count N] [--one I]``."""

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
    from scripts.fuzz.harness import attack, run_case
    from scripts.fuzz.parts import PARTS

    given = _arguments(list(PARTS))
    names = list(PARTS) if "all" in given.parts else given.parts
    if given.quick:
        names = [name for name in names if PARTS[name].quick]
    if any(PARTS[name].faults for name in names if name in PARTS):
        faults.preload()
    what = {name: part.what for name, part in PARTS.items()}
    if given.one is not None:
        part = PARTS[names[0]]
        part.prepare()
        report = run_case(part, given.seed, given.one)
        print(report["verdict"], report["detail"], sep="\n")
        return int(bool(report["detail"]))
    tallies = []
    for name in [] if names == ["join"] else names:
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
    print(f"\n{page.markdown(tallies, what)}")
    if given.write:
        found = page.load(given.keep, list(PARTS))
        tallies = [tally for tally, _ in found]
        given.write.write_text(page.page(found, what), encoding="utf-8")
    return int(any(tally.failures for tally in tallies))


def _arguments(names: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.fuzz", description=__doc__)
    parser.add_argument("parts", nargs="+", choices=[*names, "all", "join"],
                        metavar="PART",
                        help=f"{', '.join(names)}, or all; join runs nothing and "
                             "makes the page of what was kept")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200, help="cases of each part")
    parser.add_argument("--start", type=int, default=0, help="number of the first case")
    parser.add_argument("--one", type=int, metavar="I", help="only case I, in full")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--full", action="store_true", help="as many as a full run has")
    parser.add_argument("--quick", action="store_true", help="the quick selection")
    parser.add_argument("--keep", type=Path, metavar="FOLDER",
                        help="keep the figures of each part here")  # fmt: skip
    parser.add_argument("--write", type=Path, metavar="FILE",
                        help="make the page of all parts that are kept")  # fmt: skip
    given = parser.parse_args()
    if given.write and not given.keep:
        parser.error("--write needs --keep FOLDER, where the figures of the parts are")
    if "join" in given.parts and (given.parts != ["join"] or not given.write):
        parser.error("join stands alone, with --keep FOLDER and --write FILE")
    return given


if __name__ == "__main__":
    sys.exit(main())
