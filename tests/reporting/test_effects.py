"""Effects of factors, constraint sets, and entries that were run again."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.made_results import entry, scored

from symmf.reporting.results import load_results
from symmf.reporting.tables.effects import effects_table
from symmf.reporting.tables.records import again_table, sets_table
from symmf.reporting.verdicts.findings import effect_sentences

TRIALS = 5
LUCK = tuple(np.linspace(0, 0.2, TRIALS))


def constant(base: float, luck: tuple[float, ...] = (0.0,) * TRIALS):
    return lambda _e, _k, _weight, trial: base + luck[trial]


def unlabelled(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return entry("symmf", name=name, paper_row="none", parameters=parameters)


def factorial_entries() -> list[dict[str, Any]]:
    out = []
    for similarity in ("centred_cosine", "self_tuning"):
        for step, n_iter, starts in itertools.product((0.5, 1.0), (20, 100), (1, 5)):
            parameters = {
                "similarity": similarity,
                "solver": "projected_gradient",
                "solver_options": {"step_scale": step, "n_starts": starts},
                "max_iter": n_iter,
                "tol": 0,
            }
            name = f"{similarity}_{step}_{n_iter}_{starts}"
            out.append(unlabelled(name, parameters))
        rest = {"similarity": similarity, "max_iter": 10000, "tol": 1e-14}
        out.append(unlabelled(f"{similarity}_rest", rest))
    return out


def factorial(folder: Path, entries: list[dict[str, Any]]) -> None:
    name, weights = "factorial_coil20", (0.0, 0.5)
    scored(folder, name, "factorial", entries, planted, weights=weights)


def planted(e: dict[str, Any], _k: int, weight: float, trial: int) -> float:
    """A score that is a sum of known effects and of the luck of the draw."""
    given = e["parameters"]
    options = given.get("solver_options", {})
    graph = given["similarity"] == "self_tuning"
    score = 0.3 + 0.01 * trial + 0.1 * graph
    if given["tol"]:
        return score + (0.2 if graph else 0.05)
    score += 0.03 * (options["step_scale"] == 1) + 0.02 * (options["n_starts"] == 5)
    score += 0.04 * (given["max_iter"] == 100)
    return score + 0.06 * weight * graph


def test_every_effect_is_the_one_that_was_planted(tmp_path: Path) -> None:
    factorial(tmp_path, factorial_entries())
    frame = effects_table(load_results(tmp_path)).frame
    ac = frame[frame["metric"] == "ac"].set_index(["factor", "after", "condition"])
    step_and_starts = 0.03 / 2 + 0.02 / 2
    expected = {
        ("step", "1/L", "20 iterations"): 0.03,
        ("starts", 5, "20 iterations"): 0.02,
        ("iterations", 100, "inner products"): 0.04,
        ("iterations", "converged", "inner products"): 0.05 - step_and_starts,
        ("iterations", "converged", "common graph"): 0.2 - step_and_starts - 0.015,
        ("input", "common graph", "converged"): 0.1 + 0.2 - 0.05,
        ("lambda", 0.5, "common graph, 20 iterations"): 0.03,
        ("lambda", 0.5, "inner products, 20 iterations"): 0.0,
        ("lambda", 0.5, "common graph, converged"): 0.0,
    }
    for place, effect in expected.items():
        assert ac.loc[place, "effect"] == pytest.approx(effect, abs=1e-9), place
        # The luck of the draw is in both runs of a pair, so no interval has a width.
        assert ac.loc[place, "low"] == pytest.approx(effect, abs=1e-9)
        assert ac.loc[place, "cells_higher"] == (effect > 1e-12)


def test_sentences_on_effects_come_largest_first(tmp_path: Path) -> None:
    factorial(tmp_path, factorial_entries())
    moves, rest = effect_sentences(load_results(tmp_path))
    *named, others = moves.split("; ")
    assert any("iterations 20 → converged (common graph)" in each for each in named)
    sizes = [abs(float(each.split(") ")[1].split(",")[0])) for each in named]
    assert sizes == sorted(sizes, reverse=True)
    assert others.endswith("smaller effects are in the table.")
    assert "lambda 0.0 → 0.5 (inner products, 20 iterations) 0.000" in rest
    assert effect_sentences(load_results(tmp_path / "none")) == []


def test_a_factor_that_was_not_varied_has_no_line(tmp_path: Path) -> None:
    entries = [e for e in factorial_entries() if "centred" in e["name"]]
    factorial(tmp_path, entries)
    changes = {row[0] for row in effects_table(load_results(tmp_path)).rows}
    assert "step: 1/(2L) → 1/L" in changes
    assert not any(change.startswith("input") for change in changes)


def test_sets_show_scores_and_the_share_of_rises(tmp_path: Path) -> None:
    entries = [
        entry("symmf", name="none", label="No constraint", paper_row="none"),
        entry("symmf", name="sparse", label="One entry", paper_row="none"),
    ]
    errors = {"none": [1.0, 0.5, 0.25, 0.2, 0.2], "sparse": [1.0, 0.5, 0.6, 0.4, 0.45]}
    traces = [
        {
            "experiment": "sets_coil20",
            "dataset": "coil20",
            "n_clusters": 2,
            "trial": t,
            "method": name,
            "lambda": "",
            "iteration": i,
            "error": error,
        }
        for name, values in errors.items()
        for t in range(TRIALS)
        for i, error in enumerate(values)
    ]
    scored(tmp_path, "sets_coil20", "sets", entries, constant(0.8), traces=traces)
    table = sets_table(load_results(tmp_path))
    assert table.rows[0][:4] == ("COIL-20", "No constraint", "0.720", "0.800")
    assert [row[-1] for row in table.rows] == ["0.0%", "50.0%"]


def test_sets_on_other_data_come_last(tmp_path: Path) -> None:
    e = entry("symmf", name="none", label="None", paper_row="none")
    for name, data in (("a", "digits"), ("b", "coil20")):
        scored(tmp_path, name, "sets", [e], constant(0.8), dataset=data)
    table = sets_table(load_results(tmp_path))
    assert [row[0] for row in table.rows] == ["COIL-20", "digits"]


def test_repeated_entries_stand_beside_those_of_the_study(tmp_path: Path) -> None:
    nmf = entry("nmf", label="NMF")
    well = entry("symmf", name="well", label="Used well", primary=True)
    again = entry("nmf", label="NMF", paper_row="none")
    other = entry("symmf", name="well", label="Used well", paper_row="none")
    for name, role, e, base in (
        ("coil20", "comparison", nmf, 0.5),
        ("beyond_coil20", "used_well", well, 0.7),
        ("published_coil20", "as_published", again, 0.53),
        ("heldout_coil20", "held_out", other, 0.6),
    ):
        scored(tmp_path, name, role, [e], constant(base, LUCK))
    table = again_table(load_results(tmp_path))
    ac = [row for row in table.rows if row[3] == "AC"]
    held, published = ac
    assert held[:2] == ("COIL-20", "Used well [heldout_coil20]")
    assert held[4:] == ("0.700", "0.800", "-0.100")
    assert published[-1] == "+0.030 (+0.030 to +0.030)"  # paired: the same draws
