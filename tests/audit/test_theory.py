"""The theorems and remarks of the paper, as `symmf audit --theory` checks them."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from symmf.audit import theory
from symmf.cli.audit import audit


@pytest.fixture(scope="module")
def verdicts():
    """The verdict of every item."""
    return theory.theory_frame(large=False).set_index("item")


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
    assert set(verdicts.loc[right, "verdict"]) == {theory.HOLDS}
    assert not verdicts.loc[right, "failures"].any()


@pytest.mark.slow
def test_what_has_a_counterexample_does_not_hold(verdicts):
    wrong = [
        "Proposition 1, as printed",
        "Algorithm 1 as printed, mu = 1, as released",
        "Theorem 3, signed_max",
        "Remark: indicator rows are K-means",
        "Remark: negative entries",
    ]
    found = verdicts.loc[wrong]
    assert set(found["verdict"]) == {theory.FAILS}
    assert found["failures"].between(1, found["cases"]).all()


def test_one_counterexample_is_enough(monkeypatch):
    def tried(add):
        for size in (0.1, 0.25, np.nan):
            add("lemma-1", size, 0.2)
        add("theorem-1", 0.0, 0.0)

    monkeypatch.setattr(theory, "_CHECKS", (tried,))
    found = theory.theory_frame(large=False).set_index("item")
    assert list(found.index) == ["Theorem 1", "Lemma 1"]  # as in the paper
    assert list(found["verdict"]) == [theory.HOLDS, theory.FAILS]
    assert found.loc["Lemma 1", ["cases", "failures", "worst"]].tolist() == [3, 2, 0.25]


def test_the_command_writes_a_table(tmp_path, monkeypatch):
    monkeypatch.setattr(theory, "_CHECKS", (lambda add: add("lemma-1", 0.3, 0.2),))
    monkeypatch.setattr(theory, "_decompositions", lambda add: None)  # noqa: ARG005
    result = CliRunner().invoke(audit, ["--theory", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    found = pd.read_csv(tmp_path / "theory.csv")
    assert list(found.columns) == list(theory.COLUMNS)
    assert found.loc[0, ["item", "verdict", "failures"]].tolist() == [
        "Lemma 1",
        theory.FAILS,
        1,
    ]
    assert "Lemma 1" in result.output
