import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import scores as reference
from sklearn.metrics import normalized_mutual_info_score

from symmf.errors import InputError
from symmf.metrics import (
    METRICS,
    accuracy,
    ami,
    ari,
    contingency,
    nmi,
    normalized_accuracy,
    silhouette,
)

labellings = st.integers(1, 20).flatmap(
    lambda n: st.tuples(
        *(st.lists(st.integers(0, 4), min_size=n, max_size=n) for _ in range(2))
    )
)


@given(pair=labellings)
def test_accuracy_is_the_best_assignment(pair):
    assert accuracy(*pair) == pytest.approx(reference.accuracy(*pair))


@given(pair=labellings)
def test_nmi_is_its_definition_for_every_mean(pair):
    y, z = pair
    Hy, Hz = reference.entropy(y), reference.entropy(z)
    means = {
        "arithmetic": (Hy + Hz) / 2,
        "max": max(Hy, Hz),
        "min": min(Hy, Hz),
        "geometric": np.sqrt(Hy * Hz),
    }
    information = reference.mutual_information(y, z)
    for average, mean in means.items():
        if mean > 1e-12:
            expected = information / mean
            assert nmi(y, z, average) == pytest.approx(expected, abs=1e-9)
        sklearn = normalized_mutual_info_score(y, z, average_method=average)
        assert nmi(y, z, average) == pytest.approx(sklearn, abs=1e-12)


@given(pair=labellings, shift=st.permutations(range(5)))
def test_scores_do_not_depend_on_the_names_of_clusters(pair, shift):
    y, z = pair
    renamed = [shift[label] + 100 for label in z]
    for metric in METRICS.values():
        value = metric.function(y, z)
        assert metric.function(y, renamed) == pytest.approx(value, abs=1e-12)
        assert value <= 1 + 1e-12
        # Those that are 0 at chance may be negative, ARI at worst -1/2.
        adjusted = {"ari": -0.5, "ami": -1, "nca": -1}
        assert value >= adjusted.get(metric.name, 0)
        assert metric.function(y, y) == pytest.approx(1.0)


@given(pair=labellings)
def test_bounds_between_the_scores(pair):
    y, z = pair
    assert nmi(y, z, "max") <= nmi(y, z) + 1e-12
    counts = contingency(y, z)
    assert accuracy(y, z) >= counts.max() / counts.sum() - 1e-12
    assert counts.sum() == len(y)


def test_a_table_by_hand():
    """Three classes, three clusters: 5 + 3 + 2 of 12 are matched."""
    table = np.array([[5, 1, 0], [0, 3, 1], [0, 0, 2]])
    y = np.repeat(np.arange(3), table.sum(axis=1))
    z = np.concatenate([np.repeat(np.arange(3), row) for row in table])
    assert np.array_equal(contingency(y, z), table)
    assert accuracy(y, z) == pytest.approx(10 / 12)
    p = table / 12
    information = sum(
        p[i, j] * np.log(p[i, j] / p[i].sum() / p[:, j].sum())
        for i in range(3)
        for j in range(3)
        if p[i, j]
    )
    Hy = -sum(v * np.log(v) for v in p.sum(axis=1))
    Hz = -sum(v * np.log(v) for v in p.sum(axis=0))
    assert nmi(y, z) == pytest.approx(2 * information / (Hy + Hz))
    assert nmi(y, z, "max") == pytest.approx(information / max(Hy, Hz))


def test_more_or_fewer_clusters_than_classes():
    assert accuracy([0, 0, 0, 1], [0, 1, 2, 3]) == 0.5
    assert accuracy([0, 1, 2, 3], [0, 0, 0, 0]) == 0.25


def test_constant_labellings_agree():
    for metric in METRICS.values():
        assert metric.function([1, 1, 1], [7, 7, 7]) == 1.0
    assert nmi([1, 1, 1], [0, 1, 2]) == 0.0
    assert ari([0, 1], [0, 1]) == 1.0


def test_labels_may_be_words():
    assert accuracy(["a", "b", "b"], [3, 5, 5]) == 1.0


@pytest.mark.parametrize("metric", METRICS)
def test_labellings_that_do_not_fit_are_refused(metric):
    function = METRICS[metric].function
    for y, z in (([0, 1], [0]), ([], []), ([[0, 1]], [[0, 1]])):
        with pytest.raises(InputError, match=r"equal length|empty"):
            function(y, z)


def test_the_registry_describes_its_metrics():
    assert list(METRICS)[:2] == ["ac", "nmi"]  # the paper's
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.higher_is_better
        assert format(0.12345, metric.format) == "0.123"


def silhouette_by_hand(Z, labels):
    """Mean of (b - a) / max(a, b); 0 for a sample alone in its cluster."""
    D = np.linalg.norm(Z[:, None] - Z[None], axis=2)
    values = []
    for i, own in enumerate(labels):
        mates = (labels == own) & (np.arange(len(labels)) != i)
        if not mates.any():
            values.append(0.0)
            continue
        a = D[i, mates].mean()
        b = min(D[i, labels == other].mean() for other in set(labels) - {own})
        values.append((b - a) / max(a, b))
    return np.mean(values)


@given(seed=st.integers(0, 1000), k=st.integers(2, 5))
def test_silhouette_is_its_definition(seed, k):
    rng = np.random.default_rng(seed)
    Z, labels = rng.standard_normal((12, 3)), rng.integers(k, size=12)
    labels[:k] = np.arange(k)
    found = silhouette(Z, labels)
    assert found == pytest.approx(silhouette_by_hand(Z, labels), abs=1e-12)
    assert -1 <= found <= 1
    assert silhouette(3 * Z + 1, 7 - labels) == pytest.approx(found, abs=1e-12)


def test_silhouette_of_points_on_a_line():
    # Pairs at 0, 1 and 10, 11: a = 1, b = 10.5 outside and 9.5 inside.
    Z = np.array([[0.0], [1.0], [10.0], [11.0]])
    expected = np.mean([9.5 / 10.5, 8.5 / 9.5])
    assert silhouette(Z, [0, 0, 1, 1]) == pytest.approx(expected)
    assert silhouette(Z, [0, 1, 0, 1]) < 0


def test_silhouette_needs_two_clusters_and_fewer_than_samples():
    Z = np.arange(6.0)[:, None]
    assert np.isnan(silhouette(Z, [0] * 6))
    assert np.isnan(silhouette(Z, range(6)))


def test_silhouette_of_many_rows_is_that_of_a_fixed_sample():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 150)
    Z = rng.standard_normal((300, 2)) + 4 * labels[:, None]
    sampled = silhouette(Z, labels, most=100)
    assert sampled == silhouette(Z, labels, most=100)
    whole = silhouette(Z, labels)
    assert sampled != whole
    # A mean of 100 values that spread by less than 0.2: five standard errors.
    assert sampled == pytest.approx(whole, abs=0.1)
    assert silhouette(Z, labels, most=300) == whole


def test_normalized_accuracy_is_the_best_mean_recall_beyond_one_cluster() -> None:
    # Classes of 3 and 1; the best matching recalls 2/3 and 1: (2/3 + 1 - 1) / (2 - 1).
    assert normalized_accuracy([0, 0, 0, 1], [0, 0, 1, 1]) == pytest.approx(2 / 3)
    assert normalized_accuracy([0, 0, 1, 1], [5, 5, 3, 3]) == 1
    assert normalized_accuracy([0, 0, 0, 1], [0, 0, 0, 0]) == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2))
def test_normalized_accuracy_by_trying_every_matching(pairs) -> None:
    y, labels = (np.array(column) for column in zip(*pairs, strict=True))
    classes, clusters = np.unique(y), list(np.unique(labels))
    clusters += [None] * max(0, len(classes) - len(clusters))
    best = max(
        sum(np.mean(labels[y == c] == m) if m is not None else 0 for c, m in matching)
        for matching in (
            list(zip(classes, order, strict=False))
            for order in itertools.permutations(clusters)
        )
    )
    k = len(classes)
    expected = (best - 1) / (k - 1) if k > 1 else float(len(np.unique(labels)) == 1)
    assert normalized_accuracy(y, labels) == pytest.approx(expected)


def test_adjusted_mutual_information_is_near_zero_at_chance() -> None:
    rng = np.random.default_rng(0)
    scores = [ami(rng.permutation(np.repeat([0, 1], 26)), np.repeat([0, 1], 26))
              for _ in range(200)]  # fmt: skip
    assert abs(np.mean(scores)) < 0.01
    assert ami([0, 0, 1], [1, 1, 0]) == 1
