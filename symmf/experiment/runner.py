"""Runs the missing trials of experiments and keeps their folders consistent."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

from symmf.errors import SymmfError
from symmf.experiment import provenance
from symmf.experiment.events import Event, EventLog, Listener
from symmf.experiment.execution.backend import Backend, default_jobs
from symmf.experiment.execution.local_pool import LocalPool
from symmf.experiment.illustration import illustrate
from symmf.experiment.plan import Plan
from symmf.experiment.store.export import export_store
from symmf.experiment.store.layout import EXPERIMENT_FILE, TRIALS_FILE
from symmf.experiment.store.lock import FolderLock
from symmf.experiment.store.writer import RecordWriter
from symmf.experiment.values import Job, Outcome, Record, Status, now

# Seconds after which the tables of a long run are brought up to date.
REFRESH = 60.0


@dataclass(slots=True, kw_only=True)
class Summary:
    """How a run ended."""

    ran: int = 0
    skipped: int = 0
    failed: int = 0
    remaining: int = 0
    interrupted: bool = False
    statuses: dict[str, int] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0 done, 1 some trials failed, 130 interrupted."""
        return 130 if self.interrupted else 1 if self.failed else 0


def run(
    plans: Sequence[Plan],
    *,
    jobs: int | None = None,
    backend: Backend | None = None,
    fresh: bool = False,
    retry_failed: bool = False,
    fail_fast: bool = False,
    listener: Listener | None = None,
) -> Summary:
    """Run what is missing, trial by trial, each in a process of its own.

    Parameters
    ----------
    plans : sequence of Plan
        From :func:`symmf.experiment.plan.make_plans`.
    jobs : int, optional
        Number of local worker processes; default: one per processor.
    backend : Backend, optional
        Where to run instead of a local pool; it is not closed.
    fresh, retry_failed : bool
        Compute again all selected trials, or those that failed.
    fail_fast : bool
        Stop at the first trial that fails.
    listener : callable, optional
        Called with every :class:`Event`.

    Returns
    -------
    Summary
        Interrupted (SIGINT, SIGTERM) or not, finished trials are recorded and
        ``trials.csv`` is current.
    """
    with ExitStack() as stack:
        for plan in plans:
            plan.store.prepare()
            stack.enter_context(FolderLock(plan.store.folder))
            plan.store.clean()
            plan.read_records(set_aside=True)
            _forget(plan, fresh=fresh, retry_failed=retry_failed)
        session = _Session(plans, listener, fail_fast=fail_fast)
        stack.callback(session.close)
        todo = [job for plan in plans for job in session.jobs(plan)]
        if backend is None:
            backend = LocalPool(jobs or default_jobs())
            stack.callback(backend.close)
        stop = stack.enter_context(_stop_on_signal())
        try:
            session.start()
            session.consume(backend, todo, stop)
        except BaseException:
            # The tables may fail for the same reason; that reason is what to tell.
            with suppress(OSError, SymmfError):
                session.finish(interrupted=True)
            raise
        session.finish(interrupted=stop.is_set())
        return session.summary(interrupted=stop.is_set())


def _forget(plan: Plan, *, fresh: bool, retry_failed: bool) -> None:
    again = plan.selected if fresh else plan.failed() if retry_failed else []
    for key in {trial.key for trial in again}:
        plan.store.discard(key)
        plan.records.pop(key, None)


class _Session:
    """The state of one call of :func:`run`."""

    def __init__(
        self, plans: Sequence[Plan], listener: Listener | None, *, fail_fast: bool
    ) -> None:
        self.plans = {plan.name: plan for plan in plans}
        self.listener = listener
        self.fail_fast = fail_fast
        self.logs = {plan.name: EventLog(plan.store.folder) for plan in plans}
        self.writer = RecordWriter()
        self.code = provenance.code()
        self.ran = {plan.name: 0 for plan in plans}
        self.skipped = sum(plan.done() for plan in plans)
        # Experiments whose tables do not show all there is.
        self.stale: set[str] = set()
        self.exported = time.monotonic()

    def jobs(self, plan: Plan) -> list[Job]:
        from symmf.clustering import METHODS

        limits = plan.config.limits
        return [
            Job(
                trial=trial,
                estimator=METHODS[trial.estimator],
                seconds=limits.seconds,
                memory_gb=limits.memory_gb,
            )
            for trial in plan.missing()
        ]

    def start(self) -> None:
        for plan in self.plans.values():
            self._describe(plan)
            total, done = len(plan.selected), plan.done()
            self._tell("run_started", plan.name, total=total, done=done, **self.code)

    def _describe(self, plan: Plan) -> None:
        """Write the description, unless it is there and nothing will run."""
        path = plan.store.folder / EXPERIMENT_FILE
        text = plan.config.as_yaml()
        if (
            not plan.missing()
            and path.is_file()
            and path.read_text(encoding="utf-8") == text
        ):
            return
        origin = self._origin(plan)
        origin |= {
            "started": now(),
            "environment": provenance.environment(),
            "dataset": {
                "name": plan.data.name,
                "title": plan.data.title,
                "n_samples": plan.data.n_samples,
                "n_features": plan.data.n_features,
                "n_classes": plan.data.n_classes,
            },
        }
        plan.store.write_description(plan.config, plan.facts, origin)
        self.stale.add(plan.name)

    def _origin(self, plan: Plan) -> dict[str, Any]:
        digests = {
            "config_digest": plan.config.digest(),
            "data_digest": plan.facts.data_digest,
        }
        return {**self.code, **digests}

    def consume(
        self, backend: Backend, todo: Sequence[Job], stop: threading.Event
    ) -> None:
        data = {plan.facts.data_digest: plan.data for plan in self.plans.values()}
        origins = {name: self._origin(plan) for name, plan in self.plans.items()}
        updates = backend.run(todo, data, stop)
        try:
            for update in updates:
                trial, name = update.job.trial, update.job.trial.experiment
                about = {"key": trial.key, "trial": trial.title, "method": trial.method}
                if update.outcome is None:
                    self._tell("trial_started", name, **about)
                    continue
                self._keep(
                    update.job, update.outcome, update.environment, origins[name]
                )
                status = update.outcome.status
                about |= {"status": status, "message": update.outcome.message}
                seconds = update.outcome.seconds
                self._tell("trial_finished", name, seconds=seconds, **about)
                if self.fail_fast and status is not Status.OK:
                    break
        finally:
            # Ends the jobs still running.
            updates.close()  # type: ignore[attr-defined]

    def _keep(
        self,
        job: Job,
        outcome: Outcome,
        environment: Mapping[str, Any],
        origin: dict[str, Any],
    ) -> None:
        plan = self.plans[job.trial.experiment]
        record = Record(
            trial=job.trial,
            outcome=outcome if outcome.started else replace(outcome, started=now()),
            provenance={**origin, "environment": dict(environment)},
        )
        self.writer.put(plan.store, record)
        plan.records[record.key] = record
        self.ran[plan.name] += 1
        self.stale.add(plan.name)
        if time.monotonic() - self.exported > REFRESH:
            self.export()

    def export(self) -> None:
        """Bring the tables up to date."""
        for plan in self.plans.values():
            table = plan.store.folder / TRIALS_FILE
            if plan.name in self.stale or not table.is_file():
                export_store(plan.store, plan.trials, plan.records)
        self.stale.clear()
        self.exported = time.monotonic()

    def finish(self, *, interrupted: bool) -> None:
        """Bring the tables up to date and say how it ended."""
        self.writer.flush()
        self.export()
        for plan in self.plans.values():
            if not interrupted:
                illustrate(plan)
            kind = "interrupted" if interrupted else "run_finished"
            left, failed = len(plan.missing()), len(plan.failed())
            self._tell(kind, plan.name, remaining=left, failed=failed)

    def summary(self, *, interrupted: bool) -> Summary:
        statuses: dict[str, int] = {}
        for plan in self.plans.values():
            for trial in plan.selected:
                if trial.key in plan.records:
                    status = plan.records[trial.key].outcome.status
                    statuses[status] = statuses.get(status, 0) + 1
        remaining = sum(len(plan.missing()) for plan in self.plans.values())
        return Summary(
            ran=sum(self.ran.values()),
            skipped=self.skipped,
            failed=sum(n for status, n in statuses.items() if status != Status.OK),
            remaining=remaining,
            interrupted=interrupted and remaining > 0,
            statuses=statuses,
        )

    def _tell(self, kind: str, experiment: str, **details: Any) -> None:
        event = Event(kind=kind, experiment=experiment, details=details)
        self.logs[experiment](event)
        if self.listener is not None:
            self.listener(event)

    def close(self) -> None:
        self.writer.close()
        for log in self.logs.values():
            log.close()


@contextmanager
def _stop_on_signal() -> Iterator[threading.Event]:
    """Turn the first SIGINT or SIGTERM into a wish to stop; the second is abrupt."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def wish(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, wish) for number in numbers]
    try:
        yield stop
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
