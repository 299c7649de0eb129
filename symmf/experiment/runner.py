"""Runs the missing trials of experiments and keeps their folders consistent."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

from symmf.errors import SymmfError
from symmf.experiment.plan import Plan
from symmf.experiment.recorder import Journal, Listener, Recorder
from symmf.experiment.run import Backend, Update, default_jobs
from symmf.experiment.run.local_pool import LocalPool
from symmf.experiment.store.layout import ILLUSTRATION_FILE
from symmf.experiment.store.lock import FolderLock
from symmf.experiment.values import MAX_ATTEMPTS, Job, Outcome, Status, Trial


@dataclass(frozen=True, slots=True)
class Failure:
    """Trials that gave no result for one and the same reason; ``key`` is of one."""

    status: Status
    message: str
    count: int
    title: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How a run ended."""

    ran: int = 0
    skipped: int = 0
    failed: int = 0
    remaining: int = 0
    interrupted: bool = False
    statuses: Mapping[str, int] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    #: what else could not be made, as sentences
    problems: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 done, 1 some trials failed, 130 interrupted."""
        return 130 if self.interrupted else 1 if self.failed or self.problems else 0


def run(
    plans: Iterable[Plan],
    *,
    jobs: int | None = None,
    backend: Backend | None = None,
    fresh: bool = False,
    retry_failed: bool = False,
    fail_fast: bool = False,
    listener: Listener | None = None,
) -> Summary:
    """Run what is missing, trial by trial, each in a process of its own.

    The experiments run one after another; ``plans`` may make each when it is asked
    for. A trial whose worker dies under it is begun again, three times in all, and so
    is one that an earlier run left like that.

    Parameters
    ----------
    plans : iterable of Plan
        From :func:`symmf.experiment.plan.make_plans` or ``Study.plans()``.
    jobs : int, optional
        Number of local worker processes; default: one per processor.
    backend : Backend, optional
        Where to run instead of a local pool; it is not closed.
    fresh, retry_failed : bool
        Compute again all selected trials, or those that failed.
    fail_fast : bool
        Stop at the first trial that fails.
    listener : callable, optional
        Called with every :class:`symmf.experiment.recorder.Event`.

    Returns
    -------
    Summary
        Interrupted (SIGINT, SIGTERM, SIGHUP) or not, finished trials are recorded and
        ``trials.csv`` is current.
    """
    with ExitStack() as stack:
        stop = stack.enter_context(_stop_on_signal())
        if backend is None:
            pool = stack.enter_context(LocalPool(jobs or default_jobs()))
            # Workers begin to load while data and records are read.
            pool.warm_up()
            backend = pool
        sessions = []
        for plan in plans:
            session = _Session(plan, backend, stop)
            session.run(listener, fresh, retry_failed, fail_fast)
            sessions.append(session)
            if stop.is_set() or (fail_fast and plan.failed()):
                break
        return _summary(sessions, interrupted=stop.is_set())


class _Session:
    """One experiment of a run: jobs to the backend, news to journal and recorder."""

    journal: Journal
    recorder: Recorder
    skipped: int

    def __init__(self, plan: Plan, backend: Backend, stop: threading.Event) -> None:
        self.plan, self.backend, self.stop = plan, backend, stop
        self.ran: set[str] = set()
        self.problems: list[str] = []

    def run(
        self,
        listener: Listener | None,
        fresh: bool,
        retry_failed: bool,
        fail_fast: bool,
    ) -> None:
        """Run the experiment, with its folder locked."""
        plan = self.plan
        plan.store.prepare()
        with FolderLock(plan.store.folder), closing(Journal(plan, listener)) as journal:
            plan.store.clean()
            plan.read_again()
            for key in {trial.key for trial in plan.trials} - plan.records.keys():
                plan.store.set_aside(key)
            again = plan.selected if fresh else plan.failed() if retry_failed else []
            for key in {trial.key for trial in again}:
                plan.store.discard(key)
                plan.records.pop(key, None)
            self.journal, self.recorder = journal, Recorder(plan)
            self.skipped = plan.done()
            try:
                self.start()
                self.run_trials(fail_fast=fail_fast)
                self.recorder.refresh()
                self.illustrate()
            except BaseException:
                # The tables may fail for the same reason; that reason is what to tell.
                with suppress(OSError, SymmfError):
                    self.recorder.refresh()
                    self.finish(interrupted=True)
                raise
            self.finish(interrupted=self.stop.is_set())

    def start(self) -> None:
        # Before the description of the run before is replaced.
        for text in self.plan.notices():
            self.journal.tell("notice", text=text)
        self.recorder.start()
        self.journal.tell(
            "run_started",
            total=len(self.plan.selected),
            done=self.skipped,
            failed=len(self.plan.failed()),
            **self.recorder.code,
        )

    def run_trials(self, *, fail_fast: bool) -> None:
        """Run what is missing, and again what a dying worker took with it."""
        todo = [_job(self.plan, trial) for trial in self.plan.missing()]
        while todo and not self.stop.is_set():
            lost = []
            with closing(self._updates(todo)) as updates:
                for update in updates:
                    outcome = self._take(update)
                    if outcome is None:
                        continue
                    if not outcome.final:
                        attempt = update.job.attempt + 1
                        lost.append(replace(update.job, attempt=attempt))
                    elif fail_fast and not outcome.ok:
                        return
            todo = lost

    def _take(self, update: Update) -> Outcome | None:
        """Tell the news; keep and return the outcome if there is one."""
        trial = update.job.trial
        about: dict[str, Any] = {"key": trial.key, "trial": trial.title}
        about["method"] = trial.method
        if update.outcome is None:
            self.journal.tell("trial_started", **about)
            return None
        outcome = replace(update.outcome, attempts=update.job.attempt)
        self.recorder.keep(update.job, outcome, update.environment)
        self.ran.add(trial.key)
        about["message"] = outcome.message
        if outcome.final:
            about |= {"status": outcome.status, "seconds": outcome.seconds}
        self.journal.tell("trial_finished" if outcome.final else "trial_lost", **about)
        return outcome

    def _updates(self, jobs: Sequence[Job]) -> Generator[Update]:
        data = {data.digest: data for data in self.plan.datasets}
        return self.backend.run(jobs, data, self.stop)

    def illustrate(self) -> None:
        """Make the illustration that is asked for, if it is not there."""
        trial = self.plan.illustrated()
        path = self.plan.store.folder / ILLUSTRATION_FILE
        if trial is None or path.is_file() or self.stop.is_set():
            return
        job = replace(_job(self.plan, trial), illustrate=True)
        updates = self._updates([job])
        for outcome in [u.outcome for u in updates if u.outcome is not None]:
            if outcome.illustration is not None:
                self.plan.store.write_file(path, outcome.illustration)
            else:
                self.problems.append(
                    f"The illustration of {self.plan.name} ({trial.title}) could not "
                    f"be made: {outcome.message}"
                )

    def finish(self, *, interrupted: bool) -> None:
        kind = "interrupted" if interrupted else "run_finished"
        left, failed = len(self.plan.missing()), len(self.plan.failed())
        self.journal.tell(kind, remaining=left, failed=failed)


def _summary(sessions: Sequence[_Session], *, interrupted: bool) -> Summary:
    plans = [session.plan for session in sessions]
    outcomes = [
        plan.records[trial.key].outcome
        for plan in plans
        for trial in plan.selected
        if plan.is_done(trial)
    ]
    remaining = sum(len(plan.missing()) for plan in plans)
    return Summary(
        ran=sum(len(session.ran) for session in sessions),
        skipped=sum(session.skipped for session in sessions),
        failed=sum(not outcome.ok for outcome in outcomes),
        remaining=remaining,
        interrupted=interrupted and remaining > 0,
        statuses=Counter(outcome.status for outcome in outcomes),
        failures=tuple(failure for plan in plans for failure in _failures(plan)),
        problems=tuple(text for session in sessions for text in session.problems),
    )


def _job(plan: Plan, trial: Trial) -> Job:
    from symmf.plugins import find_method, sources_of

    estimator = find_method(trial.estimator)
    limits = plan.config.limits
    record = plan.records.get(trial.key)
    before = 0 if record is None or record.outcome.final else record.outcome.attempts
    return Job(
        trial=trial,
        estimator=estimator,
        sources=sources_of(estimator, trial.parameters),
        seconds=limits.seconds,
        memory_gb=limits.memory_gb,
        attempt=min(before + 1, MAX_ATTEMPTS),
    )


def _failures(plan: Plan) -> tuple[Failure, ...]:
    """Group the trials without a result by what became of them, most first."""
    groups: dict[tuple[Status, str], list[Trial]] = {}
    for trial in plan.failed():
        outcome = plan.records[trial.key].outcome
        groups.setdefault((outcome.status, outcome.message), []).append(trial)
    return tuple(
        Failure(status, message, len(trials), trials[0].title, trials[0].key)
        for (status, message), trials in sorted(
            groups.items(), key=lambda group: -len(group[1])
        )
    )


@contextmanager
def _stop_on_signal() -> Iterator[threading.Event]:
    """Turn the first SIGINT, SIGTERM or SIGHUP into a wish to stop; the second ends."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def wish(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    # What is ignored, as in the background of a shell, stays so.
    before = {
        number: signal.signal(number, wish)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
