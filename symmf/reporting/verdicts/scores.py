"""Decisions on claims about scores: tables, regulariser, lambda."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import stats

from symmf.paper.values import (
    DATASET_TITLES,
    METRIC_TITLES,
    PAPER_PANELS,
    PROPOSED,
    published_values,
)
from symmf.reporting.results import Results, run_command
from symmf.reporting.selection.cells import CellKey, Row, collect, dataset_title
from symmf.reporting.selection.regulariser import Pairing, grid_panels, pairings
from symmf.reporting.statistics.tests import ALPHA, paired_test, paired_values, pairwise
from symmf.reporting.statistics.words import smallest_p
from symmf.reporting.verdicts.decision import (
    ClaimVerdict,
    Decision,
    by_share,
    so_far,
    undecided,
    worst_and_best,
)

GROWTH_ALPHA = 0.05
LAMBDA_RANGE = (0.1, 1.0)
LAMBDA_LIMIT = 0.05
DROP_RULE = (
    "Relative fall of the mean from the smallest to the largest K of a data set. "
    "Holds: for every data set and metric the proposed method falls by no more than "
    "the median of the other rows. Holds partly: in at least half."
)
TABLES = " && ".join(run_command(name) for name in DATASET_TITLES)


def _paper_rows(results: Results, metric: str) -> tuple[Row | None, list[Row]]:
    rows = [row for row in collect(results, metric) if row.primary]
    ours = next((row for row in rows if row.paper_row == PROPOSED), None)
    return ours, [row for row in rows if row is not ours]


def _published_cells() -> list[CellKey]:
    values = published_values()[["dataset", "n_clusters"]].drop_duplicates()
    return [CellKey(str(d), int(k)) for d, k in values.itertuples(index=False)]


def _name(key: CellKey) -> str:
    return f"{dataset_title(key.dataset)} K = {key.n_clusters}"


def _missing_command(results: Results) -> str:
    rows = collect(results, "ac")
    run = {p[0] for row in rows for p, cell in row.cells.items() if cell.n_good}
    return " && ".join(run_command(d) for d in DATASET_TITLES if d not in run)


def best_everywhere(results: Results) -> Decision:
    """Decide whether the proposed row has the highest mean in all 24 cells."""
    won, lost = [], []
    for metric, title in METRIC_TITLES.items():
        ours, others = _paper_rows(results, metric)
        for key in _published_cells():
            cell = ours.cells.get(key) if ours else None
            rivals = {
                row.title: row.cells[key].mean
                for row in others
                if key in row.cells and row.cells[key].n_good
            }
            if cell is None or not cell.n_good or not rivals:
                continue
            top = max(rivals, key=lambda name: rivals[name])
            text = f"{title} {_name(key)}"
            if cell.mean >= rivals[top]:
                won.append(text)
            else:
                lost.append(f"{text}: {top} {rivals[top]:.3f}, ours {cell.mean:.3f}")
    n_run, n_all = len(won) + len(lost), 2 * len(_published_cells())
    command = _missing_command(results)
    if not n_run:
        return undecided("No cell has the proposed method and another row.", TABLES)
    evidence = f"Best in {len(won)} of {n_run} (cell, metric) pairs; {n_all} in all."
    if lost:
        evidence += " Not best in those listed."
        verdict = by_share(len(won), n_run, partly_from=0.5)
    else:
        verdict = ClaimVerdict.HOLDS if n_run == n_all else ClaimVerdict.CANNOT
    return Decision(
        verdict=verdict, evidence=evidence, details=tuple(lost), command=command
    )


def improvement_significant(results: Results) -> Decision:
    """Decide whether every paired comparison is significantly in favour."""
    better = worse = total = 0
    for metric in METRIC_TITLES:
        ours, others = _paper_rows(results, metric)
        if ours is None:
            continue
        tests = pairwise([ours, *others], metric)
        tests = tests[tests["dataset"].isin(list(DATASET_TITLES))]
        # Where even a perfect record could not be significant, nothing is tested.
        able = tests["n_pairs"].map(smallest_p) * tests["family"] <= ALPHA
        tests = tests[able]
        clear = tests[tests["p_holm"] < ALPHA]
        total += len(tests)
        better += int((clear["difference"] > 0).sum())
        worse += int((clear["difference"] < 0).sum())
    if not total:
        return undecided(
            "No comparison has enough trials to be significant at all.", TABLES
        )
    evidence = (
        f"Of {total} paired comparisons the proposed method is significantly better "
        f"in {better}, significantly worse in {worse} and not distinguishable in "
        f"{total - better - worse}."
    )
    command = _missing_command(results)
    verdict = so_far(by_share(better, total, partly_from=0.5), command)
    return Decision(verdict=verdict, evidence=evidence, command=command)


def _gains(pair: Pairing) -> tuple[list[int], list[float]]:
    ks: list[int] = []
    gains: list[float] = []
    for first, second in zip(pair.with_cells, pair.without_cells, strict=True):
        left, right = paired_values(first, second)
        gains += [a - b for a, b in zip(left, right, strict=True)]
        ks += [first.n_clusters] * len(left)
    return ks, gains


def regulariser_helps(results: Results) -> Decision:
    """Decide whether lambda > 0 scores higher than lambda = 0."""
    verdicts, parts, short = [], [], []
    for pair in pairings(results):
        ks, gains = _gains(pair)
        test = paired_test(gains, [0.0] * len(gains))
        means = [
            float(np.mean([g for g, k in zip(gains, ks, strict=True) if k == n]))
            for n in sorted(set(ks))
        ]
        n_up = sum(mean > 0 for mean in means)
        short.append(f"{test.difference:+.3f} ({pair.reading.label})")
        clear = test.p_value < ALPHA and float(np.median(gains)) > 0
        if clear:
            verdicts.append(
                ClaimVerdict.HOLDS if n_up == len(means) else ClaimVerdict.PARTLY
            )
        else:
            verdicts.append(
                ClaimVerdict.CANNOT
                if test.difference > 0
                else ClaimVerdict.DOES_NOT_HOLD
            )
        parts.append(
            f"{pair.reading.label} on {dataset_title(pair.reading.dataset)}, lambda = "
            f"{pair.weight:g} against 0: mean gain in AC {test.difference:+.3f} over "
            f"{test.n_pairs} paired trials (p = {test.p_value:.2g}), positive at "
            f"{n_up} of {len(means)} K."
        )
    if not verdicts:
        return undecided(
            "No entry was run with and without the regulariser over several K.",
            run_command("regularization"),
        )
    return Decision(
        verdict=worst_and_best(verdicts),
        evidence=f"Mean gain in AC: {', '.join(short)}.",
        details=tuple(parts),
    )


def gain_grows(results: Results) -> Decision:
    """Decide whether the gain from the regulariser rises with K."""
    verdicts, parts, short = [], [], []
    for pair in pairings(results, at_least=3):
        ks, gains = _gains(pair)
        flat = len(set(gains)) < 2
        test = stats.spearmanr(ks, gains) if not flat else None
        rho = 0.0 if test is None else float(test.statistic)
        p = 1.0 if test is None else float(test.pvalue)
        short.append(f"{rho:+.2f} ({pair.reading.label})")
        if rho > 0 and p < GROWTH_ALPHA:
            verdicts.append(ClaimVerdict.HOLDS)
        else:
            verdicts.append(
                ClaimVerdict.CANNOT if rho > 0 else ClaimVerdict.DOES_NOT_HOLD
            )
        parts.append(
            f"{pair.reading.label} on {dataset_title(pair.reading.dataset)}: Spearman "
            f"correlation of K and gain {rho:+.2f} (p = {p:.2g}, "
            f"{len(gains)} paired trials)."
        )
    if not verdicts:
        return undecided(
            "No entry was run with and without the regulariser at three or more K.",
            run_command("regularization"),
        )
    return Decision(
        verdict=worst_and_best(verdicts),
        evidence=f"Correlation of K and gain: {', '.join(short)}.",
        details=tuple(parts),
    )


def lambda_insensitive(results: Results) -> Decision:
    """Decide whether the mean AC stays within a limit over the range of lambda."""
    calm, parts = [], []
    for panel in grid_panels(results):
        for curve in panel.curves("ac").values():
            means = {float(c.reading.weight or 0): c.mean for c in curve}
            low, high = LAMBDA_RANGE
            inside = [mean for weight, mean in means.items() if low <= weight <= high]
            if len(inside) < 2:
                continue
            spread = max(inside) - min(inside)
            whole = max(means.values()) - min(means.values())
            calm.append(spread <= LAMBDA_LIMIT)
            parts.append(
                f"{curve[0].reading.label} on {_name(panel.key)}: mean AC varies by "
                f"{spread:.3f} within the range and by {whole:.3f} over the whole "
                f"grid ({min(means):g} to {max(means):g})."
            )
    if not calm:
        return undecided("No study over lambda was run.", run_command("lambda"))
    there = {panel.key for panel in grid_panels(results)}
    command = "" if set(PAPER_PANELS) <= there else run_command("lambda")
    verdict = so_far(by_share(sum(calm), len(calm), partly_from=0.5), command)
    evidence = f"Within the limit in {sum(calm)} of {len(calm)} curves."
    return Decision(
        verdict=verdict, evidence=evidence, details=tuple(parts), command=command
    )


def _by_dataset(row: Row, dataset: str) -> list[float]:
    found = sorted(
        (k, c.mean) for (d, k), c in row.cells.items() if d == dataset and c.n_good
    )
    return [mean for _, mean in found]


def stable_over_clusters(results: Results) -> Decision:
    """Decide whether the proposed row falls less with K than the others."""
    good, parts = [], []
    for metric, title in METRIC_TITLES.items():
        ours, others = _paper_rows(results, metric)
        for dataset in DATASET_TITLES if ours else ():
            own = _by_dataset(ours, dataset) if ours else []
            rest = [_by_dataset(row, dataset) for row in others]
            rest = [means for means in rest if len(means) == len(own)]
            if len(own) < 2 or not rest:
                continue
            fall = 1 - own[-1] / own[0]
            usual = float(np.median([1 - means[-1] / means[0] for means in rest]))
            good.append(fall <= usual)
            parts.append(
                f"{title} {dataset_title(dataset)}: ours {fall:.0%}, "
                f"median of the others {usual:.0%}"
            )
    if not good:
        return undecided("No data set was run at several K with other rows.", TABLES)
    command = _missing_command(results)
    return Decision(
        verdict=so_far(by_share(sum(good), len(good), partly_from=0.5), command),
        evidence=f"Falls by no more than the median in {sum(good)} of {len(good)}.",
        details=tuple(parts),
        command=command,
    )


def worse_with_clusters(results: Results) -> Decision:
    """Decide whether every row falls from each K to the next."""
    falls, exceptions = [], []
    for metric, title in METRIC_TITLES.items():
        ours, others = _paper_rows(results, metric)
        for row in [*others, *([ours] if ours else [])]:
            for dataset in DATASET_TITLES:
                means = _by_dataset(row, dataset)
                if len(means) < 2:
                    continue
                fall = all(a > b for a, b in itertools.pairwise(means))
                falls.append(fall)
                if not fall:
                    exceptions.append(f"{row.title} {dataset_title(dataset)} {title}")
    if not falls:
        return undecided("No data set was run at several K.", TABLES)
    command = _missing_command(results)
    return Decision(
        verdict=so_far(by_share(sum(falls), len(falls), partly_from=0.5), command),
        evidence=f"Falls at every step in {sum(falls)} of {len(falls)} cases.",
        details=tuple(f"Does not fall at every step: {text}" for text in exceptions),
        command=command,
    )
