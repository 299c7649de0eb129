"""What an unknown K and the evidence for the clusters cost beside ``symmf.select``."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from scripts.benchmarks.corpus import CLUSTERS, points
from scripts.benchmarks.timing import alternate, ratios

SELECT = "select"


def measure(sizes: Sequence[int], repeats: int) -> pd.DataFrame:
    """Time dense rows of planted groups: K given, chosen, and with the evidence."""
    from symmf import SymMF, select

    rows = []
    for n in sizes:
        X, _ = points(n)

        def fit(k: Any, X: Any = X) -> Any:
            return SymMF(k, random_state=0).fit(X)

        tasks: dict[str, Callable[[], Any]] = {
            "fit, K given": lambda fit=fit: fit(CLUSTERS),
            "fit, K chosen": lambda fit=fit: fit("auto"),
            "fit, K chosen, and evidence": lambda fit=fit: fit("auto").evidence_,
            SELECT: lambda X=X: select(X),
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = alternate(tasks, repeats, time.perf_counter)
        rows += [{"n": n, "task": task} | ratios(frame, task, SELECT) for task in tasks]
    return pd.DataFrame(rows)
