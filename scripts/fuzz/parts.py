"""The parts of the attack by name; a new one is a file and a line here."""

from __future__ import annotations

from functools import partial

from scripts.fuzz import (
    configs,
    coverage,
    dask,
    files,
    guided,
    hostile,
    imports,
    kills,
    machine,
    metamorphic,
    models,
    mutants,
    nth,
    numerics,
    options,
    power,
    results,
    study,
)
from scripts.fuzz.harness import Part

PARTS = {
    part.name: part
    for part in (
        Part("configs", configs.live,
             "odd experiment files and --set, by run --dry-run",
             quick=12, full=5000),
        Part("options", options.live, "odd values of the options of every command",
             quick=10, full=3000),
        Part("files", files.live,
             "damaged and forged files of every format, by cluster",
             quick=10, full=4000),
        Part("models", models.live, "damaged models, by cluster --model",
             quick=5, full=2000, prepare=models.good_models),
        Part("imports", imports.live,
             "damaged data sets and archives, by data import, list and verify",
             quick=8, full=3000),
        Part("results", results.live,
             "damaged results folders, by all commands that read them",
             quick=5, full=240, prepare=partial(study.undisturbed, results.TRIALS)),
        Part("numerics", numerics.live,
             "odd numbers and parameters, by the clusterers and factorize",
             quick=80, full=5000),
        Part("metamorphic", metamorphic.live,
             "changes of the data that mean nothing: the partition stays",
             quick=10, full=2000),
        Part("hostile", hostile.live, "markup, formulas, escapes in names; archives, "
             "plugins and models that do more",
             quick=8, full=2000, prepare=models.good_models),
        Part("kills", kills.live,
             "SIGKILL of runs and workers, SIGINT, SIGTERM at random moments, --jobs 2",
             full=40, prepare=partial(study.undisturbed, kills.TRIALS)),
        Part("dask", dask.live, "clusters that lose workers or their scheduler",
             full=40, prepare=partial(study.undisturbed, dask.TRIALS)),
        Part("nth", nth.live, "the n-th call of a kind fails, for all n: run, tables, "
             "cluster --out --save --report, data fetch, merge",
             full=len(nth.CASES), prepare=nth.reference, faults=True),
        Part("power", power.live,
             "a run cut after every change of a file, with what was not synced lost",
             quick=2, full=600, prepare=power.logged, faults=True),
        Part("machine", machine.live,
             "random steps of runs, kills, damage, merges and configs in one folder",
             quick=1, full=20),
        Part("guided", guided.live, "inputs of the parsers, guided by coverage",
             full=60 * len(guided.PARSERS)),
        Part("mutants", mutants.live,
             "defects put into the code: notes tell which the tests of a room see",
             full=400, prepare=mutants.check),
        Part("coverage", coverage.live,
             "the quick tests: notes tell which lines and branches they reach", full=1),
    )
}  # fmt: skip
