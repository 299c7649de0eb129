"""``symmf run``, ``status`` and ``merge``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symmf.cli.options import (
    complete_configs,
    complete_methods,
    plugin_option,
    results_option,
)
from symmf.cli.terminal import say

if TYPE_CHECKING:
    from symmf.experiment.plan import Plan, Study
    from symmf.experiment.run.backend import Backend


@click.command()
@click.argument(
    "configs",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="CONFIG...",
    shell_complete=complete_configs,
)
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Trials at a time.")
@click.option(
    "--dask", metavar="ADDRESS", help="Run on a dask cluster: tcp://HOST:PORT."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--fresh", is_flag=True, help="Compute again what is already recorded.")
@click.option("--retry-failed", is_flag=True, help="Compute again what failed.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first failure.")
@click.option(
    "--only",
    multiple=True,
    metavar="METHOD",
    shell_complete=complete_methods,
    help="Only this method.",
)
@click.option(
    "--skip",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_methods,
    help="Leave out this method or this experiment.",
)
@click.option("--shard", metavar="I/N", help="Only part I of N; see `symmf merge`.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Change the config."
)
@click.option(
    "--max-trials",
    type=click.IntRange(1, 1_000_000),
    default=50_000,
    show_default=True,
    help="Refuse an experiment of more trials than this.",
)
@plugin_option
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
@results_option
@click.pass_context
def run(
    context: click.Context,
    /,
    configs: tuple[Path, ...],
    jobs: int | None,
    dask: str | None,
    dry_run: bool,
    shard: str | None,
    settings: tuple[str, ...],
    only: tuple[str, ...],
    skip: tuple[str, ...],
    max_trials: int,
    results: Path,
    quiet: bool,
    **choices: bool,
) -> None:
    """Run the trials of one or more experiments.

    CONFIG is a file, or the name of a shipped one (`symmf configs` lists them).

    Finished trials are kept, so the same command continues what was interrupted.

    Exit codes: 0 done, 1 some trials failed, 2 bad usage or configuration, 3 data
    missing or corrupt, 130 interrupted.
    """
    from symmf.cli.progress import make_progress
    from symmf.cli.summary import show_summary
    from symmf.experiment.run.backend import default_jobs

    jobs = jobs or default_jobs()
    with closing(_backend(jobs, dask=dask, dry_run=dry_run)) as backend:
        from symmf.common.shipped import find_config
        from symmf.experiment import runner
        from symmf.experiment.plan import Shard, read_study

        part = Shard.parse(shard) if shard else None
        study = read_study(
            [find_config(config) for config in configs],
            results=results,
            settings=settings,
            only=only,
            skip=skip,
            shard=part,
            max_trials=max_trials,
        )
        plans: list[Plan] = []
        begun = _begin(study, plans, jobs, local=dask is None, quiet=quiet)
        if dry_run:
            _show_estimates(begun, jobs, results, **choices)
            return
        with make_progress(quiet=quiet, n_experiments=len(study.names)) as progress:
            summary = runner.run(begun, backend=backend, listener=progress, **choices)
    show_summary(plans, summary, results, not_begun=study.names[len(plans) :])
    context.exit(summary.exit_code)


def _begin(
    study: Study, plans: list[Plan], jobs: int, *, local: bool, quiet: bool
) -> Iterator[Plan]:
    """Plan one experiment after another, each when the one before is done.

    What is known to fail is told and left open. On a cluster its machines decide.
    """
    from symmf.experiment.progress import (
        available_mb,
        memory_warning,
        missing_libraries,
    )
    from symmf.experiment.store.places import results_place

    reference = results_place(study.results, reference=True).folder
    for name, plan in zip(study.names, _told(study, quiet=quiet), strict=True):
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


def _told(study: Study, *, quiet: bool) -> Iterator[Plan]:
    """Say which experiment is being planned, where there are several."""
    coming = study.plans()
    for i, name in enumerate(study.names):
        if not quiet and len(study.names) > 1:
            count = f"{i + 1} of {len(study.names)}"
            say(f"{name} ({count}): loading data", err=True)
        yield next(coming)


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
    begun: Iterator[Plan],
    jobs: int,
    results: Path,
    *,
    fresh: bool,
    retry_failed: bool,
    fail_fast: bool,
) -> None:
    from symmf.cli.progress import duration
    from symmf.cli.summary import count
    from symmf.experiment.progress import estimate
    from symmf.experiment.store.places import results_place

    del fail_fast
    reference = results_place(results, reference=True).folder
    found = []
    for plan in begun:
        found.append(
            estimate(plan, fresh=fresh, retry_failed=retry_failed, reference=reference)
        )
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
        if cost.timed < cost.missing:
            say(
                f"  no recorded timing for {cost.missing - cost.timed} of them, so the "
                "total time is not known"
            )
        basis = "highest recorded" if cost.memory_recorded else "from data size, rough"
        say(f"  memory: about {cost.memory_mb:.0f} MB per worker ({basis})")
    if any(cost.timed for cost in found):
        wall = duration(sum(cost.seconds for cost in found) / jobs)
        all_timed = all(cost.timed == cost.missing for cost in found)
        for_what = "" if all_timed else " for the timed trials"
        say(f"With {count(jobs, 'worker')}: about {wall}{for_what}.")
    say("Nothing was run or written.")


@click.command()
@results_option
def status(results: Path) -> None:
    """Show what is done per experiment, and how long the rest may take.

    Times are computing times of single trials; divide by the number of workers.
    """
    from symmf.cli.terminal import show_table
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
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder of results to add to.",
)
def merge(folders: tuple[Path, ...], into: Path) -> None:
    """Bring the records of several machines together (see `symmf run --shard`)."""
    from symmf.experiment.store.merge import merge as bring_together

    for merged in bring_together(folders, into):
        say(
            f"{merged.experiment}: {merged.copied} records copied, {merged.present} "
            f"already there, {merged.left_out} left out"
        )
