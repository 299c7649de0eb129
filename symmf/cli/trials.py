"""``symmf info``, ``replay`` and ``verify``: single trials, kept and run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from symmf.cli.options import (
    complete_experiments,
    jobs_option,
    plugin_option,
    results_option,
)
from symmf.cli.terminal import say

if TYPE_CHECKING:
    from symmf.experiment.again import Finished
    from symmf.experiment.verify import Verification

SHOWN = 5


_reference = click.option(
    "--reference", is_flag=True, help="Search the reference study only."
)


def _find(key: str, results: Path, *, reference: bool) -> Finished:
    from symmf.experiment.again import find_trial
    from symmf.experiment.store.places import results_place

    study = results_place(results, reference=True).folder
    folders = [study] if reference else [results, study]
    return find_trial(list(dict.fromkeys(folders)), key)


@click.command()
@click.argument("key")
@_reference
@results_option
def info(key: str, reference: bool, results: Path) -> None:
    """Show one trial in full; the first few characters of its KEY are enough.

    Your own runs are searched first, then the reference study.
    """
    from symmf.experiment.again import describe

    say(describe(_find(key, results, reference=reference)))


@click.command()
@click.argument("key")
@_reference
@plugin_option
@results_option
@click.pass_context
def replay(context: click.Context, key: str, reference: bool, results: Path) -> None:
    """Run one trial again and compare the result with the recorded one.

    Labels, scores, iterations, the reason for stopping and the final error are
    compared. The exit code is 1 if they differ, or if there is nothing to compare.
    """
    from symmf.experiment.again import replay as run_again

    found = _find(key, results, reference=reference)
    trial, row = found.trial, found.row
    say(f"{trial.experiment}: {trial.title} ({trial.key[:12]})")
    outcome, differences = run_again(found)
    if row["status"] != "ok":
        say(
            f"  recorded {row['status']}: {row['message'] or 'no message'}\n"
            f"  again    {outcome.status}: {outcome.message or 'a result'}"
        )
        say("The trial had no result, so there is nothing to compare.", err=True)
        context.exit(1)
    for name, value in found.scores.items():
        new = outcome.scores.get(name)
        say(f"  {name:8} recorded {value!r}  again {new!r}")
    if not differences:
        say("Same result.")
        return
    say(f"Different: {', '.join(differences)}.", err=True)
    if not outcome.ok:
        say(f"  now {outcome.status}: {outcome.message}", err=True)
    context.exit(1)


@click.command()
@click.argument("experiments", nargs=-1, shell_complete=complete_experiments)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run N random trials of the reference again, and compare.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of --sample.")
@jobs_option
@plugin_option
@results_option
@click.pass_context
def verify(
    context: click.Context,
    experiments: tuple[str, ...],
    sample: int | None,
    seed: int,
    jobs: int | None,
    results: Path,
) -> None:
    """Compare your own trials with those of the reference study, key by key.

    Trials are equal if status, labels, scores, iterations and the reason for stopping
    are. If results with the same key differ, the differences between the environments
    are shown.

    Exit codes: 0 all that was compared is equal, 1 something differs, 2 there was
    nothing to compare, 3 data are missing.
    """
    from symmf.errors import InputError
    from symmf.experiment import verify as comparison
    from symmf.experiment.run import default_jobs
    from symmf.experiment.run.local_pool import LocalPool
    from symmf.experiment.store.places import Source, results_place

    place = results_place(results, reference=True)
    if place.source is not Source.REFERENCE:
        raise InputError(
            f"There is no reference study, neither in {results} nor in symmf."
        )
    say(f"Reference: {place.folder}")
    if sample is None:
        found = comparison.verify(results, place.folder, experiments)
        equal = comparison.Agreement.EQUAL
        if not any(v.count(equal) or v.different() for v in found):
            _show(found)
            raise InputError(
                f"None of your trials in {results} has a key of the reference. Run one "
                "of its experiments (`symmf configs`), or `symmf verify --sample 5`."
            )
    else:
        with LocalPool(jobs or default_jobs()) as pool:
            found = comparison.verify_sample(
                place.folder, sample, seed=seed, experiments=experiments, backend=pool
            )
    _show(found)
    if any(v.different() for v in found):
        context.exit(1)
    missing = comparison.Agreement.MISSING
    context.exit(3 if any(v.count(missing) for v in found) else 0)


def _show(found: list[Verification]) -> None:
    from symmf.experiment.verify import Agreement

    for one in found:
        counts = [
            f"{one.count(agreement)} {agreement.value}"
            for agreement in Agreement
            if one.count(agreement) or agreement is Agreement.EQUAL
        ]
        say(f"{one.experiment}: {', '.join(counts)}")
        told = [t for t in one.trials if t.differences or t.reason]
        for trial in told[:SHOWN]:
            why = trial.reason or "; ".join(map(str, trial.differences))
            say(f"  {trial.key[:12]} {trial.title}: {why}")
        if len(told) > SHOWN:
            say(f"  and {len(told) - SHOWN} more")
        if one.different() and one.environment:
            say("  the environments differ in:")
            for line in one.environment:
                say(f"    {line}")
