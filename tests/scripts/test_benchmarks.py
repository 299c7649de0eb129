"""What scripts/benchmark measures with: pairing, preparation, figures."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


def test_preparation_is_not_timed() -> None:
    from scripts.benchmarks.timing import alternate, ratios

    now = [0.0]

    def spend(seconds: float) -> None:
        now[0] += seconds

    def prepared():
        spend(100)
        return lambda: spend(3)

    tasks = {"ours": prepared, "theirs": lambda: spend(2)}
    frame = alternate(tasks, 5, clock=lambda: now[0])
    assert len(frame) == 10
    entry = ratios(frame, "ours", "theirs")
    assert entry["ratio"] == entry["ratio_low"] == entry["ratio_high"] == 1.5
    assert entry["seconds"] == 3


def test_ratios_pair_the_rounds() -> None:
    from scripts.benchmarks.timing import ratios

    rows = [("a", 0, 2.0), ("b", 0, 1.0), ("a", 1, 30.0), ("b", 1, 10.0)]
    frame = pd.DataFrame(rows, columns=["task", "round", "seconds"])
    entry = ratios(frame, "a", "b")
    assert (entry["ratio"], entry["ratio_low"], entry["ratio_high"]) == (2.5, 2, 3)


def test_figures_are_drawn_from_the_committed_tables(tmp_path: Path) -> None:
    from scripts.benchmarks.figures import draw_all

    tables = sorted((ROOT / "results" / "reference" / "benchmarks").glob("*.csv"))
    for table in tables:
        shutil.copy(table, tmp_path)
        shutil.copy(table.with_suffix(".json"), tmp_path)
    draw_all(tmp_path)
    assert tables
    assert {path.stem for path in tmp_path.glob("*.png")} == {t.stem for t in tables}


def test_the_corpus_is_seeded_and_planted() -> None:
    from scripts.benchmarks.corpus import NONZEROS, corpus, fit_exponent, sizes_up_to

    (X, y), (again, _) = corpus(300), corpus(300)
    assert (again != X).nnz == 0
    assert NONZEROS * 0.95 <= X.nnz / 300 <= NONZEROS
    # Two documents of a topic share words of its vocabulary more often.
    gram = (X @ X.T).toarray()
    same = y[:, None] == y
    np.fill_diagonal(same, False)
    assert gram[same].mean() > 3 * gram[y[:, None] != y].mean()
    assert sizes_up_to(1_000_000) == [10_000, 32_000, 101_000, 319_000, 1_000_000]
    growth = pd.DataFrame({"n": [10, 100, 1000], "seconds": [2.0, 20.0, 200.0]})
    assert fit_exponent(growth) == pytest.approx(1)


def test_quality_counts_what_both_methods_have() -> None:
    from scripts.benchmarks.quality import OURS, picture, summary

    rows = [
        {"set": name, "method": method, "ari": score, "ac": score, "seconds": 1.0}
        for name, scores in {"a": (0.9, 0.5), "b": (0.8, 0.8), "c": (0.2, 0.6)}.items()
        for method, score in zip((OURS, "other"), scores, strict=True)
    ]
    rows.append({"set": "d", "method": OURS, "ari": 1.0, "ac": 1.0, "seconds": 3.0})
    rows.append({"set": "d", "method": "other", "note": "more than 120 s"})
    table = summary(pd.DataFrame(rows)).set_index("method")
    assert (table.loc["other", "wins"], table.loc["other", "losses"]) == (1, 1)
    assert table.loc["other", "gain"] == pytest.approx(0.0)
    assert table.loc["other", "gain_low"] < 0 < table.loc["other", "gain_high"]
    assert table.loc[OURS, "sets"] == 4
    assert table.loc["other", "sets"] == 3
    assert table.loc[OURS, "ari_mean"] == pytest.approx(0.725)
    assert len(picture(table.reset_index()).axes) == 2


def test_a_method_that_does_not_end_is_stopped() -> None:
    from scripts.benchmarks.quality import at_most

    with pytest.raises(TimeoutError, match=r"0\.05"), at_most(0.05):
        time.sleep(60)
