"""Table I: the sizes of the data as loaded, beside those in the paper."""

from __future__ import annotations

from symmf.paper.roles import Role
from symmf.paper.values import DATASET_TITLES, published_datasets
from symmf.reporting.results import Results
from symmf.reporting.selection.cells import dataset_title
from symmf.reporting.tables.model import PlainTable, record_table, words

COLUMNS = (
    ("Dataset", "l", "{title}"),
    ("#Clusters", "r", "{clusters}"),
    ("#Samples", "r", "{samples}"),
    ("Dimensionality", "r", "{dimensions}"),
    ("Paper", "l", "{verdict}"),
)
SIZES = {"clusters": "n_classes", "samples": "n_samples", "dimensions": "n_features"}


def sizes_table(results: Results) -> PlainTable:
    """Return Table I: sizes of the loaded data beside those in the paper.

    The sizes come from each experiment's provenance.
    """
    published = published_datasets().set_index("dataset").to_dict("index")
    records: dict[str, dict[str, object]] = {}
    # Other roles may load the data with features of their own.
    main = results.of_paper
    for experiment in sorted(main, key=lambda e: e.role is not Role.COMPARISON):
        block = experiment.sizes
        name = str(block["name"])
        found = {size: block.get(key) for size, key in SIZES.items()}
        if name == "synthetic" or name in records or None in found.values():
            continue
        paper = {
            f"paper_{size}": published.get(name, {}).get(size, "") for size in SIZES
        }
        verdict = "not in the paper"
        if name in published:
            same = [*paper.values()] == [*found.values()]
            verdict = "as published" if same else "differs"
        head = {"dataset": name, "title": dataset_title(name, results)}
        records[name] = {**head, **found, **paper, "verdict": verdict}
    order = [*DATASET_TITLES, *sorted(set(records) - set(DATASET_TITLES))]
    return record_table(
        results,
        [records[name] for name in order if name in records],
        COLUMNS,
        **words("datasets"),
    )
