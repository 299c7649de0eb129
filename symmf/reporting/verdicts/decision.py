"""Verdicts on claims and the small rules that several of them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


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


def undecided(reason: str, command: str) -> Decision:
    """Return that a claim cannot be decided, and what would decide it."""
    return Decision(verdict=ClaimVerdict.CANNOT, evidence=reason, command=command)


def by_share(n_yes: int, n_all: int, *, partly_from: float) -> ClaimVerdict:
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
    return (
        ClaimVerdict.PARTLY
        if n_yes and n_yes >= partly_from * n_all
        else ClaimVerdict.DOES_NOT_HOLD
    )


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


COMBINED = (
    " The paper's own setting and equal terms have verdicts of their own. Where "
    "several readings of one of them differ, it holds partly; a single verdict beside "
    "ones that cannot be decided leaves it undecided."
)


def combined(verdicts: Sequence[ClaimVerdict]) -> ClaimVerdict | None:
    """Combine the verdicts on readings of one setting; None if there are none."""
    return worst_and_best(verdicts) if verdicts else None


def worst_and_best(verdicts: Sequence[ClaimVerdict]) -> ClaimVerdict:
    """Combine the verdicts on several readings: equal ones stay, others are partly.

    Examples
    --------
    >>> str(worst_and_best([ClaimVerdict.HOLDS, ClaimVerdict.DOES_NOT_HOLD]))
    'holds partly'
    >>> str(worst_and_best([ClaimVerdict.HOLDS, ClaimVerdict.CANNOT]))
    'cannot be decided'
    """
    if len(set(verdicts)) == 1:
        return verdicts[0]
    known = set(verdicts) - {ClaimVerdict.CANNOT}
    if (
        ClaimVerdict.CANNOT in verdicts
        and len(known) == 1
        and known != {ClaimVerdict.PARTLY}
    ):
        return ClaimVerdict.CANNOT
    return ClaimVerdict.PARTLY
