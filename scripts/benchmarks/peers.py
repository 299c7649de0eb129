"""SymMF beside scikit-learn, scipy and, if given, the released code under Octave."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.io import loadmat, savemat
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.decomposition import NMF

from scripts.benchmarks.timing import alternate, ratios
from symmf import SymMF, factorize
from symmf.datasets import load_dataset
from symmf.features.preprocess import preprocess
from symmf.similarity import build_similarity, regularise
from symmf.solvers import SOLVERS
from symmf.solvers.base import Factorization

# What every solver gets to reach its best: far beyond the needs of a fast one.
_ITERATIONS, _SECONDS = 3000, 8


def clusterers(repeats: int) -> pd.DataFrame:
    """Time whole fits on COIL-20 (k = 20) and on 20 smaller classes of Reuters."""
    rows = []
    coil = load_dataset("coil20")
    reuters = load_dataset("reuters21578").subset(range(2, 22))
    for data, name, k, steps in (
        (coil, "COIL-20", 20, ["unit_rows"]),
        (reuters, "Reuters, 20 classes", 20, ["tfidf", "unit_rows"]),
    ):
        X = preprocess(data.X, steps)
        M = regularise(build_similarity(X, "centred_cosine"), 0.5)
        v0 = np.ones(M.shape[0])
        tasks: dict[str, Callable[[], Any]] = {
            "SymMF": lambda X=X, k=k: SymMF(k, random_state=0).fit(X),
            "SymMF, 20 iterations as released": lambda X=X, k=k: SymMF(
                k, published=True, max_iter=20, tol=0, random_state=0
            ).fit(X),
            "scipy eigsh (factor only)": lambda M=M, k=k, v0=v0: eigsh(
                M, k=k, which="LA", v0=v0
            ),
            "KMeans (20 restarts)": lambda X=X, k=k: KMeans(
                k, n_init=20, random_state=0
            ).fit(X),
            "SpectralClustering (neighbours)": lambda X=X, k=k: SpectralClustering(
                k, affinity="nearest_neighbors", n_init=20, random_state=0
            ).fit(X),
            "NMF": lambda X=X, k=k: NMF(k, init="nndsvd", max_iter=200, tol=1e-3).fit(
                X
            ),
        }
        frame = alternate(tasks, repeats)
        for task in tasks:
            entry = ratios(frame, task, "SymMF")
            rows.append({"task": f"{name}: {task}", **entry})
    return pd.DataFrame(rows)


def to_accuracy(repeats: int, gap: float = 1e-6) -> pd.DataFrame:
    """Seconds of solver time until (f - f_best) / f_best <= gap, per solver.

    Every solver starts from the same matrix. "Best" is the lowest value any of them
    reached from that start; nonnegative problems have local minima, so a solver may
    converge without ever reaching the gap: ``final_gap`` tells how far it came.
    """
    rows = []
    reuters = load_dataset("reuters21578").subset(range(2, 22)).X
    for name, X in (
        ("COIL-20", load_dataset("coil20").X),
        ("Reuters, 20 classes", preprocess(reuters, ["tfidf", "unit_rows"])),
    ):
        M = regularise(build_similarity(X, "centred_cosine"), 0.5)
        for constraint in ("none", "nonnegative"):
            H0 = np.random.default_rng(0).standard_normal((M.shape[0], 20))
            H0 = np.abs(H0) if constraint == "nonnegative" else H0

            def fit(
                options: dict[str, Any],
                max_iter: int,
                M: Any = M,
                H0: Any = H0,
                constraint: str = constraint,
            ) -> Factorization:
                one_shot = SOLVERS[options["solver"]].one_shot
                return factorize(
                    M,
                    20,
                    constraint=constraint,
                    H0=H0,
                    max_iter=max_iter,
                    tol=1e-6 if one_shot else 0,
                    max_seconds=_SECONDS,
                    random_state=0,
                    **options,
                )

            contestants = _contestants(constraint)
            fits = {label: fit(o, _ITERATIONS) for label, o in contestants.items()}
            best = min(float(one.error.min()) for one in fits.values())
            found = []
            for label, one in fits.items():
                entry = {
                    "problem": f"{name}, k=20, {constraint}",
                    "solver": label,
                    "final_gap": float((one.error.min() - best) / best),
                }
                reached = np.flatnonzero((one.error - best) / best <= gap)
                if reached.size:
                    first = int(reached[0])
                    times = [
                        float(fit(contestants[label], first).seconds[-1])
                        for _ in range(repeats)
                    ]
                    entry |= {
                        "iterations": first,
                        "seconds": float(np.median(times)),
                        "low": min(times),
                        "high": max(times),
                    }
                found.append(entry)
            auto = found[0].get("seconds", np.nan)
            rows += [
                entry | {"ratio": entry.get("seconds", np.nan) / auto}
                for entry in found
            ]
    columns = ["problem", "solver", "iterations", "seconds", "low", "high", "ratio"]
    return pd.DataFrame(rows, columns=[*columns, "final_gap"])


def _contestants(constraint: str) -> dict[str, dict[str, Any]]:
    """Return every solver that takes the constraint, what ``auto`` takes first."""
    gradient = {"solver": "projected_gradient"}
    momentum = gradient | {"acceleration": "momentum"}
    line_search = gradient | {"acceleration": "line_search"}
    named: dict[str, dict[str, Any]] = {
        "projected gradient, momentum": momentum,
        "projected gradient": gradient,
    }
    if constraint == "none":
        named = {"eigen": {"solver": "eigen"}, **named}
        named["projected gradient, line search"] = line_search
    first = next(iter(named))
    named = {f"{first} (auto)" if k == first else k: v for k, v in named.items()}
    for name, solver in SOLVERS.items():
        if name in ("eigen", "projected_gradient"):
            continue
        if constraint in solver.constraints:
            named[name] = {"solver": name}
    return named


def octave(folder: Path, repeats: int, iterations: int = 20) -> pd.DataFrame:
    """Time the released Algorithm 2 under Octave beside ours, on COIL-20.

    Both run on one thread, as scripts/benchmark sets it. The final factors are compared
    with our ``published=True``, which follows the released code.
    """
    if shutil.which("octave-cli") is None:
        raise SystemExit("octave-cli is not installed; GNU Octave was not measured.")
    X = load_dataset("coil20").X
    M = regularise(build_similarity(X, "centred_cosine"), 0.5)
    H0 = np.random.default_rng(0).standard_normal((M.shape[0], 20))
    ours: dict[str, list[float]] = {"symmf": [], "symmf, published=True": []}
    theirs = []
    with tempfile.TemporaryDirectory() as scratch:
        savemat(f"{scratch}/input.mat", {"M": M.toarray(), "H0": H0})
        code = (
            f"addpath('{folder.resolve()}'); load('{scratch}/input.mat'); tic; "
            f"H = matrixFac(M, {iterations}, H0); printf('%.6f\\n', toc); "
            f"save('-v6', '{scratch}/output.mat', 'H');"
        )
        for _ in range(repeats):
            done = subprocess.run(
                ["octave-cli", "--quiet", "--no-gui", "--eval", code],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise SystemExit(f"Octave stopped: {done.stderr.strip()[-500:]}")
            theirs.append(float(done.stdout.split()[-1]))
            for name, published in (("symmf", False), ("symmf, published=True", True)):
                fit = factorize(
                    M, 20, H0=H0, max_iter=iterations, tol=0, published=published
                )
                ours[name].append(float(fit.seconds[-1]))
        H = loadmat(f"{scratch}/output.mat")["H"]
    difference = float(np.linalg.norm(H - fit.H) / np.linalg.norm(H))
    rows = []
    for name, seconds in {"released code, GNU Octave": theirs, **ours}.items():
        ratio = np.array(seconds) / np.array(ours["symmf"])
        rows.append(
            {
                "code": name,
                "seconds": float(np.median(seconds)),
                "ratio": float(np.median(ratio)),
                "ratio_low": float(ratio.min()),
                "ratio_high": float(ratio.max()),
            }
        )
    rows[-1]["difference_of_H"] = difference
    return pd.DataFrame(rows)
