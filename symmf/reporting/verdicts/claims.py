"""The claims ledger: what the paper says, the test that decides it, the verdict.

Claims and tests are texts in ``claims.yaml``; each claim has a function that decides
it, which looks only at trials, traces and stored checks. Where these are missing the
claim cannot be decided, and the command that makes them is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from symmf.common.shipped import packaged
from symmf.reporting.results import Results, made_once
from symmf.reporting.selection.traces import RISE
from symmf.reporting.statistics.intervals import INTERVAL_METHOD
from symmf.reporting.statistics.tests import ALPHA
from symmf.reporting.verdicts import convergence, regulariser, scores
from symmf.reporting.verdicts.decision import ClaimVerdict, Decision, checked

RULES: dict[str, Callable[[Results], Decision]] = {
    "best-everywhere": scores.best_everywhere,
    "improvement-significant": scores.improvement_significant,
    "regulariser-helps": regulariser.regulariser_helps,
    "gain-grows-with-k": regulariser.gain_grows,
    "lambda-insensitive": regulariser.lambda_insensitive,
    "lambda-depends-on-data": regulariser.lambda_depends,
    "stable-over-clusters": scores.stable_over_clusters,
    "worse-with-clusters": scores.worse_with_clusters,
    "algorithm1-faster": convergence.algorithm1_faster,
    "adaptive-faster": convergence.adaptive_faster,
    "monotone": convergence.monotone,
    "eigen-expensive": convergence.eigen_expensive,
}
_NUMBERS = {
    "alpha": ALPHA,
    "interval": INTERVAL_METHOD,
    "lambda_range": regulariser.LAMBDA_RANGE,
    "lambda_limit": regulariser.LAMBDA_LIMIT,
    "levels": ", ".join(f"{level:g}" for level in convergence.LEVELS),
    "share": convergence.SHARE,
    "rise": RISE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One claim of the paper and how it is decided.

    ``proved`` says that it is a theorem or a remark of the text, checked numerically.
    """

    key: str
    claim: str
    source: str
    test: str
    decide: Callable[[Results], Decision]
    proved: bool = False


def _read(texts: dict[str, Any]) -> Iterator[Claim]:
    words = dict(_NUMBERS)
    for name in ("combined", "by_arm", "faster"):
        words[name] = texts[name].format(**words)
    for each in texts["claims"]:
        given = {name: each[name] for name in ("key", "claim", "source")}
        if "checks" in each:
            rest = {name: each[name] for name in each if name not in given}
            decide = partial(checked, **rest)
            yield Claim(**given, test=texts["theory"], decide=decide, proved=True)
        else:
            test = each["test"].format(**words)
            yield Claim(**given, test=test, decide=RULES[given["key"]])


_TEXTS: dict[str, Any] = packaged("symmf.reporting.verdicts", "claims.yaml")
NOTE: str = _TEXTS["note"]
CLAIMS = tuple(_read(_TEXTS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A claim with what the results say of it."""

    claim: Claim
    decision: Decision

    @property
    def verdict(self) -> ClaimVerdict:
        """The verdict in the paper's own setting."""
        return self.decision.verdict

    def as_record(self) -> dict[str, str]:
        """Return one line of a table."""
        return {
            "key": self.claim.key,
            "claim": self.claim.claim,
            "source": self.claim.source,
            "own_setting": str(self.decision.verdict),
            "equal_terms": str(self.decision.equal_terms or ""),
            "scope": self.decision.scope,
            "evidence": self.decision.evidence,
            "details": "; ".join(self.decision.details),
            "test": self.claim.test,
            "command": self.decision.command,
        }


@made_once
def ledger(results: Results) -> tuple[Decided, ...]:
    """Decide every claim: verdict, evidence, and what is missing."""
    return tuple(Decided(claim=each, decision=each.decide(results)) for each in CLAIMS)


def counts(decided: Sequence[Decided], *, proved: bool = False) -> dict[str, int]:
    """Count the verdicts in the paper's own setting, in a fixed order.

    Those on claims, or on what the paper proves and remarks in its text.
    """
    return _counted(each.verdict for each in decided if each.claim.proved == proved)


def equal_counts(decided: Sequence[Decided]) -> dict[str, int]:
    """Count the verdicts on equal terms, of the claims that have one."""
    return _counted(each.decision.equal_terms for each in decided)


def _counted(verdicts: Iterable[ClaimVerdict | None]) -> dict[str, int]:
    found = Counter(verdicts)
    return {str(verdict): found[verdict] for verdict in ClaimVerdict}
