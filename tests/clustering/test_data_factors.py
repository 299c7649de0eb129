"""NMF and GNMF: their updates, objectives and clusters."""

from functools import cached_property
from itertools import islice
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import NMF as ReferenceNMF  # noqa: N811

from symmf.clustering import GNMF, NMF
from symmf.clustering.baselines import data_factors
from symmf.clustering.baselines.data_factors import (
    Single,
    for_products,
    ncut_weighted,
    unit_columns,
)
from symmf.clustering.baselines.gnmf import gnmf_iterates
from symmf.clustering.baselines.nmf import (
    hals_iterates,
    nmf_iterates,
    projected_gradient,
)
from symmf.errors import InputError
from symmf.metrics import accuracy
from symmf.similarity.graphs.self_tuning import neighbour_graph
from symmf.solvers._hals import Pair

GOLDEN = Path(__file__).parents[1] / "golden" / "golden_compact.h5"


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def planted(rng, n=60, m=20, k=3):
    """X = V U^T with one-hot rows of V."""
    y = np.arange(n) % k
    V = np.zeros((n, k))
    V[np.arange(n), y] = 0.5 + rng.random(n)
    return V @ rng.random((m, k)).T, y


def test_the_weights_are_degrees_of_the_graph(rng):
    X = rng.random((10, 4))
    X[3] = 0
    d = (X @ X.T).sum(axis=1)
    wanted = X / np.sqrt(np.where(d > 0, d, 1))[:, None]
    np.testing.assert_allclose(ncut_weighted(X), wanted)
    np.testing.assert_allclose(ncut_weighted(sparse.csr_array(X)).toarray(), wanted)


def test_objective_and_slope_are_what_they_say(rng):
    X, U, V = rng.random((12, 8)), rng.random((8, 3)), rng.random((12, 3))
    V[0, 0] = 0
    start = next(nmf_iterates(X, U, V))
    assert start.objective == pytest.approx(np.sum((X - V @ U.T) ** 2))

    def f(U, V):
        return np.sum((X - V @ U.T) ** 2)

    slopes, step = [], 1e-6
    for factor, which in ((U, 0), (V, 1)):
        for index in np.ndindex(factor.shape):
            up, down = factor.copy(), factor.copy()
            up[index] += step
            down[index] -= step
            pair = [(up, V), (down, V)] if which == 0 else [(U, up), (U, down)]
            slope = (f(*pair[0]) - f(*pair[1])) / (2 * step)
            slopes.append(slope if slope <= 0 or factor[index] > 0 else 0.0)
    assert projected_gradient(start) == pytest.approx(np.linalg.norm(slopes), rel=1e-6)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("method", [nmf_iterates, hals_iterates])
def test_the_objective_never_rises_and_factors_stay_nonnegative(rng, make, method):
    X = make(np.where(rng.random((40, 25)) < 0.5, rng.random((40, 25)), 0))
    run = method(X, rng.random((25, 4)), rng.random((40, 4)))
    iterates = list(islice(run, 30))
    objective = np.array([iterate.objective for iterate in iterates])
    assert (np.diff(objective) <= 1e-12 * objective[0]).all()
    assert all(min(i.U.min(), i.V.min()) >= 0 for i in iterates)


def test_an_exact_factorization_is_found_with_its_clusters(rng):
    X, y = planted(rng)
    model = NMF(3, random_state=0, tol=1e-10, max_iter=500).fit(X)
    assert model.history_.error[-1] < 1e-8
    assert accuracy(y, model.labels_) == 1.0


def test_objective_agrees_with_scikit_learn(rng):
    X = rng.random((30, 12))
    ours = NMF(2, data_weighting="none", tol=1e-8, max_iter=2000, random_state=0)
    theirs = ReferenceNMF(2, init="random", tol=1e-10, max_iter=20000, random_state=0)
    theirs.fit(X)
    wanted = theirs.reconstruction_err_**2
    assert ours.fit(X).objective_ == pytest.approx(wanted, rel=1e-3)


def test_columns_of_U_have_unit_length_and_the_product_is_kept(rng):
    U, V = rng.random((6, 3)), rng.random((5, 3))
    U[:, 1] = 0
    unit, scaled = unit_columns(U, V)
    np.testing.assert_allclose(scaled @ unit.T, V @ U.T)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=0), [1, 0, 1])


def test_a_row_of_zeros_gets_a_label(rng):
    X, _ = planted(rng)
    X[5] = 0
    model = NMF(3, random_state=0).fit(X)
    assert not model.V_[5].any()
    assert model.labels_[5] in (0, 1, 2)


def test_labels_can_be_read_by_kmeans(rng):
    """Rows of V around three mixtures of two columns: argmax sees two clusters only."""
    y = np.repeat([0, 1, 2], 30)
    V = np.array([[1.0, 0.1], [1.0, 0.7], [0.1, 1.0]])[y] + 0.05 * rng.random((90, 2))
    X = V @ np.kron(np.eye(2), np.ones((1, 6)))
    model = NMF(3, labels="kmeans", data_weighting="none", random_state=0).fit(X)
    assert accuracy(y, model.labels_) == 1.0


def test_the_published_way_is_alternating_least_squares(rng):
    X = rng.random((30, 12))
    model = NMF(2, published=True, max_iter=3, tol=0, data_weighting="none")
    model.set_params(random_state=np.random.default_rng(5)).fit(X)
    assert model.solver_ == "anls"
    draw = np.random.default_rng(5)
    U, V = draw.random((12, 2)), draw.random((30, 2))
    ends = [iterate.objective for iterate in islice(nmf_iterates(X, U, V), 4)]
    np.testing.assert_allclose(model.history_.error * np.sum(X**2), ends)


def test_the_clock_leaves_out_the_objective(rng, monkeypatch):
    """The clock moves only while an iterate is made, not while it is judged."""
    from symmf.solvers import _loop as loop

    now = [0.0]
    monkeypatch.setattr(loop.time, "perf_counter", lambda: now[0])
    slow = Pair.objective.func

    def judged(pair):
        now[0] += 100.0
        return slow(pair)

    judging = cached_property(judged)
    judging.__set_name__(Pair, "objective")
    monkeypatch.setattr(Pair, "objective", judging)
    model = NMF(2, max_iter=4, tol=0, published=True, random_state=0)
    model.fit(rng.random((20, 6)))
    assert now[0] >= 500
    assert model.history_.seconds.tolist() == [0.0] * 5


def test_tol_0_runs_every_iteration(rng):
    model = NMF(3, tol=0, max_iter=7, random_state=0).fit(rng.random((20, 5)))
    assert (model.n_iter_, model.stop_) == (7, "max_iter")
    assert model.history_.error.shape == model.history_.seconds.shape == (8,)


def test_negative_data_get_a_sentence():
    with pytest.raises(InputError, match="Negative values in data passed to NMF"):
        NMF(2).fit(-np.eye(3))


def test_products_in_single_precision_end_at_the_same_objective(rng, monkeypatch):
    X = rng.random((700, 6)) @ rng.random((6, 400)) + rng.random((700, 400))
    assert isinstance(for_products(X)[0], Single)
    quick = NMF(6, random_state=0).fit(X)
    monkeypatch.setattr(data_factors, "_LARGE", X.size + 1)
    assert for_products(X)[0] is X
    plain = NMF(6, random_state=0).fit(X)
    assert quick.U_.dtype == quick.V_.dtype == np.float64
    assert quick.objective_ == pytest.approx(plain.objective_, rel=1e-4)
    left = ncut_weighted(X) - quick.V_ @ quick.U_.T
    assert quick.objective_ == pytest.approx(np.sum(left**2), rel=1e-6)


def test_a_nearly_exact_fit_has_all_digits(rng):
    X = planted(rng, n=900, m=400)[0]
    fit = NMF(3, random_state=0, tol=1e-12, max_iter=2000).fit(X)
    assert fit.history_.error[-1] < 1e-11
    assert (np.diff(fit.history_.error) <= 1e-9).all()


def test_products_that_single_precision_cannot_hold_are_taken_in_double(rng):
    X = rng.random((600, 500))
    V = rng.random((500, 2)) * 1e60
    rows, columns = for_products(X)
    np.testing.assert_array_equal(rows @ V, X @ V)
    # Sums of 600 nonnegative terms, each rounded to single precision.
    rtol = 600 * np.finfo(np.float32).eps
    np.testing.assert_allclose(columns @ X[:, :3], X.T @ X[:, :3], rtol=rtol)


@pytest.mark.parametrize("scale", [1e-40, 1e40])
def test_rows_out_of_its_range_stay_in_double_precision(rng, scale):
    X = scale * rng.random((600, 500))
    assert for_products(X)[0] is X


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_more_clusters_than_the_rank_in_either_precision(rng, kind, published):
    X = rng.random((30, 5)).astype(kind)
    model = NMF(30, max_iter=15, tol=0, published=published, random_state=0).fit(X)
    assert model.V_.dtype == kind
    assert np.isfinite(model.V_).all()
    # X has rank 5, so that nothing but rounding is left.
    assert abs(model.history_.error[-1]) < 1e-4


# GNMF


def problem(rng, n=40, m=15, k=3):
    X = rng.random((n, m))
    return X, rng.random((m, k)), rng.random((n, k)), neighbour_graph(X).M


@pytest.mark.parametrize(
    "case", ["GNMF", "GNMF_alpha0", "GNMF_alpha1", "GNMF_cosineW_alpha1"]
)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_updates_follow_the_published_ones(case, make):
    with h5py.File(GOLDEN) as file:
        run = file[f"gnmf/{case}"]
        X, U0, V0, W = (run[f"inputs/{name}"][:] for name in ("X", "U0", "V0", "W"))
        ours = gnmf_iterates(
            make(X.T), U0, V0, sparse.csr_array(W), weight=float(run.attrs["alpha"])
        )
        iterates = list(islice(ours, len(run["trace"])))
        trace = [iterate.objective for iterate in iterates]
        np.testing.assert_allclose(trace, run["trace"][:], rtol=1e-11)
        U, V = unit_columns(iterates[-1].U, iterates[-1].V)
        np.testing.assert_allclose(U, run["U"][:], rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(V, run["V"][:], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("weight", [0.0, 1.0, 100.0])
def test_the_objective_never_rises(rng, weight):
    X, U, V, W = problem(rng)
    iterates = list(islice(gnmf_iterates(X, U, V, W, weight=weight), 60))
    objective = np.array([iterate.objective for iterate in iterates])
    assert (np.diff(objective) <= 1e-10 * objective[:-1]).all()
    assert all(min(i.U.min(), i.V.min()) >= 0 for i in iterates)


def test_the_objective_is_the_one_of_the_definition(rng):
    X, U, V, W = problem(rng)
    iterate = next(gnmf_iterates(X, U, V, W, weight=3.0))
    L = np.diag(W.toarray().sum(axis=1)) - W.toarray()
    wanted = np.sum((X - V @ U.T) ** 2) + 3 * np.trace(iterate.V.T @ L @ iterate.V)
    assert iterate.objective == pytest.approx(wanted)


def test_without_the_graph_it_is_plain_multiplicative_nmf(rng):
    X, U, V, W = problem(rng)
    run = gnmf_iterates(X, U, V, W, weight=0.0)
    start, after = next(run), next(run)
    U, V = start.U, start.V
    V = V * (X @ U) / (V @ (U.T @ U))
    U = U * (X.T @ V) / (U @ (V.T @ V))
    np.testing.assert_allclose(after.U, U)
    np.testing.assert_allclose(after.V, V)


def test_a_huge_weight_makes_columns_of_V_constant(rng):
    X, U, V, _ = problem(rng)
    W = neighbour_graph(X, n_neighbors=20).M
    iterate = next(islice(gnmf_iterates(X, U, V, W, weight=1e6), 4000, None))
    assert (iterate.V.std(axis=0) < 1e-2 * iterate.V.mean(axis=0)).all()


@pytest.mark.parametrize("weighting", ["binary", "heat", "cosine"])
def test_planted_clusters_are_found_with_every_weighting(rng, weighting):
    X, y = planted(rng)
    for matrix in (X, sparse.csr_array(X)):
        model = GNMF(3, weighting=weighting, random_state=0).fit(matrix)
        assert accuracy(y, model.labels_) == 1.0
        np.testing.assert_allclose(np.linalg.norm(model.U_, axis=0), 1)


def test_the_best_of_several_starts_goes_on(rng):
    X = rng.random((50, 12))
    one = GNMF(4, random_state=0, max_iter=0, n_starts=1, start_iter=20).fit(X)
    many = GNMF(4, random_state=0, max_iter=0, n_starts=5, start_iter=20).fit(X)
    assert many.objective_ < one.objective_


def test_the_tolerance_stops(rng):
    X = rng.random((50, 12))
    model = GNMF(3, tol=1e-2, max_iter=500, random_state=0).fit(X)
    assert model.stop_ == "tolerance"
    assert model.n_iter_ < 500
    assert GNMF(3, random_state=0).fit(X).n_iter_ == 100
