"""Trials on a dask.distributed cluster.

The scheduler hands out trials, moves those of a lost worker elsewhere and keeps one
copy of the data on each of its workers. A dask worker does not compute a trial
itself: it keeps a process of :mod:`symmf.experiment.process` per thread for that, so
limits are as hard as on one machine and the bits are the same. Records are written by
the caller alone.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

from symmf.errors import InputError, SymmfError
from symmf.experiment.pool import TICK, Update
from symmf.experiment.process import WorkerProcess
from symmf.experiment.template import Template
from symmf.experiment.trial import Job, Outcome

if TYPE_CHECKING:
    from symmf.datasets import Dataset

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 15
# Submissions of one trial: the scheduler itself retries a few lost workers; a further
# submission is needed when all copies of the data were lost.
ATTEMPTS = 3

# Of the dask worker's process; it ends with it.
_idle: list[WorkerProcess] = []
_template: list[Template] = []
_lock = threading.Lock()


def _take() -> tuple[WorkerProcess, bool]:
    """Return a worker and whether it is new."""
    with _lock:
        if _idle:
            return _idle.pop(), False
        if not _template or not _template[-1].alive:
            _template.append(Template())
        template = _template[-1]
    return WorkerProcess(template), True


def run_on_worker(job: Job, data: Dataset) -> Outcome:
    """Run a job in a process of its own; called by dask on its workers."""
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
            return outcome
        except BaseException:
            worker.kill()
            raise
        if outcome.status == "memory":
            worker.kill()
        elif outcome.status != "timeout":
            with _lock:
                _idle.append(worker)
        return outcome


def _supervise(worker: WorkerProcess, job: Job, data: Dataset) -> Outcome:
    given = False
    while True:
        if worker.idle and not given:
            try:
                worker.give(job, data)
            except OSError:
                worker.job = None
                raise
            given = True
        left = worker.remaining()
        if left is not None and left <= 0:
            return worker.timed_out()
        if connection.wait([worker.connection], left):
            outcome = worker.receive()
            if outcome is not None:
                return outcome


class DaskBackend:
    """Runs trials through the futures of a dask client."""

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise InputError(
                "--dask needs the package distributed: pip install 'symmf[dask]'."
            ) from None
        try:
            connect: Any = distributed.Client
            self.client = connect(address, timeout=CONNECT_SECONDS)
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError(
                f"No dask scheduler answers at {address} "
                f"({type(error).__name__}). Start one with `dask scheduler`, or give "
                "the address it prints."
            ) from None

    def close(self) -> None:
        """Leave the cluster; it goes on running."""
        self.client.close()

    def run(
        self,
        jobs: Sequence[Job],
        data: Mapping[str, Dataset],
        stop: threading.Event,
    ) -> Iterator[Update]:
        """Run jobs; see :class:`symmf.experiment.pool.Backend`."""
        self._wait_for_workers(stop)
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        sent: dict[str, Any] = {}
        running: dict[str, tuple[Job, int, Any]] = {}

        def submit(job: Job, attempt: int) -> None:
            digest = job.trial.data_digest
            if digest not in sent:
                sent[digest] = self.client.scatter(data[digest], broadcast=True)
            future = self.client.submit(
                run_on_worker,
                job,
                sent[digest],
                key=f"symmf-{job.trial.experiment}-{job.trial.key}-{attempt}",
                pure=False,
            )
            running[future.key] = (job, attempt, future)
            future.add_done_callback(done.put)

        try:
            for job in jobs:
                submit(job, 1)
            while running and not stop.is_set():
                try:
                    future = done.get(timeout=TICK)
                except queue.Empty:
                    self._check_connection()
                    continue
                job, attempt, _ = running.pop(future.key)
                outcome = _outcome(future)
                if outcome is not None:
                    yield Update(job, outcome)
                elif attempt < ATTEMPTS and not stop.is_set():
                    logger.warning("Sending %s again.", job.trial.title)
                    sent.pop(job.trial.data_digest, None)
                    submit(job, attempt + 1)
                else:
                    message = "The cluster lost the trial several times."
                    yield Update(job, Outcome(status="died", message=message))
        finally:
            if running:
                self.client.cancel([future for _, _, future in running.values()])

    def _wait_for_workers(self, stop: threading.Event) -> None:
        told = False
        while not stop.is_set() and not self.client.scheduler_info()["workers"]:
            if not told:
                logger.warning("The dask cluster has no workers yet; waiting for one.")
            told = True
            stop.wait(1.0)
            self._check_connection()

    def _check_connection(self) -> None:
        if self.client.status not in ("running", "connecting"):
            raise SymmfError(
                "The connection to the dask scheduler was lost. Finished trials are "
                "kept; repeat the same command to continue."
            )


def _outcome(future: Any) -> Outcome | None:
    """Return what a future came to, or None if it has to be sent again."""
    if future.status == "finished":
        outcome: Outcome = future.result()
        return outcome
    if future.status != "error":
        return None
    error = future.exception()
    if type(error).__name__ == "KilledWorker":
        message = "Every dask worker that took the trial was lost."
        return Outcome(status="died", message=message)
    return Outcome(status="failed", message=f"{type(error).__name__}: {error}")
