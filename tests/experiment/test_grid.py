"""The grid of trials: seeds, classes, keys."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.stores import SAMPLE
from hypothesis import given
from hypothesis import strategies as st

from symmf.common.seeds import generator, seed
from symmf.common.yaml import parse_yaml
from symmf.datasets import Dataset, load_dataset
from symmf.errors import ConfigError
from symmf.experiment.config.grid import (
    Facts,
    draw_classes,
    expand,
    with_data,
)
from symmf.experiment.config.model import ExperimentConfig
from symmf.experiment.config.resolve import resolve
from symmf.plugins import find_method
from symmf.plugins.source import parameters_of, plain

TEXT = """\
name: study
dataset: digits
n_clusters: [10, 2]
trials: 3
lambda: [0.5, 0]
methods: [kmeans, symmf, {method: symmf, name: again}]
"""


def make(text=TEXT):
    document = parse_yaml(text, source="study.yaml")
    config = resolve(ExperimentConfig.model_validate(document.data), document)
    return config, document


def gather(data, text=TEXT):
    config, document = make(text)
    return with_data(config, [data], document)


@pytest.fixture(scope="module")
def digits():
    return load_dataset("digits")


def test_the_grid_is_k_by_trial_by_method_by_lambda(digits):
    trials = expand(*gather(digits))
    assert len(trials) == 2 * 3 * (1 + 2 + 2)
    first = [(t.n_clusters, t.trial, t.method, t.laplacian_weight) for t in trials[:6]]
    assert first == [
        (10, 0, "kmeans", None),
        (10, 0, "symmf", 0.5),
        (10, 0, "symmf", 0.0),
        (10, 0, "again", 0.5),
        (10, 0, "again", 0.0),
        (10, 1, "kmeans", None),
    ]


def test_all_methods_of_a_trial_share_classes_and_start(digits):
    for trial in expand(*gather(digits)):
        k, t = trial.n_clusters, trial.trial
        assert trial.random_state == seed(2022, "digits", k, t, "start")
        drawn = generator(2022, "digits", k, t, "classes").choice(10, k, replace=False)
        assert trial.classes == tuple(sorted(drawn) if k < 10 else range(10))


def test_entries_that_compute_the_same_share_a_key(digits):
    trials = expand(*gather(digits))
    keys = {t.method: set() for t in trials}
    for trial in trials:
        keys[trial.method].add(trial.key)
    assert keys["symmf"] == keys["again"]
    assert not keys["symmf"] & keys["kmeans"]


def test_the_grid_follows_from_config_and_facts_alone(digits):
    config, facts = gather(digits)
    document = parse_yaml(config.as_yaml(), source="experiment.yaml")
    again = ExperimentConfig.model_validate(document.data)
    assert Facts.from_dict(facts.as_dict()) == facts
    assert expand(again, Facts.from_dict(facts.as_dict())) == expand(config, facts)


def test_more_clusters_than_classes_is_refused_with_its_line(digits):
    with pytest.raises(ConfigError, match=r"line 3: n_clusters 11 .* 10 classes"):
        gather(digits, TEXT.replace("[10, 2]", "[2, 11]"))


def test_a_similarity_matrix_is_always_used_whole():
    data = load_dataset("synthetic", kind="exact_factor", n=12, k=4)
    text = TEXT.replace("dataset: digits", "dataset: {name: synthetic, n: 12, k: 4}")
    trials = expand(*gather(data, text.replace("[10, 2]", "[7]")))
    assert {trial.classes for trial in trials} == {()}
    with pytest.raises(ConfigError, match="12 samples"):
        gather(data, text.replace("[10, 2]", "[13]"))


@given(st.integers(0, 9), st.integers(1, 8), st.integers(0, 5))
def test_drawn_classes_are_distinct_sorted_and_repeatable(root, k, t):
    drawn = draw_classes(root, "x", k, t, 8)
    assert drawn == draw_classes(root, "x", k, t, 8)
    assert list(drawn) == sorted(set(drawn))
    assert len(drawn) == k
    assert set(drawn) <= set(range(8))


DETERMINING = {
    "dataset": st.sampled_from(["d", "e"]),
    "options": st.sampled_from([{}, {"n": 3}, {"n": 4}]),
    "data_digest": st.sampled_from(["aa", "ab"]),
    "seed": st.integers(1, 2),
    "n_clusters": st.integers(2, 3),
    "trial": st.integers(0, 1),
    "classes": st.sampled_from([(0, 3), (0, 4), (3,), ()]),
    "estimator": st.sampled_from(["symmf", "kmeans"]),
    "laplacian_weight": st.sampled_from([0.5, 0.0, None]),
    "preprocess": st.sampled_from([("unit_rows",), (), ("tfidf", "unit_rows")]),
    "random_state": st.integers(7, 8),
    "threads": st.integers(1, 2),
    "parameters": st.sampled_from([{}, {"tol": 0.1}, {"tol": 1}]),
    "behaviour": st.integers(1, 2),
    "draw": st.sampled_from([{}, {"share": 0.5}, {"rows": 5}]),
}
changes = st.fixed_dictionaries({}, optional=DETERMINING)


@given(changes, changes)
def test_keys_are_equal_if_and_only_if_trials_are(one, two):
    a, b = replace(SAMPLE, **one), replace(SAMPLE, **two)
    equal = all(getattr(a, name) == getattr(b, name) for name in DETERMINING)
    assert (a.key == b.key) == equal


def test_a_parameter_that_says_its_default_changes_no_key(digits):
    plainly = expand(*gather(digits))
    said = TEXT.replace("[kmeans,", "[{method: kmeans, parameters: {max_iter: 300}},")
    assert [t.key for t in expand(*gather(digits, said))] == [t.key for t in plainly]
    other = expand(*gather(digits, said.replace("300", "301")))
    assert sum(a.key != b.key for a, b in zip(plainly, other, strict=True)) == 6


def test_names_order_and_numbers_as_written():
    renamed = replace(SAMPLE, experiment="x", method="y", label="z", paper_row="none")
    assert renamed.key == SAMPLE.key
    turned = replace(SAMPLE, parameters={"max_iter": 5, "tol": 0.1})
    assert turned.key == SAMPLE.key
    # Names that a careless join would confuse.
    joined = replace(SAMPLE, preprocess=("tfidf+unit_rows",))
    assert joined.key != replace(SAMPLE, preprocess=("tfidf", "unit_rows")).key


def test_classes_are_drawn_or_the_largest_or_listed():
    labels = [7] * 2 + [3] * 4 + [5] * 3
    data = Dataset.from_arrays(
        np.eye(9), labels, name="a", title="A", kind="vector"
    )  # classes 3, 5, 7 are 0, 1, 2
    text = TEXT.replace("[10, 2]", "2")

    def classes(line):
        return {trial.classes for trial in expand(*gather(data, text + line))}

    assert classes("classes: largest\n") == {(0, 1)}
    assert classes("classes: [7, 3]\n") == {(0, 2)}
    assert classes("classes: random\n") == classes("")
    with pytest.raises(ConfigError, match="digits has no class 6"):
        classes("classes: [3, 6]\n")
    with pytest.raises(ConfigError, match="3 classes are listed"):
        classes("classes: [3, 5, 7]\n")
    config, _ = gather(data, text.replace(": 2\n", ": classes\n") + "classes: [3, 5]\n")
    assert config.n_clusters == [2]


DEFAULTS = Path(__file__).parents[1] / "golden" / "defaults.json"


@pytest.mark.parametrize("name", json.loads(DEFAULTS.read_text()))
def test_a_default_that_changes_raises_the_behaviour(name):
    """Keys leave defaults out; so another default needs another behaviour.

    After raising it, write the new default and behaviour into ``defaults.json``.
    """
    kept = json.loads(DEFAULTS.read_text())[name]
    method = find_method(name)
    now = plain(parameters_of(method))
    assert {key: now.get(key) for key in kept["defaults"]} == kept["defaults"]
    assert getattr(method, "behaviour", 1) == kept["behaviour"]
