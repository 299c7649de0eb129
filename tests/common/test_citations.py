"""BibTeX of methods, solvers and data sets."""

import re

import pytest
from click.testing import CliRunner

from symmf import METHODS, SOLVERS
from symmf.cli.methods import methods
from symmf.common.citations import citations, read_references
from symmf.datasets import DATASETS
from symmf.errors import InputError


@pytest.mark.parametrize(
    "name", sorted({*METHODS, *SOLVERS, *DATASETS} - {"synthetic"})
)
def test_everything_by_others_has_something_to_cite(name):
    for reference in citations(name):
        entry = reference.bibtex
        assert re.match(r"@\w+\{\w+,\n", entry)
        assert entry.count("{") == entry.count("}")
        assert "author = {" in entry


def test_keys_are_unique():
    keys = [reference.key for reference in read_references()]
    assert len(set(keys)) == len(keys)


def test_a_wrong_name_gets_the_nearest():
    with pytest.raises(InputError, match="'sym_hals'"):
        citations("sym_halls")


def test_the_command_prints_entries():
    result = CliRunner().invoke(methods, ["--cite", "symnmf"])
    assert result.exit_code == 0
    assert result.output.startswith("@article{kuang2015symnmf,\n  author = {Kuang, Da")
