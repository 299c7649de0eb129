"""What the tests can and cannot show, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from symmf.common.files import csv_text, write_text
from symmf.common.html import render_text
from symmf.common.shipped import packaged
from symmf.metrics import METRICS
from symmf.paper.values import METRIC_TITLES
from symmf.reporting.results import Results, stacked
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


TEXTS: dict[str, str] = packaged("symmf.reporting.statistics", "words.yaml")


def pairwise_words(tests: pd.DataFrame) -> list[str]:
    """Say what the paired tests of one metric can show with the trials there are."""
    if not len(tests):
        return [TEXTS["no_test"]]
    total, tests = len(tests), tests[tests["refused"] == ""]
    words = []
    if len(tests) < total:
        words.append(TEXTS["refused"].format(n=total - len(tests), total=total))
    if not len(tests):
        return words
    by_input = tests.groupby("input", sort=False)
    words += [_on_input(str(name), group) for name, group in by_input]
    few = tests[tests["n_pairs"].map(smallest_p) * tests["family"] > ALPHA]
    said = {
        "n": len(few),
        "total": len(tests),
        "alpha": ALPHA,
        "least": few["n_pairs"].min(),
        "pairs": _usual(tests),
    }
    chosen = [*(["too_few"] if len(few) else []), "limits", "overlap"]
    return words + [TEXTS[name].format(**said) for name in chosen]


def _usual(tests: pd.DataFrame) -> int:
    return int(tests["n_pairs"].mode().max())


def _on_input(name: str, tests: pd.DataFrame) -> str:
    """Say how many comparisons one input has, and how small a p-value can get."""
    clear = tests[tests["p_holm"] < ALPHA]
    pairs, family = _usual(tests), int(tests["family"].max())
    return TEXTS["input"].format(
        power=POWER,
        head=f"{name[:1].upper()}{name[1:]}: " if name else "",
        total=len(tests),
        cells=tests.groupby(["dataset", "n_clusters"]).ngroups,
        better=(clear["difference"] > 0).sum(),
        worse=(clear["difference"] <= 0).sum(),
        pairs=pairs,
        least=smallest_p(pairs),
        family=family,
        floor=min(1.0, smallest_p(pairs) * family),
        seen=tests["floor"].median(),
        most=tests["floor"].max(),
    )


def ranking_words(ranking: Ranking | None) -> list[str]:
    """Say what average ranks over cells can show."""
    if ranking is None:
        return [TEXTS["no_ranking"]]
    n_sets = len({name for name, _ in ranking.cell_keys})
    said = {
        "r": ranking,
        "n": len(ranking.ranks),
        "alpha": ALPHA,
        "decided": "differ" if ranking.p_value < ALPHA else "are not shown to differ",
        "sets": "1 data set" if n_sets == 1 else f"{n_sets} data sets",
        "names": ", ".join(ranking.left_out),
    }
    over = "over_sets" if ranking.blocks.endswith("data sets") else "over_cells"
    names = ["friedman", over, *(["left_out"] if ranking.left_out else [])]
    return [TEXTS[name].format(**said) for name in names]


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
    table = stacked([each.tests for each in evidence])
    return [
        write_text(folder / "statistics.csv", csv_text(table)),
        write_text(folder / "statistics.md", page),
    ]
