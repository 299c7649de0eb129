"""The leading singular directions of rows of data, for features."""

from __future__ import annotations

import numpy as np

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.linalg.eigen.blocks import orthonormal

# A block has so many vectors more than are asked for; a matrix whose shorter side is
# not so many times as long is not iterated.
_SPARE, _SHORT = 10, 2
# Values below this share of the largest are rounding.
_ROUNDING = 1e-7


def singular_directions(
    X: AnyMatrix, k: int, rounds: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return the k largest singular values, descending, and right singular vectors.

    Subspace iteration (Halko, Martinsson and Tropp 2011, algorithm 4.4) on the shorter
    side of X. Its rounds are in single precision:
    what seven of them leave of the other directions of text is far above it.
    scikit-learn's randomised SVD is as exact and takes about four times as long: it
    normalises the longer side too, in double precision.

    Parameters
    ----------
    X : (n, m) array or scipy sparse matrix
        In double precision.
    k : int
        At most min(n, m).
    rounds : int
        Products with X X^T, or X^T X.
    rng : Generator
        Draws the first block.

    Returns
    -------
    values : (k,) array
    vectors : (m, k) array
        The largest entry of each is positive; those of the value 0 are 0.
    """
    wide = X.shape[0] <= X.shape[1]
    A = X if wide else X.T
    short, width = A.shape[0], k + _SPARE
    if short <= _SHORT * width:
        Q: FloatArray = np.eye(short)
    else:
        Q = rng.standard_normal((short, width), dtype=np.float32)
        single = A.astype(np.float32)
        for _ in range(rounds):
            Q = orthonormal(np.asarray(single @ np.asarray(single.T @ Q)), rng)
        Q = orthonormal(Q.astype(np.float64), rng)
    B = np.asarray(A.T @ Q)
    squares, U = np.linalg.eigh(B.T @ B)
    values = np.sqrt(np.maximum(squares[::-1][:k], 0.0))
    U = U[:, ::-1][:, :k]
    found = values > _ROUNDING * values[0]
    scale = np.divide(1.0, values, out=np.zeros(k), where=found)
    V = B @ (U * scale) if wide else Q @ (U * found)
    largest = V[np.abs(V).argmax(axis=0), np.arange(k)]
    return values, V * np.where(largest < 0, -1.0, 1.0)
