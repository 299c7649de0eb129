from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.tables import accuracies, all_tables, nmis

from symmf.audit import bounds as audit_bounds
from symmf.audit.bounds import (
    accuracy_floor,
    balanced_pair_line,
    best_means,
    concave_majorant,
    fano_floor,
)

SMALL = [((2, 2), 2), ((1, 5), 2), ((4, 3), 3), ((2, 2, 2), 3), ((1, 2, 4), 3)]
SMALL += [((3, 3, 3), 2), ((1, 1, 5), 2), ((4, 4), 1), ((2, 3), 4), ((2, 1, 1, 1), 3)]


@pytest.mark.parametrize(("sizes", "m"), SMALL)
def test_t1_holds_for_all_small_tables(sizes, m):
    assert accuracies(all_tables(sizes, m)).min() >= accuracy_floor(sizes, m) - 1e-12


@pytest.mark.parametrize(
    ("sizes", "m", "floor"),
    [
        ((3, 3, 3), 3, 1 / 3),
        ((6, 3, 3), 3, 1 / 3),
        ((4, 4), 4, 1 / 4),
        ((5, 3), 1, 5 / 8),
    ],
)
def test_t1_is_attained(sizes, m, floor):
    smallest = accuracies(all_tables(sizes, m)).min()
    assert smallest == pytest.approx(floor)
    assert accuracy_floor(sizes, m) == pytest.approx(floor)


def test_t1_for_the_pairs_of_three_classes():
    assert accuracy_floor([300] * 3, 3) - 0.3325 == pytest.approx(0.00083, abs=1e-5)
    assert accuracy_floor([300] * 3, 6) < 0.2


@given(
    points=st.lists(
        st.tuples(st.integers(0, 20), st.floats(0, 1)), min_size=1, max_size=25
    )
)
def test_t2_the_majorant_is_concave_nondecreasing_above_all_points_and_tight(points):
    x, y = np.array(points).T
    E = concave_majorant(x / 20, y)
    grid = np.linspace(E.ac[0], 1, 101)
    assert (E(x / 20) >= y - 1e-12).all()
    assert (np.diff(E(grid)) >= -1e-12).all()
    slopes = np.diff(E.nmi) / np.diff(E.ac)
    assert (np.diff(slopes) < 1e-9).all()
    pairs = {(a / 20, b) for a, b in points}
    assert all(vertex in pairs for vertex in zip(E.ac.tolist(), E.nmi, strict=True))
    assert E(E.ac[0] - 0.01) == -np.inf


def mean_by_trying_all(best, runs, limit):
    unit = len(best) - 1
    values = [
        sum(best[i] for i in chosen) / runs
        for chosen in combinations_with_replacement(range(unit + 1), runs)
        if sum(chosen) <= runs * unit * limit + 1e-9
    ]
    return max(values, default=-np.inf)


@given(
    best=st.lists(st.one_of(st.just(-np.inf), st.floats(0, 1)), min_size=2, max_size=6),
    runs=st.integers(1, 5),
    limit=st.floats(0, 1),
)
def test_t3_equals_trying_all_runs(best, runs, limit):
    expected = mean_by_trying_all(best, runs, limit)
    found = best_means(np.array(best), runs, [limit])[0]
    assert found == pytest.approx(expected, abs=1e-12)


def test_t3_on_all_tables_of_two_classes_is_attained():
    tables = all_tables((2, 3), 2)
    ac, value = accuracies(tables), nmis(tables)[1]
    best = np.full(6, -np.inf)
    np.maximum.at(best, np.rint(ac * 5).astype(int), value)
    for limit in (0.6, 0.75, 0.8, 0.93):
        means = [
            (value[list(runs)].mean(), ac[list(runs)].mean())
            for runs in product(range(len(tables)), repeat=3)
        ]
        largest = max(v for v, a in means if a <= limit + 1e-12)
        assert best_means(best, 3, [limit])[0] == pytest.approx(largest)


def test_t3_never_exceeds_t2_and_tends_to_it():
    best = np.array([-np.inf, 0.0, 0.1, 0.7, 1.0])
    E = concave_majorant(np.arange(1, 5) / 4, best[1:])
    limits = [0.3, 0.55, 0.6, 0.8, 0.95]
    for runs in (1, 2, 10, 37):
        assert (best_means(best, runs, limits) <= E(limits) + 1e-12).all()
    assert best_means(best, 400, limits) == pytest.approx(E(limits), abs=0.01)


def test_t3_on_a_coarser_grid_is_a_weaker_bound(monkeypatch):
    rng = np.random.default_rng(0)
    best = np.sort(rng.random(401))
    fine = best_means(best, 4, [0.6, 0.9])
    monkeypatch.setattr(audit_bounds, "LONGEST_PROGRAMME", 200)
    coarse = best_means(best, 4, [0.6, 0.9])
    assert (coarse >= fine - 1e-12).all()
    assert coarse == pytest.approx(fine, abs=0.05)


def test_t3_without_admissible_runs():
    assert best_means(np.array([-np.inf, -np.inf, 1.0]), 2, [0.9])[0] == -np.inf


@pytest.mark.parametrize("s", [1, 2, 5, 12, 30])
def test_t5_holds_for_all_balanced_tables(s):
    tables = all_tables((s, s), 2)
    ac, values = accuracies(tables), nmis(tables)
    assert (values[:2] <= balanced_pair_line()(ac) + 1e-12).all()


def test_t5_fails_where_it_is_not_claimed():
    tables = all_tables((12, 12), 2)
    assert (nmis(tables)[2:] > 2 * accuracies(tables) - 1 + 1e-6).any(axis=1).all()
    unequal = np.array([[[0, 10], [10, 20]]])
    assert nmis(unequal)[0] > 2 * accuracies(unequal) - 1 + 0.1


@pytest.mark.parametrize(("sizes", "m"), SMALL)
def test_t8_holds_for_all_small_tables(sizes, m):
    tables = all_tables(sizes, m)
    floor = [fano_floor(a, sizes, m) for a in accuracies(tables)]
    assert (nmis(tables).min(axis=0) >= np.array(floor) - 1e-12).all()


@pytest.mark.parametrize(
    ("ac", "K", "floor"),
    [(0.9205, 2, 0.5996), (0.9715, 2, 0.8132), (0.6735, 10, 0.4141)],
)
def test_t8_known_values(ac, K, floor):
    assert fano_floor(ac, [72] * K, K) == pytest.approx(floor, abs=6e-5)


@given(a=st.floats(0, 1), b=st.floats(0, 1))
def test_t8_is_convex_and_nondecreasing(a, b):
    low, high = sorted((a, b))
    ends = fano_floor(low, [5, 2, 3], 3), fano_floor(high, [5, 2, 3], 3)
    middle = fano_floor((low + high) / 2, [5, 2, 3], 3)
    assert ends[0] <= middle + 1e-12
    assert middle <= ends[1] + 1e-12
    assert middle <= sum(ends) / 2 + 1e-12


def test_t8_is_attained_by_even_noise():
    table = np.full((1, 4, 4), 1) + 6 * np.eye(4, dtype=int)
    assert fano_floor(0.7, [10] * 4, 4) == pytest.approx(nmis(table)[1, 0])
