"""What comes from outside the package: methods, data sets, solvers, sets, metrics.

Three ways in, and a YAML file alone never executes code:

- ``--plugin FILE``: a Python file with any of the dicts ``METHODS`` (scikit-learn
  clusterers), ``DATASETS`` (functions that return ``(X, y)``), ``SOLVERS``,
  ``CONSTRAINTS``, ``SIMILARITIES`` and ``METRICS``, whose keys are the names that an
  experiment file uses;
- installed packages with entry points in the groups ``symmf.methods`` and so on;
- a clusterer of scikit-learn by its full name, ``sklearn.cluster.Birch``.

Outside code is looked at in a process of its own, with a time limit, and run by worker
processes; metrics alone run where tables are made. Its name, version and digest are
part of the keys of its trials.
"""

from __future__ import annotations

from symmf.plugins.methods import (
    OutsideMethod,
    SklearnMethod,
    all_datasets,
    all_methods,
    find_method,
)
from symmf.plugins.registry import REGISTRY, identity_of, sources_of

__all__ = [
    "REGISTRY",
    "OutsideMethod",
    "SklearnMethod",
    "all_datasets",
    "all_methods",
    "find_method",
    "identity_of",
    "sources_of",
]
