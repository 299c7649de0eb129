"""What the study found, in sentences; README, page and article take them from here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

import pandas as pd

from symmf.paper.roles import Role
from symmf.paper.values import PROPOSED, published_values
from symmf.reporting.results import Results
from symmf.reporting.selection.arms import Arm, arms
from symmf.reporting.statistics.intervals import bounds, signed
from symmf.reporting.tables.effects import effects_table
from symmf.reporting.tables.model import DIGITS
from symmf.reporting.verdicts import claims
from symmf.reporting.verdicts.claims import ledger
from symmf.reporting.verdicts.decision import ClaimVerdict
from symmf.reporting.verdicts.scores import best_means, significant_differences
from symmf.reporting.verdicts.values import compare, counts, listed

# Effects that a sentence names.
_MOST = 5
# What the proposed method of an arm is.
_PROPOSED = {
    Role.COMPARISON: "as released",
    Role.INNER_PRODUCTS: "converged on the same inner products",
    Role.EQUAL_TERMS: "converged on the common graph",
}
_PLURAL: dict[str, str] = {
    ClaimVerdict.HOLDS: "hold",
    ClaimVerdict.PARTLY: "hold partly",
    ClaimVerdict.DOES_NOT_HOLD: "do not hold",
    ClaimVerdict.CANNOT: "cannot be decided",
}


def findings(results: Results) -> list[str]:
    """Return the findings; none if no published value was run."""
    tally = counts(compare(results))
    if not any(n for verdict, n in tally.items() if verdict != "not run"):
        return []
    decided = ledger(results)
    own, proved = (claims.counts(decided, proved=kind) for kind in (False, True))
    equal = claims.equal_counts(decided)
    means = ", ".join(
        f"{ac:.3f} / {nmi:.3f} {name}"
        for name, (ac, nmi) in proposed_means(results).items()
    )
    said = [
        *map(arm_sentence, arms(results)),
        f"Mean AC / NMI of the proposed method over the cells: {means}.",
        f"Of {sum(own.values())} claims of the paper, in its own setting: "
        f"{_claims(own)}; of {sum(equal.values())} that compare, on equal terms: "
        f"{_claims(equal)}.",
    ]
    n_proved = sum(proved.values())
    if proved[ClaimVerdict.CANNOT] < n_proved:
        checked = "theorems and remarks, checked numerically"
        said.append(f"Of {n_proved} {checked}: {_claims(proved)}.")
    return [
        *said,
        *effect_sentences(results),
        f"Of {sum(tally.values())} published scores: {listed(tally)}.",
        *audit_sentences(results.folder),
    ]


def effect_sentences(results: Results) -> list[str]:
    """Say what decides by the factorial experiments; nothing if they were not run."""
    frame = effects_table(results).frame
    if not len(frame):
        return []
    nmi = frame[frame["metric"] == "nmi"]
    nmi = nmi.sort_values("effect", key=abs, ascending=False)
    clear = (nmi["low"].round(DIGITS) > 0) | (nmi["high"].round(DIGITS) < 0)

    def said(lines: pd.DataFrame) -> str:
        return "; ".join(
            f"{r['factor']} {r['before']} → {r['after']} ({r['condition']}) "
            f"{signed(r['effect'])}, {bounds(r['low'], r['high'])}"
            for r in lines.to_dict("records")
        )

    largest = said(nmi[clear].head(_MOST))
    shown = (
        f"Largest effects on the mean NMI, with intervals, all else equal: {largest}"
    )
    if (rest := int(clear.sum()) - _MOST) > 0:
        shown += f"; {rest} smaller effects are in the table"
    words = [f"{shown}."]
    if not clear.all():
        words.append(f"No clear effect on it: {said(nmi[~clear])}.")
    return words


def arm_sentence(arm: Arm) -> str:
    """Say how the proposed method does among others on the same kind of input."""
    shares = (best_means(arm), significant_differences(arm))
    said = "; ".join(share.sentence for share in shares if share.n_all)
    return f"{arm.title[0].upper()}{arm.title[1:]}: {said or 'too few trials'}."


def proposed_means(results: Results) -> dict[str, tuple[float, float]]:
    """Return mean AC and NMI of the proposed method, published ones first."""
    values = published_values()
    published = values[values["row"] == PROPOSED].groupby("metric")["value"].mean()
    means = {"published": (published["ac"], published["nmi"])}
    for arm in arms(results):
        ac, nmi = (arm.proposed(metric) for metric in ("ac", "nmi"))
        if ac and nmi:
            ac_mean, nmi_mean = (
                fmean(cell.mean for cell in row.cells.values()) for row in (ac, nmi)
            )
            means[_PROPOSED[arm.role]] = ac_mean, nmi_mean
    return means


def _claims(found: Mapping[str, int]) -> str:
    return listed({v if n == 1 else _PLURAL[v]: n for v, n in found.items()})


def audit_sentences(folder: Path) -> list[str]:
    """Return what the stored audit of the published pairs says, if there is one."""
    from symmf.audit.published import common_verdicts, load_audit

    frame = load_audit(folder)
    if frame is None:
        return []
    impossible = common_verdicts(frame) == "impossible"
    return [
        f"{impossible.sum()} of {len(impossible)} published (AC, NMI) pairs cannot be "
        "means over the same runs with at most K clusters, whatever the method."
    ]
