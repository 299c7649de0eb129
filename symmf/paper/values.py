"""The numbers printed in the paper, as tidy frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symmf.common.shipped import packaged

if TYPE_CHECKING:
    import pandas as pd

# The nine rows of Tables II and III, in the paper's order. Its own method, which it
# calls "Ours", is Proposed here: "ours" would not say whose.
ROWS = {
    "kmeans": "K-means",
    "nmf": "NMF",
    "spectral": "Spectral",
    "symhals": "SymHALS",
    "snmf": "SNMF",
    "symnmf": "SymNMF",
    "gnmf": "GNMF",
    "dsc": "DSC",
    "ours": "Proposed",
}

DATASET_TITLES = {
    "coil20": "COIL-20",
    "cifar10": "CIFAR-10",
    "reuters21578": "Reuters-21578",
    "tdt2": "TDT2",
}

METRIC_TITLES = {"nmi": "NMI", "ac": "AC"}

# The row of the paper's own method, and methods that are not called like their row.
PROPOSED = "ours"
PAPER_ROWS = {"symmf": PROPOSED}
# Data set and K of the paper's panels on the sensitivity to lambda.
PAPER_PANELS = (("coil20", 5), ("reuters21578", 12), ("tdt2", 10))


def _published() -> dict[str, Any]:
    return packaged("symmf.paper", "published.yaml")  # type: ignore[no-any-return]


def published_values() -> pd.DataFrame:
    """Return the 216 values of Tables II (NMI) and III (AC), one per line.

    Returns
    -------
    pandas.DataFrame
        Columns ``metric`` (``nmi`` or ``ac``), ``row`` (a key of :data:`ROWS`),
        ``dataset`` (a key of :data:`DATASET_TITLES`), ``n_clusters`` and ``value``.

    Examples
    --------
    >>> values = published_values()
    >>> values.query("metric == 'ac' and row == 'ours' and dataset == 'coil20'")[
    ...     ["n_clusters", "value"]
    ... ].to_dict("list")
    {'n_clusters': [2, 10, 20], 'value': [0.975, 0.815, 0.787]}
    """
    import pandas as pd

    lines = [
        (metric, row, dataset, n_clusters, value)
        for metric in METRIC_TITLES
        for row in ROWS
        for dataset in DATASET_TITLES
        for n_clusters, value in _published()[metric][row][dataset].items()
    ]
    columns = ["metric", "row", "dataset", "n_clusters", "value"]
    return pd.DataFrame(lines, columns=columns)


def published_datasets() -> pd.DataFrame:
    """Return Table I: ``dataset``, ``clusters``, ``samples`` and ``dimensions``."""
    import pandas as pd

    sizes = _published()["datasets"]
    lines = [{"dataset": name, **sizes[name]} for name in DATASET_TITLES]
    return pd.DataFrame(lines)


def class_sizes(dataset: str) -> tuple[int, ...]:
    """Return the number of samples of every class, largest first.

    These are counted in the public data, not printed in the paper; for CIFAR-10 they
    are an assumption (300 of each class).

    Examples
    --------
    >>> class_sizes("reuters21578")[:3], len(class_sizes("reuters21578"))
    ((3713, 2055, 321), 41)
    """
    return tuple(_published()["class_sizes"][dataset])
