"""What a dask cluster on this machine costs beside a fit of the same rows in memory."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.benchmarks.corpus import draw
from scripts.benchmarks.timing import alternate, ratios

WORKERS, BLOCKS = 2, 8


def measure(sizes: Sequence[int], repeats: int, kinds: Sequence[str]) -> pd.DataFrame:
    """Fit SymMF() in memory and on two worker processes."""
    import distributed

    from symmf import SymMF
    from symmf.metrics import ari

    rows = []
    with (
        distributed.LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster),
    ):
        for kind, n in itertools.product(kinds, sizes):
            X, y, given = draw(kind, n)
            blocks = as_dask(X)
            found: dict[str, Any] = {}

            def fit(name: str, X: Any, given: Any = given, found: Any = found) -> None:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found[name] = SymMF(random_state=0, **given).fit(X)

            tasks = {
                "local": lambda X=X, fit=fit: fit("local", X),
                "dask": lambda blocks=blocks, fit=fit: fit("dask", blocks),
            }
            # Workers are other processes: only the wall clock sees them.
            frame = alternate(tasks, repeats, time.perf_counter)
            near, far = found["local"].labels_, found["dask"].labels_
            rows.append(
                {
                    "kind": kind,
                    "n": n,
                    **ratios(frame, "dask", "local"),
                    "ari": ari(y, far),
                    "same_labels": float(np.mean(near == far)),
                }
            )
    return pd.DataFrame(rows)


def as_dask(X: Any) -> Any:
    """Return rows as a dask array in equal blocks, held by the workers."""
    import dask
    import dask.array as da
    from scipy import sparse

    if not sparse.issparse(X):
        return da.from_array(X, chunks=(-(-len(X) // BLOCKS), -1)).persist()
    meta = sparse.csr_matrix((0, 0), dtype=X.dtype)
    cuts = np.linspace(0, X.shape[0], BLOCKS + 1).astype(int)
    parts = []
    for first, last in itertools.pairwise(cuts):
        part = dask.delayed(sparse.csr_matrix(X[first:last]))
        shape = (int(last - first), X.shape[1])
        parts.append(da.from_delayed(part, shape, dtype=X.dtype, meta=meta))
    return da.concatenate(parts).persist()
