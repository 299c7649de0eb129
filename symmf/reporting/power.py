"""What the tests can and cannot show, in plain words."""

from __future__ import annotations

import pandas as pd

from symmf.reporting.statistics import ALPHA, Ranking


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
    pairs, family = int(tests["n_pairs"].min()), int(tests["family"].max())
    floor = smallest_p(pairs)
    words = [
        f"{n_tests} paired comparisons in {cells} cells. With {pairs} pairs (the "
        f"fewest) the smallest p-value a signed-rank test can give is {floor:.3g}; "
        f"after Holm's correction for the {family} comparisons of a cell it is "
        f"{min(1.0, floor * family):.3g}."
    ]
    if floor * family > ALPHA:
        words.append(
            "With so few trials no difference in such a cell can be significant at "
            f"{ALPHA:g} after correction, however large it is."
        )
    elif floor * n_tests > ALPHA:
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
    datasets = {name for name, _ in ranking.places}
    n_cells, n_sets = len(ranking.places), len(datasets)
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
