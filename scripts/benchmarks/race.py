"""All solvers from the same starts: the time until f is near the best value known.

The clock runs while a solver works and stands still while f is evaluated. Products are
those of M with n x k matrices, in units of k columns. The best value known is the least
that any run reached, from any start; it is not a proven optimum. A run ends after
``_SLOWER`` times the seconds of momentum; a solver whose time runs out gets no other
start. With default threads only solvers not far behind the fastest are timed.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import click
import numpy as np
import pandas as pd
from scipy import sparse

from scripts.benchmarks.timing import at_most
from symmf.datasets import load_dataset
from symmf.linalg import inner, trace_objective
from symmf.linalg.threads import one_thread
from symmf.similarity import as_operator, build_similarity
from symmf.similarity.operators import SymmetricOperator
from symmf.solvers import SOLVERS, Problem, Solver, Start
from symmf.solvers._points import quartic_step
from symmf.solvers._start import draw_start
from symmf.solvers.base import Iterate, Iterates
from symmf.solvers.low_rank import columns_for, warm_start

TARGETS = (1.01, 1.001)
# A solver that has not moved f by this share in so many iterations has ended.
_STANDSTILL, _PATIENCE = 1e-9, 20
# A run ends this near to the best f that any run reached so far: the targets are behind
# it, and what follows is not counted.
_NEAR_ENOUGH = 1.0001
# A run ends after so many times the seconds of momentum, but not before the least.
_SLOWER, _LEAST_SECONDS = 20.0, 0.5
# Ratio to the fastest on one thread up to which a solver is timed with more.
_NOT_FAR = 5.0
# Ratio to the fastest solver at which the picture ends.
_FARTHEST = 20.0
MOMENTUM = "projected gradient, momentum"
LOW_RANK = "low rank, then momentum"
CANDIDATE = "Barzilai-Borwein on f (candidate)"


@dataclass(frozen=True, slots=True, kw_only=True)
class BarzilaiBorwein(Solver):
    """A candidate: projected Barzilai-Borwein steps on f with an exact line search.

    D = max(H - lambda gradient, 0) - H, then the minimiser of the quartic f(H + a D)
    over 0 < a <= 1; f never rises. One product an iteration.
    """

    constraints = ("nonnegative",)

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield H_0, H_1, ..."""
        M, H = problem.M, start.H
        MH = M.matmat(H)
        G = 4 * (H @ (H.T @ H) - MH)
        step, turn = 1 / max(float(np.abs(G).max()), 1e-300), 0
        while True:
            yield Iterate(H, MH=MH)
            D = np.maximum(H - step * G, 0) - H
            MD = M.matmat(D)
            a = min(quartic_step(H, D, MD)[0], 1.0) if D.any() else 0.0
            S, MS = a * D, a * MD
            H, MH = H + S, MH + MS
            previous, G = G, 4 * (H @ (H.T @ H) - MH)
            Y = G - previous
            sy = inner(S, Y)
            if sy > 0:
                long_step, short_step = inner(S, S) / sy, sy / inner(Y, Y)
                step = short_step if turn % 2 else long_step
            turn += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LowRankStart(Solver):
    """Momentum on a low-rank approximation of M first, then on M."""

    constraints = ("nonnegative",)

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield the iterates on M."""
        solver = SOLVERS["projected_gradient"](acceleration="momentum")
        rank = min(problem.k + 10, problem.n)
        begin, _ = warm_start(solver, problem, start, rank, 300)
        return (yield from solver.iterates(problem, begin))


def contestants() -> dict[str, Solver]:
    """Return every solver of the package that takes H >= 0, and the candidate."""
    gradient = SOLVERS["projected_gradient"]
    named: dict[str, Solver] = {
        "projected gradient": gradient(),
        MOMENTUM: gradient(acceleration="momentum"),
        LOW_RANK: LowRankStart(),
        CANDIDATE: BarzilaiBorwein(),
        "sym_hals, extrapolated": SOLVERS["sym_hals"](acceleration="extrapolation"),
        "newton, cg": SOLVERS["newton"](method="cg"),
    }
    for name, kind in SOLVERS.items():
        if "nonnegative" in kind.constraints and name not in (
            *("projected_gradient", "newton", "eigen"),
        ):
            named[name] = kind()
    return named


def problems(
    largest: int, only: str = ""
) -> Iterator[tuple[str, SymmetricOperator, int]]:
    """Yield name, matrix and k of problems with at most so many rows."""
    makers: list[tuple[str, int, int, Callable[[], Any]]] = [
        *(
            (f"{title} graph", n, k, lambda name=name, k=k: _common_graph(name, k))
            for name, title, n, k in (
                ("coil20", "COIL-20", 1440, 20),
                ("cifar10", "CIFAR-10", 3000, 10),
                ("reuters21578", "Reuters", 7800, 20),
                ("tdt2", "TDT2", 8741, 20),
            )
        ),
        *(
            (f"planted blocks, n = {n}", n, 10, lambda n=n: _planted(n, 10))
            for n in (500, 2000)
        ),
        *(
            (f"random graph, n = {n}", n, k, lambda n=n, k=k: _block_graph(n, k))
            for n, k in ((1000, 10), (3000, 10), (10_000, 20))
        ),
        ("digits, Gaussian kernel", 899, 10, _kernel),
        ("COIL-20, centred cosines (mixed signs)", 720, 20, _mixed),
    ]
    for name, n, k, make in makers:
        if n <= largest and only in name:
            yield name, as_operator(make()), k


def _common_graph(name: str, k: int) -> Any:
    """Return the normalised graph of the k largest classes."""
    from symmf.features.preprocess import preprocess

    data = load_dataset(name)
    classes, sizes = np.unique(data.y, return_counts=True)
    X = data.X[np.isin(data.y, classes[np.argsort(-sizes, kind="stable")[:k]])]
    text = sparse.issparse(X)
    return build_similarity(
        preprocess(X, ["tfidf"]) if text else X,
        "cosine_knn" if text else "self_tuning",
    )


def _planted(n: int, k: int) -> Any:
    rng = np.random.default_rng(n)
    U = rng.random((n, k)) * (rng.random((n, k)) < 0.3)
    noise = rng.standard_normal((n, n))
    return U @ U.T + 0.05 * (noise + noise.T)


def _block_graph(n: int, k: int) -> Any:
    """Return a sparse graph of k communities, about 20 neighbours a node."""
    rng = np.random.default_rng(n)
    y, size = np.arange(n) % k, n // k
    i = np.repeat(np.arange(n), 10)
    inside = rng.random(len(i)) < 0.8
    j = np.where(inside, y[i] + k * rng.integers(size, size=len(i)), 0)
    j = np.where(inside, j, rng.integers(n, size=len(i)))
    A = sparse.coo_array((np.ones(len(i)), (i, j)), (n, n)).tocsr()
    A = ((A + A.T) > 0).astype(np.float64)
    A.setdiag(0)
    d = sparse.diags_array(1 / np.sqrt(np.maximum(A.sum(axis=1), 1)))
    return (d @ A @ d).tocsr()


def _kernel() -> Any:
    return build_similarity(load_dataset("digits").X[::2], "gaussian")


def _mixed() -> Any:
    return build_similarity(load_dataset("coil20").X[::2], "centred_cosine")


class _Counted:
    """Counts the columns that M is multiplied with; all else is M's."""

    def __init__(self, M: SymmetricOperator) -> None:
        self._M, self.columns_multiplied = M, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._M, name)

    def matmat(self, V: Any) -> Any:
        self.columns_multiplied += V.shape[1]
        return self._M.matmat(V)


def race(
    M: SymmetricOperator,
    k: int,
    solver: Solver,
    seed: int,
    limit: float,
    enough: float = -np.inf,
) -> pd.DataFrame:
    """Run a solver from a start until f is at most ``enough``; a row per iterate."""
    counted: Any = _Counted(M)
    asked = Problem(M=counted, k=k, constraint=solver.choose(_nonnegative()), tol=0.0)
    rng = np.random.default_rng(seed)
    H = draw_start(asked, rng, "symm_mean")
    counted.columns_multiplied = 0
    steps = solver.iterates(asked, Start(H=H, P=H.copy(), rng=rng))
    rows, seconds = [], 0.0
    # Few iterations take longer than the whole run may; those end it.
    with np.errstate(all="ignore"), suppress(TimeoutError):
        while seconds < limit:
            began = time.perf_counter()
            with at_most(limit):
                iterate = next(steps, None)
            seconds += time.perf_counter() - began
            if iterate is None:
                break
            MH = M.matmat(iterate.H) if iterate.MH is None else iterate.MH
            f = trace_objective(M.fro2, iterate.H, MH)
            rows.append((seconds, counted.columns_multiplied / k, f))
            if not np.isfinite(f) or f <= enough or _stands_still(rows):
                break
    return pd.DataFrame(rows, columns=["seconds", "products", "f"])


def _nonnegative() -> Any:
    from symmf.constraints import as_constraint

    return as_constraint("nonnegative")


def _stands_still(rows: list[tuple[float, float, float]]) -> bool:
    if len(rows) <= _PATIENCE:
        return False
    before, now = rows[-_PATIENCE - 1][2], rows[-1][2]
    return abs(before - now) <= _STANDSTILL * abs(now)


@contextmanager
def _threads(wanted: int | str) -> Iterator[None]:
    """Limit threads as ``factorize`` does, and products to so many or to the default.

    ``factorize`` gives BLAS one thread; large dense products use all that are allowed.
    """
    limits = {} if wanted == "default" else {"OMP_NUM_THREADS": str(wanted)}
    with patch.dict(os.environ, limits), one_thread():
        if wanted == "default":
            os.environ.pop("OMP_NUM_THREADS", None)
        yield


def measure(
    starts: int, limit: float, largest: int, only: str = ""
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Race all solvers on all problems; one thread first, then the default."""
    rows, best = [], {}
    for name, M, k in problems(largest, only):
        began = time.perf_counter()
        fro2 = M.fro2
        with _threads(1):
            least, seconds = _reference(M, k, starts, limit)
        allowed = min(limit, max(_LEAST_SECONDS, _SLOWER * seconds))
        runs: dict[tuple[str, Any, int], pd.DataFrame] = {}
        solvers = contestants()
        for threads in (1, "default"):
            best_time = dict.fromkeys(solvers, np.inf)
            for solver, seed in itertools.product(solvers, range(starts)):
                run = runs.get((solver, threads, seed - 1))
                if seed and (run is None or _ran_out(run, allowed, least)):
                    continue
                with _threads(threads):
                    enough = _NEAR_ENOUGH * least
                    run = race(M, k, solvers[solver], seed, allowed, enough)
                runs[solver, threads, seed] = run
                least = min([least, *run["f"]])
                seconds = _seconds_to(TARGETS[1] * least, run)
                best_time[solver] = min(best_time[solver], seconds)
            fast = _NOT_FAR * min(best_time.values())
            solvers = {s: solvers[s] for s in solvers if best_time[s] <= fast}
        auto = columns_for(Problem(M=M, k=k), "auto") is not None
        shared = {"problem": name, "n": M.shape[0], "k": k, "auto": auto}
        for (solver_name, threads, seed), run in runs.items():
            row = {**shared, "solver": solver_name, "threads": threads, "start": seed}
            row["least"] = float(run["f"].min()) / least if len(run) else np.nan
            for target in TARGETS:
                there = np.flatnonzero(run["f"] <= target * least)
                if there.size:
                    first = run.iloc[there[0]]
                    row[f"seconds_{target}"] = float(first["seconds"])
                    row[f"products_{target}"] = float(first["products"])
                    row[f"iterations_{target}"] = int(there[0])
            rows.append(row)
        best[name] = {"f": least, "explained": 1 - least / fro2, "seconds": allowed}
        passed = time.perf_counter() - began
        click.echo(f"{name}: {best[name]}, {passed:.0f} s in all")
    return pd.DataFrame(rows), best


def _reference(
    M: SymmetricOperator, k: int, starts: int, limit: float
) -> tuple[float, float]:
    """Return the least f of long runs of momentum, and their seconds to 1.001 of it."""
    solver = contestants()[MOMENTUM]
    runs = [race(M, k, solver, seed, limit) for seed in range(starts)]
    least = min(float(run["f"].min()) for run in runs)
    return least, min(_seconds_to(TARGETS[1] * least, run) for run in runs)


def _seconds_to(f: float, run: pd.DataFrame) -> float:
    return min(run.loc[run["f"] <= f, "seconds"], default=np.inf)


def _ran_out(run: pd.DataFrame, seconds: float, least: float) -> bool:
    """Whether time ended a run before it was near the least f, not a standstill."""
    slow = len(run) <= _PATIENCE or run["seconds"].max() >= seconds
    return bool(slow and _seconds_to(TARGETS[1] * least, run) == np.inf)


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Return medians over the starts, and how many of them got there."""
    groups = runs.groupby(["problem", "threads", "solver"], sort=False)
    firsts = {name: (name, "first") for name in ("n", "k", "auto")}
    table = groups.agg(**firsts, starts=("start", "size"))
    table["least"] = groups["least"].median()
    for target in TARGETS:
        table[f"reached_{target}"] = groups[f"seconds_{target}"].count()
        for unit in ("seconds", "products", "iterations"):
            table[f"{unit}_{target}"] = groups[f"{unit}_{target}"].median()
    return table.reset_index()


def usable(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a column by problem and solver.

    A solver counts for a problem if it got there from at least half of the starts, and
    if it needs products: eigenpairs of sparse graphs are found without.
    """
    enough = rows[f"reached_{column.split('_')[1]}"] * 2 >= rows["starts"]
    enough &= rows[column] > 0
    return rows.assign(value=rows[column].where(enough)).pivot_table(
        index="problem", columns="solver", values="value", dropna=False, sort=False
    )


def profile(rows: pd.DataFrame, column: str = "seconds_1.001") -> pd.DataFrame:
    """Return the ratios to the fastest solver of each problem, by solver."""
    wide = usable(rows, column)
    return wide.div(wide.min(axis=1), axis=0)


def decisions(table: pd.DataFrame) -> list[str]:
    """Say what the race decides: the candidate's fate, and where a low rank pays.

    The candidate becomes an option if it is the fastest on half of the problems;
    ``low_rank="auto"`` should apply where a low-rank start saves time, and only there.
    Both by the seconds to 1.001, on one thread.
    """
    rows = table[table["threads"].astype(str) == "1"]
    ratios = profile(rows)
    won, lost = int((ratios[CANDIDATE] == 1).sum()), ratios[CANDIDATE].median()
    fate = "worth an option" if 2 * won >= len(ratios) else "not worth an option"
    cost = ratios[LOW_RANK] / ratios[MOMENTUM]
    is_auto = rows.groupby("problem", sort=False)["auto"].first()
    sentences = [
        f"Barzilai-Borwein steps on f are a candidate: the fastest on {won} of "
        f"{len(ratios)} problems (median ratio to the fastest {lost:.2f}), {fate}."
    ]
    for taken, applies in ((True, "applies"), (False, "does not apply")):
        shown = [
            f"{problem} {'not reached' if np.isnan(ratio) else f'{ratio:.2f}'}"
            for problem, ratio in cost[is_auto == taken].items()
        ]
        sentences.append(
            f'Where `low_rank="auto"` {applies}, a low-rank start and momentum take so '
            f"many times as long as momentum: {', '.join(shown) or 'nowhere'}."
        )
    return sentences


# Of the best solvers; the others are grey.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
_GREY = "#9a9aa2"


def picture(table: pd.DataFrame) -> Any:
    """Draw performance profiles on one thread: in seconds, and in products.

    Every line has its name at its right end; the best by seconds are in colour.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    rows = table[table["threads"].astype(str) == "1"]
    colours: dict[str, str] = {}
    for axis, unit in zip(axes, ("seconds", "products"), strict=True):
        ratios = profile(rows, f"{unit}_{TARGETS[1]}")
        # Best first, by the geometric mean of the ratios.
        order = np.log(ratios.fillna(_FARTHEST)).mean().sort_values().index
        colours = colours or dict(zip(order, _COLOURS, strict=False))
        ends = {}
        for solver in order:
            values = np.sort(ratios[solver].dropna().to_numpy())
            share = np.arange(1, len(values) + 1) / len(ratios)
            ends[solver] = len(values) / len(ratios)
            axis.step(
                [*values, _FARTHEST],
                [*share, ends[solver]],
                where="post",
                color=colours.get(solver, _GREY),
                linewidth=2.2 if solver in colours else 0.9,
                zorder=3 if solver in colours else 2,
            )
        for solver, y in _apart(ends):
            axis.annotate(
                solver,
                (1, y),
                xycoords=("axes fraction", "data"),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=7.5,
                color=colours.get(solver, "#55555c"),
                annotation_clip=False,
            )
        axis.set_xscale("log")
        axis.set_xlim(1, _FARTHEST)
        axis.set_ylim(0, 1.02)
        axis.set_xlabel(f"{unit} / least {unit} of any solver")
        axis.set_title(f"To 1.001 of the best f known, {unit}", fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("share of problems solved within this ratio")
    return figure


def _apart(ends: dict[str, float], gap: float = 0.042) -> list[tuple[str, float]]:
    """Return places for the names: near the ends of their lines, none on another."""
    placed: list[tuple[str, float]] = []
    below = 1.0 + gap
    left = len(ends)
    for solver, end in sorted(ends.items(), key=lambda item: -item[1]):
        left -= 1
        # Leave room for the names that follow.
        below = max(min(end, below - gap), left * gap)
        placed.append((solver, below))
    return placed
