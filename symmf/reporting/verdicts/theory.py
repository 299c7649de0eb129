"""Decisions on theorems and remarks, from the stored checks of ``symmf.audit.theory``.

The checks are made by ``symmf audit --theory``; here they are read, not repeated.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from symmf.common.files import own_file
from symmf.reporting.results import Results, made_once
from symmf.reporting.verdicts.decision import Decision, by_share, undecided

THEORY_FILE = Path("audit", "theory.csv")
COMMAND = "symmf audit --theory"
_KINDS = {
    **dict.fromkeys(("item", "tried", "measure"), str),
    **dict.fromkeys(("cases", "failures"), int),
    "worst": float,
}


@made_once
def stored_checks(results: Results) -> pd.DataFrame:
    """Return the stored checks, a row per check; none if they were not made."""
    path = results.folder / THEORY_FILE
    if not path.is_file():
        return pd.DataFrame(columns=list(_KINDS))
    with own_file(path, f"Make it again: {COMMAND}."):
        return pd.read_csv(path)[list(_KINDS)].astype(_KINDS)


def checks_of(
    results: Results, items: tuple[str, ...], but: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Return the checks whose item begins with some words and has none of others."""
    found = stored_checks(results)
    return found.loc[
        [
            text.startswith(items) and not any(word in text for word in but)
            for text in found["item"]
        ]
    ]


def check_text(check: dict[Any, Any]) -> str:
    """Say what came of one check."""
    return (
        f"{check['item']}: {check['failures']} of {check['cases']} cases fail "
        f"({check['tried']}); {check['measure']} at most {check['worst']:.2g}"
    )


def checked(
    results: Results,
    *,
    checks: tuple[str, ...],
    beside: tuple[str, ...] = (),
    but: tuple[str, ...] = (),
    note: str = "",
) -> Decision:
    """Decide a statement by its checks; those ``beside`` it are told, not counted."""
    found = checks_of(results, checks, but)
    if not len(found):
        return undecided("The checks with numbers were not made.", COMMAND)
    whole = int((found["failures"] == 0).sum())
    more = checks_of(results, (*checks, *beside))
    failures, cases = found["failures"].sum(), found["cases"].sum()
    text = (
        f"No case fails in {whole} of {len(found)} checks; {failures} of {cases} cases "
        f"fail. {note}"
    )
    return Decision(
        verdict=by_share(whole, len(found), partly_from=0),
        evidence=text.strip(),
        details=tuple(map(check_text, more.to_dict("records"))),
    )
