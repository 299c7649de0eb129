"""Decisions on claims about the tables: who is best, by how much, and over K.

Each is decided on every kind of input that was run (the arms), because methods on
different inputs cannot tell whether the method or the input made the difference.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from symmf.paper.roles import Role
from symmf.paper.values import DATASET_TITLES, METRIC_TITLES
from symmf.reporting.results import Results, run_command
from symmf.reporting.selection.arms import Arm, arms
from symmf.reporting.selection.cells import CellKey, Row, dataset_title, published_cells
from symmf.reporting.statistics.intervals import bootstrap_interval, bounds, signed
from symmf.reporting.statistics.tests import ALPHA, pairwise
from symmf.reporting.statistics.words import smallest_p
from symmf.reporting.verdicts.decision import (
    ClaimVerdict,
    Decision,
    by_share,
    combined,
    so_far,
    undecided,
)

TABLES = " && ".join(run_command(name) for name in DATASET_TITLES)


@dataclass(frozen=True, slots=True)
class Share:
    """In how many cases a claim is right on one kind of input."""

    n_yes: int
    n_all: int
    sentence: str
    details: tuple[str, ...] = ()


def _by_arm(results: Results, *, ask: Callable[[Arm], Share], lack: str) -> Decision:
    """Ask every arm; combine the verdicts and say what each arm gives."""
    asked = [(arm, share) for arm in arms(results) if (share := ask(arm)).n_all]
    if not asked:
        return undecided(lack, TABLES)
    verdicts = {
        arm.role: so_far(by_share(share.n_yes, share.n_all), _missing(arm))
        for arm, share in asked
    }
    text = "; ".join(
        f"{arm.title}: {verdicts[arm.role]} ({share.sentence})" for arm, share in asked
    )
    main = [_missing(arm) for arm, _ in asked if arm.role is Role.COMPARISON]
    return Decision(
        verdict=verdicts.pop(Role.COMPARISON, ClaimVerdict.CANNOT),
        equal_terms=combined([*verdicts.values()]),
        evidence=f"{text[0].upper()}{text[1:]}.",
        details=tuple(f"{a.title}, {text}" for a, s in asked for text in s.details),
        command=main[0] if main else TABLES,
    )


def _missing(arm: Arm) -> str:
    """Return the commands for the paper's data sets that an arm lacks."""
    run = {
        key.dataset
        for row in itertools.chain(*arm.rows.values())
        for key, cell in row.cells.items()
        if cell.enough
    }
    return " && ".join(run_command(d) for d in DATASET_TITLES if d not in run)


def _means(row: Row | None) -> dict[CellKey, float]:
    """Return the means of the cells with enough trials to judge by."""
    cells = row.cells if row else {}
    return {key: cell.mean for key, cell in cells.items() if cell.enough}


def best_means(arm: Arm) -> Share:
    """Count the values for which the proposed row of an arm has the highest mean."""
    n_all, lost = 0, []
    places = itertools.product(METRIC_TITLES.items(), published_cells())
    for (metric, title), key in places:
        own = _means(arm.proposed(metric)).get(key)
        means = {row.title: _means(row).get(key) for row in arm.others(metric)}
        rivals = {name: mean for name, mean in means.items() if mean is not None}
        if own is None or not rivals:
            continue
        n_all += 1
        top = max(rivals, key=rivals.__getitem__)
        if own < rivals[top]:
            where = f"{title} {dataset_title(key.dataset)} K = {key.n_clusters}"
            lost.append(f"{where}: {top} {rivals[top]:.3f}, proposed {own:.3f}")
    n_won = n_all - len(lost)
    sentence = f"highest mean for {n_won} of {n_all} values"
    return Share(n_won, n_all, sentence, tuple(lost))


def significant_differences(arm: Arm) -> Share:
    """Count the comparisons of an arm in which the proposed row is better or worse."""
    better = worse = total = 0
    details = []
    for metric, title in METRIC_TITLES.items():
        tests = pairwise(arm.rows[metric], metric)
        known = tests["dataset"].isin(list(DATASET_TITLES))
        # Where even a perfect record could not be significant, nothing is tested.
        able = tests["n_pairs"].map(smallest_p) * tests["family"] <= ALPHA
        tests = tests[known & able & (tests["refused"] == "")]
        clear = tests[tests["p_holm"] < ALPHA]
        total += len(tests)
        better += int((clear["difference"] > 0).sum())
        worse += int((clear["difference"] < 0).sum())
        if len(tests):
            cells = tests.groupby(["dataset", "n_clusters"])["difference"].mean()
            between = bounds(*bootstrap_interval(cells.tolist()))
            details.append(
                f"{title}: mean difference to the other rows {signed(cells.mean())} "
                f"({between}, over {len(cells)} cells), "
                f"rank-biserial {tests['rank_biserial'].median():+.2f} in the median"
            )
    sentence = (
        f"of {total} paired comparisons the proposed method is significantly better in "
        f"{better}, significantly worse in {worse}, not distinguishable in "
        f"{total - better - worse}"
    )
    return Share(better, total, sentence, tuple(details))


def _over_k(row: Row | None, dataset: str) -> dict[int, float]:
    """Return the means of a row over K, where there are enough trials."""
    means = _means(row).items()
    return {k: mean for (name, k), mean in sorted(means) if name == dataset}


def _fall(means: dict[int, float]) -> float:
    """Return how much is lost from the smallest to the largest K, as a share."""
    first, *_, last = means.values()
    return 1 - last / first if first > 0 else 0.0


def _moves(fall: float) -> str:
    return f"falls by {fall:.0%}" if fall >= 0 else f"rises by {-fall:.0%}"


def _stable(arm: Arm) -> Share:
    good, parts = [], []
    places = itertools.product(METRIC_TITLES.items(), DATASET_TITLES)
    for (metric, title), dataset in places:
        own = _over_k(arm.proposed(metric), dataset)
        rest = [_over_k(row, dataset) for row in arm.others(metric)]
        # Like with like: only rows with the same K, so the same end points.
        rest = [means for means in rest if list(means) == list(own)]
        if len(own) < 2 or not rest:
            continue
        fall, usual = _fall(own), float(np.median([_fall(means) for means in rest]))
        good.append(fall <= usual)
        parts.append(
            f"{title} {dataset_title(dataset)}, K = {min(own)} to {max(own)}: proposed "
            f"{_moves(fall)}, the median of {len(rest)} others {_moves(usual)}"
        )
    sentence = f"loses no more than the median in {sum(good)} of {len(good)} cases"
    return Share(sum(good), len(good), sentence, tuple(parts))


def _worse(arm: Arm) -> Share:
    n_all, exceptions = 0, []
    for metric, title in METRIC_TITLES.items():
        for row, dataset in itertools.product(arm.rows[metric], DATASET_TITLES):
            means = list(_over_k(row, dataset).values())
            n_all += len(means) > 1
            if any(a <= b for a, b in itertools.pairwise(means)):
                shown = ", ".join(f"{mean:.3f}" for mean in means)
                where = f"{row.title}, {dataset_title(dataset)}, {title}"
                exceptions.append(f"exception: {where} {shown}")
    falls = n_all - len(exceptions)
    sentence = f"the mean falls from each K to the next in {falls} of {n_all} cases"
    return Share(falls, n_all, sentence, tuple(exceptions))


best_everywhere = partial(
    _by_arm,
    ask=best_means,
    lack="No cell has the proposed method and another row in 5 trials.",
)
improvement_significant = partial(
    _by_arm,
    ask=significant_differences,
    lack="No comparison has enough trials to be significant at all.",
)
stable_over_clusters = partial(
    _by_arm, ask=_stable, lack="No data set was run at several K with other rows."
)
worse_with_clusters = partial(
    _by_arm, ask=_worse, lack="No data set was run at several K."
)
