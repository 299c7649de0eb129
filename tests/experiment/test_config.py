"""The experiment file: what is accepted, and the sentence for what is not."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symmf.common.yaml import parse_yaml
from symmf.errors import ConfigError
from symmf.experiment.config.model import (
    ExperimentConfig,
    load_config,
    read_config,
    validate,
)
from symmf.experiment.config.resolve import resolve
from symmf.experiment.config.schema import SCHEMA_FILE, schema_text
from symmf.experiment.plan import make_plans
from symmf.experiment.values import canonical_json
from symmf.paper.roles import Role

GOOD = """\
dataset: digits
n_clusters: [2, 10]
trials: 3
methods: [kmeans]
"""


def read(tmp_path, text, *settings):
    path = tmp_path / "study.yaml"
    path.write_text(text)
    return load_config(path, settings)


def problem(tmp_path, text, *settings):
    """Return the sentence with which a config is refused, checked like a run does."""
    path = tmp_path / "study.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        resolve(*read_config(path, settings))
    return str(caught.value)


def test_defaults_and_shorthands(tmp_path):
    config = read(tmp_path, GOOD.replace("[2, 10]", "4"))
    assert config.name == "study"
    assert config.seed == 2022
    assert config.n_clusters == [4]
    assert config.methods[0].method == "kmeans"
    assert config.dataset.options == {}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("trails: 3", 'line 5: unknown key "trails"; did you mean "trials"?'),
        ("seed: no", "line 5: seed must be a whole number, but YAML reads no as false"),
        ("seed: -1", "seed: must be greater than or equal to 0, not -1"),
        ("name: a/b", "line 5: name becomes a folder"),
        ("name: tables", '"tables" is a folder of its own'),
        ("illustration: kmean", 'no method is called "kmean"; did you mean "kmeans"'),
        ("preprocess: [unit_row]", 'no preprocessing "unit_row"; did you mean "unit_'),
        ("role: convergance", "not 'convergance'; did you mean \"convergence\"?"),
        (
            "figures: {convergence: {panels: [{methods: 5}]}}",
            "figures.convergence.panels[0].methods must be a list, not 5",
        ),
    ],
)
def test_a_bad_key_is_named_with_its_line(tmp_path, text, sentence):
    found = problem(tmp_path, f"{GOOD}{text}\n")
    assert sentence in found
    assert "study.yaml" in found


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ("kmean", 'there is no method "kmean"; did you mean "kmeans"?'),
        (
            "{method: kmeans, parameters: {n_int: 3}}",
            'the method "kmeans" has no parameter "n_int"; did you mean "n_init"?',
        ),
        (
            "{method: kmeans, parameters: {random_state: 3}}",
            '"random_state" is set for every trial; use the key "seed"',
        ),
        (
            "{method: kmeans, parameters: {init: no}}",
            "init must be text, but YAML reads no as false. Put it in quotes",
        ),
        ("{method: kmeans, lambda: 1}", 'method "kmeans" has no Laplacian weight'),
        ("{method: symmf, lambda: [1, 1.0]}", "a weight is listed twice"),
        ("{method: kmeans, paper_row: our}", 'no row "our"; did you mean "ours"?'),
        (
            "{method: kmeans, paper_row: none, primary: true}",
            '"kmeans" stands for no row of the paper',
        ),
        (
            "{method: kmeans, primary: true}, {method: kmeans, name: b, primary: true}",
            '"kmeans" is primary for the row "kmeans" already; keep one',
        ),
        ("kmeans, kmeans", '"kmeans" is already that of method number 1'),
        ("", "line 4: methods"),
    ],
)
def test_a_bad_method_is_named_with_its_line(tmp_path, method, sentence):
    found = problem(tmp_path, GOOD.replace("[kmeans]", f"[{method}]"))
    assert sentence in found
    assert "line 4" in found


def test_an_unknown_data_set_and_a_repeated_k(tmp_path):
    assert 'did you mean "digits"?' in problem(
        tmp_path, GOOD.replace("digits", "digit")
    )
    assert "listed twice" in problem(tmp_path, GOOD.replace("10]", "2]"))


def test_all_problems_are_told_at_once_in_order(tmp_path):
    text = problem(tmp_path, "trails: 3\nseed: no\nn_clusters: 2\n")
    assert "has 4 problems" in text
    places = [line.split(":")[0].strip() for line in text.splitlines()[1:]]
    assert places == ["line 1", "line 1", "line 1", "line 2"]
    assert 'the key "dataset" is missing' in text


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words\n"])
def test_something_else_than_a_config(tmp_path, text):
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="dataset, n_clusters and methods"):
        load_config(path)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("absent.yaml", "does not exist"), (".", "is a folder"), ("a.yaml", "UTF-8")],
)
def test_files_that_cannot_be_read(tmp_path, name, sentence):
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=sentence):
        load_config(tmp_path / name)


def test_set_changes_values_before_validation(tmp_path):
    config = read(
        tmp_path,
        GOOD,
        "trials=1",
        "n_clusters=[3, 4]",
        "methods.kmeans.parameters.tol=1e-3",
        "methods.0.label=K",
        "limits.seconds=2.5",
        "dataset.name=coil20",
    )
    assert config.trials == 1
    assert config.n_clusters == [3, 4]
    assert config.methods[0].parameters == {"tol": 1e-3}
    assert config.methods[0].label == "K"
    assert config.limits.seconds == 2.5
    assert config.dataset.name == "coil20"


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("trials", "--set needs key=value"),
        ("trials=no", "--set trials=no: trials must be a whole number, but YAML reads"),
        ("seed.x=1", '"seed" holds a single value'),
        ("methods.kmean.label=x", 'no item "kmean"; did you mean "kmeans"?'),
        ("methods.7.label=x", "there is no item 7; the last one is 0"),
    ],
)
def test_a_bad_set_is_explained(tmp_path, setting, sentence):
    assert sentence in problem(tmp_path, "seed: 1\n" + GOOD, setting)


def test_resolving_spells_out_every_default(tmp_path):
    text = GOOD.replace("[kmeans]", "[kmeans, {method: symmf, preprocess: none}]")
    path = tmp_path / "study.yaml"
    path.write_text(text + "lambda: [0, 0.5]\npreprocess: unit_rows\n")
    config = resolve(*read_config(path))
    kmeans, ours = config.methods
    assert (kmeans.name, kmeans.label, kmeans.paper_row) == ("kmeans",) * 3
    assert kmeans.lambdas is None
    assert kmeans.preprocess == ["unit_rows"]
    assert ours.lambdas == [0.0, 0.5]
    assert ours.preprocess == []
    assert ours.paper_row == "ours"
    again = parse_yaml(config.as_yaml(), source="resolved")
    assert resolve(validate(again), again) == config


def test_the_only_entry_of_a_row_is_primary_and_order_never_decides(tmp_path):
    path = tmp_path / "study.yaml"
    ours = "{method: symmf, name: a}, {method: symmf, name: b"
    for end, expected in (
        ("}", [True, None, None]),
        (", primary: true}", [1, None, 1]),
    ):
        path.write_text(GOOD.replace("[kmeans]", f"[kmeans, {ours}{end}]"))
        config = resolve(*read_config(path))
        assert [entry.primary for entry in config.methods] == expected
    path.write_text(GOOD.replace("[kmeans]", "[{method: kmeans, primary: false}]"))
    assert resolve(*read_config(path)).methods[0].primary is False


def test_an_experiment_that_does_not_say_is_a_study_of_its_own(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(GOOD)
    assert resolve(*read_config(path)).role is Role.STUDY
    config = resolve(*read_config(path, ["role=convergence"]))
    assert config.as_dict()["role"] == "convergence"
    assert "role: convergence\n" in config.as_yaml()


def test_how_trials_are_drawn_is_said(tmp_path):
    for keys, sentence in (
        ("", "Each trial draws K classes at random and keeps all their samples; at K"),
        ("classes: largest\n", "takes the K largest classes with all their samples"),
        ("classes: [a, b]\ndraw: {rows: 9}\n", "the listed classes, and 9 of their "),
    ):
        assert sentence in read(tmp_path, GOOD + keys).drawing()


def test_what_is_only_shown_does_not_change_the_digest(tmp_path):
    config = read(tmp_path, GOOD)
    shown = read(tmp_path, f"{GOOD}title: A\nnote: B\nlimits: {{seconds: 3}}\n")
    labelled = read(tmp_path, GOOD, "methods.kmeans.label=K")
    assert config.digest() == shown.digest() == labelled.digest()
    placed = read(
        tmp_path,
        GOOD,
        "methods.kmeans.primary=true",
        "role=example",
        "proposed=kmeans",
        "figures.convergence.columns=2",
    )
    assert placed.digest() == config.digest()
    assert config.digest() != read(tmp_path, GOOD, "trials=4").digest()
    assert config.digest() != read(tmp_path, GOOD, "seed=1").digest()


names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
texts = st.text(
    st.characters(codec="utf-8", categories=["L", "N", "P", "Z"]), max_size=9
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | texts,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2)
    ),
    max_leaves=4,
)
weights = st.lists(st.floats(0, 1e6), min_size=1, max_size=3)
methods = st.fixed_dictionaries(
    {"method": names, "parameters": st.dictionaries(names, values, max_size=3)},
    optional={"name": names, "label": texts, "lambda": weights, "paper_row": names},
)
configs = st.fixed_dictionaries(
    {
        "name": names.filter(lambda name: name not in {"tables", "figures", "audit"}),
        "dataset": names,
        "n_clusters": st.lists(st.integers(1, 99), min_size=1, max_size=3, unique=True),
        "methods": st.lists(methods, min_size=1, max_size=3),
    },
    optional={
        "title": texts,
        "seed": st.integers(0, 10**9),
        "trials": st.integers(1, 99),
        "lambda": weights,
        "preprocess": st.lists(names, max_size=2),
        "limits": st.fixed_dictionaries({"seconds": st.floats(0.1, 1e6)}),
        "threads": st.integers(1, 8),
    },
)


@given(configs)
def test_config_to_dict_to_config(data):
    config = ExperimentConfig.model_validate(data)
    assert ExperimentConfig.model_validate(config.as_dict()) == config
    document = parse_yaml(config.as_yaml(), source="x")
    assert validate(document) == config
    assert validate(document).digest() == config.digest()


@given(values)
def test_canonical_json_is_json(value):
    text = canonical_json(value)
    assert json.loads(text) == value
    assert canonical_json(json.loads(text)) == text


def test_the_published_schema_is_current():
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), (
        "config.schema.json is out of date; "
        "run: python -m symmf.experiment.config.schema"
    )


# Pieces that mean something to YAML or to --set.
pieces = st.sampled_from(
    [*("a: ", "- ", "[", "]", "{", "}", "&a ", "*a ", "<<: ", ", ", "!x ", "'", "1e5")]
)


@given(
    st.text(max_size=30) | st.lists(pieces, max_size=8).map("".join),
    st.sampled_from(["trials", "dataset", "methods.0", "a.b.c", "", ".", "methods.٣.x"])
    | st.text(max_size=12),
)
def test_any_set_is_applied_or_refused(tmp_path_factory, value, key):
    path = tmp_path_factory.getbasetemp() / "set.yaml"
    path.write_text(GOOD)
    with contextlib.suppress(ConfigError):
        resolve(*read_config(path, [f"{key}={value}"]))


def test_a_key_of_a_thousand_names(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(GOOD)
    with pytest.raises(ConfigError, match="at most 12 names"):
        read_config(path, [f"{'a.' * 1000}b=1"])
    with pytest.raises(ConfigError, match="there is no item"):
        read_config(path, [f"methods.{'9' * 5000}.label=1"])
    assert read_config(path, ["limits=", "limits.seconds=1"])[0].limits.seconds == 1


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("{name: coil20, folder: 5}", 'coil20" has no option "folder"; it has none'),
        ("{name: synthetic, kinds: planted}", 'did you mean "kind"?'),
        ("{name: synthetic, kind: [a]}", "dataset.kind must be a single value"),
    ],
)
def test_options_of_data_are_those_of_the_loader(tmp_path, data, sentence):
    found = problem(tmp_path, GOOD.replace("digits", data))
    assert sentence in found
    assert "line 1" in found


def test_a_grid_is_counted_before_it_is_listed(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(GOOD.replace("trials: 3", "trials: 1000000"))
    with pytest.raises(ConfigError) as caught:
        make_plans([path], results=tmp_path)
    assert "line 3: 2,000,000 trials are asked for" in str(caught.value)
    assert "--max-trials" not in str(caught.value)  # no option allows so many
    path.write_text(GOOD)
    with pytest.raises(ConfigError, match=r"allow as many with --max-trials 6\."):
        make_plans([path], results=tmp_path, max_trials=5)
    assert len(make_plans([path], results=tmp_path, max_trials=6)[0].trials) == 6
