"""Problems and parameters shared by the solver tests."""

import numpy as np
import pytest
from scipy import sparse

from symmf import factorize
from symmf.constraints import CONSTRAINTS
from symmf.similarity import Gram, RowFeatures, regularise
from symmf.solvers import SOLVERS

PAIRS = [
    pytest.param(name, constraint, id=f"{name}-{constraint}")
    for name, kind in SOLVERS.items()
    for constraint in kind.constraints
]
every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_pair = pytest.mark.parametrize(("solver", "constraint"), PAIRS)


def options(solver, constraint=None):
    """What a solver needs beside its name to run on a set."""
    found = {"solver": solver}
    if constraint is not None:
        found["constraint"] = constraint
        if CONSTRAINTS[constraint].published_only:
            found["published"] = True
    return found


def planted(n=24, k=3, seed=0, noise=0.05):
    """A similarity with k clear blocks, mixed signs, and its classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = np.eye(k)[y] + noise * rng.standard_normal((n, k))
    return X @ X.T, y


def run(solver, constraint=None, *, noise=0.05, **more):
    """Factor the planted similarity: one seed, and no tolerance unless told."""
    given = {"random_state": 0, "tol": 0} | options(solver, constraint) | more
    return factorize(planted(noise=noise)[0], 3, **given)


def start(n=24, k=3, seed=1):
    return np.random.default_rng(seed).random((n, k)) + 0.05


def features(n=40, m=12, seed=0, dtype=np.float64):
    return sparse.random_array(
        (n, m), density=0.3, rng=np.random.default_rng(seed), dtype=dtype
    )


def implicit(weight=0.5, **shape):
    gram = Gram(RowFeatures(features(**shape), centre=True, unit=True))
    return regularise(gram, weight)
