import pytest

from symmf.paper.values import (
    DATASET_TITLES,
    ROWS,
    class_sizes,
    published_datasets,
    published_values,
)


def test_there_are_216_values_in_the_order_of_the_tables():
    values = published_values()
    assert list(values.columns) == ["metric", "row", "dataset", "n_clusters", "value"]
    assert len(values) == 216
    assert list(dict.fromkeys(values["row"])) == list(ROWS)
    assert list(dict.fromkeys(values["dataset"])) == list(DATASET_TITLES)
    assert not values.duplicated(["metric", "row", "dataset", "n_clusters"]).any()
    assert values["value"].between(0.15, 1).all()


@pytest.mark.parametrize(
    ("metric", "row", "dataset", "K", "value"),
    [
        ("nmi", "kmeans", "coil20", 2, 0.901),
        ("nmi", "ours", "tdt2", 20, 0.705),
        ("ac", "gnmf", "cifar10", 3, 0.343),
        ("ac", "nmf", "reuters21578", 2, 0.900),
    ],
)
def test_spot_values(metric, row, dataset, K, value):
    values = published_values().set_index(["metric", "row", "dataset", "n_clusters"])
    assert values.loc[(metric, row, dataset, K), "value"] == value


def test_ours_is_the_best_row_of_every_cell_but_one():
    # In bold throughout, although one AC of another row is larger.
    values = published_values().set_index(["metric", "dataset", "n_clusters", "row"])
    cells = values["value"].unstack()
    others = cells.drop(columns="ours").max(axis=1)
    exceptions = cells.index[others > cells["ours"]]
    assert list(exceptions) == [("ac", "tdt2", 2)]
    assert cells.loc[("ac", "tdt2", 2), "spectral"] == 0.896


def test_frames_are_copies():
    values = published_values()
    values["value"] = 0.0
    assert published_values()["value"].min() > 0


def test_table_one_agrees_with_the_class_sizes():
    for line in published_datasets().to_dict("records"):
        sizes = class_sizes(line["dataset"])
        assert len(sizes) == line["clusters"]
        assert sum(sizes) == line["samples"]
        assert list(sizes) == sorted(sizes, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("dataset", DATASET_TITLES)
def test_class_sizes_are_those_of_the_data(dataset, real_data):
    import numpy as np

    counts = np.bincount(real_data(dataset).y)
    assert tuple(sorted(counts.tolist(), reverse=True)) == class_sizes(dataset)
