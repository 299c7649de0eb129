"""The whole audit of the paper, against numbers printed by an independent program."""

from itertools import combinations_with_replacement

import pytest

from symmf.audit.bounds import best_means
from symmf.audit.contingency import AVERAGES
from symmf.audit.published import audit_published, common_verdicts, paper_pairs
from symmf.audit.two_classes import union_profile
from symmf.audit.witness import verified

pytestmark = pytest.mark.slow

# dataset, K, row; bounds, then margins, for max, arithmetic, geometric and min.
PRINTED = """
coil20 2 kmeans   0.8255 0.8305 0.8325 0.8468  +0.0750 +0.0700 +0.0680 +0.0537
coil20 2 nmf      0.8286 0.8331 0.8350 0.8488  +0.0779 +0.0734 +0.0715 +0.0577
coil20 2 spectral 0.7888 0.7900 0.7931 0.8108  +0.0877 +0.0865 +0.0834 +0.0657
coil20 2 symhals  0.8352 0.8388 0.8404 0.8531  +0.0753 +0.0717 +0.0701 +0.0574
coil20 2 snmf     0.8439 0.8467 0.8483 0.8595  +0.0666 +0.0638 +0.0622 +0.0510
coil20 2 symnmf   0.9269 0.9305 0.9307 0.9352  +0.0236 +0.0200 +0.0198 +0.0153
coil20 2 gnmf     0.9210 0.9249 0.9254 0.9307  +0.0295 +0.0256 +0.0251 +0.0198
coil20 2 dsc      0.9269 0.9305 0.9307 0.9352  +0.0216 +0.0180 +0.0178 +0.0133
coil20 2 ours     0.9311 0.9344 0.9346 0.9384  +0.0264 +0.0231 +0.0229 +0.0191
cifar10 3 gnmf     0.0514 0.0572 0.0737 0.2089  +0.2671 +0.2613 +0.2448 +0.1096
cifar10 3 dsc      0.0338 0.0399 0.0573 0.1931  +0.2838 +0.2776 +0.2602 +0.1244
cifar10 3 ours     0.1660 0.1697 0.1803 0.2968  +0.1745 +0.1708 +0.1602 +0.0437
reuters21578 2 kmeans   0.6716 0.6716 0.6716 0.6813  +0.1129 +0.1129 +0.1129 +0.1032
reuters21578 2 nmf      0.8304 0.8305 0.8305 0.8353  -0.0119 -0.0120 -0.0120 -0.0168
reuters21578 2 spectral 0.7911 0.7912 0.7912 0.7973  +0.0364 +0.0364 +0.0364 +0.0302
reuters21578 2 symhals  0.7758 0.7758 0.7758 0.7825  +0.0787 +0.0787 +0.0787 +0.0720
reuters21578 2 snmf     0.7935 0.7935 0.7935 0.7996  +0.0780 +0.0780 +0.0780 +0.0719
reuters21578 2 symnmf   0.8380 0.8380 0.8380 0.8426  +0.0585 +0.0585 +0.0585 +0.0539
reuters21578 2 gnmf     0.7625 0.7625 0.7625 0.7696  +0.0890 +0.0890 +0.0890 +0.0819
reuters21578 2 dsc      0.8323 0.8323 0.8323 0.8368  +0.0432 +0.0432 +0.0432 +0.0387
reuters21578 2 ours     0.8484 0.8486 0.8486 0.8531  +0.0521 +0.0520 +0.0520 +0.0474
tdt2 2 kmeans   0.6607 0.6607 0.6607 0.6683  +0.0908 +0.0908 +0.0908 +0.0832
tdt2 2 nmf      0.7060 0.7062 0.7062 0.7131  +0.1154 +0.1153 +0.1153 +0.1084
tdt2 2 spectral 0.8115 0.8117 0.8117 0.8159  +0.0170 +0.0168 +0.0168 +0.0126
tdt2 2 symhals  0.7462 0.7462 0.7462 0.7519  +0.0753 +0.0753 +0.0753 +0.0696
tdt2 2 snmf     0.6057 0.6060 0.6060 0.6153  +0.1448 +0.1445 +0.1445 +0.1352
tdt2 2 symnmf   0.6798 0.6799 0.6799 0.6876  +0.1217 +0.1216 +0.1216 +0.1139
tdt2 2 gnmf     0.6823 0.6824 0.6824 0.6900  +0.1152 +0.1151 +0.1151 +0.1075
tdt2 2 dsc      0.7547 0.7548 0.7548 0.7606  +0.0958 +0.0957 +0.0957 +0.0899
tdt2 2 ours     0.7712 0.7713 0.7713 0.7769  +0.0893 +0.0892 +0.0892 +0.0836
"""

# Two classes, any number of runs: margins for arithmetic and min.
ANY_RUNS = """
coil20 kmeans   0.05546 0.03921
coil20 nmf      0.05751 0.04168
coil20 spectral 0.07686 0.05585
coil20 symhals  0.05362 0.03861
coil20 snmf     0.04375 0.02977
coil20 symnmf   0.00479 -0.00091
coil20 gnmf     0.01268 0.00616
coil20 dsc      0.00279 -0.00291
coil20 ours     0.00586 0.00079
reuters21578 kmeans   0.09776 0.08846
reuters21578 nmf      -0.01256 -0.01757
reuters21578 spectral 0.01511 0.00955
reuters21578 symhals  0.05570 0.04973
reuters21578 snmf     0.05742 0.05190
reuters21578 symnmf   0.04676 0.04230
reuters21578 gnmf     0.06968 0.06320
reuters21578 dsc      0.03934 0.03448
reuters21578 ours     0.03208 0.02818
tdt2 kmeans   0.09023 0.08269
tdt2 nmf      0.09401 0.08795
tdt2 spectral 0.00423 0.00032
tdt2 symhals  0.07363 0.06802
tdt2 snmf     0.12149 0.11323
tdt2 symnmf   0.10118 0.09451
tdt2 gnmf     0.09378 0.08719
tdt2 dsc      0.08226 0.07710
tdt2 ours     0.06679 0.06220
"""

# COIL-20, K = 2, ten runs, classes of any sizes up to 72, no smoothing: margins for
# max, arithmetic, geometric, harmonic, min.
ANY_SIZES = """
kmeans   0.05315 0.05315 0.05315 0.05315 0.04922
nmf      0.05683 0.05680 0.05680 0.05680 0.05289
spectral 0.05600 0.05600 0.05600 0.05600 0.05206
symhals  0.05572 0.05572 0.05572 0.05572 0.05194
snmf     0.04819 0.04819 0.04819 0.04819 0.04463
symnmf   0.01706 0.01706 0.01706 0.01706 0.01503
gnmf     0.02133 0.02133 0.02133 0.02133 0.01924
dsc      0.01506 0.01506 0.01506 0.01506 0.01303
ours     0.02049 0.02047 0.02047 0.02047 0.01851
"""


@pytest.fixture(scope="module")
def audited():
    return audit_published(paper_pairs())


def lines(text, keys):
    for line in text.strip().splitlines():
        words = line.split()
        yield words[:keys], [float(word) for word in words[keys:]]


def test_counts_are_the_same_in_every_normalisation(audited):
    frame, _ = audited
    for average in AVERAGES:
        verdicts = frame[frame["average"] == average]["verdict"].value_counts()
        assert verdicts.to_dict() == {"possible": 73, "impossible": 35}
    assert common_verdicts(frame).value_counts().to_dict() == {
        "possible": 73,
        "impossible": 35,
    }


def test_bounds_and_margins(audited):
    frame = audited[0].set_index(["dataset", "n_clusters", "row", "average"])
    averages = ["max", "arithmetic", "geometric", "min"]
    count = 0
    for (dataset, K, row), values in lines(PRINTED, 3):
        found = frame.loc[[(dataset, int(K), row, average) for average in averages]]
        assert list(found["nmi_bound"]) == pytest.approx(values[:4], abs=6e-5)
        assert list(found["margin"]) == pytest.approx(values[4:], abs=6e-5)
        count += 1
    assert count == 30


def test_margins_for_any_number_of_runs(audited):
    frame = audited[0].set_index(["dataset", "n_clusters", "row", "average"])
    for (dataset, row), values in lines(ANY_RUNS, 2):
        found = frame.loc[[(dataset, 2, row, a) for a in ("arithmetic", "min")]]
        assert list(found["margin_any"]) == pytest.approx(values, abs=6e-6)


def test_all_stay_excluded_with_twice_the_rounding(audited):
    frame = audited[0]
    excluded = frame[(frame["verdict"] == "impossible") & frame["margin"].notna()]
    assert excluded["margin_wide"].min() == pytest.approx(0.0102, abs=6e-5)


def test_no_published_pair_is_below_its_smallest_value(audited):
    frame = audited[0]
    assert (frame["nmi"] > frame["nmi_floor"]).all()


def test_every_witness_holds_and_obeys_the_bounds(audited):
    found = [result for result in audited[1] if result.witness is not None]
    assert len(found) == 73 * len(AVERAGES)
    for result in found:
        pair, witness = result.pair, result.witness
        assert verified(witness.tables, pair.setting, result.average) == witness
        assert witness.runs == 10
        assert witness.deviation(pair.ac, pair.nmi) < 0.0005
        assert not witness.nmi > result.nmi_bound + 1e-3


def test_subsampled_classes_do_not_rescue_the_coil_pairs():
    sizes = combinations_with_replacement(range(1, 73), 2)
    best, _ = union_profile(sizes, smoothing=False)
    pairs = paper_pairs()
    for (row,), margins in lines(ANY_SIZES, 1):
        pair = pairs["coil20", 2, row]
        bound = best_means(best, 10, [pair.ac + 0.0005])[:, 0]
        assert list(pair.nmi - 0.0005 - bound) == pytest.approx(margins, abs=6e-5)
        assert min(margins) > 0.01
