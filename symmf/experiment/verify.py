"""Own trials beside the reference study, key by key: equal, different, not run.

A key is the same only where data, method, parameters, draw and start are the same; so
equal keys with different results point at the environment: libraries, processor.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from symmf.common.validation import unknown_name
from symmf.errors import InputError, SymmfError
from symmf.experiment.provenance import environment
from symmf.experiment.replay import run_again, trials_of
from symmf.experiment.run.backend import Backend
from symmf.experiment.run.local_pool import LocalPool
from symmf.experiment.store.folder import ExperimentStore, list_experiments
from symmf.experiment.store.rows import (
    Difference,
    Row,
    all_rows,
    compare_rows,
    read_rows,
    row_of,
)
from symmf.experiment.values import Record, Trial, canonical_json


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

    experiment: str
    key: str
    title: str
    agreement: Agreement
    differences: tuple[Difference, ...] = ()
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


def stores_of(folder: Path, experiments: Sequence[str]) -> dict[str, ExperimentStore]:
    """Return the experiments of a folder by name, or those asked for."""
    found = {store.name: store for store in list_experiments(folder)}
    for name in experiments:
        if name not in found:
            raise InputError(unknown_name("experiment", name, found))
    return {
        n: store for n, store in found.items() if not experiments or n in experiments
    }


def verify(
    own: Path, reference: Path, experiments: Sequence[str] = ()
) -> list[Verification]:
    """Compare the own trials of every experiment that the reference has, too."""
    studies = stores_of(reference, experiments)
    mine = {store.name: store for store in list_experiments(own)}
    return [
        _verify(mine[name], study) for name, study in studies.items() if name in mine
    ]


def _verify(own: ExperimentStore, study: ExperimentStore) -> Verification:
    rows, wanted = all_rows(own), read_rows(study)
    verdicts = [
        _verdict(study.name, key, row, rows.get(key)) for key, row in wanted.items()
    ]
    verdicts += [
        TrialVerdict(
            experiment=study.name,
            key=key,
            title=_title(row),
            agreement=Agreement.ELSEWHERE,
        )
        for key, row in rows.items()
        if key not in wanted
    ]
    differences = environment_differences(_environment(own), _environment(study))
    return Verification(experiment=study.name, trials=verdicts, environment=differences)


def _verdict(experiment: str, key: str, row: Row, own: Row | None) -> TrialVerdict:
    differences = () if own is None else compare_rows(row, own)
    agreement = Agreement.DIFFERENT if differences else Agreement.EQUAL
    return TrialVerdict(
        experiment=experiment,
        key=key,
        title=_title(row),
        agreement=Agreement.NOT_RUN if own is None else agreement,
        differences=differences,
    )


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
    studies = stores_of(reference, experiments)
    rows = {name: read_rows(study) for name, study in studies.items()}
    pool = [(n, key) for n in rows for key in rows[n] if rows[n][key]["status"] == "ok"]
    if not pool:
        raise InputError(f"There is no finished trial in {reference} to run again.")
    drawn = random.Random(seed).sample(sorted(pool), min(count, len(pool)))
    # Experiments may share a trial: it belongs to the one it was drawn from.
    trials: dict[tuple[str, str], Trial] = {}
    for name in sorted({name for name, _ in drawn}):
        trials |= {(name, trial.key): trial for trial in trials_of(studies[name])}
    missing = [key for name, key in drawn if (name, key) not in trials]
    if missing:
        raise InputError(
            f"{reference}: {len(missing)} drawn trials do not follow from the "
            f"experiment.yaml beside them ({missing[0][:12]} ...)."
        )
    wanted = [trials[pair] for pair in drawn]
    verdicts: dict[str, list[TrialVerdict]] = {name: [] for name, _ in drawn}
    for verdict in _run_and_compare(wanted, rows, backend):
        verdicts[verdict.experiment].append(verdict)
    here = environment()
    return [
        Verification(
            experiment=name,
            trials=found,
            environment=environment_differences(here, _environment(studies[name])),
        )
        for name, found in sorted(verdicts.items())
    ]


def _run_and_compare(
    trials: Sequence[Trial],
    rows: Mapping[str, Mapping[str, Row]],
    backend: Backend | None,
) -> Iterator[TrialVerdict]:
    """Run the trials, data set by data set; what cannot run is told, not raised."""
    by_data: dict[tuple[str, str], dict[tuple[str, str], Trial]] = {}
    for trial in trials:
        name = trial.dataset, canonical_json(trial.options)
        by_data.setdefault(name, {})[trial.experiment, trial.key] = trial
    with LocalPool(1) as own:
        for _, left in sorted(by_data.items()):
            reason = ""
            try:
                for trial, outcome in run_again(list(left.values()), backend or own):
                    row = rows[trial.experiment][trial.key]
                    new = row_of(Record(trial=trial, outcome=outcome))
                    yield _verdict(trial.experiment, trial.key, row, new)
                    del left[trial.experiment, trial.key]
            except SymmfError as error:
                reason = str(error)
            for trial in left.values():
                yield TrialVerdict(
                    experiment=trial.experiment,
                    key=trial.key,
                    title=trial.title,
                    agreement=Agreement.MISSING,
                    reason=reason,
                )


def _title(row: Row) -> str:
    weight = f", lambda {row['lambda']}" if row.get("lambda") else ""
    place = f"K={row.get('n_clusters')}, trial {row.get('trial')}"
    return f"{row.get('method')}, {place}{weight}"


def _environment(store: ExperimentStore) -> Mapping[str, Any]:
    try:
        found = store.provenance().get("environment")
    except SymmfError:
        return {}
    return found if isinstance(found, dict) else {}


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
    libraries = found.get("libraries")
    facts = {
        name: str(found[name])
        for name in ("python", "cpu", "platform", "sparse_products")
        if name in found
    }
    if isinstance(libraries, dict):
        facts |= {str(name): str(version) for name, version in libraries.items()}
    blas = found.get("blas")
    if isinstance(blas, list):
        kept = ("internal_api", "version", "architecture", "num_threads")
        facts["BLAS"] = "; ".join(
            " ".join(str(item[k]) for k in kept if k in item)
            for item in blas
            if isinstance(item, dict)
        )
    return facts
