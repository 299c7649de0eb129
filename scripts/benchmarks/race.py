"""All solvers from the same starts: the time until f is near the best value known.

The clock runs while a solver works and stands still while f is evaluated. Products are
those of M with n x k matrices, in units of k columns. The best value known is the least
that any run reached, from any start; it is not a proven optimum.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
import pandas as pd
from scipy import sparse
from threadpoolctl import threadpool_limits

from symmf.datasets import load_dataset
from symmf.linalg import inner, trace_objective
from symmf.similarity import as_operator, build_similarity
from symmf.similarity.operators import SymmetricOperator
from symmf.solvers import SOLVERS, Problem, Solver, Start
from symmf.solvers._line_search import quartic_step
from symmf.solvers._start import draw_start
from symmf.solvers.base import Iterate, Iterates
from symmf.solvers.low_rank import columns_for, warm_start

TARGETS = (1.01, 1.001)
# A solver that has not moved f by this share in so many iterations has ended.
_STANDSTILL, _PATIENCE = 1e-9, 20
# A run ends this near to the best f that any run reached so far: the targets are behind
# it, and what follows is not counted.
_NEAR_ENOUGH = 1.0001
# Ratio to the fastest solver at which the picture ends.
_FARTHEST = 100.0
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


def problems(largest: int) -> Iterator[tuple[str, SymmetricOperator, int]]:
    """Yield the name, the matrix and k of every problem with at most so many rows."""
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
            (f"random graph, n = {n}", n, 10, lambda n=n: _block_graph(n, 10))
            for n in (1000, 5000, 20000)
        ),
        ("digits, Gaussian kernel", 1797, 10, _kernel),
        ("COIL-20, centred cosines (mixed signs)", 1440, 20, _mixed),
    ]
    for name, n, k, make in makers:
        if n <= largest:
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
    return build_similarity(load_dataset("digits").X, "gaussian")


def _mixed() -> Any:
    return build_similarity(load_dataset("coil20").X, "centred_cosine")


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
    with np.errstate(all="ignore"):
        while seconds < limit:
            began = time.perf_counter()
            iterate = next(steps, None)
            seconds += time.perf_counter() - began
            if iterate is None:
                break
            f = trace_objective(M.fro2, iterate.H, M.matmat(iterate.H))
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


def _best_of_long_runs(
    M: SymmetricOperator, k: int, starts: int, limit: float
) -> float:
    """Return the least f of runs that are not part of the race."""
    solver = SOLVERS["projected_gradient"](acceleration="momentum")
    runs = [race(M, k, solver, seed, 2 * limit) for seed in range(starts)]
    return min(float(run["f"].min()) for run in runs)


def measure(starts: int, limit: float, largest: int) -> tuple[pd.DataFrame, dict]:
    """Race all solvers on all problems; one BLAS thread, then as many as there are."""
    rows, best = [], {}
    for name, M, k in problems(largest):
        _ = M.fro2
        least = _best_of_long_runs(M, k, starts, limit)
        runs = {}
        for threads in (1, None):
            for solver_name, solver in contestants().items():
                for seed in range(starts):
                    with threadpool_limits(threads):
                        enough = _NEAR_ENOUGH * least
                        run = race(M, k, solver, seed, limit, enough)
                    least = min([least, *run["f"]])
                    runs[solver_name, threads, seed] = run
        best[name] = least
        auto = columns_for(Problem(M=M, k=k), "auto") is not None
        for (solver_name, threads, seed), run in runs.items():
            row = {"problem": name, "n": M.shape[0], "k": k, "auto": auto}
            row["solver"] = solver_name
            row |= {"threads": threads or "default", "start": seed}
            row["least"] = float(run["f"].min()) / best[name] if len(run) else np.nan
            for target in TARGETS:
                there = np.flatnonzero(run["f"] <= target * best[name])
                if there.size:
                    first = run.iloc[there[0]]
                    row[f"seconds_{target}"] = float(first["seconds"])
                    row[f"products_{target}"] = float(first["products"])
                    row[f"iterations_{target}"] = int(there[0])
            rows.append(row)
        click.echo(f"{name}: best f {best[name]:.6g}")
    return pd.DataFrame(rows), best


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


def profile(table: pd.DataFrame, unit: str = "seconds", target: float = 1.001) -> Any:
    """Return, by solver, the ratios to the fastest solver of each problem, sorted.

    A solver counts for a problem if it got there from at least half of the starts.
    """
    column = f"{unit}_{target}"
    usable = table[f"reached_{target}"] * 2 >= table["starts"]
    wide = table.assign(value=table[column].where(usable)).pivot_table(
        index="problem", columns="solver", values="value", dropna=False, sort=False
    )
    return wide.div(wide.min(axis=1), axis=0)


def decisions(table: pd.DataFrame) -> list[str]:
    """Say what the race decides: the candidate's fate, and where a low rank pays.

    The candidate becomes an option if it is the fastest on half of the problems;
    ``low_rank="auto"`` should apply where a low-rank start saves time, and only there.
    Both by the seconds to 1.001, on one thread.
    """
    rows = table[table["threads"].astype(str) == "1"]
    ratios = profile(rows)
    won = ratios.index[ratios[CANDIDATE] == 1]
    fate = "an option" if 2 * len(won) >= len(ratios) else "no option"
    sentences = [
        f"Barzilai-Borwein steps on f, a candidate, are the fastest on {len(won)} of "
        f"{len(ratios)} problems: {fate} (half of them were asked for)."
    ]
    cost = ratios[LOW_RANK] / ratios[MOMENTUM]
    is_auto = rows.groupby("problem", sort=False)["auto"].first()
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
    """Draw performance profiles in seconds: one thread, and default threads.

    Every line has its name at its right end; the best on one thread are in colour.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    groups = table.groupby(table["threads"].astype(str), sort=False)
    colours: dict[str, str] = {}
    for axis, (threads, rows) in zip(axes, groups, strict=False):
        ratios = profile(rows)
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
        axis.set_xlabel("seconds / seconds of the fastest solver")
        label = "one thread" if threads == "1" else "default threads"
        axis.set_title(f"To 1.001 of the best f known, {label}", fontsize=10)
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
