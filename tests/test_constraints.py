import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from symmf import SOLVERS, SymMF, factorize
from symmf.constraints import (
    CONSTRAINTS,
    Constraint,
    L1Rows,
    NonnegativeUnitRows,
    SimplexRows,
    SparseRows,
    UnitRows,
    as_constraint,
)
from symmf.errors import InputError

SETS = [
    *CONSTRAINTS,
    ("sparse_rows", {"s": 2}),
    ("l1_rows", {"radius": 0.3}),
    ("l1_rows", {"radius": 5.0}),
    ("simplex_rows", {"total": 2.5}),
]
every_set = pytest.mark.parametrize("name", SETS, ids=str)
EXACT = [name for name in SETS if as_constraint(name).exact]

# Few digits: ties and zeros are the interesting cases.
entries = st.floats(-4, 4).map(lambda x: round(x, 1))
matrices = st.tuples(st.integers(2, 7), st.integers(2, 4)).flatmap(
    lambda shape: arrays(np.float64, (max(shape), min(shape)), elements=entries)
)


@every_set
@given(Z=matrices)
def test_a_projection_is_feasible_and_stays_where_it_is(name, Z):
    constraint = as_constraint(name)
    before = Z.copy()
    H = constraint.project(Z)
    assert np.array_equal(Z, before)
    assert H.shape == Z.shape
    assert constraint.contains(H)
    if not constraint.exact:
        return
    again = constraint.project(H)
    if constraint.name == "orthogonal":
        # The polar factor of an orthonormal matrix is itself, up to an SVD.
        np.testing.assert_allclose(again, H, atol=1e-10)
    else:
        np.testing.assert_allclose(again, H, atol=1e-12)


@pytest.mark.parametrize("name", EXACT, ids=str)
@given(Z=matrices, seed=st.integers(0, 2**32 - 1))
def test_no_feasible_point_is_nearer_than_an_exact_projection(name, Z, seed):
    constraint = as_constraint(name)
    rng = np.random.default_rng(seed)
    H = constraint.project(Z)
    distance = np.linalg.norm(H - Z)
    for _ in range(30):
        # Random points of the set, and feasible neighbours of the projection.
        size = rng.choice([1e-3, 0.1, 1.0, 5.0])
        near = H + size * rng.standard_normal(Z.shape)
        for point in (constraint.project(near), constraint.start(rng, *Z.shape)):
            assert constraint.contains(point)
            assert distance <= np.linalg.norm(point - Z) + 1e-9


def test_the_signed_maximum_is_not_a_projection():
    Z = np.array([[-3.0, 1.0]])
    signed = as_constraint("signed_max").project(Z)
    largest = SparseRows(s=1).project(Z)
    assert signed.tolist() == [[0, 1]]
    assert largest.tolist() == [[-3, 0]]
    assert np.linalg.norm(largest - Z) < np.linalg.norm(signed - Z)
    assert not as_constraint("signed_max").exact


CONVEX = ("none", "nonnegative", "l1_rows", "simplex_rows")


@given(Z=matrices)
def test_convex_projections_satisfy_the_variational_inequality(Z):
    """<Z - P(Z), Y - P(Z)> <= 0 for every Y of a convex set."""
    rng = np.random.default_rng(0)
    for constraint in map(as_constraint, CONVEX):
        H = constraint.project(Z)
        for _ in range(5):
            Y = constraint.project(3 * rng.standard_normal(Z.shape))
            assert np.sum((Z - H) * (Y - H)) <= 1e-9


@every_set
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_starts_are_feasible_random_and_in_the_asked_precision(name, dtype):
    constraint = as_constraint(name)
    H = constraint.start(np.random.default_rng(0), 9, 3, dtype)
    assert H.shape == (9, 3)
    assert H.dtype == dtype
    assert constraint.contains(H, 1e-6)
    other = constraint.start(np.random.default_rng(1), 9, 3, dtype)
    assert not np.array_equal(H, other)


@every_set
def test_contains_says_no(name):
    constraint = as_constraint(name)
    bad = np.full((4, 3), np.nan if constraint.name == "none" else -7.0)
    assert not constraint.contains(bad)


@every_set
def test_cones_are_closed_under_scaling_and_others_are_not(name):
    constraint = as_constraint(name)
    H = constraint.start(np.random.default_rng(0), 8, 3)
    assert constraint.contains(100 * H) == constraint.cone


def test_l1_ball_thresholds_magnitudes():
    """The paper thresholds h, not |h|; negative entries show the difference."""
    Z = np.array([[-3.0, 1.0, 0.5]])
    H = L1Rows(radius=2.0).project(Z)
    np.testing.assert_allclose(H, [[-2.0, 0.0, 0.0]])
    np.testing.assert_allclose(L1Rows(radius=9.0).project(Z), Z)


def test_simplex_by_hand():
    np.testing.assert_allclose(
        SimplexRows().project(np.array([[0.5, 0.5, 3.0], [0.4, 0.3, 0.3]])),
        [[0, 0, 1], [0.4, 0.3, 0.3]],
    )
    np.testing.assert_allclose(
        SimplexRows(total=2.0).project(np.zeros((1, 4))), np.full((1, 4), 0.5)
    )


def test_simplex_of_far_away_points_is_still_on_the_simplex():
    Z = np.array([[1e12, 1e12 - 1, 0.0], [-1e12, -1e12, -1e12]])
    H = SimplexRows().project(Z)
    assert SimplexRows().contains(H, 1e-3)


def test_unit_rows_keep_the_previous_row_at_zero():
    Z, previous = np.zeros((2, 2)), np.array([[0.0, 2.0], [0.0, 0.0]])
    assert UnitRows().project(Z, previous).tolist() == [[0, 1], [1, 0]]
    assert UnitRows().project(Z).tolist() == [[1, 0], [1, 0]]
    assert np.isnan(UnitRows().project_published(Z)).all()


def test_nonnegative_unit_rows_without_a_positive_entry():
    Z = np.array([[-2.0, -1.0], [3.0, 4.0]])
    assert NonnegativeUnitRows().project(Z).tolist() == [[0, 1], [0.6, 0.8]]
    # The released code leaves an infeasible zero row.
    assert NonnegativeUnitRows().project_published(Z).tolist() == [[0, 0], [0.6, 0.8]]


def test_ties_go_to_the_first_entry():
    Z = np.array([[1.0, 1.0, -1.0]])
    assert SparseRows(s=1).project(Z).tolist() == [[1, 0, 0]]
    assert as_constraint("one_hot_rows").project(Z).tolist() == [[1, 0, 0]]
    assert as_constraint("signed_max").project(Z).tolist() == [[1, 0, 0]]


def test_orthogonal_is_the_polar_factor_even_without_full_rank():
    for Z in (np.zeros((5, 2)), np.ones((5, 2)), np.eye(5)[:, :2] * [3, -2]):
        H = as_constraint("orthogonal").project(Z)
        np.testing.assert_allclose(H.T @ H, np.eye(2), atol=1e-12)


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ("nonegative", "Did you mean 'nonnegative'"),
        (("sparse_rows", {"t": 2}), "has no option 't'"),
        (("nonnegative", {"t": 2}), "It takes none"),
        (3, "A constraint is a name"),
        (("sparse_rows", 2), "A constraint is a name"),
    ],
)
def test_a_wrong_constraint_is_refused_in_a_sentence(asked, match):
    with pytest.raises(InputError, match=match):
        as_constraint(asked)


@pytest.mark.parametrize(
    "constraint",
    [
        SparseRows(s=0),
        SparseRows(s=4),
        SparseRows(s=1.5),
        L1Rows(radius=0.0),
        L1Rows(radius=float("nan")),
        SimplexRows(total=-1.0),
    ],
    ids=str,
)
def test_empty_and_undefined_sets_are_refused(constraint):
    with pytest.raises(InputError, match=constraint.name):
        constraint.check(10, 3)


@every_set
def test_constraints_are_values(name):
    constraint = as_constraint(name)
    assert as_constraint(constraint) is constraint
    assert pickle.loads(pickle.dumps(constraint)) == constraint
    assert isinstance(constraint, Constraint)
    assert constraint.meaning


def test_constraints_cannot_be_changed():
    with pytest.raises(AttributeError):
        L1Rows().radius = 3.0


class Box(Constraint):
    """Entries between 0 and 1/2; of the attributes only the projection is given."""

    def project(self, Z, _previous=None):
        return np.clip(Z, 0, 0.5)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"acceleration": "momentum"},
        {"sigma": "bound", "step_scale": 0.5},
        {"solver": "fixed_step"},
        {"start": "scaled", "random_state": 1},
    ],
)
def test_a_set_of_ones_own_needs_only_a_projection(options):
    U = np.random.default_rng(0).random((30, 3))
    fit = factorize(U @ U.T, 3, constraint=Box(), **{"random_state": 0, **options})
    assert fit.constraint.name == "box"
    assert Box().contains(fit.H)
    assert not Box().contains(fit.H + 0.6)
    assert np.all(np.diff(fit.error) <= 1e-12)


def test_a_solver_that_knows_its_sets_refuses_one_of_ones_own():
    with pytest.raises(InputError, match="not 'box'"):
        factorize(np.eye(4), 2, solver="sym_hals", constraint=Box())


def test_symmf_takes_a_solver_and_a_set_as_objects():
    X = np.random.default_rng(0).random((40, 3))
    solver = SOLVERS["projected_gradient"](step_scale=0.5)
    model = SymMF(
        2, solver=solver, constraint=Box(), max_iter=3000, random_state=0
    ).fit(X)
    assert model.solver_ == "projected_gradient"
    assert Box().contains(model.H_)
