"""Choosing K and lambda without labels; agreement of several clusterings."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs, make_moons

import symmf
from symmf import ConsensusSymMF, SymMF, accuracy, nmi
from symmf.clustering.symmf import evidence
from symmf.clustering.symmf.partitions import coassociation
from symmf.clustering.symmf.structure import dip, find_structure
from symmf.errors import InputError, SymmfWarning
from symmf.features.preprocess import preprocess


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(240, 5, centers=4, random_state=3)


def test_every_rule_finds_clear_clusters(blobs):
    found = symmf.select(blobs[0], range(2, 9), [0.0, 0.5, 2.0], random_state=0)
    assert found.n_clusters == 4
    assert set(found.by_rule.values()) == {4}
    table = found.table.set_index("n_clusters")
    assert list(table.index) == list(range(2, 9))
    assert table.loc[4, "stability"] == pytest.approx(1.0)
    assert (table["eigengap"] >= -1e-9).all()
    assert found.laplacian_weight == 0.0
    # With a normalised graph lambda does not move the labels.
    assert (found.weights["agreement"] == 1.0).all()
    assert "K = 4 was chosen" in str(found)


def test_the_model_chooses_as_select_does(blobs):
    model = SymMF("auto", random_state=0).fit(blobs[0])
    assert model.n_clusters_ == 4
    assert accuracy(blobs[1], model.labels_) == 1.0
    with pytest.raises(InputError, match="n_clusters"):
        SymMF("many").fit(blobs[0])


def test_the_recommendation_tells_how_often_such_agreement_was_right(
    blobs, tmp_path, monkeypatch
):
    found = symmf.select(blobs[0], [3, 4], n_subsamples=0, random_state=0)
    assert "stability" not in found.by_rule
    path = tmp_path / "hits.json"
    path.write_text('{"all": {"by_agreement": {"4": {"right": 21, "sets": 24}}}}')
    monkeypatch.setattr(evidence, "HITS", path)
    evidence.hit_rates.cache_clear()
    assert (
        "K = 4 was chosen; second best: 3. 4 of 4 rules agree" in found.recommendation
    )
    assert "right on 21 of 24 sets" in found.recommendation
    evidence.hit_rates.cache_clear()


@pytest.mark.parametrize("n_features", [1, 2, 10])
def test_rows_without_clusters_get_one(n_features):
    X = np.random.default_rng(n_features).random((150, n_features))
    found = symmf.select(X, range(2, 8), n_subsamples=0, random_state=0)
    assert (found.n_clusters, found.structure.verdict) == (1, "none")
    assert found.recommendation.startswith("No clusters were found")
    model = SymMF("auto", random_state=0).fit(X)
    assert model.n_clusters_ == 1
    assert not model.labels_.any()


def test_rows_that_are_all_alike_or_very_large_have_an_answer(blobs):
    assert symmf.select(np.ones((30, 3))).n_clusters == 1
    with pytest.warns(SymmfWarning, match="multiplied by"):
        large = symmf.select(blobs[0] * 1e154, [3, 4, 5], n_subsamples=0)
    assert large.n_clusters == 4


def test_the_verdict_is_that_of_both_kinds_of_evidence():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(300, 4))
    assert find_structure(Z[:20]) is None
    away = Z.copy()
    away[:150, 0] += 8
    found = find_structure(away)
    assert found.verdict == "clear"
    assert found.depth >= 1
    assert found.eigengap >= 3
    # What is far apart stays so in other units and another order.
    again = find_structure(3.0 * away[rng.permutation(300)])
    assert again.depth == pytest.approx(found.depth)


def _along(seed, bend, apart=0.0):
    """Return 300 rows along a bent line, or along two of them side by side."""
    rng = np.random.default_rng(seed)
    angle = bend * rng.random(300)
    line = [np.cos(angle), np.sin(angle)] if bend > 1 else [4 * angle, 0 * angle]
    line[1] = line[1] + apart * (np.arange(300) % 2)
    return np.column_stack(line) + rng.normal(0, 0.05, (300, 2))


@pytest.mark.parametrize("bend", [1, 3, 2 * np.pi])
def test_gaps_along_one_line_or_curve_are_chance(bend):
    found = [find_structure(_along(seed, bend)) for seed in range(4)]
    assert {one.verdict for one in found} == {"none"}
    assert all(one.along for one in found)


def test_strands_side_by_side_are_seen():
    near = [find_structure(_along(seed, 1, apart=0.5)) for seed in range(8)]
    far = [find_structure(_along(seed, 1, apart=1)) for seed in range(4)]
    assert all(one.along for one in near)
    assert [one.verdict for one in near].count("weak") >= 4
    assert "none" not in {one.verdict for one in far}


def test_turns_of_one_spiral_are_no_clusters():
    rng = np.random.default_rng(0)
    t = np.sqrt(rng.uniform(0.05, 1, 300)) * 4 * np.pi
    turns = np.column_stack([t * np.cos(t), t * np.sin(t)])
    assert find_structure(turns + rng.normal(0, 0.35, (300, 2))).verdict == "none"


@pytest.mark.parametrize("seed", range(3))
def test_groups_of_rows_in_long_tails_are_no_clusters(seed):
    rng = np.random.default_rng(seed)
    far = np.where(rng.random((200, 1)) < 0.1, 4, 1)
    assert find_structure(far * rng.normal(size=(200, 4))).verdict == "none"


def test_a_small_group_far_from_a_large_one_counts():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(300, 3))
    Z[:30, 0] += 8
    assert find_structure(Z).verdict == "clear"


@pytest.mark.parametrize("seed", range(3))
def test_a_single_feature_shows_groups_and_no_others(seed):
    rng = np.random.default_rng(seed)
    one = rng.normal(size=(200, 1))
    tails = np.exp(one)
    for Z in (one, tails, rng.random((60, 1)), rng.standard_t(2, (100, 1))):
        assert find_structure(Z).verdict == "none"
    one[:100] += 6
    found = find_structure(one)
    assert found.verdict == "clear"
    # One column is not told to run along a curve.
    assert not found.along


def test_the_dip_is_that_of_the_best_distribution_with_one_mode():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    apart = np.append(x, x + 20)
    # Two far heaps of equal size: a quarter, but for what each spreads.
    assert 0.15 < dip(apart) <= 0.25
    assert dip(3 * apart[::-1] - 7) == pytest.approx(dip(apart))
    # Chance is of the order of 1 / sqrt n, with the largest values on uniform rows.
    draws = [10 * dip(rng.random(100)) for _ in range(200)]
    assert np.mean(np.array(draws) > 0.5) < 0.05
    assert 10 * dip(x[:100]) < np.quantile(draws, 0.95)


def test_the_evidence_can_be_drawn(blobs):
    found = symmf.select(blobs[0], range(2, 6), n_subsamples=1, random_state=0)
    axes = found.plot()
    assert axes.get_xlabel() == "number of clusters"
    assert len(axes.get_lines()) == 4
    assert found.plot(axes) is axes


@pytest.mark.parametrize("asked", [[], [1, 2], [2.5], [500]])
def test_numbers_that_cannot_be_compared_get_a_sentence(blobs, asked):
    with pytest.raises(InputError, match=r"n_clusters must be|samples"):
        symmf.select(blobs[0], asked)


def test_copies_and_text_are_understood():
    X, _ = make_moons(120, noise=0.05, random_state=0)
    twice = np.concatenate([X, X])
    assert symmf.select(twice, [2, 3], n_subsamples=2, random_state=0).n_clusters == 2
    rng = np.random.default_rng(0)
    topic = np.repeat([0, 1, 2], 40)
    rates = np.kron(np.eye(3), np.ones(30)) * 0.5 + 0.03
    counts = sparse.csr_array(rng.poisson(rates[topic]).astype(float))
    found = symmf.select(counts, range(2, 6), random_state=0)
    # On text the silhouette prefers few clusters; the gap shows the three.
    assert (found.by_rule["eigengap"], found.by_rule["stability"]) == (3, 3)


# Consensus


def test_the_coassociation_is_the_share_of_partitions():
    partitions = np.random.default_rng(0).integers(0, 3, (20, 5))
    B = coassociation(partitions)
    wanted = (partitions[:, None, :] == partitions[None, :, :]).mean(axis=2)
    np.testing.assert_allclose((B @ B.T).toarray(), wanted)


def test_agreement_mends_single_failures():
    """Three members right on different parts: no member is, the consensus is."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)

    class Fixed(KMeans):
        def fit_predict(self, *_):
            labels = y.copy()
            wrong = rng.choice(120, 18, replace=False)
            labels[wrong] = rng.integers(0, 3, 18)
            return labels

    model = ConsensusSymMF(3, members=[Fixed() for _ in range(7)], random_state=0)
    model.fit(np.zeros((120, 2)) + y[:, None])
    assert accuracy(y, model.labels_) > 0.98
    assert max(accuracy(y, p) for p in model.partitions_.T) < 0.97


def test_any_clusterer_and_yaml_mappings_are_members(blobs):
    X, y = blobs
    members = [
        KMeans(n_init=1),
        AgglomerativeClustering(n_clusters=6),
        {"method": "spectral"},
        {"method": "symmf", "parameters": {"labels": "cluster_qr"}},
    ]
    model = ConsensusSymMF(4, members=members, random_state=0).fit(X)
    assert [len(np.unique(p)) for p in model.partitions_.T] == [4, 6, 4, 4]
    assert accuracy(y, model.labels_) == 1.0
    with pytest.raises(InputError, match="Did you mean 'symmf'"):
        ConsensusSymMF(4, members=[{"method": "symm"}]).fit(X)
    with pytest.raises(InputError, match="fit_predict"):
        ConsensusSymMF(4, members=["kmeans"]).fit(X)
    with pytest.raises(InputError, match="empty"):
        ConsensusSymMF(4, members=[]).fit(X)
    for wrong in (0, 1.5, True, "symmf", {}):
        with pytest.raises(InputError, match="member"):
            ConsensusSymMF(4, members=wrong).fit(X)


def test_views_of_text():
    rng = np.random.default_rng(0)
    topic = rng.choice(3, 150, p=[0.7, 0.2, 0.1])
    rates = np.kron(np.eye(3), np.ones(30)) * 0.5 + 0.05
    counts = sparse.csr_array(rng.poisson(rates[topic]).astype(float))
    model = ConsensusSymMF(3, n_components=(10, 20), random_state=0).fit(counts)
    # Two weightings, two dimensions, two readings, K and 2K clusters.
    assert model.partitions_.shape == (150, 16)
    assert nmi(topic, model.labels_) > 0.9
    views = preprocess(counts, ["tfidf_views"])
    given = ConsensusSymMF(3, n_components=(10, 20), blocks=2, cap=10, random_state=0)
    assert given.fit(views).partitions_.shape == (150, 16)
    assert nmi(topic, given.labels_) > 0.9
    with pytest.raises(InputError, match="blocks of equal width"):
        given.set_params(blocks=7).fit(views)


def test_the_power_of_cosines_with_average_linkage():
    rng = np.random.default_rng(0)
    topic = rng.choice(3, 150, p=[0.7, 0.2, 0.1])
    rates = np.kron(np.eye(3), np.ones(30)) * 0.5 + 0.05
    counts = sparse.csr_array(rng.poisson(rates[topic]).astype(float))
    model = SymMF(
        3,
        similarity="text",
        similarity_options={"n_components": 30, "power": 2},
        n_columns="k",
        labels="average",
        random_state=0,
    ).fit(counts)
    assert model.H_.shape == (150, 3)
    assert nmi(topic, model.labels_) > 0.9
