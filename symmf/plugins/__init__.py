"""Methods and data sets that come from outside the package.

Three ways in, and a YAML file alone never executes code:

- ``--plugin FILE``: a Python file with a dict ``METHODS`` of scikit-learn clusterers or
  a dict ``DATASETS`` of functions that return ``(X, y)``;
- installed packages with entry points in the groups ``symmf.methods`` and
  ``symmf.datasets``;
- a clusterer of scikit-learn by its full name, ``sklearn.cluster.Birch``.

Outside code is looked at in a process of its own, with a time limit, and run by worker
processes. Its name, version and digest are part of the keys of its trials.
"""

from __future__ import annotations

from symmf.plugins.methods import OutsideMethod, SklearnMethod, find_method
from symmf.plugins.registry import register_plugin, registered

__all__ = [
    "OutsideMethod",
    "SklearnMethod",
    "find_method",
    "register_plugin",
    "registered",
]
