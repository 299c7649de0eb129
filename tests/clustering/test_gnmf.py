from itertools import islice
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy import sparse

from symmf.clustering.baselines.gnmf import GNMF, gnmf_iterates
from symmf.clustering.baselines.nmf import unit_columns
from symmf.errors import InputError
from symmf.metrics import accuracy
from symmf.similarity.graphs.self_tuning import neighbour_graph

GOLDEN = Path(__file__).parents[1] / "golden" / "golden_compact.h5"


@pytest.fixture
def rng():
    return np.random.default_rng(0)


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
    y = np.repeat(np.arange(3), 20)
    X = np.kron(np.eye(3), np.ones((20, 5))) + 0.1 * rng.random((60, 15))
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


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"weighting": "gauss"}, "weighting is one of 'binary', 'heat', 'cosine'"),
        ({"graph_weight": -1}, "graph_weight must be a finite number >= 0"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number >= 1"),
        ({"n_starts": 0}, "n_starts must be a whole number >= 1"),
    ],
)
def test_wrong_parameters_get_a_sentence(rng, parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        GNMF(2, **parameters).fit(rng.random((10, 3)))
