"""Trials in supervised local processes.

joblib's process pool cannot stop a single task: a trial past its time limit, or one
that takes its process down, would end the whole pool. The pool here is small for that
reason alone: each worker runs one trial at a time, and a worker that is too slow or
dead is replaced while the others go on.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from multiprocessing import connection
from typing import TYPE_CHECKING, Any, Self

from symmf.errors import SymmfError
from symmf.experiment.run import TICK, Update
from symmf.experiment.run.process import ForkServer, WorkerProcess
from symmf.experiment.values import Job, Outcome, Status

if TYPE_CHECKING:
    from symmf.datasets import Dataset

#: jobs by the rows they use, so that a worker can share what it builds from them
Waiting = dict[tuple[Any, ...], deque[Job]]


class LocalPool:
    """A number of worker processes on this machine.

    Workers start on first use and stay for later calls of :meth:`run`. They are forked
    by a server of the pool's own, unless it is given one.
    """

    def __init__(self, n_workers: int, server: ForkServer | None = None) -> None:
        self.n_workers = n_workers
        self._workers: list[WorkerProcess] = []
        self._server = server

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.kill()
        self._workers.clear()
        if self._server is not None:
            self._server.close()
            self._server = None

    def warm_up(self) -> ForkServer:
        """Begin to import what workers need, while the caller does something else."""
        if self._server is not None and not self._server.alive:
            self._server.close()
            self._server = None
        if self._server is None:
            self._server = ForkServer()
        return self._server

    def run(
        self,
        jobs: Sequence[Job],
        data: Mapping[str, Dataset],
        stop: threading.Event,
    ) -> Generator[Update]:
        """Run jobs; see :class:`symmf.experiment.run.Backend`."""
        waiting: Waiting = {}
        for job in jobs:
            waiting.setdefault(job.trial.sample, deque()).append(job)
        try:
            while not stop.is_set():
                self._start(sum(map(len, waiting.values())))
                for worker in [worker for worker in self._workers if worker.idle]:
                    if waiting:
                        yield from self._give(worker, waiting, data)
                if not waiting and not any(worker.job for worker in self._workers):
                    return
                yield from self._listen()
        finally:
            for worker in [worker for worker in self._workers if worker.job]:
                worker.kill()
                self._workers.remove(worker)

    def _start(self, wanted: int) -> None:
        """Start as many workers as are of use beside those without a job."""
        free = sum(worker.job is None for worker in self._workers)
        for _ in range(min(self.n_workers - len(self._workers), wanted - free)):
            self._workers.append(WorkerProcess(self.warm_up()))

    def _give(
        self, worker: WorkerProcess, waiting: Waiting, data: Mapping[str, Dataset]
    ) -> Iterator[Update]:
        """Give a job on the rows that the worker has, or else on rows nobody is at."""
        sample = worker.sample
        if sample not in waiting:
            taken = {other.sample for other in self._workers}
            free = (sample for sample in waiting if sample not in taken)
            sample = next(free, next(iter(waiting)))
        job = waiting[sample][0]
        try:
            worker.give(job, data[job.trial.data_digest])
        except OSError:
            # It died between two jobs, so the job has lost nothing.
            self._bury(worker)
            return
        waiting[sample].popleft()
        if not waiting[sample]:
            del waiting[sample]
        yield Update(job)

    def _listen(self) -> Iterator[Update]:
        """Wait a moment for news of the workers."""
        limits = [left for w in self._workers if (left := w.remaining()) is not None]
        timeout = max(0.0, min([TICK, *limits]))
        owner = {id(worker.connection): worker for worker in self._workers}
        for source in connection.wait([w.connection for w in self._workers], timeout):
            worker = owner[id(source)]
            job = worker.job
            try:
                done = worker.receive()
            except (EOFError, OSError):
                done = self._bury(worker), {}
            if job is None or done is None:
                continue
            if done[0].status is Status.MEMORY:
                # What ran out of memory may have left its process in disorder.
                self._workers.remove(worker)
                worker.kill()
            yield Update(job, *done)
        for worker in list(self._workers):
            left = worker.remaining()
            if left is not None and left <= 0 and (job := worker.job) is not None:
                self._workers.remove(worker)
                yield Update(job, worker.timed_out())

    def _bury(self, worker: WorkerProcess) -> Outcome:
        """Remove a dead worker; return the outcome of what it was doing."""
        self._workers.remove(worker)
        outcome = worker.died()
        if not worker.ready:
            raise SymmfError(
                f"A worker process could not start. {outcome.message}\n"
                f"{outcome.traceback}"
            )
        return outcome
