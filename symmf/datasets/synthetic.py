"""Made data: the paper's exact factors, planted clusters, two moons.

``load_dataset("synthetic", kind=..., **options)``. The same options give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse as sp

from symmf.common.notation import FloatArray
from symmf.common.seeds import generator, spawn_seed
from symmf.common.validation import (
    check_name,
    check_number,
    check_options,
    option_names,
)
from symmf.datasets.base import Dataset, DatasetSpec
from symmf.errors import InputError

# Terms in each document of the sparse planted clusters.
DOCUMENT_LENGTH = 50
# What is made must be in the range of all data sets.
LARGEST_NOISE = 1e50
# Numbers in a matrix, 3.2 GB of them.
LARGEST = 4 * 10**8
LARGEST_SEED = 2**63 - 1


def exact_factor_matrix(
    *, n: int = 20, k: int = 5, seed: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Return M = U U^T and U, the entries of U (n x k) uniform on [0, 1).

    This is the paper's test of convergence: the smallest value of
    ||M - H H^T||_F^2 is 0, with H = U. U has so few binary digits (25 for k = 5) that
    the product is exact: the same bits whatever the order in which a machine sums.

    Examples
    --------
    >>> M, U = exact_factor_matrix(n=6, k=2)
    >>> M.shape, U.shape, bool(np.allclose(M, U @ U.T))
    ((6, 6), (6, 2), True)
    """
    n, k, seed = _sizes(n=n, k=k, seed=seed, square=True)
    U = generator("synthetic", "exact_factor", n, k, seed).random((n, k))
    # A sum of k products of b digits has 2 b + log2 k of them; 53 can be had.
    step = 2.0 ** ((53 - (k - 1).bit_length()) // 2)
    U = np.floor(U * step) / step
    return U @ U.T, U


def exact_factor(
    *, n: int = 20, k: int = 5, noise: float = 0.0, seed: int = 0
) -> Dataset:
    """Return the matrix of :func:`exact_factor_matrix` as data of kind "matrix".

    The class of a row is the place of its largest entry in U; a column that is
    nowhere the largest makes no class. ``noise`` adds a symmetric matrix of normal
    entries of this size (off the diagonal): then no factor is exact.
    """
    check_number("noise", noise, least=0, most=LARGEST_NOISE)
    M, U = exact_factor_matrix(n=n, k=k, seed=seed)
    if noise:
        E = generator("synthetic", "noise", n, k, seed).standard_normal((n, n))
        M = M + noise * (np.triu(E) + np.triu(E, 1).T)
    return Dataset.from_arrays(
        M,
        np.argmax(U, axis=1),
        name="synthetic",
        title=f"Exact factor ({n} x {k})",
        kind="matrix",
    )


def planted(
    *,
    n: int = 200,
    k: int = 4,
    m: int = 40,
    noise: float = 0.1,
    sparse: bool = False,
    seed: int = 0,
) -> Dataset:
    """Return k clusters of nearly equal size in m >= k dimensions, rows shuffled.

    Dense: Gaussian clouds of standard deviation ``noise`` around k orthonormal centres.
    Sparse: documents of 50 terms; class j draws its terms from its own m / k columns,
    except for a share ``noise`` of them that come from all m columns.
    """
    n, k, m, seed = _sizes(n=n, k=k, m=m, seed=seed)
    most = 1.0 if sparse else LARGEST_NOISE
    check_number("Synthetic data: noise", noise, least=0, most=most)
    if not isinstance(sparse, bool):
        raise InputError(
            f"Synthetic data: sparse must be true or false, not {sparse!r}."
        )
    if m < k:
        raise InputError(
            f"Planted clusters need at least as many columns as clusters; "
            f"got m = {m} and k = {k}."
        )
    rng = generator("synthetic", "planted", n, k, m, float(noise), sparse, seed)
    y = rng.permutation(np.arange(n) % k)
    X: Any
    if sparse:
        topics = np.full((k, m), noise / m)
        for j, columns in enumerate(np.array_split(np.arange(m), k)):
            topics[j, columns] += (1 - noise) / columns.size
        X = sp.csr_array(rng.multinomial(DOCUMENT_LENGTH, topics[y]).astype(float))
    else:
        centres, _ = np.linalg.qr(rng.standard_normal((m, k)))
        X = centres.T[y] + noise * rng.standard_normal((n, m))
    return Dataset.from_arrays(
        X,
        y,
        name="synthetic",
        title=f"Planted clusters ({n} x {m}, {k})",
        kind="text" if sparse else "vector",
    )


def two_moons(*, n: int = 200, noise: float = 0.05, seed: int = 0) -> Dataset:
    """Return two interleaved half circles, blurred by Gaussian ``noise``."""
    from sklearn.datasets import make_moons

    n, _, seed = _sizes(n=n, k=2, seed=seed)
    check_number("Synthetic data: noise", noise, least=0, most=LARGEST_NOISE)
    rng = generator("synthetic", "two_moons", n, float(noise), seed)
    X, y = make_moons(n, noise=float(noise), random_state=spawn_seed(rng))
    return Dataset.from_arrays(
        X, y, name="synthetic", title=f"Two moons ({n})", kind="vector"
    )


KINDS: dict[str, Callable[..., Dataset]] = {
    "exact_factor": exact_factor,
    "planted": planted,
    "two_moons": two_moons,
}


def read(*, kind: str = "exact_factor", **options: Any) -> Dataset:
    """Make data of one of ``KINDS``."""
    make = KINDS[check_name("kind of synthetic data", kind, KINDS)]
    check_options(f"Synthetic data of kind {kind!r}", options, option_names(make))
    return make(**options)


def _sizes(*, square: bool = False, **given: Any) -> list[int]:
    """Return the integers given, each at least 1 (``seed``: at least 0), k <= n."""
    for name, value in given.items():
        least, most = (0, LARGEST_SEED) if name == "seed" else (1, LARGEST)
        what = f"Synthetic data: {name}"
        check_number(what, value, least=least, most=most, whole=True)
    n, k = given["n"], given["k"]
    if n < k:
        raise InputError(
            f"Synthetic data: {k} clusters need at least {k} samples, not n = {n}."
        )
    columns = given.get("m", n if square else 2)
    if n * columns > LARGEST:
        raise InputError(
            f"Synthetic data: {n} x {columns} numbers would take "
            f"{n * columns * 8 / 1e9:.3g} GB; the most that is made is "
            f"{LARGEST * 8 / 1e9:g} GB. Ask for fewer samples or columns."
        )
    return [int(value) for value in given.values()]


SPEC = DatasetSpec(
    name="synthetic",
    title="Synthetic",
    description="made on demand: exact_factor (M = U U^T), planted clusters, two_moons",
    licence="none needed",
    citation="",
    read=read,
    options={
        "kind": "exact_factor (default), planted or two_moons",
        "n": "number of samples",
        "k": "number of clusters (exact_factor, planted)",
        "m": "number of columns (planted)",
        "noise": "blur (planted, two_moons)",
        "sparse": "documents instead of clouds (planted)",
        "seed": "which random draw",
    },
)
