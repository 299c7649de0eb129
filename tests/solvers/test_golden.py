"""Every trajectory of the authors' own code is followed.

The compact file has the inputs, the last iterate and the whole trace of errors; a
trace that agrees at every step to these tolerances pins the iterates between.
"""

import h5py
import numpy as np
import pytest
from helpers.golden import GOLDEN_FILE

from symmf import factorize

CASES = ("synth", "mixed", "digits")
SETS = {
    "matrixFac": "none",
    "matrixFac_pos": "nonnegative",
    "PGD": "nonnegative",
    "matrixFac_norm": "unit_rows",
    "matrixFac_pos_norm": "nonnegative_unit_rows",
    "matrixFac_sparsity": "signed_max",
    "matrixFac_sparsity_sinit": "signed_max",
}


def groups(*methods):
    """Every (case, method) of the golden file, as test parameters."""
    with h5py.File(GOLDEN_FILE) as file:
        pairs = [(c, m) for m in methods for c in CASES if f"{c}/{m}" in file]
    return pytest.mark.parametrize(("case", "method"), pairs)


def arrays(golden, case, method):
    """Inputs, outputs and attributes of a group."""
    group = golden[f"{case}/{method}"]
    inputs = {name: value[()] for name, value in group["inputs"].items()}
    outputs = {name: group[name][()] for name in group if name != "inputs"}
    return inputs, outputs, dict(group.attrs)


def run(inputs, **options):
    """Factor from the recorded start, for fifty iterations unless told."""
    H0 = next(inputs[name] for name in ("H0_start", "H0", "U0") if name in inputs)
    options = {"H0": H0, "P0": inputs.get("V0"), "max_iter": 50, "tol": 0} | options
    return factorize(inputs["X"], H0.shape[1], **options)


def assert_follows(trace, expected, rtol, *, slack=1e-14):
    """Compare error traces; ``slack`` is relative to the first value.

    Their errors come from sums of n^2 squares or from differences of traces, so an
    absolute error of a few roundings of the first loss is theirs, not ours.
    """
    np.testing.assert_allclose(trace, expected, rtol=rtol, atol=slack * expected[0])


def assert_same(H, expected, rtol):
    assert np.linalg.norm(H - expected) <= rtol * np.linalg.norm(expected)


@groups(*SETS)
def test_algorithm_2(golden, case, method):
    inputs, outputs, _ = arrays(golden, case, method)
    fit = run(inputs, constraint=SETS[method], published=True)
    trace = outputs["trace"]
    if len(trace) == 50:
        # Un-normalised and taken before each update: the last loss is not in it.
        assert_follows(fit.error[:50] * np.sum(inputs["X"] ** 2), trace, 1e-13)
    else:
        assert_follows(fit.error / 2, trace, 1e-13)
    assert_same(fit.H, outputs["H"], 1e-13)


COLUMNWISE = {
    "matrixFac_col": 1e-11,
    "matrixFac_col_stop": 1e-11,
    "matrixFac_col_lam100": 1e-12,
}


@groups(*COLUMNWISE)
def test_algorithm_1_with_the_printed_update(golden, case, method):
    inputs, outputs, attributes = arrays(golden, case, method)
    mu, tol = float(attributes["lambda"]), max(0.0, float(attributes["tol"]))
    merits = []

    def penalty(iteration):
        gap = np.sum((iteration.H - iteration.P) ** 2) / np.sum(inputs["X"] ** 2)
        merits.append((iteration.split_error + mu * gap) / 2)

    more = {"coupling": mu, "tol": tol, "callback": penalty}
    fit = run(inputs, solver="columnwise", published=True, **more)
    rtol = COLUMNWISE[method]
    assert fit.n_iter == int(attributes["n_iter"])
    assert_follows(fit.split_error / 2, outputs["trace_pure"], rtol)
    assert_follows(np.array(merits), outputs["trace"], rtol)
    assert_same(fit.H, outputs["H"], 1e-12)
    assert_same(fit.P, outputs["P"], 1e-12)


@pytest.mark.parametrize("case", CASES)
def test_algorithm_1_stops_where_the_released_code_stops(golden, case):
    inputs, outputs, attributes = arrays(golden, case, "matrixFac_col_tol1e4")
    # The released coupling 1.0 is the default of a published run.
    fit = run(inputs, solver="columnwise", tol=1e-4, published=True)
    n_iter = int(attributes["n_iter"])
    assert (fit.n_iter, fit.stop) == (n_iter, "tolerance")
    assert_follows(fit.split_error / 2, outputs["trace_pure"][: n_iter + 1], 1e-12)
    assert_same(fit.H, outputs["H"], 1e-12)
    assert_same(fit.P, outputs["P"], 1e-12)


def test_algorithm_1_diverges_as_published_and_says_so(golden):
    inputs, outputs, attributes = arrays(golden, "digits", "matrixFac_col_wide")
    options = {"solver": "columnwise", "coupling": float(attributes["lambda"])}
    fit = run(inputs, published=True, **options)
    assert fit.stop == "diverged"
    assert fit.n_iter >= 10
    for array in (fit.H, fit.P, fit.error, fit.split_error):
        assert np.isfinite(array).all()
    expected = outputs["trace_pure"][: fit.n_iter + 1]
    np.testing.assert_allclose(fit.split_error / 2, expected, rtol=1e-10)
    # The transposed update of the default does not diverge from the same start.
    right = run(inputs, **options)
    assert right.stop == "max_iter"
    assert right.split_error[-1] < right.split_error[0]


@groups("PivotANLS", "PivotANLS_onM")
@pytest.mark.parametrize("published", [True, False])
def test_sym_anls(golden, case, method, published):
    inputs, outputs, attributes = arrays(golden, case, method)
    gaps = []
    more = {"coupling": float(attributes["lambda"]), "published": published}
    more["callback"] = lambda it: gaps.append(np.sum((it.H - it.P) ** 2))
    fit = run(inputs, solver="sym_anls", **more)
    assert_follows(fit.split_error / 2, outputs["trace"], 1e-11)
    assert_follows(np.array(gaps), outputs["diff"], 1e-9)
    assert_same(fit.H, outputs["U"], 1e-11)
    assert_same(fit.P, outputs["V"], 1e-11)


@groups("NS_ADMM", "NS_ADMM_onM")
def test_admm_with_the_exchanged_call(golden, case, method):
    inputs, outputs, attributes = arrays(golden, case, method)
    fit = run(inputs, solver="admm", rho=float(attributes["rho"]), published=True)
    assert_follows(fit.split_error / 2, outputs["trace"], 1e-11)
    assert_same(fit.H, outputs["H"], 1e-11)


NEWTON = {
    "symnmf_newton_authors": 50,
    "symnmf_newton_authors_onM": 50,
    "symnmf_newton_authors_T150": 150,
    "symnmf_newton_kuang": 50,
    "symnmf_newton_kuang_onM": 50,
}


@groups(*NEWTON)
def test_newton(golden, case, method):
    inputs, outputs, _ = arrays(golden, case, method)
    fit = run(inputs, solver="newton", max_iter=NEWTON[method])
    X, trace = inputs["X"], outputs["trace"]
    if "kuang" in method:
        # Un-normalised, after each iteration, from traces.
        slack = 1e-14 * np.sum(X**2) / trace[0]
        assert_follows(fit.error[1:] * np.sum(X**2), trace, 1e-11, slack=slack)
    else:
        assert_follows(fit.error / 2, trace, 1e-11)
    # At a flat optimum H is known to the square root of what f resolves.
    assert_same(fit.H, outputs["H"], 1e-6)


@groups("symnmf_newton_kuang", "symnmf_newton_kuang_onM")
def test_newton_stops_where_the_original_stops(golden, case, method):
    inputs, outputs, attributes = arrays(golden, case, method)
    fit = run(inputs, solver="newton", max_iter=10_000, tol=1e-4)
    # Their counter includes the iteration in which the test ends the loop.
    assert fit.n_iter == int(attributes["default_iter"]) - 1
    assert fit.stop == "tolerance"
    assert_same(fit.H, outputs["default_H"], 1e-9)


ANLS = ["symnmf_anls_kuang", "symnmf_anls_kuang_alpha0", "symnmf_anls_kuang_onM"]


def run_anls(inputs, attributes, **options):
    coupling = 0.0 if attributes["alpha_passed"] == 0 else None
    return run(inputs, solver="symnmf_anls", coupling=coupling, **options)


@groups(*ANLS)
def test_symnmf_anls(golden, case, method):
    inputs, outputs, attributes = arrays(golden, case, method)
    fit = run_anls(inputs, attributes)
    size = np.sum(inputs["X"] ** 2)
    # Their objective is a difference of traces: rounded at the size of ||X||^2.
    slack = 1e-14 * size / outputs["trace"][0]
    trace = fit.split_error[1:] * size
    assert_follows(trace, outputs["trace"], 1e-10, slack=slack)
    assert_same(fit.H, outputs["H"], 1e-10)


@groups(*ANLS)
def test_symnmf_anls_stops_where_the_original_stops(golden, case, method):
    inputs, outputs, attributes = arrays(golden, case, method)
    fit = run_anls(inputs, attributes, max_iter=10_000, tol=1e-3)
    assert (fit.n_iter, fit.stop) == (int(attributes["default_iter"]), "tolerance")
    assert_same(fit.H, outputs["default_H"], 1e-10)


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("projected_gradient", {"published": True}),
        ("columnwise", {"published": True, "coupling": 1.0}),
        ("sym_anls", {"coupling": 1.0}),
        ("newton", {}),
        ("symnmf_anls", {}),
        ("admm", {"published": True, "rho": 10.0}),
    ],
)
def test_a_shorter_run_is_the_beginning_of_a_longer_one(golden, solver, options):
    X = golden["digits/PivotANLS/inputs/X"][()]
    H0 = golden["digits/PivotANLS/inputs/U0"][()]
    seen = []
    options = {"solver": solver, "H0": H0, "tol": 0, **options}
    factorize(X, 3, max_iter=20, callback=lambda it: seen.append(it.H), **options)
    for t in (0, 1, 7, 20):
        assert np.array_equal(factorize(X, 3, max_iter=t, **options).H, seen[t])


@pytest.mark.parametrize("step_scale", [1.0, 0.5])
def test_the_default_step_agrees_with_the_published_one(golden, step_scale):
    """With exact norms the safeguard changes nothing for an unconstrained run."""
    inputs, *_ = arrays(golden, "digits", "matrixFac")
    published = run(inputs, step_scale=step_scale, published=True)
    default = run(inputs, step_scale=step_scale, sigma="exact")
    np.testing.assert_allclose(default.error, published.error, rtol=1e-10)
