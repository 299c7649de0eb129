"""Own trials set beside the reference study, and a sample of that run again."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from symmf.common.files import own_file
from symmf.common.validation import check_name
from symmf.errors import InputError, SymmfError
from symmf.experiment.again import Row, compare_rows, run_again
from symmf.experiment.provenance import environment
from symmf.experiment.run import Backend
from symmf.experiment.run.local_pool import LocalPool
from symmf.experiment.store.folder import ExperimentStore, list_experiments
from symmf.experiment.store.layout import PROVENANCE_FILE
from symmf.experiment.store.trials_table import read_trials, row_of, rows_by_key
from symmf.experiment.values import Record, Status


class Agreement(StrEnum):
    """How a trial compares with the reference's of the same key."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NOT_RUN = "not run"
    #: it could not be run again: data or a library are missing
    MISSING = "cannot run"
    #: an own trial with a key the reference does not have
    ELSEWHERE = "not in the reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialVerdict:
    """One trial, compared."""

    key: str
    title: str
    agreement: Agreement
    differences: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """One experiment, compared; ``environment`` says in what the runs differ."""

    experiment: str
    trials: Sequence[TrialVerdict] = field(repr=False)
    environment: tuple[str, ...] = ()

    def count(self, agreement: Agreement) -> int:
        """Return the number of trials that compare so."""
        return Counter(trial.agreement for trial in self.trials)[agreement]

    def different(self) -> list[TrialVerdict]:
        """List the trials that came out differently."""
        return [t for t in self.trials if t.agreement is Agreement.DIFFERENT]


def verify(
    own: Path, reference: Path, experiments: Sequence[str] = ()
) -> list[Verification]:
    """Compare the own trials of every experiment that the reference has, too."""
    studies = _studies(reference, experiments)
    return [
        _verify(store, studies[store.name])
        for store in list_experiments(own)
        if store.name in studies
    ]


def _studies(folder: Path, experiments: Sequence[str]) -> dict[str, ExperimentStore]:
    """Return the experiments of a folder by name, or those asked for."""
    found = {store.name: store for store in list_experiments(folder)}
    for name in experiments:
        check_name("experiment in the reference study called", name, found)
    return {name: found[name] for name in found if name in (experiments or found)}


def _verify(own: ExperimentStore, study: ExperimentStore) -> Verification:
    rows = rows_by_key(read_trials(own.folder))
    for key in own.list_keys():
        # Of a config that was run before, so not in the table.
        if key not in rows and (record := own.read(key)) is not None:
            rows[key] = row_of(record)
    wanted = rows_by_key(read_trials(study.folder))
    verdicts = [_verdict(row, rows.get(key)) for key, row in wanted.items()]
    verdicts += [
        _verdict(rows[key], None, Agreement.ELSEWHERE)
        for key in rows
        if key not in wanted
    ]
    with own_file(own.folder / PROVENANCE_FILE):
        return _verification(study, verdicts, own.environment())


def _verdict(
    row: Row,
    own: Row | None,
    otherwise: Agreement = Agreement.NOT_RUN,
    reason: str = "",
) -> TrialVerdict:
    """Compare a row with another one; ``otherwise`` says what it means if none is."""
    weight = "" if math.isnan(row["lambda"]) else f", lambda {row['lambda']:g}"
    differences = () if own is None else compare_rows(row, own)
    agreement = Agreement.DIFFERENT if differences else Agreement.EQUAL
    return TrialVerdict(
        key=row["key"],
        title=f"{row['method']}, K={row['n_clusters']}, trial {row['trial']}{weight}",
        agreement=otherwise if own is None else agreement,
        differences=differences,
        reason=reason,
    )


def _verification(
    study: ExperimentStore, trials: Sequence[TrialVerdict], own: Mapping[str, Any]
) -> Verification:
    changes = environment_differences(own, study.environment())
    return Verification(experiment=study.name, trials=trials, environment=changes)


def verify_sample(
    reference: Path,
    count: int,
    *,
    seed: int = 0,
    experiments: Sequence[str] = (),
    backend: Backend | None = None,
) -> list[Verification]:
    """Run trials of the reference again, drawn at random, and compare.

    Only trials that gave a result are drawn; the same seed draws the same ones.

    Raises
    ------
    InputError
        If the reference has no trial to draw from.
    """
    studies = _studies(reference, experiments)
    rows = {
        (name, key): row
        for name, study in studies.items()
        for key, row in rows_by_key(read_trials(study.folder)).items()
        if row["status"] == Status.OK
    }
    if not rows:
        raise InputError(f"There is no finished trial in {reference} to run again.")
    drawn = random.Random(seed).sample(sorted(rows), min(count, len(rows)))
    verdicts: dict[str, list[TrialVerdict]] = {name: [] for name, _ in sorted(drawn)}
    # Experiments may share a trial: it belongs to the one it was drawn from.
    trials = {
        (name, trial.key): trial
        for name in verdicts
        for trial in studies[name].trials()
    }
    missing = [key for name, key in drawn if (name, key) not in trials]
    if missing:
        raise InputError(
            f"{reference}: {len(missing)} drawn trials do not follow from the "
            f"experiment.yaml beside them ({missing[0][:12]} ...)."
        )
    with LocalPool(1) as own:
        for trial, outcome in run_again([trials[d] for d in drawn], backend or own):
            row = rows[trial.experiment, trial.key]
            verdicts[trial.experiment].append(
                _verdict(row, None, Agreement.MISSING, str(outcome))
                if isinstance(outcome, SymmfError)
                else _verdict(row, row_of(Record(trial=trial, outcome=outcome)))
            )
    here = environment()
    return [
        _verification(studies[name], found, here) for name, found in verdicts.items()
    ]


def environment_differences(
    own: Mapping[str, Any], reference: Mapping[str, Any]
) -> tuple[str, ...]:
    """Say in what two environments differ, one line each.

    Examples
    --------
    >>> environment_differences(
    ...     {"python": "3.12.1", "libraries": {"numpy": "2.4.0"}},
    ...     {"python": "3.11.7", "libraries": {"numpy": "2.4.0"}},
    ... )
    ('python 3.12.1, reference 3.11.7',)
    """
    one, two = _facts(own), _facts(reference)
    return tuple(
        f"{name} {one.get(name, 'missing')}, reference {two.get(name, 'missing')}"
        for name in dict.fromkeys((*one, *two))
        if one.get(name) != two.get(name)
    )


def _facts(found: Mapping[str, Any]) -> dict[str, str]:
    """Return what may change bits, as text by name."""
    names = ("python", "cpu", "platform")
    facts = {name: str(found[name]) for name in names if name in found}
    facts |= found.get("libraries", {})
    kept = ("internal_api", "version", "architecture", "num_threads")
    if "blas" in found:
        facts["BLAS"] = "; ".join(
            " ".join(str(library[k]) for k in kept if k in library)
            for library in found["blas"]
        )
    return facts
