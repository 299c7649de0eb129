"""Iterations of Algorithm 2 in units of the bare product M H."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from scripts.benchmarks.timing import REST, alternate, in_new_process, ratios


def measure(iterations: int, repeats: int) -> pd.DataFrame:
    """Return a row per number of threads and problem: all threads first, then one."""
    parts = []
    for threads in ("default", "1"):
        found = in_new_process("solvers", iterations, repeats, threads=threads)
        parts.append(pd.DataFrame(found).assign(threads=threads))
    return pd.concat(parts)


def _time_iterations(iterations: int, repeats: int) -> list[dict[str, Any]]:
    """Time iterations, whole calls and products by the wall clock, in this process.

    The product is the one that a person can have: outside of symmf's limits of threads.
    """
    from symmf import factorize
    from symmf.linalg.threads import one_thread
    from symmf.solvers.base import Problem, Start
    from symmf.solvers.projected_gradient import ProjectedGradient

    rows = []
    for name, (M, k) in problems().items():
        H0 = np.random.default_rng(0).standard_normal((M.shape[0], k)).astype(M.dtype)
        _ = M.fro2

        def iterate(M: Any = M, k: int = k, H0: Any = H0) -> Callable[[], None]:
            run = ProjectedGradient().iterates(
                Problem(M=M, k=k), Start(H=H0, rng=np.random.default_rng(1))
            )
            next(run)

            def go() -> None:
                with one_thread():
                    for _ in range(iterations):
                        next(run)

            return go

        def whole(M: Any = M, k: int = k, H0: Any = H0) -> None:
            factorize(M, k, H0=H0, max_iter=iterations, tol=0, random_state=1)

        def bare(M: Any = M, H0: Any = H0) -> None:
            for _ in range(iterations):
                M.matmat(H0)

        tasks = {"product": bare, "iterations": iterate, "whole": whole}
        frame = alternate(tasks, repeats, time.perf_counter, rest=REST)
        setup = ratios(frame, "whole", "product")
        rows.append(
            {"problem": name, **ratios(frame, "iterations", "product")}
            | {f"with_setup{key[5:]}": setup[key] for key in setup if "ratio" in key}
        )
    return rows


def problems() -> dict[str, tuple[Any, int]]:
    """Return the matrices the iteration cost is measured on, with their k."""
    from symmf.datasets import load_dataset
    from symmf.features.preprocess import preprocess
    from symmf.similarity import as_operator, build_similarity, regularise

    coil, reuters = load_dataset("coil20"), load_dataset("reuters21578")
    dense = regularise(build_similarity(coil.X, "centred_cosine"), 0.5)
    single = regularise(
        build_similarity(coil.X.astype(np.float32), "centred_cosine"), 0.5
    )
    implicit = regularise(build_similarity(reuters.X, "centred_cosine"), 0.5)
    tfidf = preprocess(reuters.X, ["tfidf"])
    named = {
        "COIL-20 dense, k=20": (dense, 20),
        "COIL-20 dense float32, k=20": (single, 20),
        "Reuters implicit, k=41": (implicit, 41),
        "Reuters implicit, k=20": (implicit, 20),
    }
    for neighbours in (14, 100):
        graph = as_operator(
            build_similarity(tfidf, "cosine_knn", n_neighbors=neighbours)
        )
        entries = round(graph.M.nnz / graph.shape[0])
        named[f"Reuters graph, {entries} entries a row, k=20"] = (graph, 20)
    return named


if __name__ == "__main__":
    print(json.dumps(_time_iterations(int(sys.argv[1]), int(sys.argv[2]))))
