"""What was tried and how it ended, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from scripts.fuzz.harness import VERDICTS, Tally


def markdown(tallies: Sequence[Tally], what: dict[str, str]) -> str:
    """Return the table of all parts, with the command that makes each again."""
    header = ["part", "what is tried", "tried", *VERDICTS]
    rows = [header, ["---"] * 2 + ["---:"] * (len(VERDICTS) + 1)]
    for tally in tallies:
        counts = [str(tally.counts[verdict]) for verdict in VERDICTS]
        rows.append([tally.part, what[tally.part], str(tally.tried), *counts])
    total = [str(sum(tally.counts[v] for tally in tallies)) for v in VERDICTS]
    tried = str(sum(tally.tried for tally in tallies))
    rows.append(["all", "", tried, *total])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def failures(tally: Tally) -> str:
    """Return each failure with its reproducer."""
    texts = []
    for failure in tally.failures:
        command = (
            f"python -m scripts.fuzz {tally.part} --seed {tally.seed} "
            f"--one {failure['index']}"
        )
        texts.append(f"{failure['verdict']}: {command}\n{failure['detail']}\n")
    return "\n".join(texts)


def page(tallies: Sequence[Tally], what: dict[str, str]) -> str:
    """Return the page that is kept with the results."""
    commands = "\n".join(
        f"    python -m scripts.fuzz {t.part} --seed {t.seed} --count {t.cases}"
        for t in tallies
    )
    return f"""# Reliability

What `scripts.fuzz` tried and how it ended. Every case is a function of the seed and its
number, so the same commands try the same again:

{commands}

{markdown(tallies, what)}
clean: an error in a sentence with an exit code of 1, 2, 3 or 130; accepted: exit code
0; tracebacks: also raw warnings of libraries; lost: something is missing, altered, not
finite, or outside of where it belongs.
"""
