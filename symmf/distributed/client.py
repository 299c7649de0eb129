"""A client of a dask cluster: of the scheduler at an address, or of this machine."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from symmf.distributed.rows import imported
from symmf.errors import InputError

CONNECT_SECONDS = 15
# Ways of transport that need nothing but the address, or certificates.
_ADDRESS = re.compile(
    r"(?:(?P<scheme>tcp|tls|wss?)://)?(?P<host>[^/?#@\s]+):(?P<port>\d{1,5})", re.ASCII
)


def check_address(address: str) -> str:
    """Return the address of a scheduler, or raise a sentence that shows one.

    Examples
    --------
    >>> check_address(" 10.0.0.1:8786 ")
    'tcp://10.0.0.1:8786'
    """
    found = _ADDRESS.fullmatch(address.strip())
    if found is None or not 0 < int(found["port"]) < 2**16:
        raise InputError(
            f'--dask "{address}" is not the address of a scheduler. It looks like '
            "tcp://HOST:8786, with a port up to 65535; `dask scheduler` prints it when "
            "it starts."
        )
    return f"{found['scheme'] or 'tcp'}://{found['host']}:{found['port']}"


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Yield a client of the scheduler at an address; the cluster outlives it.

    Raises
    ------
    InputError
        If it is no address, nobody answers there, or ``distributed`` is missing.
    """
    address = check_address(address)
    distributed = imported("distributed")
    with _without_library_logs():
        try:
            client = distributed.Client(address, timeout=CONNECT_SECONDS)
        except Exception as error:  # each way of transport has errors of its own
            raise InputError(_no_answer(address, error)) from None
        try:
            yield client
        finally:
            with suppress(Exception):
                client.close()


@contextmanager
def local_cluster() -> Iterator[Any]:
    """Yield a client of workers on this machine, one process per core."""
    import joblib

    distributed = imported("distributed")
    with (
        distributed.LocalCluster(
            n_workers=joblib.cpu_count(),
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs="CRITICAL",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def _no_answer(address: str, error: Exception) -> str:
    if address.startswith("tls://") and isinstance(error, TypeError):
        return (
            f"{address} needs certificates: name them in dask's configuration "
            "(distributed.comm.tls, keys ca-file, client.cert and client.key), as for "
            "every other client of that scheduler."
        )
    return (
        f"No dask scheduler answers at {address} ({type(error).__name__}). Start one "
        "with `dask scheduler`, or give the address it prints."
    )


@contextmanager
def _without_library_logs() -> Iterator[None]:
    """Mute the libraries' own tracebacks: a lost connection is a sentence of ours."""
    loggers = [
        logging.getLogger(name)
        for name in logging.root.manager.loggerDict
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio")
    ]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
