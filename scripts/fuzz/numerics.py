"""Numbers that are hard to compute with, given to clusterers and solvers."""

from __future__ import annotations

import random
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.fuzz.harness import Case
from scripts.fuzz.process import LOST

_SCALES = (1, 1, 1, 1e-320, 1e-300, 1e-160, 1e-8, 1e8, 1e150, 1e160, 1e300, 1.7e308)
_WRONG = "WRONG: "
# Parameters by what they may be; wrong values are wanted as well.
_VALUES: dict[str, tuple[Any, ...]] = {
    "n_clusters": (1, 2, 3, 5, 0, -1, 2.5, "3", None, 10**9, True, float("nan")),
    "laplacian_weight": (0, 0.5, 1, -1, 1e300, 1e308, -1e308, float("inf"),
                         float("nan"), "x"),
    "max_iter": (1, 2, 20, 0, -1, 1.5, "x", None, 10**3),
    "tol": (0, 1e-6, 1, -1, 1e300, float("nan"), float("inf"), "x", None),
    "n_init": (1, 3, 0, -1, "auto", 2.5, None),
    "random_state": (0, 1, None, -1, "a", 2**32, 2**70, 1.5, [], [1, 2]),
    "coupling": (0, 0.5, 1e300, -1, float("nan"), "x", None),
    "similarity": ("cosine", "gaussian", "x", 5, None, "self_tuning", "precomputed"),
    "constraint": ("none", "nonnegative", "simplex_rows", "orthogonal", "x", 5, None),
    "solver": ("auto", "eigen", "projected_gradient", "columnwise", "admm", "newton",
               "x", None),
    "start": ("normal", "uniform", "x", None, 5),
    "n_restarts": (1, 2, 0, -1, "x"),
    "graph_weight": (0, 100, 1e300, -1, float("nan")),
    "n_neighbors": (1, 5, 0, -1, 10**6, "x"),
    "labels": ("kmeans", "argmax", "x", 5),
    "published": (True, False, "x", 5),
    "label_options": ({"n_init": 1}, {"n_init": 0}, {"unit_rows": True}, {"x": 1},
                      {1: 2}, "x", 5, None),
    "solver_options": ({"start": "uniform"}, {"start": "x"}, {"max_seconds": -1},
                       {"coupling": 1.0}, {"x": 1}, {1: 2}, "x", None),
    "similarity_options": ({"feature_scale": "range"}, {"feature_scale": "x"},
                           {"n_neighbors": 3}, {"x": 1}, {1: 2}, 5, None),
}  # fmt: skip


def live(case: Case) -> None:
    """Fit a clusterer, or factor a matrix, with odd numbers and parameters."""
    one = _factorization if case.rng.random() < 0.4 else _clusterer
    run = one(case.rng)
    ended = case.run(lambda: _attempt(run))
    if _WRONG in ended.text:
        case.blame(LOST, ended.text)


def _attempt(run: Callable[[], str]) -> int:
    """Run; 0 for a good result, 2 for a sentence; anything else is raised."""
    from sklearn.exceptions import ConvergenceWarning

    from symmf.errors import SymmfError, SymmfWarning

    warnings.simplefilter("default")
    # Meant for users: a limit was reached, or something they should know.
    for kind in (ConvergenceWarning, SymmfWarning):
        warnings.simplefilter("ignore", kind)
    try:
        wrong = run()
    except (SymmfError, ValueError, TypeError) as error:
        if not isinstance(error, SymmfError) and not _of_scikit_learn(error):
            raise
        print(error)
        return 2
    if wrong:
        print(_WRONG + wrong)
    return 0


def _of_scikit_learn(error: BaseException) -> bool:
    """Whether scikit-learn refused what was given, by its own rules and words."""
    frames = traceback.extract_tb(error.__traceback__)
    return "sklearn" in Path(frames[-1].filename).parts


def odd_matrix(rng: random.Random, *, symmetric: bool = False) -> Any:
    """Return a matrix of odd size, scale, type or content."""
    import numpy as np
    from scipy import sparse

    n = rng.choice((1, 2, 3, 8, 20, 20, 40))
    m = n if symmetric else rng.choice((1, 2, 5, 5, 30))
    draw = np.random.default_rng(rng.randrange(2**32))
    X = draw.standard_normal((n, m)) if rng.random() < 0.5 else draw.random((n, m))
    if rng.random() < 0.5 and not symmetric:
        X += 4 * (np.arange(n) % 3)[:, None]
    scale = rng.choice(_SCALES)
    with np.errstate(over="ignore", under="ignore"):
        X = X * scale
    odd = rng.randrange(10)
    if odd == 0:
        X[rng.randrange(n), rng.randrange(m)] = rng.choice((np.nan, np.inf, -np.inf))
    elif odd == 1:
        X[rng.randrange(n), rng.randrange(m)] = rng.choice((1e300, -1e300, 1e-320))
    elif odd == 2:
        X[:] = X[0]
    elif odd == 3:
        X[:] = 0
    elif odd == 4:
        X[rng.randrange(n)] = 0
    if symmetric:
        with np.errstate(over="ignore", invalid="ignore"):
            X = X / 2 + X.T / 2
    return rng.choice((
        lambda: X, lambda: X, lambda: X, lambda: X.astype(np.float32),
        lambda: X.tolist(),
        lambda: np.asfortranarray(X), lambda: sparse.csr_array(X),
        lambda: sparse.coo_matrix(X),
        lambda: np.abs(X), lambda: X.astype(np.longdouble), lambda: X.astype(object),
        lambda: X > 0, lambda: X.astype(complex), lambda: X.astype("U"), lambda: X[0],
    ))  # fmt: skip


def _clusterer(rng: random.Random) -> Callable[[], str]:
    import inspect

    from symmf.clustering import METHODS

    name = rng.choice([name for name in METHODS if name != "dsc"])
    known = set(inspect.signature(METHODS[name]).parameters) & set(_VALUES)
    chosen = {"n_clusters": rng.choice(_VALUES["n_clusters"][:3])}
    # Half of the cases are to reach the arithmetic: the first values are right ones.
    most = 3 if rng.random() < 0.5 else None
    for key in rng.sample(sorted(known), rng.randrange(min(4, len(known)) + 1)):
        chosen[key] = rng.choice(_VALUES[key][:most])
    matrix = odd_matrix(rng)

    def fit() -> str:
        X = _made(matrix, f"{name} {chosen}")
        model = METHODS[name](**chosen).fit(X)
        stop = getattr(model, "stop_", "")
        wrong = "" if getattr(stop, "value", stop) == "diverged" else _not_finite(model)
        n = len(X) if isinstance(X, list) else X.shape[0]
        if model.labels_.shape != (n,) or model.labels_.min() < 0:
            wrong = f"labels {model.labels_[:10]} for {n} samples"
        return wrong

    return fit


def _made(matrix: Callable[[], Any], about: str) -> Any:
    import numpy as np

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = matrix()
    print(f"{about} X={type(X).__name__} {getattr(X, 'dtype', '')} {np.shape(X)}")
    return X


def _not_finite(fit: Any) -> str:
    """Return the name of a result that is not finite."""
    import numpy as np

    names = ("H_", "H", "error", "objective_", "cluster_centers_", "inertia_",
             "embedding_")  # fmt: skip
    given = {name: getattr(fit, name, None) for name in names}
    odd = [name for name, value in given.items() if value is not None
           and not np.isfinite(np.asarray(value, dtype=float)).all()]  # fmt: skip
    return f"not finite: {odd}" if odd else ""


def _factorization(rng: random.Random) -> Callable[[], str]:
    from symmf.constraints import CONSTRAINTS
    from symmf.solvers.registry import SOLVERS

    chosen: dict[str, Any] = {
        "solver": rng.choice([*SOLVERS, "x"]),
        "constraint": rng.choice(("none", "none", *CONSTRAINTS, "x")),
        "max_iter": rng.choice((1, 5, 30)),
    }
    for key in rng.sample(("tol", "random_state", "start"), rng.randrange(3)):
        chosen[key] = rng.choice(_VALUES[key])
    k = rng.choice((1, 2, 3, 1, 2, 3, *_VALUES["n_clusters"]))
    matrix = odd_matrix(rng, symmetric=True)

    def factor() -> str:
        import symmf

        M = _made(matrix, f"factorize {k} {chosen}")
        fit = symmf.factorize(M, k, **chosen)
        return "" if fit.stop.value == "diverged" else _not_finite(fit)

    return factor
