from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference.tables import accuracies, all_tables, nmis

from symmf.audit.contingency import (
    AVERAGES,
    expand,
    table_scores,
)
from symmf.metrics import accuracy, nmi

BLOCK, EMPTY = "100 100 100 0 0 0", "0 0 0 100 100 100"
# Rows; AC; NMI by max, arithmetic, geometric, harmonic, min.
VECTORS = {
    "perfect": ("72 0/0 72", "1", [1, 1, 1, 1, 1]),
    "swapped": ("0 72/72 0", "1", [1, 1, 1, 1, 1]),
    "single cluster": ("72 0/72 0", "1/2", [0, 0, 0, 0, 0]),
    "independent": ("36 36/36 36", "1/2", [0, 0, 0, 0, 0]),
    "one error": (
        "71 1/0 72",
        "143/144",
        [0.947065329, 0.947131227, 0.947131229, 0.947131231, 0.947197134],
    ),
    "quarter": (
        "36 36/0 72",
        "3/4",
        [0.311278124, 0.343711018, 0.345592030, 0.347483336, 0.383688547],
    ),
    "tenth wrong": ("9 1/1 9", "9/10", [0.531004406] * 5),
    "tiny pure cluster": (
        "1 71/0 72",
        "73/144",
        [0.006979475, 0.013171617, 0.028547166, 0.061870967, 0.116762459],
    ),
    "unequal at one half": ("0 10/10 20", "1/2", [0.151065640] * 5),
    "leak": (
        "10 0/10 90",
        "10/11",
        [0.376702231, 0.458692801, 0.469959566, 0.481503074, 0.586303917],
    ),
    "three uniform": ("/".join(["100 100 100"] * 3), "1/3", [0, 0, 0, 0, 0]),
    "two merged": (
        "300 0 0/300 0 0/0 300 0",
        "2/3",
        [0.579380164, 0.733680437, 0.761170260, 0.789690082, 1],
    ),
    "merged and split": (
        "0 150 150/300 0 0/300 0 0",
        "1/2",
        [0.579380164, 0.647464240, 0.651981512, 0.656530300, 0.733680437],
    ),
    "two tiny pure clusters": (
        "240 30 30/300 0 0/300 0 0",
        "11/30",
        [0.071116280, 0.112436193, 0.138146675, 0.169736305, 0.268356331],
    ),
    "cyclic": ("200 100 0/0 200 100/100 0 200", "2/3", [0.420619836] * 5),
    "unequal at one third": (
        "0 0 150/0 0 150/150 150 300",
        "1/3",
        [0.201041310] * 5,
    ),
    "four clusters": ("/".join(["75 75 75 75"] * 3), "1/4", [0, 0, 0, 0, 0]),
    "pure halves": (
        "36 36 0 0/0 0 36 36",
        "1/2",
        [0.5, 0.666666667, 0.707106781, 0.75, 1],
    ),
    "two blocks": ("/".join([BLOCK] * 3 + [EMPTY] * 3), "1/3", [0.386852807] * 5),
    "even noise": (
        "7 1 1 1/1 7 1 1/1 1 7 1/1 1 1 7",
        "7/10",
        [0.321610175] * 5,
    ),
}


def table(text):
    return np.array([[int(x) for x in row.split()] for row in text.split("/")])


@pytest.mark.parametrize(("rows", "ac", "values"), VECTORS.values(), ids=VECTORS)
def test_known_tables(rows, ac, values):
    found, *nmi_values = table_scores([table(rows)])[0]
    assert found == pytest.approx(float(Fraction(ac)), abs=1e-15)
    assert nmi_values == pytest.approx(values, abs=6e-10)


@pytest.mark.parametrize("rows", [v[0] for v in VECTORS.values()], ids=VECTORS)
def test_known_tables_agree_with_the_metrics_of_the_package(rows):
    C = table(rows)
    labels = expand(C)
    found, *values = table_scores([C])[0]
    assert found == pytest.approx(accuracy(*labels))
    for average, value in zip(AVERAGES, values, strict=True):
        if average != "harmonic":
            assert value == pytest.approx(nmi(*labels, average), abs=1e-12)


@pytest.mark.parametrize(("sizes", "m"), [((3, 4), 2), ((2, 3), 3), ((2, 2, 3), 2)])
def test_scores_of_all_small_tables(sizes, m):
    tables = all_tables(sizes, m)
    ac, *values = table_scores(tables).T
    assert np.allclose(ac, accuracies(tables))
    assert np.allclose(values, nmis(tables), atol=1e-12)


@given(
    C=arrays(np.int64, (3, 3), elements=st.integers(0, 9)).filter(lambda C: C.sum()),
    order=st.permutations(range(3)),
)
def test_scores_ignore_names_and_are_ordered(C, order):
    scores, other, transposed = table_scores([C, C[order][:, order[::-1]], C.T])
    assert other == pytest.approx(scores, abs=1e-12)
    assert transposed == pytest.approx(scores, abs=1e-12)
    values = scores[1:].tolist()
    assert all(a <= b + 1e-12 for a, b in pairwise(values))
    assert 0 <= values[0] <= values[-1] <= 1
