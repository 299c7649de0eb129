"""Features learned on the whole data set, before a trial draws its samples."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from symmf.datasets import DATASETS, cifar10, load_dataset
from symmf.errors import ConfigError, InputError
from symmf.experiment.data import load_data
from symmf.experiment.plan import make_plans
from symmf.experiment.runner import run
from symmf.features import images
from symmf.features.preprocess import preprocess

CONFIG = """
dataset: {{name: digits, features: {steps}}}
n_clusters: 10
trials: 1
methods: [kmeans]
"""


def test_all_samples_are_turned_into_features_and_have_a_digest_of_their_own():
    plain = load_dataset("digits")
    data = load_data("digits", {"features": ["centre", "unit_rows"]})
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1)
    assert data.digest != plain.digest
    again = load_data("digits", {"features": ["centre", "unit_rows"]})
    assert data.digest == again.digest
    assert load_data("digits", {}).X.shape == plain.X.shape


def test_the_steps_enter_the_keys_and_wrong_ones_are_named(tmp_path):
    keys = set()
    for steps in ("unit_rows", "[centre]", "[none]"):
        path = tmp_path / "a.yaml"
        path.write_text(CONFIG.format(steps=steps))
        keys.add(make_plans([path], results=tmp_path)[0].trials[0].key)
    assert len(keys) == 3
    path.write_text(CONFIG.format(steps="unit_row"))
    with pytest.raises(ConfigError, match="unit_rows"):
        make_plans([path], results=tmp_path)


@pytest.fixture
def small_batch(tmp_path, monkeypatch):
    """CIFAR-10 with a batch of 40 images, of which 2 of each class are the study's."""
    rng = np.random.default_rng(0)
    records = rng.integers(0, 256, size=(40, cifar10.RECORD), dtype=np.uint8)
    records[:, 0] = rng.permutation(np.arange(40) % 10)
    path = tmp_path / "data" / "cifar10" / "test_batch.bin"
    path.parent.mkdir(parents=True)
    path.write_bytes(records.tobytes())
    spec = DATASETS["cifar10"]
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    small = replace(
        spec,
        file=replace(spec.file, size=path.stat().st_size, sha256=sha256),
        read=partial(cifar10.read, n_per_class=2),
        wider={"batch": partial(cifar10.read_batch, n_per_class=2)},
    )
    monkeypatch.setitem(DATASETS, "cifar10", small)
    monkeypatch.setenv("SYMMF_DATA", str(tmp_path / "data"))
    return records


BATCH = """
dataset: {{name: cifar10, colour: true, {options}}}
n_clusters: [3, 10]
trials: 2
methods:
  - {{method: symmf, lambda: [0], parameters: {{similarity: inner_product}}}}
"""


def plan_of_batch(folder, options):
    path = folder / "batch.yaml"
    path.write_text(BATCH.format(options=options))
    return make_plans([path], results=folder)[0]


def test_features_are_learned_from_the_batch_and_kept_for_the_study(
    small_batch, tmp_path
):
    plan = plan_of_batch(tmp_path, "learn_from: batch, features: [centre]")
    plain = plan_of_batch(tmp_path, "features: [centre]")
    pixels = (
        small_batch[:, 1:].reshape(-1, 3, 1024).swapaxes(1, 2).reshape(40, -1) / 255
    )
    expected = pixels - pixels.mean(axis=0)
    _, rows = cifar10.read_batch(
        tmp_path / "data" / "cifar10" / "test_batch.bin", n_per_class=2
    )
    assert plan.data.X.shape == (20, 3072)
    np.testing.assert_allclose(plan.data.X, expected[rows], atol=1e-6)
    np.testing.assert_array_equal(plan.data.y, small_batch[rows, 0])
    # The same classes are drawn; the data, and so the keys, are others.
    draws = [[t.classes for t in p.trials] for p in (plan, plain)]
    assert draws[0] == draws[1]
    assert plan.data.digest != plain.data.digest


@pytest.mark.usefixtures("small_batch")
def test_the_order_of_the_batch_is_that_of_the_study(tmp_path):
    steps = ["hog", "unit_rows"]
    plan = plan_of_batch(tmp_path, f"learn_from: batch, features: {steps}")
    assert plan.data.X.shape[0] == 20
    wider, rows = cifar10.read_batch(
        tmp_path / "data" / "cifar10" / "test_batch.bin", colour=True, n_per_class=2
    )
    assert wider.dtype == np.float32
    np.testing.assert_array_equal(plan.data.X, preprocess(wider, steps)[rows])


@pytest.mark.usefixtures("small_batch")
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("learn_from: batsh, features: [hog]", 'did you mean "batch"'),
        ("learn_from: batch", "for steps under features"),
        ("learn_from: [batch], features: [hog]", "cannot be"),
        ("learn_form: batch, features: [hog]", "has no option"),
    ],
)
def test_a_batch_that_cannot_be_gets_a_sentence(tmp_path, options, sentence):
    with pytest.raises(ConfigError, match=sentence):
        plan_of_batch(tmp_path, options)


@pytest.mark.usefixtures("small_batch")
def test_similarities_of_all_pairs_are_no_rows(monkeypatch):
    from symmf.features import preprocess as steps

    monkeypatch.setitem(steps.PREPROCESS, "pairs", lambda X: X @ X.T)
    options = {"learn_from": "batch", "features": ["pairs"]}
    with pytest.raises(InputError, match="diffusion_rows"):
        load_data("cifar10", options)
    monkeypatch.setitem(steps.PREPROCESS, "cosines", lambda X: np.corrcoef(X))
    options["features"] = ["cosines", "diffusion_rows"]
    data = load_data("cifar10", options)
    assert data.X.shape == (20, 30)
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1)
    with pytest.raises(InputError, match="no more samples"):
        load_data("digits", {"learn_from": "batch", "features": "centre"})


@pytest.mark.slow
@pytest.mark.usefixtures("small_batch")
def test_the_shipped_experiment_runs_on_a_small_batch(tmp_path, monkeypatch):
    few = partial(images.ImageFeatures, n_atoms=32)
    monkeypatch.setattr(images, "ImageFeatures", few)
    path = Path(__file__).parents[2] / "configs" / "beyond_cifar10_batch.yaml"
    # Six images are clustered, so H has at most six columns.
    columns = "methods.features_batch.parameters.n_columns=6"
    settings = ["n_clusters=[3]", "trials=1", columns]
    (plan,) = make_plans([path], results=tmp_path, settings=settings)
    assert plan.data.X.shape == (20, 30)
    np.testing.assert_allclose(np.linalg.norm(plan.data.X, axis=1), 1)
    assert run([plan], jobs=1).failed == 0


OWN = """
dataset: {{file: animals.csv, labels: species, id: name, drop: [note], {options}}}
n_clusters: 2
classes: [{classes}]
methods: [kmeans]
"""


def plan_of_animals(folder, classes, options="categories: one-hot, missing: median"):
    rows = [
        f"n{i},{'' if i % 5 == 0 else i % 3 + i / 10},{'ABC'[i % 3]},said {i},"
        f"{('ant', 'bee', 'cat')[i % 3]}"
        for i in range(12)
    ]
    table = "\n".join(["name,size,home,note,species", *rows])
    (folder / "animals.csv").write_text(f"{table}\n")
    path = folder / "own.yaml"
    path.write_text(OWN.format(classes=classes, options=options))
    return make_plans([path], results=folder)[0]


def test_classes_of_a_file_are_drawn_by_their_names(tmp_path):
    plan = plan_of_animals(tmp_path, "cat, ant")
    assert plan.data.class_ids == ("ant", "bee", "cat")
    assert {trial.classes for trial in plan.trials} == {(0, 2)}
    with pytest.raises(ConfigError, match=r"line 4: .* no class dog; known .*ant, bee"):
        plan_of_animals(tmp_path, "cat, dog")


def test_words_and_holes_of_a_file_become_numbers(tmp_path):
    X = plan_of_animals(tmp_path, "cat, ant").data.X
    assert X.shape == (12, 4)  # a number, and one of three words
    assert np.isfinite(X).all()
