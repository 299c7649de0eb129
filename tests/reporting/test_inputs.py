"""What the input, lambda and the iterations change, from paired trials."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.made_results import entry, scored

from symmf.reporting.results import load_results
from symmf.reporting.verdicts.inputs import (
    CLOSED,
    INPUT,
    REGULARISER,
    RELEASED,
    changes,
    input_words,
)

RELEASED_ENTRY = entry(
    "symmf", name="published", label="as released", parameters={"published": True}
)
CLOSED_ENTRY = entry(
    "symmf", name="closed", label="closed form", parameters={"solver": "eigen"}
)
UNIT_ENTRY = entry(
    "symmf", name="unit", label="unit rows",
    parameters={"solver": "eigen", "unit_rows": True},
)  # fmt: skip
OTHERS = [entry("spectral"), entry("snmf"), entry("symnmf")]


def experiment(folder: Path, name: str, role: str, ac) -> None:
    """Write COIL-20 at two K; ``ac`` gives the score of an entry at a lambda."""
    weights = (0.0, 0.5) if role == "equal_terms" else (0.5,)
    entries = [RELEASED_ENTRY, CLOSED_ENTRY, UNIT_ENTRY, *OTHERS]

    def score(e, _k, weight: float, t: int) -> float:
        return ac(e["name"], weight) + 0.001 * (t % 3) * weight

    asked = {"ks": (2, 10), "n_trials": 6, "weights": weights}
    scored(folder, name, role, entries, score, **asked)


def on_graph(name: str, weight: float) -> float:
    """Return scores: the graph lifts the closed form, lambda the 20 iterations."""
    if name == "published":
        return 0.3 + 0.2 * weight
    return {"closed": 0.9, "unit": 0.1, "spectral": 0.91, "snmf": 0.89}.get(name, 0.88)


@pytest.fixture
def results(tmp_path: Path):
    experiment(tmp_path, "coil20", "comparison", lambda *_: 0.6)
    experiment(tmp_path, "coil20_graph", "equal_terms", on_graph)
    return load_results(tmp_path)


def test_changes_are_paired_over_the_same_cells(results) -> None:
    found = {c.title: c.effects for c in changes(results) if c.metric == "ac"}
    closed = found[INPUT][CLOSED]
    # Both sides have the same trials, so the spread over trials cancels.
    assert (closed.mean, closed.low, closed.high) == pytest.approx((0.3,) * 3)
    assert (closed.n_pairs, closed.n_up, closed.n_down, closed.n_cells) == (12, 2, 0, 2)
    assert found[INPUT][RELEASED].mean == pytest.approx(-0.2)
    assert found[REGULARISER][RELEASED].consistent
    # 0.0005 on average: above zero in the interval, and of one sign.
    assert found[REGULARISER][CLOSED].mean == pytest.approx(0.0005)


def test_words_follow_the_numbers(results) -> None:
    words = " ".join(text for text in input_words(results) if text.startswith("AC"))
    assert "the input matters more than the method" in words
    assert "changes the mean by +0.300" in words
    assert "lie 0.030 apart" in words
    assert (
        "with 20 iterations, scores are lower on the graph than on inner products ("
        in words
    )


def test_where_the_methods_differ_more_that_is_said(tmp_path: Path) -> None:
    experiment(tmp_path, "coil20", "comparison", lambda *_: 0.89)
    experiment(
        tmp_path, "coil20_graph", "equal_terms",
        lambda name, _: 0.2 if name == "snmf" else 0.9,
    )  # fmt: skip
    words = " ".join(input_words(load_results(tmp_path)))
    assert "the input matters less than the method" in words


def test_without_a_graph_there_is_nothing_to_say(tmp_path: Path) -> None:
    experiment(tmp_path, "coil20", "comparison", lambda *_: 0.6)
    assert changes(load_results(tmp_path)) == []
    assert input_words(load_results(tmp_path)) == []
