"""Verdicts on claims, the small rules that several share, and the stored checks.

Theorems and remarks are decided by the checks of :mod:`symmf.audit.theory`, which
``symmf audit --theory`` makes; here they are read, not repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import pandas as pd

from symmf.common.files import own_file
from symmf.reporting.results import Results, made_once

THEORY_FILE = Path("audit", "theory.csv")
COMMAND = "symmf audit --theory"
_KINDS = {
    **dict.fromkeys(("item", "tried", "measure"), str),
    **dict.fromkeys(("cases", "failures"), int),
    "worst": float,
}


class ClaimVerdict(StrEnum):
    """What the results say of a claim."""

    HOLDS = "holds"
    PARTLY = "holds partly"
    DOES_NOT_HOLD = "does not hold"
    CANNOT = "cannot be decided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Verdicts with their evidence, and the command that would add to it.

    ``verdict`` is that in the paper's own setting, ``equal_terms`` the one where all
    methods have the same input or solve the same problem; None where the claim does
    not compare, or nothing was run so. The two are never merged.
    """

    verdict: ClaimVerdict
    equal_terms: ClaimVerdict | None = None
    evidence: str
    details: tuple[str, ...] = ()
    command: str = ""

    @property
    def scope(self) -> str:
        """Whether all that the claim is about was tested, whatever came out."""
        if not self.command:
            return "complete"
        nothing = self.verdict is ClaimVerdict.CANNOT and not self.details
        return "not attempted" if nothing else "partial"


def undecided(reason: str, command: str) -> Decision:
    """Return that a claim cannot be decided, and what would decide it."""
    return Decision(verdict=ClaimVerdict.CANNOT, evidence=reason, command=command)


def by_share(n_yes: int, n_all: int, *, partly_from: float = 0.5) -> ClaimVerdict:
    """Return holds if all say yes, holds partly from a share on, else not.

    Examples
    --------
    >>> str(by_share(4, 4, partly_from=0.5)), str(by_share(2, 4, partly_from=0.5))
    ('holds', 'holds partly')
    >>> str(by_share(1, 4, partly_from=0.5)), str(by_share(0, 4, partly_from=0.0))
    ('does not hold', 'does not hold')
    """
    if n_all and n_yes == n_all:
        return ClaimVerdict.HOLDS
    partly = n_yes and n_yes >= partly_from * n_all
    return ClaimVerdict.PARTLY if partly else ClaimVerdict.DOES_NOT_HOLD


def so_far(verdict: ClaimVerdict, missing: str) -> ClaimVerdict:
    """Return a verdict on a claim about all cases while some of them are missing.

    A counterexample stays one; agreement so far does not decide.

    Examples
    --------
    >>> str(so_far(ClaimVerdict.HOLDS, "symmf run configs/tdt2.yaml"))
    'cannot be decided'
    >>> str(so_far(ClaimVerdict.HOLDS, ""))
    'holds'
    """
    return ClaimVerdict.CANNOT if verdict == ClaimVerdict.HOLDS and missing else verdict


def combined(verdicts: Sequence[ClaimVerdict]) -> ClaimVerdict | None:
    """Combine the verdicts on several readings of one setting; None if there are none.

    Equal ones stay, others are partly; a single one beside ones that cannot be decided
    is left undecided.

    Examples
    --------
    >>> str(combined([ClaimVerdict.HOLDS, ClaimVerdict.DOES_NOT_HOLD]))
    'holds partly'
    >>> str(combined([ClaimVerdict.HOLDS, ClaimVerdict.CANNOT]))
    'cannot be decided'
    """
    known = {*verdicts} - {ClaimVerdict.CANNOT}
    if not verdicts or len(known) == 1 == len({*verdicts}):
        return known.pop() if known else None
    if len(known) > 1 or known == {ClaimVerdict.PARTLY}:
        return ClaimVerdict.PARTLY
    return ClaimVerdict.CANNOT


@made_once
def stored_checks(results: Results) -> pd.DataFrame:
    """Return the stored checks, a row per check; none if they were not made."""
    path = results.folder / THEORY_FILE
    if not path.is_file():
        return pd.DataFrame(columns=list(_KINDS))
    with own_file(path, f"Make it again: {COMMAND}."):
        return pd.read_csv(path)[list(_KINDS)].astype(_KINDS)


def checks_of(
    results: Results, items: Sequence[str], but: Sequence[str] = ()
) -> pd.DataFrame:
    """Return the checks whose item begins with some words and has none of others."""
    found = stored_checks(results)
    chosen = found["item"].str.startswith(tuple(items))
    for word in but:
        chosen &= ~found["item"].str.contains(word, regex=False)
    return found[chosen.astype(bool)]


def check_text(check: dict[Any, Any]) -> str:
    """Say what came of one check."""
    return (
        f"{check['item']}: {check['failures']} of {check['cases']} cases fail "
        f"({check['tried']}); {check['measure']} at most {check['worst']:.2g}"
    )


def checked(
    results: Results,
    *,
    checks: Sequence[str],
    beside: Sequence[str] = (),
    but: Sequence[str] = (),
    note: str = "",
) -> Decision:
    """Decide a statement by its checks; those ``beside`` are reported, not counted."""
    found = checks_of(results, checks, but)
    if not len(found):
        return undecided("The numerical checks were not run.", COMMAND)
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
