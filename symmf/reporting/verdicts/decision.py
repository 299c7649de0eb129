"""Verdicts on claims and the small rules that several of them share."""

from __future__ import annotations

from dataclasses import dataclass

HOLDS = "holds"
PARTLY = "holds partly"
DOES_NOT_HOLD = "does not hold"
CANNOT = "cannot be decided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A verdict with its evidence, and the command that would add to it."""

    verdict: str
    evidence: str
    details: tuple[str, ...] = ()
    command: str = ""


def undecided(reason: str, command: str) -> Decision:
    """Return that a claim cannot be decided, and what would decide it."""
    return Decision(verdict=CANNOT, evidence=reason, command=command)


def by_share(n_yes: int, n_all: int, *, partly_from: float) -> str:
    """Return holds if all say yes, holds partly from a share on, else not.

    Examples
    --------
    >>> by_share(4, 4, partly_from=0.5), by_share(2, 4, partly_from=0.5)
    ('holds', 'holds partly')
    >>> by_share(1, 4, partly_from=0.5), by_share(0, 4, partly_from=0.0)
    ('does not hold', 'does not hold')
    """
    if n_all and n_yes == n_all:
        return HOLDS
    return PARTLY if n_yes and n_yes >= partly_from * n_all else DOES_NOT_HOLD


def so_far(verdict: str, missing: str) -> str:
    """Return a verdict on a claim about all cases while some of them are missing.

    A counterexample stays one; agreement so far does not decide.

    Examples
    --------
    >>> so_far("holds", "symmf run configs/tdt2.yaml"), so_far("holds", "")
    ('cannot be decided', 'holds')
    """
    return CANNOT if verdict == HOLDS and missing else verdict


def worst_and_best(verdicts: list[str]) -> str:
    """Combine the verdicts on several readings: equal ones stay, others are partly.

    Examples
    --------
    >>> worst_and_best(["holds", "does not hold"]), worst_and_best(["holds"])
    ('holds partly', 'holds')
    >>> worst_and_best(["holds", "cannot be decided"])
    'cannot be decided'
    """
    if len(set(verdicts)) == 1:
        return verdicts[0]
    known = set(verdicts) - {CANNOT}
    if CANNOT in verdicts and len(known) == 1 and known != {PARTLY}:
        return CANNOT
    return PARTLY
