"""What an entry minimises: only errors of one problem belong on one axis.

A trace is the error of the matrix that its method factors, relative to that matrix.
Different similarities, preprocessing or weights of the regulariser give different
matrices, and some methods factor the data or train a network instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symmf.reporting.results import Experiment
from symmf.reporting.selection.readings import Reading, readings, reference_weight

SYMMETRIC = "‖M − HHᵀ‖² / ‖M‖²"
# The sign of the error, by what stands before the colon of a stored matrix.
SYMBOLS = {
    "M": SYMMETRIC,
    "X": "‖X − UVᵀ‖² / ‖X‖²",
    "X and a graph": "objective / ‖X‖²",
    "C": "loss / ‖X‖²",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is minimised; entries with equal problems can be compared."""

    title: str
    symbol: str = SYMMETRIC
    preprocess: str = ""


def problem_of(experiment: Experiment, reading: Reading) -> Problem:
    """Return the problem of an entry at its reference lambda, as its trials tell."""
    trials = experiment.trials[experiment.trials["method"] == reading.method]
    weights = [float(value) for value in trials["lambda"].dropna().unique()]
    weight = reference_weight(weights) if weights else 0.0
    preprocess = str(trials["preprocess"].iloc[0]) if len(trials) else ""
    here = trials[trials["lambda"] == weight] if weights else trials
    told = sorted({str(words) for words in here["matrix"]} - {""})
    if not told:
        # An estimator of another package that does not say: a problem of its own.
        return Problem(f"what {reading.label} minimises", "error", preprocess)
    kind = told[0].partition(":")[0]
    title = " or ".join(told).replace("_", " ").replace("lambda ", "λ = ")
    return Problem(title, SYMBOLS.get(kind, "error"), preprocess)


def by_problem(
    experiment: Experiment, methods: Sequence[str]
) -> dict[Problem, list[str]]:
    """Group entries by what they minimise, in the order given.

    Problems that differ in the preprocessing alone get it into their titles.
    """
    known = {reading.method: reading for reading in readings(experiment)}
    groups: dict[Problem, list[str]] = {}
    for method in methods:
        reading = known.get(method)
        problem = problem_of(experiment, reading) if reading else Problem("")
        groups.setdefault(problem, []).append(method)
    titles = [problem.title for problem in groups]
    return {
        Problem(f"{p.title} ({p.preprocess or 'as loaded'})", p.symbol, p.preprocess)
        if titles.count(p.title) > 1
        else p: names
        for p, names in groups.items()
    }
