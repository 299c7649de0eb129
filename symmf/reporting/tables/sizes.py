"""Table I: the sizes of the data as loaded, beside those in the paper."""

from __future__ import annotations

import pandas as pd

from symmf.paper.roles import Role
from symmf.paper.values import DATASET_TITLES, published_datasets
from symmf.reporting.results import Results
from symmf.reporting.selection.cells import dataset_title
from symmf.reporting.tables.model import PlainTable

TABLE_I_COLUMNS = (
    *("dataset", "title", "clusters", "samples", "dimensions"),
    *("paper_clusters", "paper_samples", "paper_dimensions", "verdict"),
)


def dataset_table(results: Results) -> pd.DataFrame:
    """Return Table I: sizes of the loaded data beside those in the paper.

    The sizes come from each experiment's provenance.
    """
    published = published_datasets().set_index("dataset")
    lines: dict[str, dict[str, object]] = {}
    # Other roles may load the data with features of their own.
    first = results.of(Role.COMPARISON)
    rest = [e for e in results.of_paper if e.role is not Role.COMPARISON]
    for experiment in (*first, *rest):
        block = experiment.sizes
        name = str(block["name"])
        found = [block.get(k) for k in ("n_classes", "n_samples", "n_features")]
        if name == "synthetic" or name in lines or None in found:
            continue
        paper: list[object] = ["", "", ""]
        verdict = "not in the paper"
        if name in published.index:
            sizes = published.to_dict("index")[name]
            paper = [int(sizes[c]) for c in ("clusters", "samples", "dimensions")]
            verdict = "as published" if paper == found else "differs"
        lines[name] = dict(
            zip(
                TABLE_I_COLUMNS,
                [name, dataset_title(name, results), *found, *paper, verdict],
                strict=True,
            )
        )
    order = [*DATASET_TITLES, *sorted(set(lines) - set(DATASET_TITLES))]
    return pd.DataFrame(
        [lines[name] for name in order if name in lines], columns=list(TABLE_I_COLUMNS)
    )


def sizes_table(results: Results) -> PlainTable:
    """Return Table I as it is printed."""
    frame = dataset_table(results)
    return PlainTable(
        name="datasets",
        title="Data sets",
        caption="Data sets, sizes as loaded",
        label="data",
        heads=("Dataset", "#Clusters", "#Samples", "Dimensionality", "Paper"),
        align="lrrrl",
        rows=tuple(
            tuple(
                str(value)
                for value in (r.title, r.clusters, r.samples, r.dimensions, r.verdict)
            )
            for r in frame.itertuples()
        ),
        frame=frame,
    )
