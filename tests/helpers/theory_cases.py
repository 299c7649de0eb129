"""Random problems for the theory tests."""

import numpy as np
from hypothesis import strategies as st

from symmf.constraints import as_constraint
from symmf.similarity import DenseOperator, regularise

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(2, 14)


@st.composite
def problems(draw, *, n_min=2):
    """M (definite, indefinite or regularised), k and a generator."""
    n = draw(st.integers(n_min, 14))
    k = draw(st.integers(1, min(n, 8)))
    rng = np.random.default_rng(draw(seeds))
    kind = draw(st.sampled_from(["psd", "indefinite", "regularised", "negative"]))
    X = rng.standard_normal((n, max(2, n // 2)))
    if kind == "psd":
        M = X @ X.T
    elif kind == "negative":
        M = -X @ X.T
    elif kind == "regularised":
        M = regularise(DenseOperator(X @ X.T), 0.5).toarray()
    else:
        M = rng.standard_normal((n, n))
    return (M + M.T) / 2, k, rng


def start(name, rng, n, k):
    """A feasible point; scaled between 0.01 and 5 where the set allows."""
    constraint = as_constraint(name)
    H = constraint.start(rng, n, k)
    return H * 10 ** rng.uniform(-2, 0.7) if constraint.cone else H


def symmetric(rng, n):
    A = rng.standard_normal((n, n))
    return A + A.T
