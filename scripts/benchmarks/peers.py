"""SymMF beside scikit-learn, scipy and, if given, the released code under Octave."""

from __future__ import annotations

import os
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

from scripts.benchmarks.timing import VARIABLES, alternate, ratios
from symmf import SymMF, factorize
from symmf.datasets import load_dataset
from symmf.features.preprocess import preprocess
from symmf.similarity import build_similarity, regularise


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


def octave(folder: Path, repeats: int, iterations: int = 20) -> pd.DataFrame:
    """Time the released Algorithm 2 under Octave beside ours, on COIL-20.

    Both run on one thread. The final factors are compared
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
                env=os.environ | dict.fromkeys(VARIABLES, "1"),
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
