"""What was tried and how it ended: kept as JSON, and made into a Markdown page."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from scripts.fuzz.harness import Tally
from scripts.fuzz.process import VERDICTS
from symmf.common.files import write_text
from symmf.common.texts import markdown_table

_LIBRARIES = ("symmf", "numpy", "scipy", "scikit-learn", "pandas", "h5py", "PyYAML")


def stamp(tally: Tally) -> Tally:
    """Say when and with what a part runs."""
    versions = [f"{name} {metadata.version(name)}" for name in _LIBRARIES]
    system = f"{platform.system()} {platform.machine()}"
    tally.made = ", ".join([system, f"Python {platform.python_version()}", *versions])
    tally.date = f"{datetime.now(UTC):%Y-%m-%d}"
    return tally


def load(page: Path) -> dict[str, Tally]:
    """Read the figures of all parts that were kept beside a page."""
    path = page.with_suffix(".json")
    content = json.loads(path.read_text()) if path.is_file() else []
    return {item["part"]: Tally(**item) for item in content}


def save(page: Path, tallies: Iterable[Tally]) -> None:
    """Write the figures, and the page that is made from them."""
    found = list(tallies)
    content = json.dumps([asdict(tally) for tally in found], indent=1)
    write_text(page.with_suffix(".json"), content + "\n")
    write_text(page, _page(found))


def markdown(tallies: Sequence[Tally]) -> str:
    """Return the table of all parts."""
    rows = [[t.part, t.what, t.tried, *t.counts.values()] for t in tallies]
    counts = [sum(t.counts[verdict] for t in tallies) for verdict in VERDICTS]
    rows.append(["all", "", sum(counts), *counts])
    header = ["part", "what is tried", "tried", *VERDICTS]
    cells = [[str(cell) for cell in row] for row in rows]
    return markdown_table(header, cells, "ll" + "r" * (len(header) - 2)) + "\n"


def failures(tally: Tally) -> str:
    """Return each failure with its reproducer."""
    return "\n".join(
        f"{case['verdict']}: python -m scripts.fuzz {tally.part} --seed {tally.seed} "
        f"--start {case['index']} --count 1\n{case['detail']}\n"
        for case in tally.failures
    )


def _page(tallies: Sequence[Tally]) -> str:
    """Return the page that is kept with the results."""
    commands = "\n".join(
        f"    python -m scripts.fuzz {t.part} --seed {t.seed}"
        f"{f' --start {t.start}' if t.start else ''} --count {t.cases}"
        for t in tallies
    )
    notes = "".join(
        f"What the {t.cases} cases of `{t.part}` did:\n\n"
        + "".join(f"- {name}: {n}\n" for name, n in sorted(t.notes.items()))
        + "\n"
        for t in tallies
        if t.notes
    )
    failed = "\n".join(failures(t) for t in tallies if t.failures).splitlines()
    if failed:
        lines = "\n".join(f"    {line}".rstrip() for line in failed)
        notes += f"## Failures\n\n{lines}\n\n"
    rows = [
        [t.part, t.date, str(t.seed), str(t.cases), f"{t.seconds:.0f}"] for t in tallies
    ]
    made = "\n\n".join(
        ", ".join(t.part for t in tallies if t.made == words) + f": {words}."
        for words in dict.fromkeys(t.made for t in tallies)
    )
    return f"""# Reliability

What `scripts/fuzz-run` tried and how it ended; the page is made by that command. Every
case is a function of the part, the seed and its number (how far a run has come when a
signal meets it depends on the machine too), so the same commands try the same again,
in the version that is named at the end for each part:

{commands}

{markdown(tallies)}
- clean: an error in a sentence with an exit code of 1, 2, 3 or 130
- accepted: exit code 0; where a case strikes more than once (a signal, a call that
  fails, a loss of power, a step, an input), also each strike that did no harm
- tracebacks: also raw warnings of libraries, and exit codes that stand for nothing
- lost: something is missing, altered, not finite, or outside of where it belongs

{notes}## When and with what

{markdown_table(["part", "date", "seed", "cases", "seconds"], rows, "llrrr")}

{made}
"""
