from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from helpers.made_results import table_experiment
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from symmf.reporting.results import load_results
from symmf.reporting.selection.cells import Cell, collect
from symmf.reporting.selection.readings import Reading
from symmf.reporting.statistics.intervals import (
    INTERVAL_METHOD,
    bootstrap_interval,
    paired_difference,
)
from symmf.reporting.statistics.tests import (
    Ranking,
    holm,
    nemenyi_difference,
    paired_test,
    pairwise,
    pairwise_by_input,
    rank_rows,
)
from symmf.reporting.statistics.words import (
    pairwise_words,
    paper_evidence,
    ranking_words,
    smallest_p,
    write_statistics,
)

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_holm_by_hand() -> None:
    # 4 x 0.01, 3 x 0.02, 2 x 0.03 held up by the one before, 1 x 0.2
    assert holm([0.2, 0.01, 0.03, 0.02]) == pytest.approx([0.2, 0.04, 0.06, 0.06])
    assert holm([]) == []


@given(P_VALUES)
def test_holm_is_between_plain_and_bonferroni(p: list[float]) -> None:
    adjusted = holm(p)
    for before, after in zip(p, adjusted, strict=True):
        assert before <= after <= min(1.0, len(p) * before) + 1e-12
    order = np.argsort(p, kind="stable")
    assert np.all(np.diff(np.array(adjusted)[order]) >= 0)


def test_effect_sizes_by_hand() -> None:
    # differences 1, 2, -3: ranks 1, 2, 3; (1 + 2 - 3) / 6 = 0; won 2 of 3, lost 1
    test = paired_test([1, 2, 0], [0, 0, 3])
    assert test.rank_biserial == 0
    assert test.dominance == pytest.approx(1 / 3)
    assert test.difference == pytest.approx(0)
    tied = paired_test([1, 1], [1, 1])
    assert (tied.p, tied.rank_biserial, tied.dominance) == (1, 0, 0)
    assert math.isnan(paired_test([], []).p)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=8))
def test_small_samples_are_tested_by_all_sign_patterns(differences) -> None:
    moved = np.array([float(d) for d in differences if d] or [1.0])
    ranks = stats.rankdata(np.abs(moved))
    signs = np.array(list(itertools.product([0, 1], repeat=len(moved))))
    sums = signs @ ranks
    own = ranks[moved > 0].sum()
    expected = min(1.0, 2 * min((sums <= own).mean(), (sums >= own).mean()))
    assert paired_test(moved, np.zeros(len(moved))).p == pytest.approx(expected)


def test_the_counted_p_value_is_scipys() -> None:
    rng = np.random.default_rng(0)
    for n in (5, 10, 13, 14):
        plain = rng.normal(size=n)
        found = paired_test(plain, np.zeros(n)).p
        assert found == pytest.approx(stats.wilcoxon(plain).pvalue)
    tied = np.array([1.0, 1, -1, 2, 2, -3])
    found = paired_test(tied, np.zeros(6)).p
    assert found == pytest.approx(stats.wilcoxon(tied).pvalue)


def test_ten_pairs_reach_the_smallest_p() -> None:
    test = paired_test(np.arange(1, 11) / 10, np.zeros(10))
    assert test.p == pytest.approx(smallest_p(10))


def test_bootstrap_interval_is_seeded_and_near_the_normal_one() -> None:
    values = np.random.default_rng(1).normal(0.7, 0.05, size=60)
    low, high = bootstrap_interval(values)
    assert (low, high) == bootstrap_interval(list(values))
    half = 1.96 * values.std(ddof=1) / math.sqrt(60)
    assert low == pytest.approx(values.mean() - half, abs=0.002)
    assert high == pytest.approx(values.mean() + half, abs=0.002)
    assert all(math.isnan(v) for v in bootstrap_interval([0.5]))


@pytest.mark.parametrize("ones", [20, 50, 93])
def test_the_interval_leaves_out_a_fortieth_on_each_side(ones: int) -> None:
    # The mean of a resample of zeros and ones is binomial, so its quantiles are known;
    # those of another level (90, 99 %) lie at least 0.01 further in or out.
    ends = stats.binom.ppf([0.025, 0.975], 100, ones / 100) / 100
    found = bootstrap_interval([1.0] * ones + [0.0] * (100 - ones))
    assert found == pytest.approx(ends, abs=0.0051)
    assert "95%" in INTERVAL_METHOD


def test_paired_differences_use_the_trials_both_have() -> None:
    def cell(scores: dict[int, float]) -> Cell:
        reading = Reading(
            experiment="e", dataset="d", method="m", estimator="m", label="m",
            paper_row=None, weight=None,
        )  # fmt: skip
        return Cell(
            reading=reading, n_clusters=2, metric="ac", n_total=9,
            scores=tuple(scores.items()),
        )  # fmt: skip

    found = paired_difference(cell({0: 0.9, 1: 0.8, 3: 0.1}), cell({0: 0.7, 1: 0.6}))
    assert found.n_pairs == 2
    assert (found.mean, found.low, found.high) == pytest.approx((0.2, 0.2, 0.2))
    assert found.clear
    assert not paired_difference(cell({0: 0.5}), cell({1: 0.5})).clear


@pytest.mark.parametrize(
    ("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (9, 3.102), (10, 3.164)]
)
def test_nemenyi_against_the_printed_table(k: int, q: float) -> None:
    # Demsar (2006), Table 5(a)
    expected = q * math.sqrt(k * (k + 1) / (6 * 12))
    assert nemenyi_difference(k, 12) == pytest.approx(expected, rel=1e-3)


def _ranking(ranks: tuple[float, ...], cd: float) -> Ranking:
    names = tuple("abcdefgh"[: len(ranks)])
    return Ranking(
        metric="ac", titles=names, keys=names, ranks=ranks,
        cell_keys=(("coil20", 2),) * 4, blocks="4 cells",
        left_out=(), statistic=9.0, p_value=0.01, critical_difference=cd,
    )  # fmt: skip


def test_groups_are_maximal_runs() -> None:
    assert _ranking((1, 1.5, 3, 3.5, 6), 2.0).groups == ((0, 2), (1, 3))
    assert _ranking((1, 4, 7), 1.0).groups == ()
    assert _ranking((1, 1.2, 1.4), 5.0).groups == ((0, 2),)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("results")
    table_experiment(folder, fail=[("gnmf", 20, 3)], skip=[("dsc", 20)])
    table_experiment(folder, "cifar10", "cifar10", (3, 6, 10))
    return load_results(folder)


def test_pairwise_covers_every_row_and_cell_once(results) -> None:
    tests = pairwise(collect(results, "ac"), "ac")
    paper = tests[tests["row"].str.startswith("paper:")]
    assert len(paper) == 6 * 8 - 1  # no DSC at K = 20
    assert len(tests) == len(paper) + 6 * 2
    assert not tests.duplicated(["dataset", "n_clusters", "row"]).any()
    gnmf = tests[(tests["row"] == "paper:gnmf") & (tests["n_clusters"] == 20)]
    assert gnmf["n_pairs"].item() == 9
    for _, family in paper.groupby(["dataset", "n_clusters"]):
        assert holm(list(family["p"])) == pytest.approx(list(family["p_holm"]))


def test_rows_on_different_inputs_are_not_tested_against_each_other(
    tmp_path: Path,
) -> None:
    table_experiment(tmp_path, ks=(2,), methods=("spectral", "snmf", "symmf"))
    table_experiment(
        tmp_path, "coil20_graph", "coil20", (2,), ("spectral", "symmf"),
        role="equal_terms",
    )  # fmt: skip
    tests = pairwise_by_input(load_results(tmp_path), "ac")
    pairs = tests.groupby("input", sort=False)["title"].agg(list).to_dict()
    assert pairs["each on its authors' input"] == ["Spectral", "SNMF"]
    assert pairs["all on the common graph"] == ["Spectral"]
    assert set(tests[tests["input"] == "all on the common graph"]["family"]) == {1}
    assert not any("[graph]" in title for title in tests["title"])


def test_friedman_is_scipys_on_the_common_cells(results) -> None:
    rows = collect(results, "ac")
    ranking = rank_rows(rows, "ac")
    assert ranking is not None
    # Nine methods in five cells are fewer pairs than eight methods in six.
    assert ranking.left_out == ("DSC",)
    assert len(ranking.cell_keys) == 6
    kept = [row for row in rows if row.title in ranking.titles and row.primary]
    table = [[row.cells[place].mean for place in ranking.cell_keys] for row in kept]
    expected = stats.friedmanchisquare(*table)
    assert ranking.statistic == pytest.approx(expected.statistic)
    assert ranking.p_value == pytest.approx(expected.pvalue)
    assert ranking.titles[0] == "Proposed"
    assert sum(ranking.ranks) == pytest.approx(8 * 9 / 2)


def test_nothing_to_rank_with_two_methods(tmp_path: Path) -> None:
    table_experiment(tmp_path, methods=("kmeans", "nmf"), n_trials=2)
    rows = collect(load_results(tmp_path), "ac")
    assert rank_rows(rows, "ac") is None
    assert "No ranking" in ranking_words(None)[0]
    empty = pairwise_by_input(load_results(tmp_path), "ac")
    assert "No paired test" in pairwise_words(empty)[0]


def test_words_say_where_power_is_missing(results, tmp_path: Path) -> None:
    words = " ".join(pairwise_words(pairwise_by_input(results, "ac")))
    assert "Each on its authors' input: 47 comparisons in 6 cells" in words
    assert "smallest p-value is 0.00195; after Holm's correction for 8 rows" in words
    assert "could be significant" not in words
    table_experiment(tmp_path, n_trials=3)
    few = " ".join(pairwise_words(pairwise_by_input(load_results(tmp_path), "ac")))
    assert "no difference, however large, could be significant" in few
    text = " ".join(ranking_words(rank_rows(collect(results, "ac"), "ac")))
    assert "6 cells come from 2 data sets" in text
    assert "not independent" in text


def test_statistics_files(results, tmp_path: Path) -> None:
    evidence = paper_evidence(results)
    first = [p.read_bytes() for p in write_statistics(evidence, tmp_path / "a")]
    second = [p.read_bytes() for p in write_statistics(evidence, tmp_path / "b")]
    assert first == second
    assert b"average rank" in first[1]
    empty = load_results(tmp_path / "none")
    written = write_statistics(paper_evidence(empty), tmp_path / "c")
    assert all(path.is_file() for path in written)
