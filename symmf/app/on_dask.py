"""``symmf cluster FOLDER --dask``: rows are read by workers and stay with them."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from symmf.app.request import Paths, Request, check_request
from symmf.errors import InputError

if TYPE_CHECKING:
    from symmf.app.stages import Stages
    from symmf.clustering import SymMF
    from symmf.io.samples import UserMatrix

# Options that need all rows in one process, by their names in a request.
_IN_MEMORY = (
    *("report", "model", "standardize", "format", "labels"),
    *("keep", "encoding", "decimal", "header"),
)


def cluster_on_dask(
    request: Request, stages: Stages
) -> tuple[UserMatrix, SymMF, list[str], Paths]:
    """Cluster a folder on a dask cluster, and write what was asked for.

    Returns the rows, the fitted estimator, warnings, and the paths of the files
    written.
    """
    from symmf.app.answer import fit, for_people
    from symmf.app.evidence import factor_of
    from symmf.app.output import write_outputs
    from symmf.clustering.symmf.model_file import Model, for_new_samples
    from symmf.distributed.lazy import open_lazily

    _check(request)
    k, parameters = check_request(request)
    known = ("columns", "drop", "id", "variable")
    data = open_lazily(request.file, **{name: request.reading[name] for name in known})
    with connected(str(request.dask)):
        with warnings.catch_warnings(record=True) as caught, stages("clustering"):
            warnings.simplefilter("always")
            model = fit("symmf", data.X, k, parameters, request.seed)
        with stages("writing"):
            written = write_outputs(
                request,
                data,
                model.labels_,
                factor=lambda: factor_of(model, data.X),
                model=lambda: Model(
                    kind="rows",
                    n_clusters=model.n_clusters_,
                    names=data.names,
                    estimator=for_new_samples(model),
                ),
            )
    return data, model, for_people(caught), written


def _check(request: Request) -> None:
    for name in _IN_MEMORY:
        value = request.reading.get(name, getattr(request, name, None))
        if value not in (None, False):
            option = "--keep-columns" if name == "keep" else f"--{name}"
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
