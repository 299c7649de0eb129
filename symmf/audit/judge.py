"""Whether two published numbers can be mean AC and mean NMI of the same runs.

For each pair: the assumptions (:class:`~symmf.audit.setting.Setting`), the
bound they imply, the margin, and a verdict. ``impossible`` means that a proven bound is
exceeded even after allowing for rounding; ``possible`` that explicit tables attain the
pair; ``undecided`` that neither was shown. Nothing here says why a number is what it
is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from symmf.audit.bounds import best_means
from symmf.audit.contingency import AVERAGES
from symmf.audit.setting import Profile, Setting, profile
from symmf.audit.witness import Witness, find_witness
from symmf.errors import InputError
from symmf.notation import FloatArray

# A bound counts as exceeded only beyond what rounding of the arithmetic can do.
NUMERICAL_SLACK = 1e-6


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
            if not 0 <= value <= 1:
                raise InputError(
                    f"{title} must lie between 0 and 1, but is {value:g}; "
                    "divide percentages by 100."
                )
        if not 1 <= self.decimals <= 12:
            raise InputError("The number of decimals must lie between 1 and 12.")

    @property
    def rounding(self) -> float:
        """Half a unit in the last printed place."""
        return 0.5 * 10.0**-self.decimals


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The verdict on a pair in one normalisation; margins above 0 exclude it.

    Attributes
    ----------
    pair, average, verdict, basis
        ``basis`` names what decided.
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
    verdict: str
    basis: str
    ac_floor: float
    margin_ac: float
    nmi_bound: float = math.nan
    margin: float = math.nan
    nmi_bound_any: float = math.nan
    margin_any: float = math.nan
    margin_wide: float = math.nan
    nmi_floor: float = 0.0
    witness: Witness | None = None


def audit_pairs(
    pairs: Sequence[Pair], averages: Iterable[str] = AVERAGES, *, search: bool = True
) -> list[Result]:
    """Judge pairs, in every normalisation asked for, in the order given.

    Parameters
    ----------
    pairs : sequence of Pair
    averages : iterable of str
        Some of :data:`symmf.audit.contingency.AVERAGES`.
    search : bool
        Look for witnesses; without it nothing is ever ``possible``.

    Examples
    --------
    >>> setting = Setting(pool=(72, 72), n_classes=2, n_clusters=2)
    >>> pair = Pair(setting=setting, ac=0.975, nmi=0.958)
    >>> result, = audit_pairs([pair], ["arithmetic"])
    >>> result.verdict, round(result.nmi_bound, 4), round(result.margin, 4)
    ('impossible', 0.9344, 0.0231)
    """
    averages = list(averages)
    for average in averages:
        if average not in AVERAGES:
            raise InputError(
                f"There is no NMI normalisation called '{average}'; "
                f"choose from {', '.join(AVERAGES)}."
            )
    results: dict[tuple[int, str], Result] = {}
    for setting in dict.fromkeys(pair.setting for pair in pairs):
        chosen = [k for k, pair in enumerate(pairs) if pair.setting == setting]
        group = [pairs[k] for k in chosen]
        for k, lines in zip(chosen, _judge(setting, group, averages), strict=True):
            for result in lines:
                results[k, result.average] = result
    if search:
        results = {key: _with_witness(result) for key, result in results.items()}
    return [results[k, average] for k in range(len(pairs)) for average in averages]


def _judge(
    setting: Setting, pairs: Sequence[Pair], averages: Sequence[str]
) -> list[list[Result]]:
    """Apply all bounds to pairs of one setting."""
    floor = setting.ac_floor
    low = [pair for pair in pairs if pair.ac + pair.rounding < floor - 1e-12]
    bounds = profile(setting) if len(low) < len(pairs) else Profile("none")
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
) -> Result:
    """Apply all bounds to one pair; ``exact`` is T3 at one and two roundings."""
    margin_ac = floor - (pair.ac + pair.rounding)
    result = Result(
        pair=pair,
        average=average,
        verdict="impossible",
        basis="AC is below its smallest value (T1)",
        ac_floor=floor,
        margin_ac=margin_ac,
    )
    if margin_ac > 1e-12:
        return result
    hull: FloatArray = np.ones(2)
    if bounds.hulls is not None:
        E = bounds.hulls[AVERAGES.index(average)]
        hull = np.minimum(E(pair.ac + pair.rounding * np.array([1, 2])), 1.0)
    either = np.minimum(hull, exact)
    published = pair.nmi - pair.rounding * np.array([1, 2])
    # T7 is an outer bound: where the hull excludes a pair, the simpler claim is made.
    use_hull = bounds.method == "columns" and published[0] > hull[0] + NUMERICAL_SLACK
    upper = hull if use_hull else either
    nmi_floor = pair.setting.nmi_floor(pair.ac - pair.rounding)
    verdict, basis = _decide(pair, bounds.method, published[0], hull[0], upper[0])
    if verdict != "impossible" and pair.nmi + pair.rounding < nmi_floor - 1e-9:
        verdict, basis = "impossible", "NMI is below its smallest value (Fano, T8)"
    result = replace(result, verdict=verdict, basis=basis, nmi_floor=nmi_floor)
    if bounds.method == "none":
        return result
    return replace(
        result,
        nmi_bound=float(upper[0]),
        margin=float(published[0] - upper[0]),
        nmi_bound_any=float(hull[0]),
        margin_any=float(published[0] - hull[0]),
        margin_wide=float(published[1] - upper[1]),
    )


_METHODS = {
    "tables": "enumeration of every table",
    "hull": "hull of all tables (T4)",
    "line": "NMI <= 2 AC - 1 (T5)",
    "columns": "column relaxation (T7)",
}


def _decide(
    pair: Pair, method: str, published: float, hull: float, upper: float
) -> tuple[str, str]:
    if not _multiple_exists(pair):
        return "impossible", "no whole number of samples gives this mean AC"
    if method != "none" and published > hull + NUMERICAL_SLACK:
        return "impossible", f"{_METHODS[method]}; for any number of runs (T2)"
    if method != "none" and published > upper + NUMERICAL_SLACK:
        runs = pair.setting.runs
        return "impossible", f"{_METHODS[method]}; for exactly {runs} runs (T3)"
    return "undecided", "no bound excludes it and no tables were found"


def _multiple_exists(pair: Pair) -> bool:
    """Say whether a multiple of 1 / (n runs) rounds to the published AC."""
    sizes, runs = pair.setting.sizes, pair.setting.runs
    if sizes is None or runs is None:
        return True
    steps = sum(sizes) * runs
    return math.floor((pair.ac + pair.rounding) * steps + 1e-6) >= math.ceil(
        (pair.ac - pair.rounding) * steps - 1e-6
    )


def _with_witness(result: Result) -> Result:
    """Turn ``undecided`` into ``possible`` where tables can be shown."""
    if result.verdict != "undecided":
        return result
    pair = result.pair
    witness = find_witness(
        pair.setting.pool,
        pair.setting.n_classes,
        pair.setting.n_clusters,
        ac=pair.ac,
        nmi=pair.nmi,
        tolerance=pair.rounding,
        average=result.average,
        runs=pair.setting.runs or 10,
    )
    if witness is None:
        return result
    basis = f"{witness.runs} explicit tables"
    return replace(result, verdict="possible", basis=basis, witness=witness)


def results_frame(results: Sequence[Result]) -> pd.DataFrame:
    """Return results as a tidy frame, a line per pair and normalisation."""
    numbers = (
        "ac_floor",
        "margin_ac",
        "nmi_bound",
        "margin",
        "nmi_bound_any",
        "margin_any",
        "margin_wide",
        "nmi_floor",
    )
    lines = []
    for r in results:
        found = r.witness
        line = {
            "name": r.pair.name,
            "n_classes": r.pair.setting.n_classes,
            "n_clusters": r.pair.setting.n_clusters,
            "runs": r.pair.setting.runs,
            "decimals": r.pair.decimals,
            "ac": r.pair.ac,
            "nmi": r.pair.nmi,
            "average": r.average,
            "verdict": r.verdict,
            "basis": r.basis,
            **{name: getattr(r, name) for name in numbers},
            "witness_ac": found.ac if found else math.nan,
            "witness_nmi": found.nmi if found else math.nan,
        }
        lines.append(line)
    return pd.DataFrame(lines)
