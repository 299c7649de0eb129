"""What the paper proves or remarks in its text, checked with numbers.

Every check draws its problems from a fixed seed and runs loops of its own: neither the
solvers of this package nor data sets are involved. A check says in how many of its
cases the statement failed: enough to refute a statement, not to prove it.
Notation: M symmetric, f(H) = ||M - H H^T||_F^2, L(H) = 4 ||H H^T - M||_2 + 8 ||H||_2^2.
"""

from __future__ import annotations

import itertools
import operator
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh

from symmf.common.notation import FloatArray
from symmf.common.seeds import generator
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


@dataclass(slots=True)
class Check:
    """A statement of the paper and what came of trying it.

    Attributes
    ----------
    item : str
        Where the paper has it.
    statement : str
    tried : str
        On what.
    measure : str
        What is measured in each case; :meth:`add` says up to which value it may be.
    cases, failures : int
    worst : float
        The largest measured value.
    seconds : float
        Time of the check; it matters only where the statement is about time.
    """

    item: str
    statement: str
    tried: str
    measure: str
    cases: int = 0
    failures: int = 0
    worst: float = 0.0
    seconds: float = 0.0

    def add(self, value: float, limit: float) -> None:
        """Count a case, which fails above the limit (or if it is not a number)."""
        self.cases += 1
        self.failures += not value <= limit
        self.worst = max(self.worst, float(value))

    @property
    def verdict(self) -> str:
        """Whether no case failed."""
        return FAILS if self.failures else HOLDS


def check_theory(*, large: bool = True) -> list[Check]:
    """Return all checks, in the order of the paper.

    Parameters
    ----------
    large : bool
        Also time decompositions of large matrices, the only rows that depend on the
        machine.

    Examples
    --------
    >>> checks = check_theory(large=False)  # doctest: +SKIP
    >>> checks[0].item, checks[0].verdict  # doctest: +SKIP
    ('Theorem 1', 'holds')
    """
    found = []
    for make in (*_CHECKS, *((_decompositions,) if large else ())):
        began = time.perf_counter()
        checks = list(make())
        share = (time.perf_counter() - began) / len(checks)
        for check in checks:
            check.seconds = check.seconds or share
        found += checks
    return found


def theory_frame(*, large: bool = True) -> pd.DataFrame:
    """Return :func:`check_theory` as a table, a row per check."""
    import pandas as pd

    checks = check_theory(large=large)
    return pd.DataFrame({name: [getattr(c, name) for c in checks] for name in COLUMNS})


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


def _reformulation() -> Iterator[Check]:
    check = Check(
        "Theorem 1",
        "The regulariser is a change of the matrix, up to a constant in H",
        "random A of any signs, H, lambda up to 10",
        "relative difference",
    )
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
        check.add(abs(left - _f(M, H) - constant) / scale, _ROUNDING)
    yield check


def _trace_inequality() -> Iterator[Check]:
    check = Check(
        "Lemma 1",
        "sigma_n(A) tr(B) <= tr(A B) <= sigma_1(A) tr(B) for B >= 0",
        "random pairs",
        "excess / tr(B)",
    )
    for rng in _draws("trace", 500):
        n = int(rng.integers(2, 15))
        A, X = _symmetric(rng, n), rng.standard_normal((n, int(rng.integers(1, n + 1))))
        B, values = X @ X.T, np.linalg.eigvalsh(A)
        t, product = np.trace(B), np.sum(A * B)
        check.add(max(values[0] * t - product, product - values[-1] * t) / t, 1e-10)
    yield check


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


def _split() -> Iterator[Check]:
    """Run exact sweeps at four couplings, to critical points of the split problem."""
    runs = "exact Algorithm 1 from H_0 = P_0, 800 sweeps, couplings .01 to the bound"
    measure = "||H - P|| / ||H||"
    theorem = Check(
        "Theorem 2",
        "H = P at critical points if mu > (||H P^T||_F - sigma_n(M)) / 2",
        f"{runs}, where the premise holds at the end",
        measure,
    )
    bounded = Check(
        "Lemma 2",
        "||H P^T||_F <= ||M - H_0 P_0^T||_F + ||M||_F along a decreasing run",
        f"every sweep of {runs}",
        "ratio of the two sides",
    )
    corollary = Check(
        "Corollary",
        "Above the bound on mu the limit has H = P",
        "the same at 1.001 of the bound",
        measure,
    )
    below = Check(
        "Below the bound of the corollary",
        "H = P in the limit far below the bound, which the paper does not claim",
        "the same at mu = .01",
        measure,
    )
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
                bounded.add(size, 1 + 1e-9)
            gap = float(np.linalg.norm(H - P) / np.linalg.norm(H))
            if mu > (np.linalg.norm(H @ P.T) - lowest) / 2:
                theorem.add(gap, 1e-6)
            if mu > bound:
                corollary.add(gap, 1e-6)
            elif mu < 0.1:
                below.add(gap, 1e-6)
    yield from (theorem, bounded, corollary, below)


def _algorithm_1() -> Iterator[Check]:
    variants = ((True, "as printed"), (False, "with the exact update"))
    couplings = ("1, as released", "the bound")
    for (printed, label), word in itertools.product(variants, couplings):
        check = Check(
            f"Algorithm 1 {label}, mu = {word}",
            "The objective F never rises",
            "60 problems, n = 20, k = 8, rank 4, 40 sweeps each",
            "relative rise of F in a sweep",
        )
        for rng in _draws("algorithm 1", 60):
            X, H0 = rng.standard_normal((20, 4)), rng.standard_normal((20, 8))
            M = X @ X.T
            bound = float(np.linalg.norm(M) + np.linalg.norm(M - H0 @ H0.T)) / 2
            mu = bound if word == "the bound" else 1.0
            H, P = H0.copy(), H0.copy()
            for _ in range(40):
                before = _penalised(M, H, P, mu)
                _sweep(M, H, P, mu, printed=printed)
                check.add((_penalised(M, H, P, mu) - before) / before, 1e-9)
        yield check


# Section IV: Algorithm 2 ------------------------------------------------------------


def _excess(M: FloatArray, H: FloatArray, D: FloatArray) -> float:
    """How far f(H + D) is above the quadratic bound with L(H), relatively."""
    bound = _f(M, H) + np.sum(_gradient(M, H) * D) + _curvature(M, H) / 2 * np.sum(D**2)
    return float((_f(M, H + D) - bound) / (_terms(M, H) + _terms(M, H + D)))


def _proposition() -> Iterator[Check]:
    statement = "f is below its quadratic bound with L_i = 4 sigma + 8 ||H_i||^2"
    measure = "relative excess over the bound"
    tried = "random H_i and changes"
    anywhere = Check("Proposition 1, as printed", statement, tried, measure)
    changes = _draws("change", 3000)
    for (M, H), rng in zip(_problems("proposition", 3000), changes, strict=True):
        D = rng.standard_normal(H.shape) * 10 ** rng.uniform(-1.5, 0.7)
        anywhere.add(_excess(M, H, D), _ROUNDING)
    yield anywhere
    tried = "the steps of Algorithm 2 without constraint"
    along = Check("Proposition 1, where it is used", statement, tried, measure)
    for M, H0 in _problems("along", 60):
        for H, after, _ in _steps(M, H0, "none", 0.5, 30):
            along.add(_excess(M, H, after - H), _ROUNDING)
    yield along


def _decrease() -> Iterator[Check]:
    sets = (*SETS, "signed_max")
    steps = ((0.5, "1/(2L), as printed"), (1.0, "1/L, as released"))
    for (share, word), name in itertools.product(steps, sets):
        tried = f"40 problems, 30 steps each, set {name}"
        enough = Check(
            f"Theorem 3, {name}",
            "A step lowers f by L/2 ||H_{i+1} - H_i||^2 at least",
            f"{tried}, step {word}",
            "missing decrease / size of the terms of f",
        )
        monotone = Check(
            f"Monotone, {name}, {word}",
            "f never rises along Algorithm 2",
            tried,
            "rise / size of the terms of f",
        )
        for M, H0 in _problems(f"decrease {name}", 40):
            if name == "orthogonal" and H0.shape[0] < H0.shape[1]:
                continue
            start = _set(name).project(H0)
            for H, after, L in _steps(M, start, name, share, 30):
                scale, decrease = _terms(M, H), _f(M, H) - _f(M, after)
                missing = L / 2 * np.sum((after - H) ** 2) - decrease
                enough.add(missing / scale, _ROUNDING)
                monotone.add(-decrease / scale, _ROUNDING)
        if share == 0.5:
            yield enough
        yield monotone


def _rate() -> Iterator[Check]:
    """A_i = grad f(H_{i+1}) - grad f(H_i) - (H_{i+1} - H_i)/t is a subgradient."""
    for name in SETS:
        printed, corrected = (
            Check(
                f"Theorem 4 {word}, {name}",
                f"The smallest squared subgradient is at most {bound}",
                f"30 problems, 40 steps at 1/(2L), set {name}",
                "ratio to the bound",
            )
            for word, bound in (
                ("as printed", "18 L f(H_0) / T, L the largest met"),
                ("corrected", "max 2 (l_i + 2 L_i)^2 / L_i (f_0 - f_T) / T"),
            )
        )
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
                printed.add(i * least / (18 * largest * f0), 1.0)
                corrected.add(i * least / max(constant * gap, 1e-300), 1 + 1e-9)
        yield from (printed, corrected)


# Remarks of the text ----------------------------------------------------------------


def _one_hot_is_k_means() -> Iterator[Check]:
    n, k = 8, 3
    labels = np.array(list(itertools.product(range(k), repeat=n)))
    labels = labels[[len(set(row)) == k and row[0] == 0 for row in labels]]
    H = np.eye(k)[labels]
    sizes = H.sum(axis=1)
    for unit in (False, True):
        check = Check(
            f"Remark: indicator rows are K-means{', unit rows' if unit else ''}",
            "Indicator rows that fit A = X X^T best are the best K-means clusters",
            f"all partitions of {n} points into {k}",
            "relative loss in the objective of K-means",
        )
        for rng in _draws("one hot", 60):
            X = rng.standard_normal((n, 2))
            X = X / np.linalg.norm(X, axis=1, keepdims=True) if unit else X
            inside = np.einsum("pic,ij,pjc->pc", H, X @ X.T, H, optimize=True)
            fits = np.sum(sizes**2, axis=1) - 2 * inside.sum(axis=1)
            means = -np.sum(inside / sizes, axis=1)
            loss = means[np.argmin(fits)] - means.min()
            check.add(float(loss / abs(means.min())), 1e-9)
        yield check


def _orthogonal_is_spectral() -> Iterator[Check]:
    check = Check(
        "Remark: orthogonal is spectral",
        "With H^T H = I the solution is the space of the top k eigenvectors",
        "10 random M, n = 12, Algorithm 2 from random starts, 2,000 steps",
        "trace missing",
    )
    for rng in _draws("orthogonal", 10):
        M, k = _symmetric(rng, 12), 3
        start = np.linalg.qr(rng.standard_normal((12, k)))[0]
        H = _end(M, start, "orthogonal", 2000)
        best = np.linalg.eigvalsh(M)[-k:].sum()
        check.add(float((best - np.sum(H * (M @ H))) / abs(best)), 1e-6)
    yield check


def _negative_entries() -> Iterator[Check]:
    check = Check(
        "Remark: negative entries",
        "Under H >= 0 negative entries of A play no role",
        "30 problems of 30 centred unit rows, A and max(A, 0), best of 5 starts",
        "share of rows that change cluster",
    )
    for rng in _draws("negative", 30):
        X = rng.standard_normal((30, 5))
        X = X - X.mean(axis=0)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        A = X @ X.T
        starts = [rng.random((30, 3)) for _ in range(5)]
        clusters = [_clusters(M, starts) for M in (A, np.maximum(A, 0))]
        check.add(1 - accuracy(*clusters), 0.0)
    yield check


def _clusters(M: FloatArray, starts: Sequence[FloatArray]) -> FloatArray:
    """Clusters of the best of some nonnegative factors."""
    ends = [_end(M, H0, "nonnegative", 200) for H0 in starts]
    return np.asarray(np.argmax(min(ends, key=lambda H: _f(M, H)), axis=1))


def _decompositions() -> Iterator[Check]:
    """Time decompositions; only here the machine matters."""
    rng = generator("theory", "decomposition")
    X = rng.standard_normal((3000, 40))
    M = X @ X.T
    for n in (1440, 3000):
        part = M[:n, :n]
        yield _timing(
            f"dense, n = {n}, k = 20",
            partial(eigsh, part, 20),
            "a full decomposition",
            partial(np.linalg.eigh, part),
        )
    n = 50_000
    rows, cols = np.repeat(np.arange(n), 10), rng.integers(n, size=10 * n)
    A = sparse.coo_array((np.ones(10 * n), (rows, cols)), (n, n)).tocsr()
    A = A + A.T
    yield _timing(
        f"sparse, n = {n}, k = 10",
        partial(eigsh, A, 10, tol=1e-6),
        "20 products with n x k matrices",
        partial(operator.matmul, A, rng.standard_normal((n, 200))),
    )


def _timing(
    case: str, top: Callable[[], object], other: str, work: Callable[[], object]
) -> Check:
    """Compare the time of the top k eigenpairs with that of other work."""
    expected, taken = _seconds(work), _seconds(top)
    check = Check(
        f"Remark: eigendecomposition is too dear, {case}",
        f"Finding the top k eigenpairs takes no longer than {other}",
        f"Lanczos; {other} took {expected:.2f} s",
        "ratio of the seconds",
        seconds=taken,
    )
    check.add(taken / expected, 1.0)
    return check


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


_CHECKS: tuple[Callable[[], Iterator[Check]], ...] = (
    _reformulation,
    _trace_inequality,
    _split,
    _algorithm_1,
    _proposition,
    _decrease,
    _rate,
    _one_hot_is_k_means,
    _orthogonal_is_spectral,
    _negative_entries,
)
