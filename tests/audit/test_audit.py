import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.tables import accuracies, all_tables, nmis

from symmf.audit import witness as audit_witness
from symmf.audit.contingency import AVERAGES, table_scores
from symmf.audit.judge import Basis, Pair, audit_pairs, verdicts_frame
from symmf.audit.published import (
    audit_published,
    cell_summary,
    common_verdicts,
    load_audit,
    make_audit,
    paper_pairs,
    stored_audit,
)
from symmf.audit.setting import Setting, profile
from symmf.audit.witness import Witness, find_witness, verified
from symmf.audit.words import basis_text, counts_sentence, markdown, sentence
from symmf.errors import InputError

PAPER = paper_pairs()
TWO = Setting(pool=(72, 72), n_classes=2, n_clusters=2)


def judge(keys, averages=AVERAGES, **options):
    return audit_pairs([PAPER[key] for key in keys], averages, **options)


def cell(dataset, K):
    return [key for key in PAPER if key[:2] == (dataset, K)]


# Bounds and margins as another program printed them, in the order of AVERAGES without
# harmonic.
PRINTED = {
    ("coil20", 2, "kmeans"): (0.8255, 0.8305, 0.8325, 0.8468),
    ("coil20", 2, "spectral"): (0.7888, 0.7900, 0.7931, 0.8108),
    ("coil20", 2, "symnmf"): (0.9269, 0.9305, 0.9307, 0.9352),
    ("coil20", 2, "ours"): (0.9311, 0.9344, 0.9346, 0.9384),
    ("cifar10", 3, "gnmf"): (0.0514, 0.0572, 0.0737, 0.2089),
    ("cifar10", 3, "dsc"): (0.0338, 0.0399, 0.0573, 0.1931),
    ("cifar10", 3, "ours"): (0.1660, 0.1697, 0.1803, 0.2968),
}


@pytest.mark.parametrize("key", PRINTED, ids=str)
def test_bounds_of_published_pairs(key):
    results = judge([key], ("max", "arithmetic", "geometric", "min"))
    assert [r.nmi_bound for r in results] == pytest.approx(PRINTED[key], abs=6e-5)
    for r in results:
        assert r.verdict == "impossible"
        assert r.margin == pytest.approx(r.pair.nmi - 0.0005 - r.nmi_bound)
        assert r.margin_any <= r.margin + 1e-12
        assert 0 < r.margin_wide < r.margin


def test_runs_matter_for_two_pairs_in_one_normalisation():
    results = judge(cell("coil20", 2))
    only_exact = {
        (r.pair.name, r.average) for r in results if r.margin_any < 0 < r.margin
    }
    assert {r.verdict for r in results} == {"impossible"}
    assert only_exact == {
        ("COIL-20, K = 2, SymNMF", "min"),
        ("COIL-20, K = 2, DSC", "min"),
    }
    margins = {(r.pair.name, r.average): r.margin_any for r in results}
    assert margins["COIL-20, K = 2, SymNMF", "min"] == pytest.approx(-0.00091, abs=6e-6)
    assert margins["COIL-20, K = 2, DSC", "arithmetic"] == pytest.approx(
        0.00279, abs=6e-6
    )


def test_three_classes_six_pairs_have_too_small_an_accuracy():
    results = judge(cell("cifar10", 3), ["arithmetic"])
    short = {
        r.pair.name.split(", ")[2]: r.margin_ac for r in results if r.margin_ac > 0
    }
    assert short == pytest.approx(
        {
            "K-means": 0.01683,
            "NMF": 0.00283,
            "Spectral": 0.00083,
            "SymHALS": 0.01183,
            "SNMF": 0.00483,
            "SymNMF": 0.01183,
        },
        abs=6e-6,
    )
    assert all(math.isnan(r.nmi_bound) for r in results if r.margin_ac > 0)
    assert {r.verdict for r in results} == {"impossible"}


@pytest.mark.parametrize(
    "key",
    [("coil20", 10, "kmeans"), ("cifar10", 6, "kmeans"), ("tdt2", 20, "ours")],
    ids=str,
)
def test_pairs_of_many_classes_have_witnesses(key):
    (result,) = judge([key], ["arithmetic"])
    assert result.verdict == "possible"
    witness = result.witness
    assert witness.runs == 10
    counts, tables = zip(*witness.tables, strict=True)
    means = np.average(table_scores(tables), axis=0, weights=counts)
    assert means[[0, 1 + AVERAGES.index("arithmetic")]] == pytest.approx(
        (witness.ac, witness.nmi), abs=1e-9
    )
    assert round(witness.ac, 3) == result.pair.ac
    assert round(witness.nmi, 3) == result.pair.nmi


def test_a_witness_never_passes_a_bound():
    # A pair just inside the exact bound for ten runs, and one just outside.
    inside = Pair(setting=TWO, ac=0.975, nmi=0.934)
    outside = Pair(setting=TWO, ac=0.975, nmi=0.936)
    possible, impossible = audit_pairs([inside, outside], ["arithmetic"])
    assert possible.verdict == "possible"
    assert possible.witness.nmi <= possible.nmi_bound + 1e-9
    assert impossible.verdict == "impossible"


def test_without_search_nothing_is_possible():
    (result,) = judge([("coil20", 10, "kmeans")], ["arithmetic"], search=False)
    assert result.verdict == "undecided"
    assert math.isnan(result.margin)


def test_more_clusters_than_classes_change_the_verdict():
    strict = Setting(pool=(300,) * 3, n_classes=3, n_clusters=3)
    pair = Pair(setting=strict, ac=0.316, nmi=0.296)
    free = replace(pair, setting=replace(strict, n_clusters=6))
    verdicts = [r.verdict for r in audit_pairs([pair, free], ["arithmetic"])]
    assert verdicts == ["impossible", "possible"]


def test_any_number_of_runs_is_the_weaker_claim():
    pair = Pair(setting=TWO, ac=0.972, nmi=0.951)
    any_runs = replace(pair, setting=replace(TWO, runs=None))
    exact, free = audit_pairs([pair, any_runs], ["min"], search=False)
    assert (exact.verdict, free.verdict) == ("impossible", "undecided")
    assert free.nmi_bound == free.nmi_bound_any == exact.nmi_bound_any


def test_lower_side():
    low = Pair(setting=TWO, ac=0.99, nmi=0.2)
    (result,) = audit_pairs([low], ["arithmetic"])
    assert result.verdict == "impossible"
    assert result.basis is Basis.NMI_FLOOR
    assert "at least" in sentence(verdicts_frame([result]).iloc[0].to_dict())


def test_whole_numbers_of_samples():
    one = Setting(pool=(10, 10), n_classes=2, n_clusters=2, runs=1)
    bases = {
        ac: audit_pairs([Pair(setting=one, ac=ac, nmi=0.5)], ["max"])[0].basis
        for ac in (0.97, 0.9)
    }
    assert bases[0.97] is Basis.WHOLE_SAMPLES
    assert bases[0.9] is not Basis.WHOLE_SAMPLES


SIZES = [((3, 4), 2), ((2, 2, 3), 3), ((3, 3), 3), ((2, 3, 3), 2)]


@pytest.mark.parametrize(("sizes", "m"), SIZES)
def test_no_real_table_is_ever_called_impossible(sizes, m):
    tables = all_tables(sizes, m)
    tables = tables[:: max(1, len(tables) // 60)]
    setting = Setting(pool=sizes, n_classes=len(sizes), n_clusters=m, runs=1)
    for index, average in enumerate(AVERAGES):
        scores = zip(accuracies(tables), nmis(tables)[index], strict=True)
        pairs = [
            Pair(setting=setting, ac=round(a, 3), nmi=min(round(v, 3), 1.0))
            for a, v in scores
        ]
        results = audit_pairs(pairs, [average], search=False)
        assert not [r for r in results if r.verdict == "impossible"]


@given(
    runs=st.lists(
        st.lists(st.integers(0, 3), min_size=9, max_size=9), min_size=1, max_size=4
    )
)
def test_means_of_any_runs_are_never_called_impossible(runs):
    tables = []
    for cells in runs:
        C = np.array(cells).reshape(3, 3)
        C[:, 0] += 9 - C.sum(axis=1)  # rows of nine samples
        tables.append(C)
    setting = Setting(pool=(9, 9, 9), n_classes=3, n_clusters=3, runs=len(tables))
    ac, *values = table_scores(tables).mean(axis=0).round(3).tolist()
    for average, value in zip(AVERAGES, values, strict=True):
        pair = Pair(setting=setting, ac=ac, nmi=value)
        (result,) = audit_pairs([pair], [average], search=False)
        assert result.verdict == "undecided"


@given(order=st.permutations((9, 7, 4)))
def test_order_of_the_class_sizes_does_not_matter(order):
    a, b = (
        audit_pairs(
            [
                Pair(
                    setting=Setting(pool=pool, n_classes=3, n_clusters=3),
                    ac=0.4,
                    nmi=0.5,
                )
            ],
            ["max"],
            search=False,
        )[0]
        for pool in ((9, 7, 4), tuple(order))
    )
    assert a.nmi_bound == pytest.approx(b.nmi_bound, abs=1e-12)
    assert (a.verdict, a.basis) == (b.verdict, b.basis)


def test_a_pool_is_the_union_of_its_draws():
    pool = Setting(pool=(9, 9, 5, 3), n_classes=3, n_clusters=3)
    draws = [(9, 9, 5), (9, 9, 3), (9, 5, 3)]
    for sizes in draws:
        single = profile(Setting(pool=sizes, n_classes=3, n_clusters=3))
        for whole, part in zip(profile(pool).hulls, single.hulls, strict=True):
            assert (whole(part.ac) >= part.nmi - 1e-12).all()


def test_two_classes_too_large_to_enumerate():
    huge = Setting(pool=(30_000_000,) * 2, n_classes=2, n_clusters=2)
    large = Setting(pool=(60_000,) * 2, n_classes=2, n_clusters=2)
    assert [profile(s).method for s in (huge, large, TWO)] == ["line", "hull", "tables"]
    for setting in (huge, large):
        (result,) = audit_pairs(
            [Pair(setting=setting, ac=0.975, nmi=0.958)], ["arithmetic"], search=False
        )
        assert result.verdict == "impossible"
        assert result.nmi_bound == pytest.approx(0.951, abs=1e-4)
    unequal = Setting(pool=(30_000_000, 20_000_000), n_classes=2, n_clusters=2)
    assert profile(unequal).method == "none"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pool": (5,)}, "at least two whole numbers"),
        ({"pool": (5, 0)}, "at least two whole numbers"),
        ({"n_classes": 3}, "classes of a run must be .* <= 2, not 3"),
        ({"n_clusters": 0}, "clusters must be"),
        ({"runs": 0}, "runs must be"),
    ],
)
def test_settings_that_make_no_sense(change, message):
    with pytest.raises(InputError, match=message):
        replace(TWO, **change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ac": 97.5}, "AC .*not a percentage.* <= 1, not 97.5"),
        ({"nmi": -0.1}, "NMI"),
        ({"ac": math.nan}, "AC"),
        ({"decimals": 0}, "decimals"),
    ],
)
def test_pairs_that_make_no_sense(change, message):
    with pytest.raises(InputError, match=message):
        replace(Pair(setting=TWO, ac=0.5, nmi=0.5), **change)


def test_unknown_normalisation():
    with pytest.raises(InputError, match="'mean'"):
        audit_pairs([Pair(setting=TWO, ac=0.5, nmi=0.5)], ["mean"])


def test_verification_refuses_tables_that_are_not_admissible():
    good = ((72, 0), (0, 72))
    assert isinstance(verified([(3, good)], TWO, "max"), Witness)
    split = ((36, 36, 0), (0, 0, 72))
    for C in ((71, 0), (0, 72)), ((73, -1), (0, 72)), split:
        assert verified([(1, C)], TWO, "max") is None
    for change in ({"n_clusters": 1}, {"pool": (72, 50)}):
        assert verified([(1, good)], replace(TWO, **change), "max") is None


def test_search_is_deterministic_and_admits_defeat(monkeypatch):
    monkeypatch.setattr(audit_witness, "REFINEMENT_STEPS", 100)
    options = {"ac": 0.9, "nmi": 0.819, "tolerance": 5e-4, "average": "min"}
    drawn = replace(TWO, pool=(90, 45, 30, 15, 300))
    first, second = (find_witness(drawn, **options) for _ in range(2))
    assert first == second
    assert find_witness(TWO, ac=0.6, nmi=0.99, tolerance=5e-4) is None


@pytest.fixture(scope="module")
def bounds_only():
    return audit_published(PAPER, ["arithmetic"], search=False)


def test_the_bounds_exclude_35_of_the_108_pairs(bounds_only):
    summary = cell_summary(bounds_only[0])
    counts = summary.set_index(["dataset", "n_clusters"])["impossible"]
    assert counts[counts > 0].to_dict() == {
        ("coil20", 2): 9,
        ("cifar10", 3): 9,
        ("reuters21578", 2): 8,
        ("tdt2", 2): 9,
    }
    assert summary["pairs"].sum() == 108


@pytest.fixture(scope="module")
def small_audit(bounds_only):
    frame, results = bounds_only
    keep = (frame["dataset"] == "coil20").to_numpy()
    results = [r for r, kept in zip(results, keep, strict=True) if kept]
    return frame[keep].reset_index(drop=True), results


def test_summary_and_words(small_audit):
    frame, _ = small_audit
    summary = cell_summary(frame).set_index("n_clusters")
    assert summary.loc[2, "impossible"] == 9
    assert summary.loc[20, "undecided"] == 9
    assert (common_verdicts(frame) == "impossible").sum() == 9
    text = counts_sentence(frame)
    assert text.startswith("9 of 27 pairs cannot be means of the same runs")
    assert "9 are excluded whatever the number of runs" in text
    page = markdown(frame)
    assert "| COIL-20, K = 2, Proposed | 0.975 | 0.958 | 0.9344 | +0.0231 |" in page
    for word in ("fabricat", "wrong", "error by", "fraud", "mistake"):
        assert word not in page.lower()
    assert "no conclusion is drawn about the cause" in page
    line = frame.iloc[0].to_dict()
    assert "at most 0.8305; the published value is 0.901" in sentence(line)


def test_every_basis_and_method_has_its_words():
    for basis in Basis:
        for runs in (10, 1, math.nan):
            text = basis_text({"basis": str(basis), "method": "hull", "runs": runs})
            assert text
            assert "{" not in text
    line = {"basis": "exact_runs", "method": "tables", "runs": 10.0}
    assert basis_text(line) == "enumeration of every table; for exactly 10 runs (T3)"


def test_progress_rises_to_one():
    told = []
    pairs = [PAPER[key] for key in cell("coil20", 2)]
    audit_pairs(pairs, ["max"], progress=told.append)
    assert told == sorted(told)
    assert told[0] == 0
    assert told[-1] == 1
    assert len(told) > len(pairs)


def test_an_audit_is_read_while_its_inputs_and_files_are_the_same(tmp_path):
    folder = tmp_path / "audit"
    assert load_audit(tmp_path) is None
    assert stored_audit(PAPER, folder, ["max"], search=False) is None
    made = make_audit(PAPER, folder, ["max"], search=False)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert made.equals(make_audit(PAPER, folder, ["max"], search=False))
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert made.equals(load_audit(tmp_path))
    assert made.equals(stored_audit(PAPER, folder, ["max"], search=False))
    assert stored_audit(PAPER, folder, ["min"], search=False) is None
    assert stored_audit(paper_pairs(None), folder, ["max"], search=False) is None
    for name, content in before.items():
        for spoilt in (b"x" + content, content[:-9], b"", b"\xff"):
            (folder / name).write_bytes(spoilt)
            assert load_audit(tmp_path) is None or name == "inputs.sha256"
            assert stored_audit(PAPER, folder, ["max"], search=False) is None
        (folder / name).write_bytes(content)
    assert made.equals(load_audit(tmp_path))
