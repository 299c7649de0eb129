"""What every way to eigenpairs returns."""

from __future__ import annotations

from dataclasses import dataclass

from symmf.common.notation import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Eigenpairs:
    """What :func:`~symmf.linalg.solve_eigenpairs` found, and how.

    Attributes
    ----------
    values : (k,) array
        Descending.
    vectors : (n, k) array
        Orthonormal columns.
    route : str
        ``components``, ``dense``, ``gram``, ``inverse_iteration`` or
        ``chebyshev_davidson``.
    n_products : int
        Columns multiplied (for inverse iteration: blocks solved).
    residual : float
        The largest residual, relative as ``tol`` is.
    """

    values: FloatArray
    vectors: FloatArray
    route: str
    n_products: int = 0
    residual: float = 0.0
