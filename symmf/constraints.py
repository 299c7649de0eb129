"""Every feasible set: its projection, membership, and a random feasible start.

A constraint says of itself whether ``project`` is the exact Euclidean projection
(``exact``): only then does projected gradient promise a decreasing objective.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from symmf.common.notation import FloatArray
from symmf.common.validation import check_name, check_number, check_options, shown
from symmf.errors import InputError

_TINY = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A set of matrices H; this one is the whole space.

    A set of your own is a subclass with ``project``; projected gradient takes it as
    ``factorize(M, k, constraint=Ball(radius=2.0))``. Without a ``name`` it is called
    after its class.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from symmf import factorize
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Ball(Constraint):
    ...     radius: float = 1.0
    ...     cone = False
    ...
    ...     def project(self, Z, previous=None):
    ...         return Z * min(1.0, self.radius / np.linalg.norm(Z))
    >>> fit = factorize(np.eye(4), 2, constraint=Ball(radius=0.5), random_state=0)
    >>> fit.constraint.name, round(float(np.linalg.norm(fit.H)), 6)
    ('ball', 0.5)
    """

    name: ClassVar[str] = "none"
    meaning: ClassVar[str] = "any real matrix"
    #: project is the nearest point of the set
    exact: ClassVar[bool] = True
    #: closed under multiplication by positive numbers, so a start may be rescaled
    cone: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = False
    #: finitely many points: a gradient step cannot move, coordinate moves can
    discrete: ClassVar[bool] = False
    #: reproduces a fault of the released code; refused unless ``published=True``
    published_only: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if "name" not in cls.__dict__:
            cls.name = cls.__name__.lower()

    def project(self, Z: FloatArray, _previous: FloatArray | None = None) -> FloatArray:
        """Return the nearest feasible point to Z (it may be Z itself).

        ``previous`` decides where the nearest point is not unique.
        """
        return Z

    def project_published(self, Z: FloatArray) -> FloatArray:
        """Return what the authors' released code computes for this set."""
        return self.project(Z)

    def contains(self, H: FloatArray, atol: float = 1e-8) -> bool:
        """Tell whether H is feasible up to ``atol``: projecting leaves it in place."""
        return bool(
            np.isfinite(H).all() and np.allclose(self.project(H), H, rtol=0, atol=atol)
        )

    def check(self, _n: int, _k: int) -> None:
        """Raise InputError if the set is empty or undefined for (n, k) matrices."""

    def start(
        self, rng: np.random.Generator, n: int, k: int, dtype: Any = np.float64
    ) -> FloatArray:
        """Return a random feasible matrix: the projection of a normal one."""
        return self.project(rng.standard_normal((n, k)).astype(dtype))


@dataclass(frozen=True, slots=True, kw_only=True)
class Nonnegative(Constraint):
    """H >= 0."""

    name: ClassVar[str] = "nonnegative"
    meaning: ClassVar[str] = "no negative entry"
    nonnegative: ClassVar[bool] = True

    def project(self, Z: FloatArray, _previous: FloatArray | None = None) -> FloatArray:
        """Clip at zero."""
        return np.maximum(Z, 0)

    def contains(self, H: FloatArray, atol: float = 1e-8) -> bool:
        """No entry below zero."""
        return bool(np.min(H, initial=0.0) >= -atol)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRows(Constraint):
    """Rows of unit length; the nearest point to a zero row is any unit vector."""

    name: ClassVar[str] = "unit_rows"
    meaning: ClassVar[str] = "every row has length 1"
    cone: ClassVar[bool] = False

    def project(self, Z: FloatArray, previous: FloatArray | None = None) -> FloatArray:
        """Divide rows by their length; a zero row keeps the previous one."""
        norms = _row_norms(Z)
        zero = norms[:, 0] <= _TINY
        if not zero.any():
            return np.asarray(Z / norms)
        out = Z / np.where(zero[:, None], 1, norms)
        out[zero] = _first_axis(Z) if previous is None else _unit(previous[zero])
        return np.asarray(out)

    def project_published(self, Z: FloatArray) -> FloatArray:
        """Divide rows by their length; a zero row becomes NaN."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(Z / _row_norms(Z))

    def contains(self, H: FloatArray, atol: float = 1e-8) -> bool:
        """Row lengths are 1."""
        return bool(np.allclose(_row_norms(H), 1, rtol=0, atol=atol))


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseRows(Constraint):
    """At most s nonzero entries in every row."""

    s: int = 1
    name: ClassVar[str] = "sparse_rows"
    meaning: ClassVar[str] = "at most s nonzero entries in every row"

    def check(self, _n: int, k: int) -> None:
        """Refuse an s that is not a whole number between 1 and k."""
        check_number("s of sparse_rows", self.s, least=1, most=k, whole=True)

    def project(self, Z: FloatArray, _previous: FloatArray | None = None) -> FloatArray:
        """Keep the s entries of largest magnitude (ties: the first ones)."""
        keep = np.argsort(-np.abs(Z), axis=1, kind="stable")[:, : self.s]
        out = np.zeros_like(Z)
        np.put_along_axis(out, keep, np.take_along_axis(Z, keep, axis=1), axis=1)
        return out

    def contains(self, H: FloatArray, atol: float = 1e-8) -> bool:
        """Count the nonzero entries."""
        return bool(np.all(np.sum(np.abs(H) > atol, axis=1) <= self.s))


@dataclass(frozen=True, slots=True, kw_only=True)
class Orthogonal(Constraint):
    """Orthonormal columns, H^T H = I (the Stiefel manifold)."""

    name: ClassVar[str] = "orthogonal"
    meaning: ClassVar[str] = "orthonormal columns"
    cone: ClassVar[bool] = False

    def check(self, n: int, k: int) -> None:
        """Refuse more columns than rows, which cannot be orthonormal."""
        check_number("k of orthogonal", k, most=n)

    def project(self, Z: FloatArray, _previous: FloatArray | None = None) -> FloatArray:
        """Return U V^T of the thin SVD (the paper prints U^T V)."""
        U, _, Vt = np.linalg.svd(Z, full_matrices=False)
        return np.asarray(U @ Vt)

    def contains(self, H: FloatArray, atol: float = 1e-8) -> bool:
        """H^T H is the identity."""
        return bool(np.allclose(H.T @ H, np.eye(H.shape[1]), rtol=0, atol=atol))


@dataclass(frozen=True, slots=True, kw_only=True)
class L1Rows(Constraint):
    """Rows in an l1 ball."""

    radius: float = 1.0
    name: ClassVar[str] = "l1_rows"
    meaning: ClassVar[str] = "absolute values of every row sum to at most radius"
    cone: ClassVar[bool] = False

    def check(self, _n: int, _k: int) -> None:
        """Refuse a radius that is not positive."""
        check_number("radius of l1_rows", self.radius, above=0)

    def project(self, Z: FloatArray, _previous: FloatArray | None = None) -> FloatArray:
        """Soft-threshold magnitudes; the paper takes z itself, also where z < 0."""
        magnitude = np.abs(Z)
        outside = magnitude.sum(axis=1) > self.radius
        out = Z.copy()
        shrunk = _simplex(magnitude[outside], self.radius)
        out[outside] = np.sign(Z[outside]) * shrunk
        return out

    def contains(self, H: FloatArray, atol: float = 1e-8) -> bool:
        """Check the l1 norms of the rows."""
        return bool(np.all(np.abs(H).sum(axis=1) <= self.radius + atol))


@dataclass(frozen=True, slots=True, kw_only=True)
class SimplexRows(Constraint):
    """Nonnegative rows that sum to ``total``: memberships."""

    total: float = 1.0
    name: ClassVar[str] = "simplex_rows"
    meaning: ClassVar[str] = "nonnegative rows that sum to total"
    cone: ClassVar[bool] = False
    nonnegative: ClassVar[bool] = True

    def check(self, _n: int, _k: int) -> None:
        """Refuse a total that is not positive."""
        check_number("total of simplex_rows", self.total, above=0)

    def project(self, Z: FloatArray, _previous: FloatArray | None = None) -> FloatArray:
        """Project every row on the simplex."""
        return _simplex(Z, self.total)

    def contains(self, H: FloatArray, atol: float = 1e-8) -> bool:
        """Check signs and row sums."""
        sums = np.allclose(H.sum(axis=1), self.total, rtol=0, atol=atol)
        return bool(sums and H.min() >= -atol)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneHotRows(Constraint):
    """Indicator rows: exactly one entry is 1, the others are 0."""

    name: ClassVar[str] = "one_hot_rows"
    meaning: ClassVar[str] = "every row is a cluster indicator"
    cone: ClassVar[bool] = False
    nonnegative: ClassVar[bool] = True
    discrete: ClassVar[bool] = True

    def project(self, Z: FloatArray, _previous: FloatArray | None = None) -> FloatArray:
        """Return the indicator of the largest entry (ties: the first)."""
        return _indicator(np.argmax(Z, axis=1), Z)


@dataclass(frozen=True, slots=True, kw_only=True)
class NonnegativeUnitRows(Constraint):
    """Nonnegative rows of unit length."""

    name: ClassVar[str] = "nonnegative_unit_rows"
    meaning: ClassVar[str] = "nonnegative rows of length 1"
    cone: ClassVar[bool] = False
    nonnegative: ClassVar[bool] = True

    def project(self, Z: FloatArray, _previous: FloatArray | None = None) -> FloatArray:
        """Clip and normalise; without a positive entry take the largest one."""
        clipped = np.maximum(Z, 0)
        norms = _row_norms(clipped)
        zero = norms[:, 0] <= _TINY
        out = clipped / np.where(zero[:, None], 1, norms)
        out[zero] = _indicator(np.argmax(Z[zero], axis=1), Z[zero])
        return np.asarray(out)

    def project_published(self, Z: FloatArray) -> FloatArray:
        """Clip and normalise; without a positive entry the row becomes zero."""
        clipped = np.maximum(Z, 0)
        norms = _row_norms(clipped)
        return np.divide(clipped, norms, out=np.zeros_like(Z), where=norms > 0)

    def contains(self, H: FloatArray, atol: float = 1e-8) -> bool:
        """Check signs and row lengths."""
        lengths = np.allclose(_row_norms(H), 1, rtol=0, atol=atol)
        return bool(lengths and H.min() >= -atol)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedMax(Constraint):
    """The authors' sparsity map: keep the largest signed entry of every row.

    Not a projection (the entry of largest magnitude is nearer), so the objective may
    rise. For reproduction only.
    """

    name: ClassVar[str] = "signed_max"
    meaning: ClassVar[str] = "the authors' one-entry rows; for reproduction only"
    exact: ClassVar[bool] = False
    published_only: ClassVar[bool] = True

    def project(self, Z: FloatArray, _previous: FloatArray | None = None) -> FloatArray:
        """Zero all but the largest signed entry (ties: the first)."""
        return Z * _indicator(np.argmax(Z, axis=1), Z)

    def contains(self, H: FloatArray, atol: float = 1e-8) -> bool:
        """At most one nonzero entry in every row."""
        return bool(np.all(np.sum(np.abs(H) > atol, axis=1) <= 1))


CONSTRAINTS: dict[str, type[Constraint]] = {
    constraint.name: constraint
    for constraint in (
        Constraint,
        Nonnegative,
        UnitRows,
        SparseRows,
        Orthogonal,
        L1Rows,
        SimplexRows,
        OneHotRows,
        NonnegativeUnitRows,
        SignedMax,
    )
}

# For editors, which offer these where a name is asked for.
ConstraintName: TypeAlias = Literal[
    "none",
    "nonnegative",
    "unit_rows",
    "sparse_rows",
    "orthogonal",
    "l1_rows",
    "simplex_rows",
    "one_hot_rows",
    "nonnegative_unit_rows",
    "signed_max",
]
ConstraintLike: TypeAlias = (
    ConstraintName | str | tuple[str, Mapping[str, Any]] | Constraint
)


def as_constraint(constraint: ConstraintLike) -> Constraint:
    """Turn a name, a ``(name, parameters)`` pair or a constraint into a constraint.

    Examples
    --------
    >>> as_constraint(("sparse_rows", {"s": 2}))
    SparseRows(s=2)
    """
    if isinstance(constraint, Constraint):
        return constraint
    name: Any = constraint  # a caller without types may hand over anything
    parameters: Any = {}
    if isinstance(constraint, tuple | list) and len(constraint) == 2:
        name, parameters = constraint
    if not isinstance(name, str) or not isinstance(parameters, Mapping):
        raise InputError(
            "A constraint is a name, a pair (name, parameters) or a constraint "
            f"object, not {shown(constraint)}."
        )
    kind = CONSTRAINTS[check_name("constraint", name, CONSTRAINTS)]
    known = [field.name for field in fields(kind)]
    check_options(f"The constraint {name!r}", parameters, known)
    return kind(**parameters)


def _row_norms(Z: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", Z, Z))[:, None])


def _indicator(columns: np.ndarray, like: FloatArray) -> FloatArray:
    out = np.zeros_like(like)
    out[np.arange(len(columns)), columns] = 1
    return out


def _first_axis(like: FloatArray) -> FloatArray:
    axis = np.zeros(like.shape[1], like.dtype)
    axis[0] = 1
    return axis


def _unit(rows: FloatArray) -> FloatArray:
    norms = _row_norms(rows)
    unit = rows / np.maximum(norms, _TINY)
    return np.asarray(np.where(norms > _TINY, unit, _first_axis(rows)))


def _simplex(Z: FloatArray, total: float) -> FloatArray:
    """Project rows on {h >= 0, sum h = total} by sorting, O(k log k) a row."""
    k = Z.shape[1]
    u = -np.sort(-Z, axis=1)
    excess = np.cumsum(u, axis=1) - total
    rank = np.arange(1, k + 1, dtype=Z.dtype)
    # rho: how many entries stay positive; theta: what is taken from each of them.
    rho = np.count_nonzero(u * rank > excess, axis=1)
    rho = np.maximum(rho, 1)
    theta = excess[np.arange(len(Z)), rho - 1] / rho
    return np.asarray(np.maximum(Z - theta[:, None].astype(Z.dtype), 0))
