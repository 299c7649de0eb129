"""What the tests can and cannot show, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from symmf.common.files import csv_text, write_text
from symmf.common.html import render_text
from symmf.metrics import METRICS
from symmf.paper.values import METRIC_TITLES
from symmf.reporting.results import Results
from symmf.reporting.selection.cells import collect
from symmf.reporting.selection.studies import Study
from symmf.reporting.statistics.intervals import INTERVAL_METHOD
from symmf.reporting.statistics.tests import (
    ALPHA,
    POWER,
    Ranking,
    pairwise,
    pairwise_by_input,
    rank_rows,
)


def smallest_p(n_pairs: int) -> float:
    """Return the smallest two-sided p-value of a signed-rank test on ``n_pairs``.

    Examples
    --------
    >>> smallest_p(10)
    0.001953125
    """
    return min(1.0, 2.0 ** (1 - n_pairs))


def pairwise_words(tests: pd.DataFrame) -> list[str]:
    """Say what the paired tests of one metric can show with the trials there are."""
    if not len(tests):
        return [
            "No paired test was possible: it needs the proposed method and another "
            "one with good trials in the same cell."
        ]
    refused = tests[tests["refused"] != ""]
    words = []
    if len(refused):
        words.append(
            f"{len(refused)} of {len(tests)} comparisons are not tested: on one side "
            "all trials used the same classes and gave the same score. They are copies "
            "of one number and no sample, however many there are."
        )
    tests = tests[tests["refused"] == ""]
    if not len(tests):
        return words
    words += [
        _power(str(name), group) for name, group in tests.groupby("input", sort=False)
    ]
    too_few = tests[tests["n_pairs"].map(smallest_p) * tests["family"] > ALPHA]
    if len(too_few):
        words.append(
            f"In {len(too_few)} of the {len(tests)} comparisons no difference, however "
            f"large, could be significant at {ALPHA:g} after correction: there are too "
            f"few trials (down to {int(too_few['n_pairs'].min())}) for the number of "
            "rows."
        )
    words.append(
        "The correction covers one cell on one input; nothing is said of all cells at "
        "once. A difference that is not significant is not shown to be absent: with "
        f"{_usual(tests)} trials only large and consistent differences can be seen."
    )
    words.append(
        "Trials of a cell draw overlapping samples from one data set, or differ in "
        "the random start alone. They tell about these data sets, not about others."
    )
    return words


def _usual(tests: pd.DataFrame) -> int:
    return int(tests["n_pairs"].mode().max())


def _power(name: str, tests: pd.DataFrame) -> str:
    """Say how many comparisons one input has, and how small a p-value can get."""
    clear = tests[tests["p_holm"] < ALPHA]
    better = int((clear["difference"] > 0).sum())
    cells = tests.groupby(["dataset", "n_clusters"]).ngroups
    pairs, family = _usual(tests), int(tests["family"].max())
    least = smallest_p(pairs)
    head = f"{name[:1].upper()}{name[1:]}: " if name else ""
    return (
        f"{head}{len(tests)} comparisons in {cells} cells; the proposed method is "
        f"significantly higher in {better}, lower in {len(clear) - better}. "
        f"With {pairs} pairs the smallest p-value is {least:.3g}; after Holm's "
        f"correction for {family} rows of a cell, {min(1.0, least * family):.3g}. The "
        "smallest mean difference that the pairs of a comparison would show (power "
        f"{POWER:.0%}, uncorrected) is {tests['floor'].median():.3f} in the median, "
        f"{tests['floor'].max():.3f} at most."
    )


def ranking_words(ranking: Ranking | None) -> list[str]:
    """Say what average ranks over cells can show."""
    if ranking is None:
        return [
            "No ranking over cells: it needs at least three methods that were all "
            "run in at least two common cells."
        ]
    n_sets = len({name for name, _ in ranking.cell_keys})
    decided = "differ" if ranking.p_value < ALPHA else "are not shown to differ"
    words = [
        f"Friedman test over {ranking.blocks} and {len(ranking.ranks)} methods: "
        f"chi-square {ranking.statistic:.2f}, p = {ranking.p_value:.3g}; the average "
        f"ranks {decided} at {ALPHA:g}. Nemenyi's critical difference is "
        f"{ranking.critical_difference:.2f} ranks."
    ]
    sets = "1 data set" if n_sets == 1 else f"{n_sets} data sets"
    if ranking.blocks.endswith("data sets"):
        words.append(
            f"A method's score on a data set is its mean over the K that all share. "
            f"{sets} are few for a test of ranks: small differences cannot be seen."
        )
    else:
        words.append(
            f"The {ranking.blocks} come from {sets}; cells of one data set share "
            "samples and are not independent, so the p-value is smaller than it should "
            "be and "
            "the critical difference too small. Read both as descriptions."
        )
    if ranking.left_out:
        names = ", ".join(ranking.left_out)
        words.append(f"Left out, because not run in every one of these cells: {names}.")
    return words


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The tests and the ranking of one metric."""

    title: str
    tests: pd.DataFrame
    ranking: Ranking | None

    @property
    def words(self) -> list[str]:
        """What they can and cannot show."""
        return [*pairwise_words(self.tests), *ranking_words(self.ranking)]


def paper_evidence(results: Results) -> list[Evidence]:
    """Return the evidence on the paper's rows, for its two metrics."""
    return [
        Evidence(
            title=title,
            tests=pairwise_by_input(results, metric),
            ranking=rank_rows(collect(results, metric), metric),
        )
        for metric, title in METRIC_TITLES.items()
    ]


def study_evidence(study: Study) -> list[Evidence]:
    """Return the evidence on a study of one's own, for all its metrics."""
    return [
        Evidence(
            title=METRICS[metric].title,
            tests=pairwise(study.rows(metric), metric).assign(input=""),
            ranking=rank_rows(study.rows(metric), metric, by_dataset=True),
        )
        for metric in study.metrics
    ]


def write_statistics(evidence: Sequence[Evidence], folder: Path) -> list[Path]:
    """Write ``statistics.csv`` and ``statistics.md``; return the paths."""
    facts = {"evidence": evidence, "interval": INTERVAL_METHOD}
    page = render_text("symmf.reporting.statistics", "statistics.md.j2", facts)
    frames = [each.tests for each in evidence]
    table = pd.concat([f for f in frames if len(f)] or frames[:1], ignore_index=True)
    return [
        write_text(folder / "statistics.csv", csv_text(table)),
        write_text(folder / "statistics.md", page),
    ]
