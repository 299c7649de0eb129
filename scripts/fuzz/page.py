"""What was tried and how it ended: kept as JSON, and made into a Markdown page."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from scripts.fuzz.harness import VERDICTS, Tally
from symmf.common.texts import markdown_table

_LIBRARIES = ("symmf", "numpy", "scipy", "scikit-learn", "pandas", "h5py", "PyYAML")


def keep(tally: Tally, folder: Path) -> None:
    """Write the figures of a part; those from the same case on are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        **{name: metadata.version(name) for name in _LIBRARIES},
    }
    path = folder / f"{tally.part}-{tally.start:09d}.json"
    path.write_text(json.dumps(asdict(tally) | {"made": made}, indent=1))


def load(folder: Path, order: Sequence[str]) -> list[tuple[Tally, dict[str, str]]]:
    """Read what was kept of each part, with when and with what it was made."""
    found = []
    for name in order:
        for path in sorted(folder.glob(f"{name}-*.json")):
            content = json.loads(path.read_text())
            made = content.pop("made")
            found.append((Tally(**content), made))
    return found


def markdown(tallies: Sequence[Tally], what: Mapping[str, str]) -> str:
    """Return the table of all parts."""
    rows = []
    for tally in tallies:
        counts = [str(tally.counts[verdict]) for verdict in VERDICTS]
        rows.append([tally.part, what[tally.part], str(tally.tried), *counts])
    total = [str(sum(tally.counts[v] for tally in tallies)) for v in VERDICTS]
    tried = str(sum(tally.tried for tally in tallies))
    rows.append(["all", "", tried, *total])
    header = ["part", "what is tried", "tried", *VERDICTS]
    return markdown_table(header, rows, "ll" + "r" * (len(header) - 2)) + "\n"


def failures(tally: Tally) -> str:
    """Return each failure with its reproducer."""
    texts = []
    for failure in tally.failures:
        command = (
            f"python -m scripts.fuzz {tally.part} --seed {tally.seed} "
            f"--start {failure['index']} --count 1"
        )
        texts.append(f"{failure['verdict']}: {command}\n{failure['detail']}\n")
    return "\n".join(texts)


def page(
    found: Sequence[tuple[Tally, Mapping[str, str]]], what: Mapping[str, str]
) -> str:
    """Return the page that is kept with the results."""
    tallies = [tally for tally, _ in found]
    commands = "\n".join(f"    {_command(tally)}" for tally in tallies)
    return f"""# Reliability

What `scripts/fuzz-run` tried and how it ended; the page is made by that command. Every
case is a function of the part, the seed and its number (how far a run has come when a
signal meets it depends on the machine too), so the same commands try the same again:

{commands}

{markdown(tallies, what)}
- clean: an error in a sentence with an exit code of 1, 2, 3 or 130
- accepted: exit code 0; in `kills`, `nth` and `power` a strike, a call that failed or
  a cut after which all that was asked for held
- tracebacks: also raw warnings of libraries, and exit codes that stand for nothing
- lost: something is missing, altered, not finite, or outside of where it belongs

{_notes(tallies)}{_failed(tallies)}## When and with what

{_made(found)}"""


def _command(tally: Tally) -> str:
    start = f" --start {tally.start}" if tally.start else ""
    return (
        f"python -m scripts.fuzz {tally.part} --seed {tally.seed}{start} "
        f"--count {tally.cases}"
    )


def _notes(tallies: Sequence[Tally]) -> str:
    """Say what sessions did: strikes by kind, comparisons."""
    parts = []
    for tally in tallies:
        if tally.notes:
            lines = [f"- {name}: {n}" for name, n in sorted(tally.notes.items())]
            sessions = f"What the {tally.cases} cases of `{tally.part}` did:\n\n"
            parts.append(sessions + "\n".join(lines) + "\n\n")
    return "".join(parts)


def _failed(tallies: Sequence[Tally]) -> str:
    found = [failures(tally) for tally in tallies if tally.failures]
    if not found:
        return ""
    lines = "\n".join(found).splitlines()
    return "## Failures\n\n" + "\n".join(f"    {line}" for line in lines) + "\n\n"


def _made(found: Sequence[tuple[Tally, Mapping[str, str]]]) -> str:
    """Say when each part ran, how long, and the versions of everything."""
    rows = [
        [tally.part, made["date"], str(tally.seed), str(tally.cases),
         f"{tally.seconds:.0f}"]
        for tally, made in found
    ]  # fmt: skip
    versions: dict[str, list[str]] = {}
    for tally, made in found:
        words = ", ".join(f"{k} {v}" for k, v in made.items() if k != "date")
        versions.setdefault(words, []).append(tally.part)
    lines = [
        f"{', '.join(parts)}: {words.removeprefix('system ')}."
        for words, parts in versions.items()
    ]
    table = markdown_table(["part", "date", "seed", "cases", "seconds"], rows, "llrrr")
    return f"{table}\n\n" + "\n\n".join(lines) + "\n"
