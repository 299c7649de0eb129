"""What the paper proves or remarks in its text, checked numerically.

Every check draws its problems from a fixed seed and runs loops of its own: neither the
solvers of this package nor data sets are involved. A check says in how many of its
cases the statement failed: enough to refute a statement, not to prove it. The
statements are in ``theory.yaml``; a function here tries some of them, and calls ``add``
with the name of one, a measured value and up to where it may go.
Notation: M symmetric, f(H) = ||M - H H^T||_F^2, L(H) = 4 ||H H^T - M||_2 + 8 ||H||_2^2.
"""

from __future__ import annotations

import itertools
import operator
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symmf.common.notation import FloatArray
from symmf.common.seeds import generator
from symmf.common.shipped import packaged
from symmf.constraints import Constraint, as_constraint
from symmf.metrics import accuracy

if TYPE_CHECKING:
    import pandas as pd

HOLDS, FAILS = "holds", "does not hold"
SETS = (
    *("none", "nonnegative", "unit_rows", "sparse_rows", "orthogonal", "l1_rows"),
    *("simplex_rows", "one_hot_rows", "nonnegative_unit_rows"),
)
#: columns of the table
COLUMNS = (
    *("item", "verdict", "statement", "tried", "cases", "failures"),
    *("worst", "measure", "seconds"),
)
# What is above rounding, relative to the terms that are subtracted.
_ROUNDING = 1e-10
_PRINTED, _RELEASED = "1/(2L), as printed", "1/L, as released"


def theory_frame(*, large: bool = True) -> pd.DataFrame:
    """Return what came of trying every statement: a row per check, in order.

    Parameters
    ----------
    large : bool
        Also time decompositions of large matrices, the only rows that depend on the
        machine.

    Returns
    -------
    pandas.DataFrame
        The columns of :data:`COLUMNS`. A case fails if what is measured (``measure``)
        is above its limit, or not a number; ``worst`` is the largest measured value
        and ``seconds`` the time of the check.
    """
    import pandas as pd

    statements: dict[str, dict[str, str]] = packaged("symmf.audit", "theory.yaml")
    found: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in statements}

    def add(name: str, value: float, limit: float, /, **where: Any) -> None:
        texts = {key: text.format(**where) for key, text in statements[name].items()}
        new = {**texts, "cases": 0, "failures": 0, "worst": 0.0}
        check = found[name].setdefault(texts["item"], new)
        check["cases"] += 1
        check["failures"] += not value <= limit
        check["worst"] = max(check["worst"], float(value))

    for make in (*_CHECKS, *((_decompositions,) if large else ())):
        began = time.perf_counter()
        make(add)
        checks = [check for group in found.values() for check in group.values()]
        new = [check for check in checks if "seconds" not in check]
        for check in new:
            check["seconds"] = (time.perf_counter() - began) / len(new)
            check["verdict"] = FAILS if check["failures"] else HOLDS
    ordered = (check for group in found.values() for check in group.values())
    return pd.DataFrame(ordered, columns=list(COLUMNS))


Add = Callable[..., None]

# Problems ---------------------------------------------------------------------------


def _draws(name: str, count: int) -> Iterator[np.random.Generator]:
    """Yield a generator of random numbers for every case, the same in every run."""
    return (generator("theory", name, number) for number in range(count))


def _symmetric(rng: np.random.Generator, n: int) -> FloatArray:
    A = rng.standard_normal((n, n))
    return (A + A.T) / 2


def _problems(name: str, count: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield M and a start: indefinite, definite and regularised M in turn."""
    for number, rng in enumerate(_draws(name, count)):
        n, k = int(rng.integers(6, 21)), int(rng.integers(1, 6))
        A = _symmetric(rng, n)
        if number % 3:
            X = rng.standard_normal((n, k + 2))
            A = X @ X.T
        if number % 3 == 2:
            A = 1.5 * A - 0.5 * np.diag(A.sum(axis=1))
        yield A, rng.standard_normal((n, k)) * 10 ** rng.uniform(-1, 0.7)


def _f(M: FloatArray, H: FloatArray) -> float:
    return float(np.sum((M - H @ H.T) ** 2))


def _gradient(M: FloatArray, H: FloatArray) -> FloatArray:
    return np.asarray(4 * (H @ (H.T @ H) - M @ H))


def _sigma(M: FloatArray, H: FloatArray) -> float:
    return float(np.abs(np.linalg.eigvalsh(H @ H.T - M)).max())


def _curvature(M: FloatArray, H: FloatArray) -> float:
    return float(4 * _sigma(M, H) + 8 * np.linalg.norm(H, 2) ** 2)


def _terms(M: FloatArray, H: FloatArray) -> float:
    """Size of what f subtracts: the unit of its rounding."""
    return float(np.sum(M**2) + np.sum(H**2) ** 2)


def _set(name: str) -> Constraint:
    return as_constraint(("sparse_rows", {"s": 1}) if name == "sparse_rows" else name)


def _steps(
    M: FloatArray, H: FloatArray, name: str, share: float, steps: int
) -> Iterator[tuple[FloatArray, FloatArray, float]]:
    """Yield H_i, H_{i+1} and L_i along Algorithm 2 with step ``share`` / L_i."""
    constraint = _set(name)
    for _ in range(steps):
        L = _curvature(M, H)
        after = constraint.project(H - share / L * _gradient(M, H), H)
        yield H, after, L
        H = after


def _end(M: FloatArray, H: FloatArray, name: str, steps: int) -> FloatArray:
    """Return where so many steps 1/L lead."""
    *_, (_, end, _) = _steps(M, H, name, 1.0, steps)
    return end


# Section III: the reformulation and the split ---------------------------------------


def _reformulation(add: Add) -> None:
    for rng in _draws("reformulation", 300):
        n, k = int(rng.integers(2, 30)), int(rng.integers(1, 6))
        weight = rng.uniform(0, 10)
        A, H = _symmetric(rng, n), rng.standard_normal((n, k))
        L = np.diag(A.sum(axis=1)) - A
        M = A - weight * L
        pairs = np.sum((H[:, None] - H[None]) ** 2, axis=2)
        left = _f(A, H) + weight * np.sum(A * pairs)
        constant = 2 * weight * np.sum(A * L) - weight**2 * np.sum(L**2)
        scale = _terms(A, H) + _terms(M, H) + abs(constant)
        add("theorem-1", abs(left - _f(M, H) - constant) / scale, _ROUNDING)


def _trace_inequality(add: Add) -> None:
    for rng in _draws("trace", 500):
        n = int(rng.integers(2, 15))
        A, X = _symmetric(rng, n), rng.standard_normal((n, int(rng.integers(1, n + 1))))
        B, values = X @ X.T, np.linalg.eigvalsh(A)
        t, product = np.trace(B), np.sum(A * B)
        excess = max(values[0] * t - product, product - values[-1] * t)
        add("lemma-1", excess / t, _ROUNDING)


def _sweep(
    M: FloatArray, H: FloatArray, P: FloatArray, mu: float, *, printed: bool
) -> None:
    """One sweep of Algorithm 1 in place; ``printed`` has M-bar for its transpose."""
    for j in range(H.shape[1]):
        rest = M - H @ P.T + np.outer(H[:, j], P[:, j])
        p = P[:, j]
        H[:, j] = (rest @ p + mu * p) / (p @ p + mu)
        h = H[:, j]
        P[:, j] = ((rest if printed else rest.T) @ h + mu * h) / (h @ h + mu)


def _penalised(M: FloatArray, H: FloatArray, P: FloatArray, mu: float) -> float:
    return float(np.sum((M - H @ P.T) ** 2) + mu * np.sum((H - P) ** 2))


def _split(add: Add) -> None:
    """Run exact sweeps at four couplings, to critical points of the split problem."""
    for number, rng in enumerate(_draws("split", 10)):
        M, H0 = _symmetric(rng, 9) + number % 3 * np.eye(9), rng.random((9, 3))
        lowest = float(np.linalg.eigvalsh(M)[0])
        first = float(np.linalg.norm(M - H0 @ H0.T))
        bound = float(np.linalg.norm(M) + first - lowest) / 2
        for mu in (0.01, 0.1, 1.0, 1.001 * bound):
            H, P = H0.copy(), H0.copy()
            for _ in range(800):
                _sweep(M, H, P, mu, printed=False)
                size = float(np.linalg.norm(H @ P.T) / (first + np.linalg.norm(M)))
                add("lemma-2", size, 1 + 1e-9)
            gap = float(np.linalg.norm(H - P) / np.linalg.norm(H))
            if mu > (np.linalg.norm(H @ P.T) - lowest) / 2:
                add("theorem-2", gap, 1e-6)
            if mu > bound:
                add("corollary", gap, 1e-6)
            elif mu < 0.1:
                add("below", gap, 1e-6)


def _algorithm_1(add: Add) -> None:
    variants = ((True, "as printed"), (False, "with the exact update"))
    couplings = ("1, as released", "the bound")
    for (printed, update), coupling in itertools.product(variants, couplings):
        for rng in _draws("algorithm 1", 60):
            X, H0 = rng.standard_normal((20, 4)), rng.standard_normal((20, 8))
            M = X @ X.T
            bound = float(np.linalg.norm(M) + np.linalg.norm(M - H0 @ H0.T)) / 2
            mu = bound if coupling == "the bound" else 1.0
            H, P = H0.copy(), H0.copy()
            for _ in range(40):
                before = _penalised(M, H, P, mu)
                _sweep(M, H, P, mu, printed=printed)
                rise = (_penalised(M, H, P, mu) - before) / before
                add("algorithm-1", rise, 1e-9, update=update, coupling=coupling)


# Section IV: Algorithm 2 ------------------------------------------------------------


def _descent_lemma(add: Add) -> None:
    for rng in _draws("descent", 300):
        n = int(rng.integers(1, 10))
        Q, w = _symmetric(rng, n), rng.standard_normal(n)
        # f = x'Qx / 2 + sum_i cos(w_i x_i): its Hessian is Q - diag(w^2 cos(w x)).
        L = float(np.abs(np.linalg.eigvalsh(Q)).max() + np.max(w**2))
        x, y = rng.standard_normal((2, n)) * 10 ** rng.uniform(-1, 1)
        fx, fy = (float(z @ Q @ z / 2 + np.cos(w * z).sum()) for z in (x, y))
        slope = float((Q @ x - w * np.sin(w * x)) @ (y - x))
        reach = L / 2 * float(np.sum((y - x) ** 2))
        scale = abs(fx) + abs(fy) + abs(slope) + reach
        add("lemma-3", (fy - fx - slope - reach) / scale, _ROUNDING)


def _excess(M: FloatArray, H: FloatArray, D: FloatArray) -> float:
    """How far f(H + D) is above the quadratic bound with L(H), relatively."""
    bound = _f(M, H) + np.sum(_gradient(M, H) * D) + _curvature(M, H) / 2 * np.sum(D**2)
    return float((_f(M, H + D) - bound) / (_terms(M, H) + _terms(M, H + D)))


def _proposition(add: Add) -> None:
    changes = _draws("change", 3000)
    for (M, H), rng in zip(_problems("proposition", 3000), changes, strict=True):
        D = rng.standard_normal(H.shape) * 10 ** rng.uniform(-1.5, 0.7)
        add("proposition", _excess(M, H, D), _ROUNDING)
    for M, H0 in _problems("along", 60):
        for H, after, _ in _steps(M, H0, "none", 0.5, 30):
            add("proposition-used", _excess(M, H, after - H), _ROUNDING)


def _decrease(add: Add) -> None:
    steps = ((0.5, _PRINTED), (1.0, _RELEASED))
    for (share, step), name in itertools.product(steps, (*SETS, "signed_max")):
        for M, H0 in _problems(f"decrease {name}", 40):
            if name == "orthogonal" and H0.shape[0] < H0.shape[1]:
                continue
            start = _set(name).project(H0)
            for H, after, L in _steps(M, start, name, share, 30):
                scale, decrease = _terms(M, H), _f(M, H) - _f(M, after)
                missing = L / 2 * np.sum((after - H) ** 2) - decrease
                if step == _PRINTED:
                    add("theorem-3", missing / scale, _ROUNDING, name=name)
                add("monotone", -decrease / scale, _ROUNDING, name=name, step=step)


def _rate(add: Add) -> None:
    """A_i = grad f(H_{i+1}) - grad f(H_i) - (H_{i+1} - H_i)/t is a subgradient."""
    for name in SETS:
        for M, H0 in _problems(f"rate {name}", 30):
            start = _set(name).project(H0)
            f0, least, largest, constant = _f(M, start), np.inf, 0.0, 0.0
            steps = _steps(M, start, name, 0.5, 40)
            for i, (H, after, L) in enumerate(steps, start=1):
                D = after - H
                A = _gradient(M, after) - _gradient(M, H) - 2 * L * D
                middle = np.linalg.norm(H + D / 2, 2) * np.linalg.norm(after, 2)
                lipschitz = 4 * _sigma(M, H) + 8 * float(middle)
                least, largest = min(least, float(np.sum(A**2))), max(largest, L)
                constant = max(constant, 2 * (lipschitz + 2 * L) ** 2 / L)
                gap = f0 - _f(M, after) + _ROUNDING * _terms(M, H)
                corrected = i * least / max(constant * gap, 1e-300)
                add("theorem-4", i * least / (18 * largest * f0), 1.0, name=name)
                add("theorem-4-corrected", corrected, 1 + 1e-9, name=name)


# Remarks of the text ----------------------------------------------------------------


def _manifold(add: Add) -> None:
    y = np.repeat([0, 1], 60)
    for rng in _draws("manifold", 20):
        t = np.pi * (rng.random(120) + y)
        X = np.column_stack([np.cos(t) + y, np.sin(t) + y / 2])
        X += 0.05 * rng.standard_normal(X.shape)
        add("manifold", accuracy(y, _nmf_clusters(X - X.min(axis=0), rng)), 0.9)


def _nmf_clusters(X: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Two clusters by the best of five factorizations X = U V, as Lee and Seung do."""
    ends = []
    for _ in range(5):
        U, V = rng.random((X.shape[0], 2)), rng.random((2, X.shape[1]))
        for _ in range(300):
            U *= (X @ V.T) / np.maximum(U @ (V @ V.T), 1e-12)
            V *= (U.T @ X) / np.maximum((U.T @ U) @ V, 1e-12)
        ends.append((float(np.sum((X - U @ V) ** 2)), U * np.linalg.norm(V, axis=1)))
    return np.asarray(np.argmax(min(ends, key=lambda end: end[0])[1], axis=1))


def _one_hot_is_k_means(add: Add) -> None:
    n, k = 8, 3
    labels = np.array(list(itertools.product(range(k), repeat=n)))
    labels = labels[[len(set(row)) == k and row[0] == 0 for row in labels]]
    H = np.eye(k)[labels]
    sizes = H.sum(axis=1)
    for rows in ("", ", unit rows"):
        for rng in _draws("one hot", 60):
            X = rng.standard_normal((n, 2))
            X = X / np.linalg.norm(X, axis=1, keepdims=True) if rows else X
            inside = np.einsum("pic,ij,pjc->pc", H, X @ X.T, H, optimize=True)
            fits = np.sum(sizes**2, axis=1) - 2 * inside.sum(axis=1)
            means = -np.sum(inside / sizes, axis=1)
            loss = means[np.argmin(fits)] - means.min()
            add("k-means", float(loss / abs(means.min())), 1e-9, rows=rows)


def _orthogonal_is_spectral(add: Add) -> None:
    for rng in _draws("orthogonal", 10):
        M, k = _symmetric(rng, 12), 3
        start = np.linalg.qr(rng.standard_normal((12, k)))[0]
        H = _end(M, start, "orthogonal", 2000)
        best = np.linalg.eigvalsh(M)[-k:].sum()
        add("spectral", float((best - np.sum(H * (M @ H))) / abs(best)), 1e-6)


def _negative_entries(add: Add) -> None:
    for rng in _draws("negative", 30):
        X = rng.standard_normal((30, 5))
        X = X - X.mean(axis=0)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        A = X @ X.T
        starts = [rng.random((30, 3)) for _ in range(5)]
        clusters = [_clusters(M, starts) for M in (A, np.maximum(A, 0))]
        add("negative", 1 - accuracy(*clusters), 0.0)


def _clusters(M: FloatArray, starts: Sequence[FloatArray]) -> FloatArray:
    """Clusters of the best of some nonnegative factors."""
    ends = [_end(M, H0, "nonnegative", 200) for H0 in starts]
    return np.asarray(np.argmax(min(ends, key=lambda H: _f(M, H)), axis=1))


def _decompositions(add: Add) -> None:
    """Time decompositions; only here the machine matters."""
    from scipy import sparse
    from scipy.sparse.linalg import eigsh

    rng = generator("theory", "decomposition")
    X = rng.standard_normal((3000, 40))
    dense = X @ X.T
    n = 50_000
    rows, cols = np.repeat(np.arange(n), 10), rng.integers(n, size=10 * n)
    A = sparse.coo_array((np.ones(10 * n), (rows, cols)), (n, n)).tocsr()
    problems = (
        ("dense", dense[:1440, :1440], 20),
        ("dense", dense, 20),
        ("sparse", A + A.T, 10),
    )
    for kind, M, k in problems:
        H = rng.standard_normal((M.shape[0], 20 * k))
        products = _seconds(operator.matmul, M, H)
        ways: dict[str, tuple[Any, ...]] = {f"top {k} by Lanczos": (eigsh, M, k)}
        if kind == "dense":
            ways["in full"] = (np.linalg.eigh, M)
        for how, way in ways.items():
            matrix, seconds = f"{kind}, n = {M.shape[0]}", _seconds(*way)
            where = {"matrix": matrix, "how": how, "seconds": seconds}
            add("decomposition", products / seconds, 1.0, **where)


def _seconds(work: Callable[..., object], *given: Any) -> float:
    began = time.perf_counter()
    work(*given)
    return time.perf_counter() - began


_CHECKS: tuple[Callable[[Add], None], ...] = (
    *(_reformulation, _trace_inequality, _split, _algorithm_1, _descent_lemma),
    *(_proposition, _decrease, _rate, _manifold, _one_hot_is_k_means),
    *(_orthogonal_is_spectral, _negative_entries),
)
