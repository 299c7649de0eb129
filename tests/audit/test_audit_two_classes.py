from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.tables import accuracies, all_tables, nmis

from symmf.audit import two_classes as audit_two_classes
from symmf.audit.bounds import best_means, concave_majorant
from symmf.audit.contingency import AVERAGES, table_scores
from symmf.audit.two_classes import (
    best_by_accuracy,
    smoothed_single_cluster,
    union_hulls,
    union_profile,
    vertex_points,
)


def brute_force(s1, s2):
    """The largest NMI by n AC, from all tables."""
    tables = all_tables((s1, s2), 2)
    best = np.full((5, s1 + s2 + 1), -np.inf)
    matched = np.rint(accuracies(tables) * (s1 + s2)).astype(int)
    for line, values in zip(best, nmis(tables), strict=True):
        np.maximum.at(line, matched, values)
    return best


@pytest.mark.parametrize("s2", [1, 2, 3, 8, 13])
@pytest.mark.parametrize("s1", [1, 2, 5, 13, 24])
def test_enumeration_is_complete(s1, s2):
    expected = brute_force(s1, s2)
    found = best_by_accuracy(s1, s2, smoothing=False)
    assert (np.isneginf(found) == np.isneginf(expected)).all()
    assert np.allclose(found, expected, atol=1e-12)


def test_enumeration_in_blocks_is_the_same(monkeypatch):
    whole = best_by_accuracy(40, 17)
    monkeypatch.setattr(audit_two_classes, "BLOCK", 50)
    assert (best_by_accuracy(40, 17) == whole).all()


@given(s1=st.integers(1, 15), s2=st.integers(1, 15))
def test_order_of_the_classes_does_not_matter(s1, s2):
    assert (best_by_accuracy(s1, s2) == best_by_accuracy(s2, s1)).all()


@pytest.mark.parametrize("sizes", [(6, 6), (7, 4), (13, 2), (3, 9)])
def test_t4_points_decide_the_hull(sizes):
    tables = all_tables(sizes, 2)
    ac, values = accuracies(tables), nmis(tables)
    points = vertex_points(*sizes)
    for line, vertices in zip(values, points[1], strict=True):
        exact, outer = concave_majorant(ac, line), concave_majorant(points[0], vertices)
        assert (outer(ac) >= line - 1e-12).all()
        # Only the fractional point at AC = 1/2 can make a difference.
        assert np.allclose(outer(exact.ac[1:]), exact.nmi[1:], atol=0.02)


VERTICES = {
    "max": {},
    "arithmetic": {},
    "geometric": {73: 0.028547, 74: 0.043176},
    "harmonic": {73: 0.061871},
    "min": {73: 0.116762, 74: 0.132871},
}


@pytest.mark.parametrize("average", AVERAGES)
def test_hull_of_two_coil_classes(average):
    _, hulls = union_profile([(72, 72)], smoothing=False)
    E = hulls[AVERAGES.index(average)]
    expected = {72: 0.0, **VERTICES[average], 144: 1.0}
    assert (E.ac * 144) == pytest.approx(list(expected), abs=1e-9)
    assert E.nmi == pytest.approx(list(expected.values()), abs=6e-7)
    at = dict(zip(AVERAGES, (0.95, 0.95, 0.950792, 0.952433, 0.955405), strict=True))
    assert float(E(0.975)) == pytest.approx(at[average], abs=6e-7)


def test_ten_coil_runs_attain_the_exact_bound():
    best, _ = union_profile([(72, 72)], smoothing=False)
    bound = best_means(best, 10, [0.975])[1, 0]
    runs = [[[72, 0], [0, 72]]] * 9 + [[[36, 36], [0, 72]]]
    ac, _, arithmetic, *_ = table_scores(runs).mean(axis=0)
    assert (ac, arithmetic) == pytest.approx((0.975, bound))


def test_smoothing_lifts_single_clusters_only():
    plain = best_by_accuracy(12, 5, smoothing=False)
    smooth = best_by_accuracy(12, 5)
    changed = np.flatnonzero((plain != smooth).any(axis=0))
    assert set(changed) <= {12}
    expected = table_scores([[[13, 0], [5, 1]]])[0, 1]
    assert smoothed_single_cluster(12, 5)[0] >= expected


def test_union_over_pairs_is_valid_for_every_pair():
    sizes = (9, 5, 5, 2)
    best, hulls = union_profile(combinations(sizes, 2), smoothing=False)
    outer = union_hulls(combinations(sizes, 2), smoothing=False)
    for pair in combinations(sizes, 2):
        tables = all_tables(pair, 2)
        ac, values = accuracies(tables), nmis(tables)
        for k, line in enumerate(values):
            bins = np.floor(ac * 10_000 + 1e-9).astype(int)
            assert (best[k, bins] >= line - 1e-12).all()
            assert (hulls[k](ac) >= line - 1e-12).all()
            assert (outer[k](ac) >= line - 1e-12).all()


SAME_TOTAL = [(9, 2), (6, 5), (10, 1)]


@given(
    drawn=st.lists(
        st.tuples(st.sampled_from(SAME_TOTAL), st.integers(0, 10), st.integers(0, 5)),
        min_size=1,
        max_size=6,
    )
)
def test_means_of_random_runs_obey_the_bounds(drawn):
    best, hulls = union_profile(SAME_TOTAL, smoothing=False)
    assert best.shape[1] == 12  # an exact grid
    runs = []
    for (s1, s2), x, y in drawn:
        a, b = min(x, s1), min(y, s2)
        runs.append([[a, s1 - a], [b, s2 - b]])
    ac, *values = table_scores(runs).mean(axis=0)
    exact = best_means(best, len(runs), [ac])
    for k, value in enumerate(values):
        assert value <= exact[k, 0] + 1e-9
        assert exact[k, 0] <= float(hulls[k](ac)) + 1e-9
