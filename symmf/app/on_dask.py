"""``symmf cluster FOLDER --dask``: rows are read by workers and stay with them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symmf.errors import InputError

if TYPE_CHECKING:
    from symmf.app.request import Request
    from symmf.distributed.lazy import LazyRows

# What needs all rows in one process, as the user typed it.
_IN_MEMORY = {
    "report": "--report",
    "save": "--save",
    "model": "--model",
    "standardize": "--standardize",
}
_READING = {
    "format": "--format",
    "labels": "--labels",
    "keep": "--keep-columns",
    "encoding": "--encoding",
    "decimal": "--decimal",
    "header": "--header",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributedAnswer:
    """A clustering of rows that stay on the workers."""

    data: LazyRows
    model: Any
    seconds: float
    notes: list[str]
    warnings: list[str]


def cluster_on_dask(request: Request) -> DistributedAnswer:
    """Cluster a folder on a dask cluster."""
    from symmf.app.request import check_request
    from symmf.distributed.lazy import open_lazily

    _check(request)
    k, parameters = check_request(request)
    notes = []
    if "similarity" not in parameters:
        parameters["similarity"] = "centred_cosine"
        notes.append(
            "Rows stay on the cluster and are compared by centred cosines; without "
            "--dask, tables are compared by neighbours."
        )
    known = ("columns", "drop", "id", "variable")
    reading: dict[str, Any] = {name: request.reading.get(name) for name in known}
    data = open_lazily(request.file, **reading)
    with connected(str(request.dask)):
        model, seconds, warnings = _fit(data, k, parameters, request.seed)
    return DistributedAnswer(
        data=data, model=model, seconds=seconds, notes=notes, warnings=warnings
    )


def _check(request: Request) -> None:
    given = {name: getattr(request, name) for name in _IN_MEMORY}
    given |= {name: request.reading.get(name) for name in _READING}
    for name, value in given.items():
        if value not in (None, False):
            option = _IN_MEMORY.get(name) or _READING[name]
            raise InputError(
                f"{option} needs the rows in memory; leave it out, or leave --dask out."
            )
    if request.method != "symmf":
        raise InputError(
            f"--dask is for the method symmf; {request.method} needs rows in memory."
        )


@contextmanager
def connected(address: str) -> Generator[Any]:
    """Connect to a scheduler, or start workers on this machine for "local"."""
    from symmf.experiment.run.dask import DaskBackend

    if address.strip().lower() != "local":
        with closing(DaskBackend(address)) as backend:
            yield backend.client
        return
    import joblib

    try:
        import distributed
    except ImportError:
        raise InputError(
            "--dask needs the package distributed: pip install 'symmf[dask]'."
        ) from None
    start: Any = distributed.LocalCluster
    connect: Any = distributed.Client
    with (
        start(
            n_workers=joblib.cpu_count(),
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs="CRITICAL",
        ) as cluster,
        connect(cluster) as client,
    ):
        yield client


def _fit(
    data: LazyRows, k: int | str, parameters: dict[str, Any], seed: int
) -> tuple[Any, float, list[str]]:
    from symmf.app.answer import fit
    from symmf.errors import SymmfWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        model = fit("symmf", data.X, k, parameters, seed)
        seconds = time.perf_counter() - began
    for_people = [
        str(item.message)
        for item in caught
        if issubclass(item.category, SymmfWarning)
        or item.category.__name__ == "ConvergenceWarning"
    ]
    return model, seconds, list(dict.fromkeys(for_people))


def write_distributed(request: Request, found: DistributedAnswer) -> list[Path]:
    """Write the clusters and the factor, as far as they were asked for."""
    from symmf.app.request import write_clusters, write_factor
    from symmf.io.matrix import UserMatrix

    data, model = found.data, found.model
    names = UserMatrix(X=data.X, y=None, ids=data.ids, id_name=data.id_name)
    written = write_clusters(request, names, model.labels_)
    return [*written, *write_factor(request, model.H_)]
