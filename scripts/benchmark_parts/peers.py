"""SymMF beside scikit-learn, scipy and, if given, the released code under Octave."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.io import savemat
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.decomposition import NMF

from symmf import SymMF, factorize
from symmf.datasets import load_dataset, preprocess
from symmf.similarity import build_similarity, regularise
from symmf.solvers import SOLVERS

# Far beyond any solver's needs: what "best known" is taken from.
_REFERENCE_ITERATIONS = 3000


def clusterers(
    alternate: Callable[..., pd.DataFrame],
    ratios: Callable[..., dict[str, float]],
    repeats: int,
) -> pd.DataFrame:
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


def to_accuracy(gap: float = 1e-6) -> pd.DataFrame:
    """Seconds of solver time until (f - f_best) / f_best <= gap, per solver.

    Every solver starts from the same matrix; what "best" means is the lowest value
    any of them reached from that start, unconstrained and nonnegative apart.
    """
    X = load_dataset("coil20").X
    M = regularise(build_similarity(X, "centred_cosine"), 0.5)
    rows = []
    for constraint in ("none", "nonnegative"):
        H0 = np.random.default_rng(0).standard_normal((M.shape[0], 20))
        H0 = np.abs(H0) if constraint == "nonnegative" else H0
        fits = {}
        for name, options in _contestants(constraint):
            kind = str(options.pop("solver"))
            fits[name] = factorize(
                M,
                20,
                solver=kind,
                constraint=constraint,
                H0=H0,
                max_iter=_REFERENCE_ITERATIONS,
                tol=0 if not SOLVERS[kind].one_shot else 1e-6,
                max_seconds=10,
                **options,
            )
        best = min(float(fit.error.min()) for fit in fits.values())
        for name, fit in fits.items():
            reached = np.flatnonzero((fit.error - best) / best <= gap)
            first = int(reached[0]) if reached.size else None
            rows.append(
                {
                    "problem": f"COIL-20, k=20, {constraint}",
                    "solver": name,
                    "iterations": first,
                    "seconds": None if first is None else float(fit.seconds[first]),
                    "final_gap": float((fit.error.min() - best) / best),
                    "seconds_run": float(fit.seconds[-1]),
                }
            )
    return pd.DataFrame(rows)


def _contestants(constraint: str) -> list[tuple[str, dict[str, Any]]]:
    momentum = {"solver": "projected_gradient", "acceleration": "momentum"}
    plain = {"solver": "projected_gradient"}
    if constraint == "none":
        return [
            ("eigen (auto)", {"solver": "eigen"}),
            ("projected_gradient + momentum", momentum),
            (
                "projected_gradient + line search",
                {"solver": "projected_gradient", "acceleration": "line_search"},
            ),
            ("projected_gradient", plain),
            ("columnwise", {"solver": "columnwise"}),
            ("fixed_step (safe)", {"solver": "fixed_step"}),
        ]
    return [
        ("projected_gradient + momentum (auto)", momentum),
        ("projected_gradient", plain),
        ("columnwise", {"solver": "columnwise"}),
        ("sym_hals", {"solver": "sym_hals"}),
        ("sym_anls", {"solver": "sym_anls"}),
        ("symnmf_anls", {"solver": "symnmf_anls"}),
        ("newton", {"solver": "newton"}),
        ("admm", {"solver": "admm"}),
        ("fixed_step (safe)", {"solver": "fixed_step"}),
    ]


def octave(folder: Path, iterations: int = 20) -> pd.DataFrame:
    """Time the released Algorithm 2 under Octave beside ours, on COIL-20."""
    if shutil.which("octave-cli") is None:
        raise SystemExit("octave-cli is not installed; GNU Octave was not measured.")
    X = load_dataset("coil20").X
    M = regularise(build_similarity(X, "centred_cosine"), 0.5)
    H0 = np.random.default_rng(0).standard_normal((M.shape[0], 20))
    with tempfile.TemporaryDirectory() as scratch:
        savemat(f"{scratch}/input.mat", {"M": M.toarray(), "H0": H0})
        code = (
            f"addpath('{folder.resolve()}'); load('{scratch}/input.mat'); tic; "
            f"matrixFac(M, {iterations}, H0); printf('%.6f\\n', toc);"
        )
        done = subprocess.run(
            ["octave-cli", "--quiet", "--eval", code],
            capture_output=True,
            text=True,
            check=True,
        )
    theirs = float(done.stdout.split()[-1])
    began = time.perf_counter()
    factorize(M, 20, H0=H0, max_iter=iterations, tol=0)
    ours = time.perf_counter() - began
    return pd.DataFrame(
        [
            {
                "problem": "COIL-20, k=20",
                "octave": theirs,
                "symmf": ours,
                "ratio": theirs / ours,
            }
        ]
    )
