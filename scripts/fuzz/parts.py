"""The parts of the attack; a new one is a module with ``live`` and a line here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A kind of attack.

    Its module has ``live``, which lives through a case, and perhaps ``prepare``, which
    is called before the first one. ``quick`` and ``full`` are numbers of cases.
    """

    name: str
    what: str
    quick: int
    full: int


_ALL = (
    Part("configs", "odd experiment files and --set, by run --dry-run", 12, 5000),
    Part("options", "odd values of the options of every command", 10, 3000),
    Part("files", "damaged and forged files of every format, by cluster", 10, 4000),
    Part("models", "damaged and edited models, by cluster --model", 5, 2000),
    Part("imports", "damaged data sets and archives, some of whose members lead "
         "elsewhere, by data import, list and verify", 8, 3000),
    Part("results", "damaged results folders, by all that read them", 5, 240),
    Part("numerics", "odd numbers and parameters, by clusterers, factorize", 80, 5000),
    Part("metamorphic", "changes that mean nothing: the clusters stay", 10, 2000),
    Part("hostile", "names that are markup, formulas, escapes; planted modules", 4,
         2000),
    Part("kills", "SIGKILL of runs and workers, SIGINT, SIGTERM at random moments, "
         "--jobs 2", 0, 40),
    Part("dask", "clusters that lose workers or their scheduler", 0, 40),
    Part("nth", "the n-th call of a kind fails, for all n: run, tables, cluster --out "
         "--save --report, data fetch, merge", 0, 145),
    Part("power", "a run cut after any change of a file, what was not synced lost", 2,
         600),
    Part("machine", "random steps in one folder: runs, kills, damage, merges, other "
         "configs", 0, 20),
    Part("guided", "inputs of nine parsers, guided by coverage, a minute each", 0, 540),
    Part("mutants", "defects put into the code; the notes tell which of them the tests "
         "see", 0, 400),
    Part("coverage", "the quick tests; the notes tell what they reach", 0, 1),
)  # fmt: skip
PARTS = {part.name: part for part in _ALL}
# Parts that make calls fail.
FAULTS = ("nth", "power")
