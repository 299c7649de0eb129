"""Every shipped experiment file is valid and says what its name promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from symmf.experiment.config.model import load_config, read_config
from symmf.experiment.config.resolve import resolve
from symmf.paper.roles import Role
from symmf.paper.values import DATASET_TITLES, published_values

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_is_valid_and_named_after_its_file(path: Path) -> None:
    assert load_config(path).name == path.stem


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_says_its_role_and_who_stands_for_a_row(path: Path) -> None:
    config = resolve(*read_config(path))
    assert load_config(path).role is not None
    rows = {entry.paper_row for entry in config.methods} - {"none"}
    primary = [entry.paper_row for entry in config.methods if entry.primary]
    assert sorted(primary) == sorted(rows)
    if config.role is Role.COMPARISON:
        assert config.dataset.name in DATASET_TITLES


@pytest.mark.parametrize("name", ["coil20", "cifar10", "reuters21578", "tdt2"])
def test_tables_have_the_papers_cells_and_rows(name: str) -> None:
    config = load_config(CONFIGS[0].with_name(f"{name}.yaml"))
    published = published_values()
    cells = published[published["dataset"] == name]["n_clusters"].unique()
    assert sorted(config.n_clusters) == sorted(cells)
    assert config.trials == 10
    methods = {entry.method for entry in config.methods}
    assert methods == {
        *("kmeans", "nmf", "spectral", "symhals", "snmf", "symnmf", "gnmf", "dsc"),
        "symmf",
    }


def test_both_readings_of_the_proposed_method_are_run() -> None:
    config = load_config(CONFIGS[0].with_name("coil20.yaml"))
    entries = {entry.entry: entry for entry in config.methods}
    released = entries["symmf_published"].parameters
    assert released.pop("similarity") == "centred_cosine"
    assert released == {"published": True, "max_iter": 20, "tol": 0}
    assert entries["symmf"].parameters["solver"] == "projected_gradient"
    assert entries["closed_form_0"].lambdas == [0]
