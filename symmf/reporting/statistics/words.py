"""What the tests can and cannot show, in plain words."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from symmf.files import csv_text, write_text
from symmf.paper.values import METRIC_TITLES
from symmf.reporting.results import Results
from symmf.reporting.selection.cells import collect
from symmf.reporting.statistics.tests import ALPHA, Ranking, pairwise, rank_rows
from symmf.texts import markdown_table, markdown_text


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
    n_tests = len(tests)
    cells = tests.groupby(["dataset", "n_clusters"]).ngroups
    pairs, family = int(tests["n_pairs"].mode().max()), int(tests["family"].max())
    floor = smallest_p(pairs)
    words = [
        f"{n_tests} paired comparisons in {cells} cells, mostly of {pairs} trials. "
        f"With {pairs} pairs the smallest p-value a signed-rank test can give is "
        f"{floor:.3g}; after Holm's correction for the {family} comparisons of a cell "
        f"it is {min(1.0, floor * family):.3g}."
    ]
    too_few = tests[tests["n_pairs"].map(smallest_p) * tests["family"] > ALPHA]
    if len(too_few):
        words.append(
            f"In {len(too_few)} of the comparisons there are so few trials (down to "
            f"{int(too_few['n_pairs'].min())}) that no difference can be significant "
            f"at {ALPHA:g} after correction, however large it is."
        )
    if floor * family <= ALPHA < floor * n_tests:
        words.append(
            "Corrected over all cells at once, no single comparison could be "
            f"significant at {ALPHA:g} ({n_tests} x {floor:.3g} = "
            f"{floor * n_tests:.3g}); the results hold per cell, not for the whole "
            "table."
        )
    words.append(
        "A difference that is not significant is not shown to be absent: with "
        f"{pairs} trials only large and consistent differences can be seen."
    )
    words.append(
        "Trials of a cell draw overlapping classes from one data set; at K = all "
        "classes they differ only in the random start. They tell about these data "
        "sets, not about others."
    )
    return words


def ranking_words(ranking: Ranking | None) -> list[str]:
    """Say what average ranks over cells can show."""
    if ranking is None:
        return [
            "No ranking over cells: it needs at least three methods that were all "
            "run in at least two common cells."
        ]
    datasets = {name for name, _ in ranking.cell_keys}
    n_cells, n_sets = len(ranking.cell_keys), len(datasets)
    decided = "differ" if ranking.p_value < ALPHA else "are not shown to differ"
    words = [
        f"Friedman test over {n_cells} cells and {len(ranking.ranks)} methods: "
        f"chi-square {ranking.statistic:.2f}, p = {ranking.p_value:.3g}; the average "
        f"ranks {decided} at {ALPHA:g}. Nemenyi's critical difference is "
        f"{ranking.critical_difference:.2f} ranks."
    ]
    sets = "1 data set" if n_sets == 1 else f"{n_sets} data sets"
    words.append(
        f"The {n_cells} cells come from {sets}; cells of one data set share samples "
        "and are not independent, so the p-value is smaller than it should be and "
        "the critical difference too small. Read both as descriptions."
    )
    if ranking.left_out:
        names = ", ".join(ranking.left_out)
        words.append(f"Left out, because not run in every one of these cells: {names}.")
    return words


def write_statistics(results: Results, folder: Path) -> list[Path]:
    """Write ``statistics.csv`` and ``statistics.md``; return the paths."""
    frames = []
    lines = [
        "# Statistics",
        "",
        "Paired Wilcoxon tests of the proposed method against every other row, trial "
        "by trial; Holm's correction within a cell. `rank_biserial` and `dominance` "
        "are effect sizes: +1 means the proposed method is better in every pair.",
        "",
    ]
    for metric, title in METRIC_TITLES.items():
        rows = collect(results, metric)
        tests = pairwise(rows, metric)
        ranking = rank_rows(rows, metric)
        frames.append(tests)
        words = [*pairwise_words(tests), *ranking_words(ranking)]
        lines += [
            f"## {title}",
            "",
            *(f"- {markdown_text(text)}" for text in words),
            "",
        ]
        if ranking is not None:
            pairs = zip(ranking.titles, ranking.ranks, strict=True)
            shown = [[markdown_text(name), f"{rank:.2f}"] for name, rank in pairs]
            lines += [markdown_table(["method", "average rank"], shown, "lr"), ""]
    table = pd.concat([f for f in frames if len(f)] or frames[:1], ignore_index=True)
    return [
        write_text(folder / "statistics.csv", csv_text(table)),
        write_text(folder / "statistics.md", "\n".join(lines)),
    ]
