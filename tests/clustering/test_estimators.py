import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from symmf.clustering import METHODS, SNMF, Spectral, SymHALS, SymMF, SymNMF
from symmf.clustering.baselines import symnmf as symnmf_module
from symmf.clustering.baselines.snmf import procrustes_distance
from symmf.clustering.baselines.spectral import njw_embedding
from symmf.clustering.labels import litekmeans, number_by_size
from symmf.errors import InputError, SymmfWarning
from symmf.metrics import accuracy
from symmf.similarity import build_similarity, regularise
from symmf.similarity.transforms import normalised_cut

SYMMETRIC = ["spectral", "symhals", "snmf", "symnmf", "symmf"]

# Small settings: the checks look at conventions, not at quality.
QUICK = {
    "kmeans": {"n_init": 1},
    "nmf": {"tol": 1e-2},
    "symhals": {"max_iter": 100},
    "snmf": {"n_restarts": 2, "max_iter": 100},
    "symnmf": {"max_iter": 50},
    "gnmf": {"max_iter": 20},
    "dsc": {"n_pretrain": 5, "n_finetune": 3},
}

SIGNED = "the check feeds standardised data, and the method is undefined for X < 0"
SEEDS = "scikit-learn's own k-means draws its seeds by weight"
CLASSIFIER = "the check takes what has predict_proba and sparse rows for a classifier"
FEW = "the check has 4 distinct rows, and 8 clusters of them are refused"
NUMBERS = "clusters of one size are numbered by first row, and the check reorders rows"
EXPECTED_FAILURES = {
    "SymMF": {
        "check_estimator_sparse_array": CLASSIFIER,
        "check_estimator_sparse_matrix": CLASSIFIER,
        "check_sample_weights_shape": FEW,
        "check_sample_weights_not_overwritten": FEW,
        "check_sample_weight_equivalence_on_dense_data": NUMBERS,
        "check_sample_weight_equivalence_on_sparse_data": NUMBERS,
    },
    "KMeans": {
        "check_sample_weight_equivalence_on_dense_data": SEEDS,
        "check_sample_weight_equivalence_on_sparse_data": SEEDS,
    },
    "NMF": {"check_clustering": SIGNED},
    "GNMF": {"check_clustering": SIGNED},
}


def quick(name):
    if name == "dsc":
        pytest.importorskip("torch")
    return METHODS[name](**QUICK.get(name, {}))


@parametrize_with_checks(
    [METHODS[name](**QUICK.get(name, {})) for name in METHODS],
    expected_failed_checks=lambda model: EXPECTED_FAILURES.get(
        type(model).__name__, {}
    ),
)
# On the checks' tiny data lambda may leave too few eigenvalues, or files are odd.
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    if type(estimator).__name__ == "DSC":
        pytest.importorskip("torch")
    check(estimator)


def test_the_order_is_the_paper_s_and_kmeans_is_scikit_learn_s():
    paper = ("kmeans", "nmf", "spectral", "symhals", "snmf", "symnmf", "gnmf", "dsc")
    assert tuple(name for name in METHODS if name in paper) == paper
    assert issubclass(METHODS["kmeans"], KMeans)
    assert all(isinstance(method, type) for method in METHODS.values())


def test_importing_the_methods_does_not_import_torch():
    code = "import sys, symmf.clustering; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture(scope="module")
def planted():
    """Nonnegative rows around three directions."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 25)
    X = np.kron(np.eye(3), np.ones((25, 6))) + 0.3 * rng.random((75, 18))
    order = rng.permutation(75)
    return X[order], y[order]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_finds_planted_clusters(planted, name):
    X, y = planted
    model = quick(name).set_params(n_clusters=3, random_state=0)
    if name == "dsc":
        model.set_params(n_pretrain=50, n_finetune=15)
    assert accuracy(y, model.fit_predict(X)) == 1.0


@pytest.mark.parametrize("name", [name for name in METHODS if name != "dsc"])
def test_sparse_rows_and_dense_rows_agree(planted, name):
    X, y = planted
    X = np.where(X < 0.1, 0, X)
    model = quick(name).set_params(n_clusters=3, random_state=0)
    dense = model.fit_predict(X)
    assert accuracy(y, dense) == 1.0
    assert accuracy(dense, model.fit_predict(sparse.csr_array(X))) == 1.0


# The solver that runs by default, and what it factors, in the words of an experiment.
FOUND = {
    "nmf": ("hals", "X: data weighting ncut"),
    "spectral": ("eigen", "N: self_tuning"),
    "symhals": ("sym_hals", "M: self_tuning"),
    "snmf": ("procrustes", "M: self_tuning"),
    "symnmf": ("projected_gradient", "M: self_tuning"),
    "gnmf": (
        "multiplicative",
        "X and a graph: data weighting none, 5 neighbours, binary, lambda 100",
    ),
    "dsc": ("adam", "C: self-expression, dense network"),
    "symmf": ("eigen", "M: mutual_knn, lambda 0.5"),
    "consensus": ("eigen", "M: coassociation, lambda 0.05"),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_a_fit_leaves_behind(planted, name):
    X, _ = planted
    before = X.copy()
    model = quick(name).set_params(n_clusters=3, random_state=7).fit(X)
    again = quick(name).set_params(n_clusters=3, random_state=7).fit(X)
    np.testing.assert_array_equal(model.labels_, again.labels_)
    np.testing.assert_array_equal(X, before)
    assert model.labels_.dtype == np.int64
    np.testing.assert_array_equal(model.labels_, number_by_size(model.labels_))
    assert isinstance(model.n_iter_, int)
    assert isinstance(model.stop_, str)
    assert (model.solver_, model.matrix_) == FOUND[name]
    assert np.isfinite(model.objective_)
    if name != "spectral":
        history = model.history_
        assert history.error.shape == history.seconds.shape == (model.n_iter_ + 1,)
        assert (np.diff(history.seconds) >= 0).all()


@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize("similarity", ["cosine", "centred_cosine"])
def test_the_shared_similarity_works_for_all(planted, name, similarity):
    X, y = planted
    model = quick(name).set_params(n_clusters=3, similarity=similarity, random_state=0)
    if name == "symmf":
        model.set_params(laplacian_weight=0)
    assert accuracy(y, model.fit_predict(X)) == 1.0


@pytest.mark.parametrize("name", SYMMETRIC)
def test_a_similarity_can_be_given(planted, name):
    X, y = planted
    A = build_similarity(X, "self_tuning").toarray()
    model = quick(name).set_params(
        n_clusters=3, similarity="precomputed", random_state=0
    )
    if name == "symmf":
        model.set_params(laplacian_weight=0)
    assert model.__sklearn_tags__().input_tags.pairwise
    for matrix in (A, sparse.csr_array(A)):
        assert accuracy(y, model.fit_predict(matrix)) == 1.0
    with pytest.raises(InputError, match="square"):
        model.fit(X)


@pytest.mark.parametrize("name", ["nmf", "symhals", "snmf", "symnmf", "gnmf", "symmf"])
def test_a_fit_that_a_limit_ended_says_so(planted, name):
    X, _ = planted
    model = METHODS[name](3, max_iter=1, tol=1e-9, random_state=0)
    if name == "symmf":
        model.set_params(solver="projected_gradient")
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iterations"):
        model.fit(X)
    assert model.stop_ == "max_iter"
    # Where the number of iterations is the method there is nothing to warn of.
    model.set_params(tol=0).fit(X)
    if name == "symmf":
        model.set_params(tol=1e-9, published=True).fit(X)


# Spectral


def cliques(sizes):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    A = (labels[:, None] == labels).astype(float)
    np.fill_diagonal(A, 0)
    return A, labels


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("size", [12, 85])
def test_every_component_gives_an_eigenvalue_1(make, size):
    # 8 x 85 rows are above the size where a dense routine is used.
    A, y = cliques([size] * 8)
    model = Spectral(8, similarity="precomputed", random_state=0).fit(make(A))
    np.testing.assert_allclose(model.eigenvalues_, 1, atol=1e-9)
    assert accuracy(y, model.labels_) == 1.0
    np.testing.assert_allclose(np.linalg.norm(model.H_, axis=1), 1)
    assert model.objective_ == pytest.approx(0, abs=1e-8)


def test_labels_do_not_change_with_the_scale_of_the_graph(planted):
    X, _ = planted
    A = build_similarity(X, "gaussian").toarray()
    fits = [
        Spectral(3, similarity="precomputed", random_state=0).fit(c * A)
        for c in (1.0, 1e-3, 1e4)
    ]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.labels_, fits[0].labels_)


def test_spectral_agrees_with_scikit_learn(planted):
    rng = np.random.default_rng(1)
    X = planted[0] + 0.5 * rng.random((75, 18))
    A = build_similarity(X, "gaussian").toarray()
    theirs = SpectralClustering(3, affinity="precomputed", random_state=0).fit(A)
    ours = Spectral(3, similarity="precomputed", random_state=0).fit(A)
    assert accuracy(theirs.labels_, ours.labels_) > 0.97


def test_graphs_are_not_scaled_twice():
    X = np.random.default_rng(0).random((75, 3))
    model = Spectral(3, random_state=0).fit(X)
    W = build_similarity(X, "self_tuning", ncut=False)
    wanted = np.linalg.eigvalsh(normalised_cut(W).toarray())[::-1][:3]
    np.testing.assert_allclose(model.eigenvalues_, wanted)
    scaled = Spectral(3, similarity_options={"ncut": True}, random_state=0).fit(X)
    assert not np.allclose(scaled.eigenvalues_, wanted, atol=1e-4)


def test_a_row_without_neighbours_stays_zero():
    A, _ = cliques([5, 5])
    A = np.pad(A, (0, 1))
    _, E = njw_embedding(A, 2, np.random.default_rng(0))
    assert not E[-1].any()
    assert np.isfinite(E).all()


# The symmetric nonnegative methods


def test_symhals_ties_its_factors(planted):
    X, _ = planted
    tied = SymHALS(3, coupling=5.0, max_iter=2000, tol=1e-12, random_state=0).fit(X)
    loose = SymHALS(3, coupling=0.0, max_iter=50, random_state=0).fit(X)
    assert tied.gap_ < 1e-3
    assert loose.gap_ > tied.gap_
    assert min(tied.H_.min(), tied.P_.min()) >= 0


def test_snmf_keeps_the_restart_with_the_smallest_phi():
    rng = np.random.default_rng(0)
    X = rng.random((50, 6))
    phi = [
        SNMF(5, similarity="cosine", n_restarts=r, tol=0, random_state=0).fit(X).phi_
        for r in (1, 10)
    ]
    assert phi[1] < phi[0]


def test_procrustes_distance_is_the_distance_after_the_best_rotation():
    rng = np.random.default_rng(0)
    H, B = rng.random((20, 3)), rng.standard_normal((20, 3))
    U, _, Vt = np.linalg.svd(B.T @ H)
    wanted = np.sum((H - B @ U @ Vt) ** 2)
    assert procrustes_distance(H, B) == pytest.approx(wanted)


def test_snmf_survives_a_similarity_of_low_rank():
    X = np.repeat(np.eye(2), 10, axis=0)
    model = SNMF(4, similarity="cosine", n_restarts=2, random_state=0).fit(X)
    assert np.isfinite(model.H_).all()
    assert model.error_ < 1e-6


def test_symnmf_chooses_by_size(planted, monkeypatch):
    X, y = planted
    assert SymNMF(3, random_state=0).fit(X).algorithm_ == "gradient"
    assert SymNMF(3, published=True, random_state=0).fit(X).algorithm_ == "newton"
    monkeypatch.setattr(symnmf_module, "NEWTON_LIMIT", 50)
    model = SymNMF(3, published=True, random_state=0).fit(X)
    assert model.algorithm_ == "anls"
    assert model.P_.shape == (75, 3)
    assert accuracy(y, model.labels_) == 1.0
    assert SymNMF(3, algorithm="newton", random_state=0).fit(X).algorithm_ == "newton"


@pytest.fixture(scope="module")
def digits():
    X = load_digits().data[:500]
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("name", ["nmf", "symhals", "symnmf", "gnmf"])
def test_the_fast_way_ends_as_low_as_the_published_one(digits, name):
    """On a mean of starts: local minima differ by more than the two ways do."""
    ends = {
        published: [
            METHODS[name](10, published=published, random_state=seed)
            .fit(digits)
            .objective_
            for seed in range(3)
        ]
        for published in (False, True)
    }
    assert np.mean(ends[False]) <= 1.002 * np.mean(ends[True])


@pytest.mark.parametrize("name", ["symhals", "symnmf", "gnmf"])
def test_the_best_restart_is_kept(digits, name):
    model = METHODS[name](6, max_iter=30, tol=0, random_state=np.random.default_rng(0))
    single = [model.fit(digits[:120]).objective_ for _ in range(4)]
    many = METHODS[name](
        6, max_iter=30, tol=0, n_restarts=4, random_state=np.random.default_rng(0)
    )
    # Labels of GNMF draw from the same generator, so its later starts differ.
    assert many.fit(digits[:120]).objective_ <= single[0]
    if name != "gnmf":
        assert many.objective_ == min(single)


# SymMF


@pytest.mark.parametrize("constraint", ["nonnegative", "unit_rows", "orthogonal"])
@pytest.mark.parametrize("solver", ["auto", "projected_gradient"])
def test_any_set_and_solver(planted, constraint, solver):
    X, y = planted
    model = SymMF(
        3,
        constraint=constraint,
        solver=solver,
        similarity="centred_cosine",
        max_iter=1000,
        random_state=0,
    )
    assert accuracy(y, model.fit_predict(X)) == 1.0


def test_the_stored_matrix_names_lambda_options_and_what_was_clipped(planted):
    X, _ = planted
    options = {"similarity": "centred_cosine"}
    free = SymMF(3, laplacian_weight=0.25, **options).fit(X)
    assert free.matrix_ == "M: centred_cosine, lambda 0.25"
    assert SNMF(3, **options).fit(X).matrix_ == "M: centred_cosine, clipped at 0"
    few = {"similarity": "self_tuning", "similarity_options": {"n_neighbors": 5}}
    assert SNMF(3, **few).fit(X).matrix_ == "M: self_tuning, n_neighbors 5"
    ours = SymMF(3, laplacian_weight=0, **few).fit(X)
    assert ours.matrix_ == "M: self_tuning, n_neighbors 5"


def test_solver_options_reach_the_solver(planted):
    X, y = planted
    model = SymMF(
        3,
        solver="columnwise",
        solver_options={"coupling": 1.0},
        labels="argmax",
        constraint="nonnegative",
        random_state=0,
    )
    assert accuracy(y, model.fit_predict(X)) == 1.0
    assert model.P_.shape == model.H_.shape


def test_published_runs_the_released_loop_and_reads_labels_as_it_does(planted):
    X, _ = planted
    model = SymMF(3, published=True, max_iter=20, tol=0, random_state=5).fit(X)
    assert (model.n_iter_, model.stop_) == (20, "max_iter")
    assert (model.similarity_, model.scale_) == ("centred_cosine", "none")
    assert model.laplacian_weight_ == 0.5
    again = SymMF(3, published=True, max_iter=20, tol=0)
    again.set_params(random_state=np.random.default_rng(5)).fit(X)
    np.testing.assert_array_equal(again.H_, model.H_)
    # The same labels as the released k-means finds from any seed: clear clusters.
    found = litekmeans(model.H_, 3, random_state=0).labels
    assert accuracy(found, model.labels_) == 1.0


def one_sided(n=90, m=20):
    """Positive rows that all look alike, as images do before centring."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return 5 + np.eye(3)[y] @ rng.random((3, m)) + 0.1 * rng.random((n, m)), y


@pytest.mark.parametrize("weight", [0.05, 0.5, 2.0])
def test_inertia_of_M_counts_normalised_eigenvalues_above_a_threshold(weight):
    rng = np.random.default_rng(0)
    X = rng.random((40, 5)) ** 2
    A = build_similarity(X, "cosine")
    M = regularise(A, weight).toarray()
    positive = np.count_nonzero(np.linalg.eigvalsh(M) > 1e-12)
    N = np.linalg.eigvalsh(normalised_cut(A).toarray())
    assert positive == np.count_nonzero(weight / (1 + weight) < N)


@pytest.mark.parametrize(
    "options",
    [{}, {"solver": "projected_gradient"}, {"published": True, "max_iter": 20}],
    ids=["closed form", "projected gradient", "published"],
)
def test_a_collapse_to_rank_1_is_told(options):
    X, _ = one_sided()
    model = SymMF(3, similarity="cosine", random_state=0, **options)
    with pytest.warns(SymmfWarning, match="only 1 of the 3 largest eigenvalues"):
        model.fit(X)
    if model.solver_ == "eigen":
        assert np.linalg.matrix_rank(model.H_, tol=1e-8) == 1
    # Centring, or a smaller lambda, keeps all directions: no warning.
    model.set_params(similarity="centred_cosine").fit(X)
    model.set_params(similarity="cosine", laplacian_weight=0).fit(X)
