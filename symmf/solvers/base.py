"""What a solver is, and what it hands back."""

from __future__ import annotations

import enum
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

import numpy as np

from symmf.common.notation import FloatArray
from symmf.constraints import CONSTRAINTS, Constraint
from symmf.errors import InputError
from symmf.linalg import inner, largest_eigenvalue, trace_objective
from symmf.similarity.operators import SymmetricOperator


class Stop(enum.StrEnum):
    """Why a solver stopped."""

    tolerance = "tolerance"
    max_iter = "max_iter"
    time = "time"
    diverged = "diverged"
    stalled = "stalled"
    callback = "callback"
    interrupted = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What a solver is asked: M ~ H H^T with k columns and H in a set."""

    M: SymmetricOperator
    k: int
    constraint: Constraint = field(default_factory=Constraint)
    #: 0 disables every tolerance stop
    tol: float = 1e-6

    @property
    def n(self) -> int:
        """Number of rows of M and H."""
        return int(self.M.shape[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a solver begins: H, the second factor of a split, random numbers."""

    H: FloatArray
    P: FloatArray | None = None
    rng: np.random.Generator

    @property
    def pair(self) -> tuple[FloatArray, FloatArray]:
        """Both factors of a split, equal unless P was given."""
        return self.H, self.H if self.P is None else self.P


@dataclass(slots=True)
class Iterate:
    """One iterate; the solver may reuse its arrays once it is resumed.

    ``objective`` is f(H) = ||M - H H^T||_F^2 where the solver knows it for free.
    ``merit`` is what the solver decreases, if that is not f. ``MH`` and ``MP`` are the
    products M H and M P where the solver has them anyway.
    """

    H: FloatArray
    P: FloatArray | None = None
    objective: float | None = None
    merit: float | None = None
    MH: FloatArray | None = None
    MP: FloatArray | None = None


Iterates: TypeAlias = Generator[Iterate, None, Stop | None]


# A decrease below tol must be seen this often in a row.
PATIENCE = 2


@dataclass(slots=True)
class Rest:
    """Decides when a merit has come to rest: its decrease is small for what H explains.

    ``tol`` is a share of ||M||_F^2 less the merit: of what H explains, not of ||M||_F^2
    itself, of which a few columns explain less than one percent for many graphs.
    """

    problem: Problem
    small_steps: int = 0

    def reached(self, before: float, now: float) -> bool:
        """Whether the decreases up to this one were small often enough in a row."""
        tol, fro2 = self.problem.tol, self.problem.M.fro2
        # Where M has nothing to explain, ||M||_F^2 itself must do.
        explained = max(fro2 - now, tol * fro2)
        small = tol > 0 and before - now <= tol * explained
        self.small_steps = self.small_steps + 1 if small else 0
        return self.small_steps >= PATIENCE


def hold(problem: Problem, iterate: Iterate) -> Generator[Iterate, None, None]:
    """Repeat an iterate that cannot be improved.

    With tol = 0 exactly max_iter iterations run, even at a standstill; otherwise this
    yields nothing and the solver ends.
    """
    while problem.tol == 0:
        yield iterate


@dataclass(frozen=True, slots=True, kw_only=True)
class Solver:
    """Base of all solvers: a frozen dataclass whose fields are its YAML keys.

    ``iterates`` yields the start first, then one iterate after another. It never looks
    at a clock and need not stop; ending with a :class:`Stop` says it is done.
    """

    #: as the authors' released code does it, faults included
    published: bool = False

    #: its key in the registry
    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    reference: ClassVar[str] = ""
    #: names of the sets it can handle; the first one is used for constraint="none"
    constraints: ClassVar[tuple[str, ...]] = ("none",)
    #: it only ever projects onto the set, so that a set of a user's own will do
    any_set: ClassVar[bool] = False
    #: works on a split pair (H, P)
    split: ClassVar[bool] = False
    #: what never rises unless ``published``, given an exact projection: the objective
    #: f, that of a split pair F, or its own
    never_rises: ClassVar[str] = ""
    #: decides about its tolerance itself, by ending the generator; else it has met it
    #: once its merit is at rest (:class:`Rest`) and :meth:`is_stationary`
    own_tolerance: ClassVar[bool] = False
    #: a single step gives the answer
    one_shot: ClassVar[bool] = False
    #: how a start is drawn when none is given
    start: ClassVar[str] = "scaled"
    #: the same when ``published``, if it differs
    published_start: ClassVar[str] = ""

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield the start, then iterates."""
        raise NotImplementedError

    def check(self, _problem: Problem) -> None:
        """Raise InputError if the parameters do not fit the problem."""

    def is_stationary(self, problem: Problem, iterate: Iterate) -> bool:
        r"""Whether a short projected gradient step from H leads almost nowhere.

        .. math:: \|H - \mathcal{P}(H - s\,(HH^TH - MH))\|_F^2
                  \le \mathrm{tol}\; s^2 \|MH\|_F^2

        with s = 1 / (||M - H H^T||_F + 2 ||H||_2^2), at most the step of Algorithm 2.
        A point that such a step leaves where it is, in any set, stays under shorter
        ones. Of a split pair nothing is asked.
        """
        if iterate.P is not None:
            return True
        H, M, tol = iterate.H, problem.M, problem.tol
        MH = M.matmat(H) if iterate.MH is None else iterate.MH
        G = H.T @ H
        f = trace_objective(M.fro2, H, MH, G)
        s = 1 / (np.sqrt(max(f, 0.0)) + 2 * largest_eigenvalue(G) or 1.0)
        D = H - problem.constraint.project(H - H.dtype.type(s) * (H @ G - MH), H)
        # The last term is for an H that shrinks to zero, and M H with it.
        size = inner(MH, MH) + tol * M.fro2**1.5
        return bool(inner(D, D) <= tol * s**2 * size)

    def choose(self, asked: Constraint) -> Constraint:
        """Return the set this solver will use, or say why it cannot."""
        # By class: a set of a user's own may have forgotten to name itself.
        known = [CONSTRAINTS[name] for name in self.constraints]
        if self.any_set or type(asked) in known:
            return asked
        if type(asked) is Constraint:
            return CONSTRAINTS[self.constraints[0]]()
        raise InputError(
            f"{self.title or type(self).__name__} handles the set "
            f"{' and '.join(self.constraints)}, not {asked.name!r}. "
            "Use solver='projected_gradient' for other sets."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """What a callback sees; the arrays are the callback's own."""

    iteration: int
    H: FloatArray
    P: FloatArray | None
    error: float
    split_error: float | None
    seconds: float


#: Called after every iterate; returning True stops the solver.
Callback: TypeAlias = Callable[[Iteration], bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStart:
    """What was done on a low-rank approximation before M itself was factored.

    Attributes
    ----------
    columns : int
        Its rank.
    error : float
        ||M - Q diag(e) Q^T||_F^2 / ||M||_F^2.
    n_iter : int
        Iterations on it.
    seconds : float
        Time for it and for them.
    """

    columns: int
    error: float
    n_iter: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Factorization:
    """The result of :func:`symmf.factorize`.

    Attributes
    ----------
    H : (n, k) array
        The factor, M ~ H H^T.
    P : (n, k) array or None
        The second factor of split methods.
    error : array
        ||M - H H^T||_F^2 / ||M||_F^2 at iterates 0 .. n_iter (no factor 1/2). For a
        zero matrix the numerator itself.
    split_error : array or None
        ||M - H P^T||_F^2 / ||M||_F^2 for split methods.
    seconds : array
        Solver time at each iterate; evaluating the error is not counted.
    n_iter : int
        Iterations on M itself.
    stop : Stop
    solver : Solver
    constraint : Constraint
    warm_start : WarmStart or None
        What ``low_rank`` did first; its time is in ``seconds``.
    """

    H: FloatArray
    P: FloatArray | None
    error: FloatArray
    split_error: FloatArray | None
    seconds: FloatArray
    n_iter: int
    stop: Stop
    solver: Solver
    constraint: Constraint
    warm_start: WarmStart | None = None

    def __repr__(self) -> str:
        n, k = self.H.shape
        ended = f"error {self.error[-1]:.4g} after {self.n_iter} iterations"
        name = self.solver.name or type(self.solver).__name__
        return f"<Factorization {n} x {k} by {name}: {ended} ({self.stop})>"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while a solver ran; ``fit`` holds what it had reached.

    A :class:`KeyboardInterrupt`, so programs end as they always do; catch it to go on
    with the last iterate.

    Attributes
    ----------
    fit : Factorization
        Up to the last finished iterate, with ``stop == "interrupted"``.
    """

    def __init__(self, fit: Factorization) -> None:
        super().__init__(f"interrupted after {fit.n_iter} iterations")
        self.fit = fit
