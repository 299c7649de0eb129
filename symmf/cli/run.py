"""``symmf run``, ``status`` and ``merge``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symmf.cli.options import (
    Folder,
    complete_configs,
    complete_methods,
    jobs_option,
    plugin_option,
    results_option,
)
from symmf.cli.terminal import say, show_table
from symmf.common.texts import count

if TYPE_CHECKING:
    from symmf.experiment.plan import Plan, Study
    from symmf.experiment.run import Backend


@click.command()
@click.argument(
    "configs",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="CONFIG...",
    shell_complete=complete_configs,
)
@jobs_option
@click.option(
    "--dask", metavar="ADDRESS", help="Run on a dask cluster: tcp://HOST:PORT."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option(
    "--fresh", is_flag=True, help="Ignore earlier results: run all trials again."
)
@click.option("--retry-failed", is_flag=True, help="Run failed trials again.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first failure.")
@click.option(
    "--only",
    multiple=True,
    metavar="METHOD",
    shell_complete=complete_methods,
    help="Run only this method; may be repeated.",
)
@click.option(
    "--skip",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_methods,
    help="Leave out this method or experiment; may be repeated.",
)
@click.option("--shard", metavar="I/N", help="Run only part I of N; see `symmf merge`.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a setting of the config.",
)
@click.option(
    "--max-trials",
    type=click.IntRange(1, 1_000_000),
    default=50_000,
    show_default=True,
    help="Refuse experiments with more trials.",
)
@plugin_option
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@results_option
@click.pass_context
def run(
    context: click.Context,
    /,
    configs: tuple[Path, ...],
    jobs: int | None,
    dask: str | None,
    dry_run: bool,
    fresh: bool,
    retry_failed: bool,
    fail_fast: bool,
    shard: str | None,
    quiet: bool,
    **study_options: Any,
) -> None:
    """Run the trials of one or more experiments.

    CONFIG is a file, or the name of a shipped one (`symmf configs` lists them).

    Finished trials are kept: repeat the command to continue an interrupted run.

    Exit codes: 0 done, 1 some trials failed, 2 bad usage or configuration, 3 data
    missing or corrupt, 130 interrupted.
    """
    from symmf.cli.progress import make_progress
    from symmf.cli.summary import show_summary
    from symmf.experiment.run import default_jobs

    jobs = jobs or default_jobs()
    with closing(_backend(jobs, dask=dask, dry_run=dry_run)) as backend:
        from symmf.common.shipped import find_config
        from symmf.experiment import runner
        from symmf.experiment.plan import Shard, read_study

        paths = [find_config(config) for config in configs]
        part = Shard.parse(shard) if shard else None
        study = read_study(paths, shard=part, **study_options)
        plans: list[Plan] = []
        begun = _begin(study, plans, jobs, local=dask is None, quiet=quiet)
        again = {"fresh": fresh, "retry_failed": retry_failed}
        if dry_run:
            _show_estimates(begun, jobs, study.results, **again)
            return
        with make_progress(quiet=quiet, n_experiments=len(study.names)) as progress:
            summary = runner.run(
                begun, backend=backend, listener=progress, fail_fast=fail_fast, **again
            )
    show_summary(plans, summary, study.results, not_begun=study.names[len(plans) :])
    context.exit(summary.exit_code)


def _begin(
    study: Study, plans: list[Plan], jobs: int, *, local: bool, quiet: bool
) -> Iterator[Plan]:
    """Plan one experiment after another, each when the one before is done.

    Trials that are known to fail are reported and left out. On a cluster its machines
    decide.
    """
    from symmf.experiment.progress import (
        available_mb,
        memory_warning,
        missing_libraries,
    )
    from symmf.experiment.store.places import results_place

    reference = results_place(study.results, reference=True).folder
    coming, several = study.plans(), len(study.names) > 1
    for i, name in enumerate(study.names):
        if several and not quiet:
            say(f"{name} ({i + 1} of {len(study.names)}): loading data", err=True)
        plan = next(coming)
        if local:
            for method, sentence in missing_libraries(plan).items():
                say(f"{name}: {sentence}", err=True)
                plan.leave_open(method)
            if warning := memory_warning(plan, jobs, available_mb(), reference):
                say(f"Warning: {warning}", err=True)
        plans.append(plan)
        yield plan
        # It is done: many experiments need not fit in memory together.
        plan.datasets = ()


def _backend(jobs: int, *, dask: str | None, dry_run: bool) -> Backend:
    """Return where trials run; local workers begin to load while configs are read."""
    if dask is not None:
        from symmf.distributed.client import check_address
        from symmf.experiment.run.dask import DaskBackend

        if not dry_run:
            return DaskBackend(dask)
        check_address(dask)
    from symmf.experiment.run.local_pool import LocalPool

    pool = LocalPool(jobs)
    if not dry_run:
        pool.warm_up()
    return pool


def _show_estimates(
    begun: Iterator[Plan], jobs: int, results: Path, **again: bool
) -> None:
    from symmf.cli.progress import duration
    from symmf.experiment.progress import estimate
    from symmf.experiment.store.places import results_place

    reference = results_place(results, reference=True).folder
    found = []
    for plan in begun:
        found.append(estimate(plan, reference=reference, **again))
        for text in plan.notices():
            say(f"{plan.name}: {text}")
    for cost in found:
        say(
            f"{cost.experiment}: {cost.total} trials, {cost.done} done "
            f"({cost.failed} failed), {cost.missing} to run"
        )
        if not cost.missing:
            continue
        if cost.timed:
            say(f"  computing time: about {duration(cost.seconds)}")
        if unknown := cost.missing - cost.timed:
            say(f"  no time is recorded for {unknown} of them: the total is not known")
        basis = "highest recorded" if cost.memory_recorded else "from data size, rough"
        say(f"  memory: about {cost.memory_mb:.0f} MB per worker ({basis})")
    if any(cost.timed for cost in found):
        wall = duration(sum(cost.seconds for cost in found) / jobs)
        all_timed = all(cost.timed == cost.missing for cost in found)
        for_what = "" if all_timed else " for the timed trials"
        say(f"With {count(jobs, 'worker')}: about {wall}{for_what}.")
    say("Dry run: nothing was run or written.")


@click.command()
@results_option
def status(results: Path) -> None:
    """Show the progress of each experiment, and estimate the time that is left.

    Times are summed over trials; divide them by the number of workers.
    """
    from symmf.experiment.progress import survey
    from symmf.experiment.store.places import results_place

    reference = results_place(results, reference=True).folder
    found = survey(results, reference)
    if not found:
        say(f"There is no experiment in {results} yet. Start one: symmf run quickstart")
        return
    titles = ["experiment", "done", "total", "failed", "missing", "time", "left"]
    rows = [line.cells() for line in found]
    show_table([*titles, "state"], rows, wide=["state"], right=titles[1:])


@click.command()
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER...",
)
@click.option(
    "--into",
    type=Folder,
    default=Path("results"),
    show_default=True,
    help="Folder of results to merge into.",
)
def merge(folders: tuple[Path, ...], into: Path) -> None:
    """Merge the records of several machines (see `symmf run --shard`)."""
    from symmf.experiment.store.merge import merge as bring_together

    for merged in bring_together(folders, into):
        say(
            f"{merged.experiment}: {merged.copied} records copied, {merged.present} "
            f"already there, {merged.left_out} left out"
        )
