import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference.tables import accuracies, all_tables, nmis, rows_of_sum

from symmf.audit import relaxation as audit_relaxation
from symmf.audit.bounds import concave_majorant
from symmf.audit.contingency import AVERAGES, table_scores
from symmf.audit.relaxation import (
    boxed_columns,
    column_gains,
    compositions,
    count_compositions,
    relaxed_profile,
)


def cell_cap(p, q, ac, size):
    """Return the bound of T6 on a cell with row sum p and column sum q; size is M."""
    return ((size - 1) * ac - 1 + p + q) / size


@pytest.mark.parametrize(("total", "parts"), [(0, 2), (1, 1), (7, 3), (12, 4), (5, 8)])
def test_compositions_are_complete(total, parts):
    expected = {tuple(sorted(row, reverse=True)) for row in rows_of_sum(total, parts)}
    found = [tuple(row) for row in compositions(total, parts).tolist()]
    assert len(found) == len(set(found)) == count_compositions(total, parts)
    assert set(found) == expected


@pytest.mark.parametrize(
    ("sizes", "m"), [((3, 3), 2), ((2, 3, 3), 3), ((1, 2, 4), 3), ((3, 4), 4)]
)
def test_t6_holds_for_all_small_tables(sizes, m):
    tables = all_tables(sizes, m)
    n, size = sum(sizes), max(len(sizes), m)
    p, q = tables.sum(2)[:, :, None] / n, tables.sum(1)[:, None, :] / n
    caps = cell_cap(p, q, accuracies(tables)[:, None, None], size)
    assert (tables / n <= caps + 1e-12).all()


@given(
    C=arrays(np.int64, (4, 4), elements=st.integers(0, 30)).filter(lambda C: C.sum())
)
def test_t6_holds_for_random_tables(C):
    n = C.sum()
    p, q = C.sum(1)[:, None] / n, C.sum(0)[None, :] / n
    assert (C / n <= cell_cap(p, q, table_scores([C])[0, 0], 4) + 1e-12).all()


def test_t7_gain_is_the_maximum_over_a_fine_grid():
    p, q, ac = np.array([0.5, 0.3, 0.2]), 0.35, 0.5
    (gain,) = column_gains(np.array([q]), np.array([q]), p, ac, 3)
    grid = np.array(rows_of_sum(140, 3)) * q / 140
    caps = np.minimum(cell_cap(p, q, ac, 3), np.minimum(p, q))
    grid = grid[(grid <= caps + 1e-9).all(axis=1)]
    logs = np.log(grid / (p * q), out=np.zeros_like(grid), where=grid > 0)
    largest = (grid * logs).sum(axis=1).max()
    assert largest <= gain + 1e-9
    assert largest == pytest.approx(gain, abs=0.005)


SMALL = [((4, 4, 4), 3), ((3, 4, 5), 3), ((1, 3, 7), 3), ((5, 5), 3), ((4, 7), 2)]
SMALL += [((3, 4, 4), 2), ((2, 2, 2, 2), 4), ((5, 6), 1)]


LARGER = [(6, 6, 6), (8, 8, 8), (5, 7, 9), (3, 6, 12), (2, 3, 13)]


@pytest.mark.parametrize(
    ("sizes", "m", "smoothing"),
    [(*case, smoothing) for case in SMALL for smoothing in (False, True)]
    + [(sizes, 3, False) for sizes in LARGER],
)
def test_t7_holds_for_all_small_tables(sizes, m, smoothing):
    tables = all_tables(sizes, m)
    matched = np.rint(accuracies(tables) * sum(sizes)).astype(int)
    bound = relaxed_profile(sizes, m, smoothing=smoothing)
    for line, values in zip(bound, nmis(tables), strict=True):
        assert (values <= line[matched] + 1e-9).all()
    if smoothing and m <= len(sizes):
        K = len(sizes)
        padded = np.concatenate(
            [tables, np.zeros((len(tables), K, K - m), int)], axis=2
        ) + np.eye(K, dtype=int)
        for line, values in zip(bound, nmis(padded), strict=True):
            assert (values <= line[matched] + 1e-9).all()


@pytest.mark.parametrize(("sizes", "m"), [((4, 4, 4), 3), ((1, 3, 7), 3), ((5, 5), 3)])
def test_t7_in_boxes_holds_and_is_weaker(monkeypatch, sizes, m):
    exact = relaxed_profile(sizes, m, smoothing=False)
    monkeypatch.setattr(
        audit_relaxation, "choose_columns", lambda _, m: boxed_columns(50, m)
    )
    boxed = relaxed_profile(sizes, m, smoothing=False)
    assert (boxed >= exact - 1e-9).all()
    assert (boxed <= 1).all()
    start = int(np.argmax(exact[1] > -np.inf))
    assert boxed[1, start] < 0.3


def test_order_of_the_classes_does_not_matter():
    a, b = (relaxed_profile(sizes, 3) for sizes in ((2, 5, 4), (5, 4, 2)))
    assert np.allclose(a, b, atol=1e-12)


@pytest.fixture(scope="module")
def three_hundreds():
    return relaxed_profile([300] * 3, 3, smoothing=False)


@pytest.mark.parametrize(
    ("matched", "values"),
    {
        300: (0, 0, 0, 0, 0),
        301: (0.003285, 0.006246, 0.017726, 0.071668, 0.141110),
        310: (0.033304, 0.050114, 0.068084, 0.113510, 0.204335),
        330: (0.104128, 0.122784, 0.138147, 0.169736, 0.268356),
        360: (0.236924, 0.241094, 0.241132, 0.250123, 0.347020),
        400: (0.439174, 0.467617, 0.468601, 0.469587, 0.500000),
        450: (0.579380, 0.647464, 0.651982, 0.656530, 0.733680),
        600: (1, 1, 1, 1, 1),
    }.items(),
)
def test_bound_for_three_classes_of_300(three_hundreds, matched, values):
    assert three_hundreds[:, matched] == pytest.approx(values, abs=6e-7)


def test_bound_is_attained_by_merging_and_splitting(three_hundreds):
    ac, *values = table_scores([[[0, 150, 150], [300, 0, 0], [300, 0, 0]]])[0]
    assert ac == 0.5
    assert three_hundreds[:, 450] == pytest.approx(values, abs=1e-9)


# Envelopes that another program computed on a coarser grid of AC, which can only make
# them larger; equal where the grid does not matter.
@pytest.mark.parametrize(
    ("ac", "printed", "equal"),
    [
        (0.34, (0.02953, 0.03256, 0.05000, 0.09943, 0.18524), (0, 1, 2, 4)),
        (0.3695, (0.16018, 0.16204, 0.17291, 0.20899, 0.29550), (0, 1, 2)),
        (0.40, (0.29526, 0.29592, 0.29975, 0.32227, 0.40641), (0, 1, 2)),
        (0.50, (0.60462, 0.66862, 0.67286, 0.67714, 0.74966), ()),
    ],
)
def test_envelope_for_three_classes_of_300(three_hundreds, ac, printed, equal):
    i = np.arange(300, 901)
    found = [float(concave_majorant(i / 900, line[i])(ac)) for line in three_hundreds]
    assert all(a <= b + 6e-6 for a, b in zip(found, printed, strict=True))
    for k in equal:
        assert found[k] == pytest.approx(printed[k], abs=6e-6), AVERAGES[k]


def test_problems_that_are_too_large_have_no_bound():
    assert relaxed_profile([10] * 9, 9) is None
    assert relaxed_profile([1000] * 5, 40) is None
