"""``symmf cluster FOLDER --dask``: rows are read by workers and stay with them."""

from __future__ import annotations

import time
import warnings
from contextlib import AbstractContextManager
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
    warnings: list[str]
    #: rows of H, if they are to be written
    H: Any = None


def cluster_on_dask(request: Request) -> DistributedAnswer:
    """Cluster a folder on a dask cluster."""
    from symmf.app.request import check_request
    from symmf.distributed.lazy import open_lazily

    _check(request)
    k, parameters = check_request(request)
    known = ("columns", "drop", "id", "variable")
    reading: dict[str, Any] = {name: request.reading.get(name) for name in known}
    data = open_lazily(request.file, **reading)
    with connected(str(request.dask)):
        return _fit(request, data, k, parameters)


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


def connected(address: str) -> AbstractContextManager[Any]:
    """Connect to a scheduler, or start workers on this machine for "local"."""
    from symmf.distributed import client

    if address.strip().lower() == "local":
        return client.local_cluster()
    return client.connected(address)


def _fit(
    request: Request, data: LazyRows, k: int | str, parameters: dict[str, Any]
) -> DistributedAnswer:
    from symmf.app.answer import fit, for_people
    from symmf.app.evidence import factor_of

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        model = fit("symmf", data.X, k, parameters, request.seed)
        seconds = time.perf_counter() - began
    H = None
    if request.factor is not None:
        H = factor_of(model, data.X)
    return DistributedAnswer(
        data=data, model=model, H=H, seconds=seconds, warnings=for_people(caught)
    )


def write_distributed(request: Request, found: DistributedAnswer) -> list[Path]:
    """Write the clusters, the factor and the model, as far as they were asked for."""
    from symmf.app.request import write_clusters, write_factor
    from symmf.clustering.symmf.model_file import Model, for_new_samples, save_model
    from symmf.io.matrix import UserMatrix

    data, model = found.data, found.model
    names = UserMatrix(X=data.X, y=None, ids=data.ids, id_name=data.id_name)
    written = write_clusters(request, names, model.labels_)
    written += write_factor(request, found.H)
    if request.save is not None:
        kept = Model(
            kind="rows",
            n_clusters=model.n_clusters_,
            names=data.names,
            estimator=for_new_samples(model),
        )
        save_model(request.save, kept)
        written.append(request.save)
    return written
