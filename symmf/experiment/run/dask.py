"""Trials on a dask.distributed cluster.

The scheduler hands out trials, moves those of a lost worker elsewhere and keeps one
copy of the data on each of its workers. A dask worker does not compute a trial
itself: it keeps a process of :mod:`symmf.experiment.run.process` per thread for
that, so limits are as hard as on one machine and the bits are the same. Records are
written by the caller alone.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import uuid
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

from symmf.errors import InputError, SymmfError
from symmf.experiment.run.backend import TICK, Update
from symmf.experiment.run.fork_server import ForkServer
from symmf.experiment.run.process import WorkerProcess
from symmf.experiment.values import Job, Outcome, Status

if TYPE_CHECKING:
    from symmf.datasets import Dataset

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 15
# Submissions of one trial: the scheduler itself retries a few lost workers; a further
# submission is needed when all copies of the data were lost.
ATTEMPTS = 3

# Ways of transport that need nothing but the address, or certificates.
SCHEMES = ("tcp", "tls", "ws", "wss")

# Of the dask worker's process; it ends with it.
_idle: list[WorkerProcess] = []
_server: list[ForkServer] = []
_lock = threading.Lock()


def _take() -> tuple[WorkerProcess, bool]:
    """Return a worker and whether it is new."""
    with _lock:
        if _idle:
            return _idle.pop(), False
        if not _server or not _server[-1].alive:
            _server.append(ForkServer())
        server = _server[-1]
    return WorkerProcess(server), True


def run_on_worker(job: Job, data: Dataset) -> tuple[Outcome, dict[str, Any]]:
    """Run a job in a process of its own; called by dask on its workers.

    Return its outcome and the environment of that process.
    """
    while True:
        worker, fresh = _take()
        try:
            outcome = _supervise(worker, job, data)
        except (EOFError, OSError):
            outcome = worker.died()
            if not worker.ready:
                raise RuntimeError(
                    f"A worker process could not start. {outcome.message}\n"
                    f"{outcome.traceback}"
                ) from None
            if not fresh and worker.job is None:
                continue  # it died while idle, so nothing was lost
            return outcome, {}
        except BaseException:
            worker.kill()
            raise
        if outcome.status is Status.MEMORY:
            worker.kill()
        elif outcome.status is not Status.TIMEOUT:
            with _lock:
                _idle.append(worker)
        return outcome, worker.environment


def _supervise(worker: WorkerProcess, job: Job, data: Dataset) -> Outcome:
    given = False
    while True:
        if worker.idle and not given:
            worker.give(job, data)
            given = True
        left = worker.remaining()
        if left is not None and left <= 0:
            return worker.timed_out()
        if connection.wait([worker.connection], left):
            outcome = worker.receive()
            if outcome is not None:
                return outcome


def check_address(address: str) -> str:
    """Return the address of a scheduler, or raise a sentence that shows one.

    Examples
    --------
    >>> check_address(" 10.0.0.1:8786 ")
    'tcp://10.0.0.1:8786'
    """
    text = address.strip()
    example = "It looks like tcp://HOST:8786; `dask scheduler` prints it when it starts"
    if not text:
        raise InputError(f"--dask needs the address of a scheduler. {example}.")
    scheme, separator, rest = text.rpartition("://")
    scheme = scheme if separator else "tcp"
    host, _, port = rest.rpartition(":")
    known = scheme in SCHEMES and host and not set(host) & set("/?#@ ")
    if not known or not port.isascii() or not port.isdecimal():
        raise InputError(
            f'--dask "{address}" is not the address of a scheduler. {example}.'
        )
    if not 0 < int(port) < 2**16:
        raise InputError(
            f'--dask "{address}": a port is a number from 1 to 65535. {example}.'
        )
    return f"{scheme}://{rest}"


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


def _silence() -> dict[str, int]:
    """Keep the libraries' own tracebacks away from the user; return what was set.

    What they tell when a connection is lost is told in a sentence of ours.
    """
    names = [
        name
        for name in logging.root.manager.loggerDict
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio")
    ]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return before


def _restore(levels: Mapping[str, int]) -> None:
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


class DaskBackend:
    """Runs trials through the futures of a dask client."""

    def __init__(self, address: str) -> None:
        address = check_address(address)
        try:
            import distributed
        except ImportError:
            raise InputError(
                "--dask needs the package distributed: pip install 'symmf[dask]'."
            ) from None
        self._levels = _silence()
        try:
            connect: Any = distributed.Client
            self.client = connect(address, timeout=CONNECT_SECONDS)
        except Exception as error:
            # Of any kind: each way of transport has errors of its own.
            _restore(self._levels)
            raise InputError(_no_answer(address, error)) from None

    def close(self) -> None:
        """Leave the cluster; it goes on running."""
        with suppress(Exception):
            self.client.close()
        _restore(self._levels)

    def run(
        self,
        jobs: Sequence[Job],
        data: Mapping[str, Dataset],
        stop: threading.Event,
    ) -> Generator[Update]:
        """Run jobs; see :class:`symmf.experiment.run.backend.Backend`."""
        run = _Run(self.client, data, stop)
        try:
            for job in jobs:
                run.submit(job, attempt=1)
            while run.sent and not stop.is_set():
                yield from run.listen()
        except SymmfError:
            raise
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, OSError | asyncio.CancelledError) or not run.connected:
                raise _connection_lost() from error
            raise
        finally:
            run.cancel()


@dataclass(frozen=True, slots=True)
class _Sent:
    job: Job
    attempt: int
    future: Any
    data: Any


class _Run:
    """The futures of one call of :meth:`DaskBackend.run`."""

    def __init__(
        self, client: Any, data: Mapping[str, Dataset], stop: threading.Event
    ) -> None:
        self.client, self.data, self.stop = client, data, stop
        self.name = f"symmf-{uuid.uuid4().hex[:8]}"
        self.done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.on_cluster: dict[str, Any] = {}
        self.sent: dict[str, _Sent] = {}

    def submit(self, job: Job, attempt: int) -> None:
        """Send a job, and before it its data to all workers, unless they have them."""
        digest = job.trial.data_digest
        if digest not in self.on_cluster:
            self._wait_for_workers()
            if self.stop.is_set():
                return
            data = self._scatter(self.data[digest])
            if data is None:
                return
            self.on_cluster[digest] = data
        future = self.client.submit(
            run_on_worker,
            job,
            self.on_cluster[digest],
            key=f"{self.name}-{job.trial.experiment}-{job.trial.key}-{attempt}",
            pure=False,
        )
        self.sent[future.key] = _Sent(job, attempt, future, self.on_cluster[digest])
        future.add_done_callback(self.done.put)

    def _scatter(self, data: Dataset) -> Any:
        """Send data to all workers; None if the run is to end before they have it.

        A worker that is lost in between can make this wait for ever, so that it waits
        beside the stop.
        """
        found: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def send() -> None:
            try:
                found.put(self.client.scatter(data, broadcast=True, hash=False))
            except BaseException as error:
                found.put(error)

        threading.Thread(target=send, daemon=True).start()
        while not self.stop.is_set():
            with suppress(queue.Empty):
                sent = found.get(timeout=TICK)
                if isinstance(sent, BaseException):
                    raise sent
                return sent
            self._check_connection()
        return None

    def listen(self) -> Iterator[Update]:
        """Wait a moment for a future to be done."""
        try:
            future = self.done.get(timeout=TICK)
        except queue.Empty:
            self._check_connection()
            return
        sent = self.sent.pop(future.key)
        found = _outcome(future)
        if found is not None:
            yield Update(sent.job, *found)
        elif sent.attempt < ATTEMPTS:
            self._check_connection()
            logger.warning("Sending %s again.", sent.job.trial.title)
            digest = sent.job.trial.data_digest
            if self.on_cluster.get(digest) is sent.data:
                # All copies may be gone; jobs sent from now on get new ones.
                del self.on_cluster[digest]
            self.submit(sent.job, sent.attempt + 1)
        else:
            message = "The cluster lost the trial several times."
            yield Update(sent.job, Outcome(status=Status.DIED, message=message))

    def cancel(self) -> None:
        """Give up what is still running."""
        if self.sent:
            with suppress(Exception):
                self.client.cancel([sent.future for sent in self.sent.values()])

    def _wait_for_workers(self) -> None:
        told = False
        # Without a connection the information is empty.
        while not self.client.scheduler_info().get("workers"):
            self._check_connection()
            if not told:
                logger.warning("The dask cluster has no workers now; waiting for one.")
            told = True
            if self.stop.wait(1.0):
                return

    @property
    def connected(self) -> bool:
        """Whether the scheduler is there, as far as the client knows."""
        return self.client.status in ("running", "connecting")

    def _check_connection(self) -> None:
        if not self.connected:
            raise _connection_lost()


def _connection_lost() -> SymmfError:
    return SymmfError(
        "The connection to the dask scheduler was lost. Finished trials are kept; "
        "repeat the same command to continue."
    )


def _outcome(future: Any) -> tuple[Outcome, dict[str, Any]] | None:
    """Return what a future came to, or None if it has to be sent again."""
    if future.status == "finished":
        try:
            found: tuple[Outcome, dict[str, Any]] = future.result()
        except asyncio.CancelledError:
            return None
        return found
    if future.status != "error":
        return None
    error = future.exception()
    if type(error).__name__ == "KilledWorker":
        message = "Every dask worker that took the trial was lost."
        return Outcome(status=Status.DIED, message=message), {}
    message = f"{type(error).__name__}: {error}"
    return Outcome(status=Status.FAILED, message=message), {}
