"""The claims ledger: what the paper says, the test that decides it, the verdict.

Every claim is data with a decision function over the results. A function looks only
at trials and traces; where they are missing the claim cannot be decided and the
command that makes them is named. The test is stated with each claim.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from symmf.reporting.results import Results, made_once
from symmf.reporting.verdicts.convergence import (
    LEVELS,
    RISE,
    SHARE,
    adaptive_faster,
    algorithm1_faster,
    eigen_expensive,
    monotone,
)
from symmf.reporting.verdicts.decision import ClaimVerdict, Decision
from symmf.reporting.verdicts.regulariser import (
    GROWTH_RULE,
    RANGE_RULE,
    REGULARISER_RULE,
    gain_grows,
    lambda_insensitive,
    regulariser_helps,
)
from symmf.reporting.verdicts.scores import (
    BY_ARM,
    DROP_RULE,
    best_everywhere,
    improvement_significant,
    stable_over_clusters,
    worse_with_clusters,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One claim of the paper and how it is decided."""

    key: str
    claim: str
    source: str
    test: str
    decide: Callable[[Results], Decision]


_FASTER = (
    "Two methods are compared trial by trial by the iterations (or seconds) they need "
    "to bring the error below a level: the smallest of "
    + ", ".join(f"{level:g}" for level in LEVELS)
    + " that both reach in half of the trials, or that one reaches while the other, "
    "run at least as long, does not. One is faster if its median is lower and it is "
    f"first in at least {SHARE:.0%} of the trials."
)

NOTE = (
    "Each claim has a rule; the verdict is what the rule gives on the results there "
    "are. The rules were adjusted after preliminary runs; they are stated, not "
    "preregistered. A claim has one verdict in the paper's own setting and, where it "
    "compares, one on equal terms (the same input for all methods, or the same "
    "problem); they are not merged."
)
CLAIMS: tuple[Claim, ...] = (
    Claim(
        key="best-everywhere",
        claim="The proposed method is best in every cell, in both metrics.",
        source="Section V, Tables II and III",
        test=(
            "The proposed method has the highest mean among the paper's rows. A value "
            "is a cell (data set and K) and a metric, with at least 5 trials: 24 in "
            "all. Holds: for all 24. Holds partly: for at least half of those run. "
            "While cells are missing and no value is lost, it cannot be decided."
            + BY_ARM
        ),
        decide=best_everywhere,
    ),
    Claim(
        key="improvement-significant",
        claim="The improvement over the other methods is significant.",
        source="Section V",
        test=(
            "Paired Wilcoxon test against each other row of the paper in every cell "
            "and metric, Holm-corrected within the cell, at 0.05; comparisons with "
            "too few trials to reach it are left out. Holds: significantly better in "
            "every comparison. Holds partly: in at least half." + BY_ARM
        ),
        decide=improvement_significant,
    ),
    Claim(
        key="regulariser-helps",
        claim="The regulariser improves clustering accuracy.",
        source="Section II, figure on COIL-20",
        test=REGULARISER_RULE,
        decide=regulariser_helps,
    ),
    Claim(
        key="gain-grows-with-k",
        claim="The gain from the regulariser is larger for more clusters.",
        source="Section II, figure on COIL-20",
        test=GROWTH_RULE,
        decide=gain_grows,
    ),
    Claim(
        key="lambda-insensitive",
        claim=(
            "Performance does not change dramatically with lambda in a reasonable "
            "range."
        ),
        source="Section V, figure over lambda",
        test=RANGE_RULE,
        decide=lambda_insensitive,
    ),
    Claim(
        key="stable-over-clusters",
        claim=(
            "The proposed method is relatively stable as the number of clusters grows, "
            "compared to the others."
        ),
        source="Section V",
        test=DROP_RULE,
        decide=stable_over_clusters,
    ),
    Claim(
        key="worse-with-clusters",
        claim="All methods get worse as the number of clusters increases.",
        source="Section V",
        test=(
            "A case is a row of the paper, a data set and a metric; the mean falls "
            "from each K to the next. Holds: in every case. Holds partly: in at least "
            "half." + BY_ARM
        ),
        decide=worse_with_clusters,
    ),
    Claim(
        key="algorithm1-faster",
        claim="Algorithm 1 converges faster than SymANLS and ADMM.",
        source="Section III, first convergence figure",
        test=(
            "Split error over iterations. "
            + _FASTER
            + " In the paper's own setting Algorithm 1 without constraint runs "
            "against nonnegative methods, on equal terms all are nonnegative. Holds: "
            "faster in every comparison. Holds partly: in at least half."
        ),
        decide=algorithm1_faster,
    ),
    Claim(
        key="adaptive-faster",
        claim=(
            "The adaptive step converges faster than the Newton-like SymNMF and than "
            "fixed steps."
        ),
        source="Section IV, second convergence figure",
        test=(
            "Error of Algorithm 2, over iterations and over solver time, each counted "
            "as a comparison. "
            + _FASTER
            + " The paper's own setting is that of equal terms: all are nonnegative. "
            "Algorithm 2 without constraint is told beside it. Holds: faster in every "
            "comparison. Holds partly: in at least half."
        ),
        decide=adaptive_faster,
    ),
    Claim(
        key="monotone",
        claim="The objective decreases monotonically.",
        source="Sections III and IV",
        test=(
            "The error of Algorithms 1 and 2 from one recorded iterate to the next "
            f"(traces are thinned); a relative rise above {RISE:g} counts. Variants "
            "with acceleration are left out. Holds: no rise in any entry. Holds "
            "partly: none in at least half of the entries."
        ),
        decide=monotone,
    ),
    Claim(
        key="eigen-expensive",
        claim=(
            "An eigenvalue decomposition is extremely computationally demanding, so "
            "that an iterative method is more applicable."
        ),
        source="Section III",
        test=(
            "Median seconds of a whole fit (similarity, factor, labels) over the "
            "trials of a cell: the closed form (top k eigenpairs) against each "
            "iterative entry of the same experiment. Holds: the closed form takes "
            "longer in every comparison. Holds partly: in at least half."
        ),
        decide=eigen_expensive,
    ),
)


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
            "evidence": self.decision.evidence,
            "details": "; ".join(self.decision.details),
            "test": self.claim.test,
            "command": self.decision.command,
        }


@made_once
def ledger(results: Results) -> tuple[Decided, ...]:
    """Decide every claim: verdict, evidence, and what is missing."""
    return tuple(
        Decided(claim=claim, decision=claim.decide(results)) for claim in CLAIMS
    )


def counts(decided: Sequence[Decided]) -> dict[str, int]:
    """Count the verdicts in the paper's own setting, in a fixed order."""
    found = Counter(each.verdict for each in decided)
    return {str(verdict): found[verdict] for verdict in ClaimVerdict}


def equal_counts(decided: Sequence[Decided]) -> dict[str, int]:
    """Count the verdicts on equal terms, of the claims that have one."""
    found = Counter(each.decision.equal_terms for each in decided)
    return {str(verdict): found[verdict] for verdict in ClaimVerdict}
