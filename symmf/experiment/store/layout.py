"""The results folder as everyone sees it: its file names.

The one contract between what writes results and what reads them. It imports nothing, so
that a report that needs the contract loads nothing else. The columns of the tables are
in :mod:`symmf.experiment.store.trials_table`.

::

    results/<experiment>/
        experiment.yaml      the resolved config
        provenance.json      data, machine and command of the latest run
        records/<key>.h5     one record per trial
        trials.csv           a row per finished trial
        traces.csv           errors by iteration, thinned
        illustration.npz     A and H of one small trial, if the config asks for it
        events.jsonl         what happened when
        run.lock             held by the run that writes here
"""

from __future__ import annotations

EXPERIMENT_FILE = "experiment.yaml"
PROVENANCE_FILE = "provenance.json"
TRIALS_FILE = "trials.csv"
TRACES_FILE = "traces.csv"
ILLUSTRATION_FILE = "illustration.npz"
EVENTS_FILE = "events.jsonl"
LOCK_FILE = "run.lock"
RECORDS_FOLDER = "records"
RECORD_SUFFIX = ".h5"

# The committed study, and what the commands that report write beside experiments.
REFERENCE_FOLDER = "reference"
FROM_REFERENCE = "from_reference"
