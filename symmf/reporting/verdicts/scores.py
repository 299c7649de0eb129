"""Decisions on claims about the tables: who is best, by how much, and over K.

Each is decided on every kind of input that was run (the arms), because methods on
different inputs cannot tell whether the method or the input made the difference.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from symmf.paper.roles import Role
from symmf.paper.values import DATASET_TITLES, METRIC_TITLES, published_values
from symmf.reporting.results import Results, run_command
from symmf.reporting.selection.arms import Arm, arms
from symmf.reporting.selection.cells import Cell, CellKey, Row, dataset_title
from symmf.reporting.statistics.tests import ALPHA, pairwise
from symmf.reporting.statistics.words import smallest_p
from symmf.reporting.verdicts.decision import (
    COMBINED,
    ClaimVerdict,
    Decision,
    by_share,
    combined,
    so_far,
    undecided,
)

TABLES = " && ".join(run_command(name) for name in DATASET_TITLES)
BY_ARM = (
    " In the paper's own setting each method has its authors' input; on equal terms "
    "all stand on the same inner products, or all on the common "
    "graph." + COMBINED
)
DROP_RULE = (
    "How much of the mean is lost from the smallest to the largest K, relative to the "
    "smallest K. A case is a data set and a metric; rows that lack one of its K are "
    "left out, so that like is compared with like. Holds: in every case the proposed "
    "method loses no more than the median of the other rows. Holds partly: in at least "
    "half." + BY_ARM
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """In how many cases a claim is right on one kind of input."""

    n_yes: int
    n_all: int
    sentence: str
    details: tuple[str, ...] = ()


def _by_arm(
    results: Results, ask: Callable[[Arm], Share | None], lack: str
) -> Decision:
    """Ask every arm; combine the verdicts and say what each arm gives."""
    asked = [(arm, share) for arm in arms(results) if (share := ask(arm)) is not None]
    if not asked:
        return undecided(lack, TABLES)
    verdicts: dict[Role, ClaimVerdict] = {}
    sentences, details = [], []
    for arm, share in asked:
        verdict = by_share(share.n_yes, share.n_all, partly_from=0.5)
        verdict = so_far(verdict, _missing(arm))
        verdicts[arm.role] = verdict
        sentences.append(f"{arm.title}: {verdict} ({share.sentence})")
        details += [f"{arm.title}, {text}" for text in share.details]
    main = next((arm for arm, _ in asked if arm.role is Role.COMPARISON), None)
    text = "; ".join(sentences)
    own = verdicts.pop(Role.COMPARISON, ClaimVerdict.CANNOT)
    return Decision(
        verdict=own,
        equal_terms=combined([*verdicts.values()]),
        evidence=f"{text[0].upper()}{text[1:]}.",
        details=tuple(details),
        command=_missing(main) if main else TABLES,
    )


def _missing(arm: Arm) -> str:
    """Return the commands for the paper's data sets that an arm lacks."""
    run = {
        key.dataset
        for rows in arm.rows.values()
        for row in rows
        for key, cell in row.cells.items()
        if cell.enough
    }
    return " && ".join(run_command(d) for d in DATASET_TITLES if d not in run)


def _published_cells() -> list[CellKey]:
    values = published_values()[["dataset", "n_clusters"]].drop_duplicates()
    return [CellKey(str(d), int(k)) for d, k in values.itertuples(index=False)]


def _name(key: CellKey) -> str:
    return f"{dataset_title(key.dataset)} K = {key.n_clusters}"


def _judged(row: Row | None, key: CellKey) -> Cell | None:
    """Return a cell of a row if it has enough trials to judge by."""
    cell = row.cells.get(key) if row else None
    return cell if cell and cell.enough else None


def best_everywhere(results: Results) -> Decision:
    """Decide whether the proposed row has the highest mean in every cell."""
    return _by_arm(
        results,
        best_means,
        "No cell has the proposed method and another row in 5 trials.",
    )


def best_means(arm: Arm) -> Share | None:
    """Count the values for which the proposed row of an arm has the highest mean."""
    n_won, lost = 0, []
    for metric, title in METRIC_TITLES.items():
        for key in _published_cells():
            ours = _judged(arm.proposed(metric), key)
            rivals = {
                row.title: cell.mean
                for row in arm.others(metric)
                if (cell := _judged(row, key)) is not None
            }
            if ours is None or not rivals:
                continue
            top = max(rivals, key=lambda name: rivals[name])
            if ours.mean >= rivals[top]:
                n_won += 1
            else:
                lost.append(
                    f"{title} {_name(key)}: {top} {rivals[top]:.3f}, proposed "
                    f"{ours.mean:.3f}"
                )
    n_all = n_won + len(lost)
    if not n_all:
        return None
    sentence = f"highest mean for {n_won} of {n_all} values"
    return Share(n_yes=n_won, n_all=n_all, sentence=sentence, details=tuple(lost))


def improvement_significant(results: Results) -> Decision:
    """Decide whether every paired comparison is significantly in favour."""
    return _by_arm(
        results,
        significant_differences,
        "No comparison has enough trials to be significant at all.",
    )


def significant_differences(arm: Arm) -> Share | None:
    """Count the comparisons of an arm in which the proposed row is better or worse."""
    better = worse = total = 0
    for metric in METRIC_TITLES:
        ours = arm.proposed(metric)
        if ours is None:
            continue
        tests = pairwise([ours, *arm.others(metric)], metric)
        known = tests["dataset"].isin(list(DATASET_TITLES))
        tests = tests[known & (tests["refused"] == "")]
        # Where even a perfect record could not be significant, nothing is tested.
        able = tests["n_pairs"].map(smallest_p) * tests["family"] <= ALPHA
        tests = tests[able]
        clear = tests[tests["p_holm"] < ALPHA]
        total += len(tests)
        better += int((clear["difference"] > 0).sum())
        worse += int((clear["difference"] < 0).sum())
    if not total:
        return None
    sentence = (
        f"of {total} paired comparisons the proposed method is significantly better in "
        f"{better}, significantly worse in {worse}, not distinguishable in "
        f"{total - better - worse}"
    )
    return Share(n_yes=better, n_all=total, sentence=sentence)


def _over_k(row: Row, dataset: str) -> dict[int, float]:
    """Return the means of a row over K, where there are enough trials."""
    return {
        key.n_clusters: cell.mean
        for key, cell in sorted(row.cells.items())
        if key.dataset == dataset and cell.enough
    }


def _fall(means: dict[int, float], ks: Sequence[int]) -> float:
    return 1 - means[ks[-1]] / means[ks[0]] if means[ks[0]] > 0 else 0.0


def _moves(fall: float) -> str:
    return f"falls by {fall:.0%}" if fall >= 0 else f"rises by {-fall:.0%}"


def stable_over_clusters(results: Results) -> Decision:
    """Decide whether the proposed row falls less with K than the others."""
    return _by_arm(
        results, _stable, "No data set was run at several K with other rows."
    )


def _stable(arm: Arm) -> Share | None:
    good, parts = [], []
    for metric, title in METRIC_TITLES.items():
        ours = arm.proposed(metric)
        for dataset in DATASET_TITLES if ours else ():
            own = _over_k(ours, dataset) if ours else {}
            rest = [_over_k(row, dataset) for row in arm.others(metric)]
            # Like with like: only rows with the same K, so the same end points.
            rest = [means for means in rest if list(means) == list(own)]
            if len(own) < 2 or not rest:
                continue
            ks = list(own)
            fall = _fall(own, ks)
            usual = float(np.median([_fall(means, ks) for means in rest]))
            good.append(fall <= usual)
            parts.append(
                f"{title} {dataset_title(dataset)}, K = {ks[0]} to {ks[-1]}: proposed "
                f"{_moves(fall)}, the median of {len(rest)} others {_moves(usual)}"
            )
    if not good:
        return None
    sentence = f"loses no more than the median in {sum(good)} of {len(good)} cases"
    return Share(
        n_yes=sum(good), n_all=len(good), sentence=sentence, details=tuple(parts)
    )


def worse_with_clusters(results: Results) -> Decision:
    """Decide whether every row falls from each K to the next."""
    return _by_arm(results, _worse, "No data set was run at several K.")


def _worse(arm: Arm) -> Share | None:
    falls, exceptions = [], []
    for metric, title in METRIC_TITLES.items():
        for row, dataset in itertools.product(arm.rows[metric], DATASET_TITLES):
            means = list(_over_k(row, dataset).values())
            if len(means) < 2:
                continue
            falls.append(all(a > b for a, b in itertools.pairwise(means)))
            if not falls[-1]:
                shown = ", ".join(f"{mean:.3f}" for mean in means)
                exceptions.append(
                    f"exception: {row.title}, {dataset_title(dataset)}, {title} {shown}"
                )
    if not falls:
        return None
    sentence = (
        f"the mean falls from each K to the next in {sum(falls)} of {len(falls)} cases"
    )
    return Share(
        n_yes=sum(falls), n_all=len(falls), sentence=sentence, details=tuple(exceptions)
    )
