"""The theorems and remarks of the paper, as `symmf audit --theory` checks them."""

import csv
from dataclasses import replace

import pytest
from click.testing import CliRunner

from symmf.audit import theory
from symmf.cli.audit import audit


@pytest.fixture(scope="module")
def verdicts():
    """The verdict of every item."""
    return {check.item: check for check in theory.check_theory(large=False)}


@pytest.mark.slow
def test_what_is_proved_right_holds(verdicts):
    right = [
        *("Theorem 1", "Theorem 2", "Lemma 1", "Lemma 2", "Corollary", "Lemma 3"),
        *(f"Theorem 3, {name}" for name in theory.SETS),
        *(f"Theorem 4 corrected, {name}" for name in theory.SETS),
        "Proposition 1, where it is used",
        "Algorithm 1 with the exact update, mu = 1, as released",
        "Remark: orthogonal is spectral",
        "Remark: manifold data",
    ]
    assert {item: verdicts[item].verdict for item in right} == dict.fromkeys(
        right, theory.HOLDS
    )


@pytest.mark.slow
def test_what_has_a_counterexample_does_not_hold(verdicts):
    wrong = [
        "Proposition 1, as printed",
        "Algorithm 1 as printed, mu = 1, as released",
        "Theorem 3, signed_max",
        "Remark: indicator rows are K-means",
        "Remark: negative entries",
    ]
    assert all(0 < verdicts[item].failures <= verdicts[item].cases for item in wrong)
    assert {verdicts[item].verdict for item in wrong} == {theory.FAILS}


CHECK = theory.Check(
    item="Theorem 0",
    statement="Zero is small",
    tried="zero",
    cases=3,
    failures=1,
    worst=0.25,
    measure="size",
)


def test_one_counterexample_is_enough():
    assert CHECK.verdict == theory.FAILS
    assert replace(CHECK, failures=0).verdict == theory.HOLDS


def test_the_command_writes_a_table(tmp_path, monkeypatch):
    monkeypatch.setattr(theory, "check_theory", lambda large: [CHECK])  # noqa: ARG005
    result = CliRunner().invoke(audit, ["--theory", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    with (tmp_path / "theory.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert list(row) == list(theory.COLUMNS)
    assert (row["item"], row["verdict"], row["failures"]) == (
        "Theorem 0",
        theory.FAILS,
        "1",
    )
    assert "Theorem 0" in result.output
