"""The paper as data: its rows, panels and published values, each in one place."""

from symmf.paper.roles import Role
from symmf.paper.values import (
    DATASET_TITLES,
    METRIC_TITLES,
    PAPER_PANELS,
    PAPER_ROWS,
    PROPOSED,
    ROWS,
    class_sizes,
    published_datasets,
    published_values,
)

__all__ = [
    "DATASET_TITLES",
    "METRIC_TITLES",
    "PAPER_PANELS",
    "PAPER_ROWS",
    "PROPOSED",
    "ROWS",
    "Role",
    "class_sizes",
    "published_datasets",
    "published_values",
]
