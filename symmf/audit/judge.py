"""Whether two published numbers can be mean AC and mean NMI of the same runs.

For each pair: the assumptions (:class:`~symmf.audit.setting.Setting`), the
bound they imply, the margin, and a verdict. ``impossible`` means that a proven bound is
exceeded even after allowing for rounding; ``possible`` that explicit tables attain the
pair; ``undecided`` that neither was shown. Nothing here says why a number is what it
is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import pandas as pd

from symmf.audit.bounds import best_means
from symmf.audit.contingency import AVERAGES
from symmf.audit.setting import Method, NamedKind, Profile, Setting, profile
from symmf.audit.witness import Witness, find_witness
from symmf.common.notation import FloatArray
from symmf.common.validation import check_name, check_number

# A bound counts as exceeded only beyond what rounding of the arithmetic can do.
NUMERICAL_SLACK = 1e-6
# Share of the time that the bounds of the paper's pairs take; the rest is the search.
BOUNDS_SHARE = 0.4


class Possibility(StrEnum):
    """Whether a pair can be the means of the same runs."""

    IMPOSSIBLE = "impossible"
    POSSIBLE = "possible"
    MIXED = "mixed"  # it depends on the normalisation
    UNDECIDED = "undecided"


class Basis(NamedKind):
    """What a verdict rests on."""

    AC_FLOOR = "ac_floor", "AC is below its smallest value (T1)"
    WHOLE_SAMPLES = "whole_samples", "no whole number of samples gives this mean AC"
    ANY_RUNS = "any_runs", "{method}; for any number of runs (T2)"
    EXACT_RUNS = "exact_runs", "{method}; for exactly {runs} (T3)"
    NMI_FLOOR = "nmi_floor", "NMI is below its smallest value (Fano, T8)"
    WITNESS = "witness", "explicit tables"
    NOTHING = "nothing", "no bound excludes it and no tables were found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A published pair of mean scores and what is assumed about its runs."""

    setting: Setting
    ac: float
    nmi: float
    decimals: int = 3
    name: str = ""

    def __post_init__(self) -> None:
        for title, value in (("AC", self.ac), ("NMI", self.nmi)):
            check_number(f"{title} (a share, not a percentage)", value, least=0, most=1)
        check_number("decimals", self.decimals, least=1, most=12, whole=True)

    @property
    def rounding(self) -> float:
        """Half a unit in the last printed place."""
        return 0.5 * 10.0**-self.decimals


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVerdict:
    """The verdict on a pair in one normalisation; margins above 0 exclude it.

    Attributes
    ----------
    pair, average
    basis, method
        What decided, and how the upper bound was found.
    ac_floor, margin_ac : float
        Smallest AC (T1), and by how much the published AC falls short of it.
    nmi_bound, margin : float
        Largest mean NMI at the published AC, and the excess of the published NMI; both
        with the rounding allowance. NaN where there is no bound.
    nmi_bound_any, margin_any : float
        The same for any number of runs (T2).
    margin_wide : float
        ``margin`` with twice the rounding allowance, which also covers truncation.
    nmi_floor : float
        Smallest mean NMI at the published AC (T8).
    witness : Witness or None
    """

    pair: Pair
    average: str
    basis: Basis
    method: Method
    ac_floor: float
    margin_ac: float
    nmi_bound: float = math.nan
    margin: float = math.nan
    nmi_bound_any: float = math.nan
    margin_any: float = math.nan
    margin_wide: float = math.nan
    nmi_floor: float = 0.0
    witness: Witness | None = None

    @property
    def verdict(self) -> Possibility:
        """What the basis amounts to."""
        if self.basis is Basis.NOTHING:
            return Possibility.UNDECIDED
        shown = self.basis is Basis.WITNESS
        return Possibility.POSSIBLE if shown else Possibility.IMPOSSIBLE


def audit_pairs(
    pairs: Sequence[Pair],
    averages: Iterable[str] = AVERAGES,
    *,
    search: bool = True,
    progress: Callable[[float], object] | None = None,
) -> list[PairVerdict]:
    """Judge pairs, in every normalisation asked for, in the order given.

    Parameters
    ----------
    pairs : sequence of Pair
    averages : iterable of str
        Some of :data:`symmf.audit.contingency.AVERAGES`.
    search : bool
        Look for witnesses; without it nothing is ever ``possible``.
    progress : callable, optional
        Called with the share of the work, between 0 and 1, that is done.

    Examples
    --------
    >>> setting = Setting(pool=(72, 72), n_classes=2, n_clusters=2)
    >>> pair = Pair(setting=setting, ac=0.975, nmi=0.958)
    >>> found, = audit_pairs([pair], ["arithmetic"])
    >>> str(found.verdict), round(found.nmi_bound, 4), round(found.margin, 4)
    ('impossible', 0.9344, 0.0231)
    """
    averages = list(averages)
    for average in averages:
        check_name("NMI normalisation", average, AVERAGES)
    report = progress or (lambda _share: None)
    settings = list(dict.fromkeys(pair.setting for pair in pairs))
    verdicts: dict[tuple[int, str], PairVerdict] = {}
    for done, setting in enumerate(settings):
        report(BOUNDS_SHARE * done / len(settings))
        chosen = [k for k, pair in enumerate(pairs) if pair.setting == setting]
        group = [pairs[k] for k in chosen]
        for k, judged in zip(chosen, _judge(setting, group, averages), strict=True):
            verdicts.update({(k, verdict.average): verdict for verdict in judged})
    for done, (key, found) in enumerate(verdicts.items() if search else ()):
        report(BOUNDS_SHARE + (1 - BOUNDS_SHARE) * done / len(verdicts))
        if found.basis is Basis.NOTHING:
            verdicts[key] = _with_witness(found)
    report(1.0)
    return [verdicts[k, average] for k in range(len(pairs)) for average in averages]


def _judge(
    setting: Setting, pairs: Sequence[Pair], averages: Sequence[str]
) -> list[list[PairVerdict]]:
    """Apply all bounds to pairs of one setting."""
    floor = setting.ac_floor
    low = [pair for pair in pairs if pair.ac + pair.rounding < floor - 1e-12]
    bounds = profile(setting) if len(low) < len(pairs) else Profile(Method.NONE)
    limits = [pair.ac + k * pair.rounding for pair in pairs for k in (1, 2)]
    shape = (len(averages), len(pairs), 2)
    exact = np.full(shape, np.inf)
    if bounds.best is not None and setting.runs is not None:
        best = bounds.best[[AVERAGES.index(average) for average in averages]]
        exact = best_means(best, setting.runs, limits).reshape(shape)
    return [
        [
            _apply(pair, average, floor, bounds, exact[i, k])
            for i, average in enumerate(averages)
        ]
        for k, pair in enumerate(pairs)
    ]


def _apply(
    pair: Pair, average: str, floor: float, bounds: Profile, exact: FloatArray
) -> PairVerdict:
    """Apply all bounds to one pair; ``exact`` is T3 at one and two roundings."""
    allowed = pair.rounding * np.array([1, 2])
    found = PairVerdict(
        pair=pair,
        average=average,
        basis=Basis.AC_FLOOR,
        method=bounds.method,
        ac_floor=floor,
        margin_ac=floor - (pair.ac + pair.rounding),
    )
    if found.margin_ac > 1e-12:
        return found
    hull: FloatArray = np.ones(2)
    if bounds.hulls is not None:
        E = bounds.hulls[AVERAGES.index(average)]
        hull = np.minimum(E(pair.ac + allowed), 1.0)
    published = pair.nmi - allowed
    in_any_runs = published[0] > hull[0] + NUMERICAL_SLACK
    # T7 is an outer bound: where the hull excludes a pair, the simpler claim is made.
    use_hull = bounds.method is Method.COLUMNS and in_any_runs
    upper = hull if use_hull else np.minimum(hull, exact)
    nmi_floor = pair.setting.nmi_floor(pair.ac - pair.rounding)
    # The most general reason first.
    basis = Basis.NOTHING
    if not _multiple_exists(pair):
        basis = Basis.WHOLE_SAMPLES
    elif in_any_runs:
        basis = Basis.ANY_RUNS
    elif published[0] > upper[0] + NUMERICAL_SLACK:
        basis = Basis.EXACT_RUNS
    elif pair.nmi + pair.rounding < nmi_floor - 1e-9:
        basis = Basis.NMI_FLOOR
    found = replace(found, basis=basis, nmi_floor=nmi_floor)
    if bounds.method is Method.NONE:
        return found
    return replace(
        found,
        nmi_bound=float(upper[0]),
        margin=float(published[0] - upper[0]),
        nmi_bound_any=float(hull[0]),
        margin_any=float(published[0] - hull[0]),
        margin_wide=float(published[1] - upper[1]),
    )


def _multiple_exists(pair: Pair) -> bool:
    """Say whether a multiple of 1 / (n runs) rounds to the published AC."""
    sizes, runs = pair.setting.sizes, pair.setting.runs
    if sizes is None or runs is None:
        return True
    steps = sum(sizes) * runs
    return math.floor((pair.ac + pair.rounding) * steps + 1e-6) >= math.ceil(
        (pair.ac - pair.rounding) * steps - 1e-6
    )


def _with_witness(found: PairVerdict) -> PairVerdict:
    """Look for tables that show an undecided pair to be possible."""
    pair = found.pair
    witness = find_witness(
        pair.setting,
        ac=pair.ac,
        nmi=pair.nmi,
        tolerance=pair.rounding,
        average=found.average,
    )
    if witness is None:
        return found
    return replace(found, basis=Basis.WITNESS, witness=witness)


def verdicts_frame(verdicts: Sequence[PairVerdict]) -> pd.DataFrame:
    """Return verdicts as a tidy frame, a line per pair and normalisation."""
    numbers = (
        *("ac_floor", "margin_ac", "nmi_bound", "margin"),
        *("nmi_bound_any", "margin_any", "margin_wide", "nmi_floor"),
    )
    lines = [
        {
            "name": v.pair.name,
            "n_classes": v.pair.setting.n_classes,
            "n_clusters": v.pair.setting.n_clusters,
            "runs": v.pair.setting.runs,
            "decimals": v.pair.decimals,
            "ac": v.pair.ac,
            "nmi": v.pair.nmi,
            "average": v.average,
            "verdict": str(v.verdict),
            "basis": str(v.basis),
            "method": str(v.method),
            **{name: getattr(v, name) for name in numbers},
            "witness_ac": v.witness.ac if v.witness else math.nan,
            "witness_nmi": v.witness.nmi if v.witness else math.nan,
        }
        for v in verdicts
    ]
    return pd.DataFrame(lines)
