import importlib.util
import pickle
import sys
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from symmf.clustering import DSC
from symmf.clustering.baselines.dsc import inputs as _deep_inputs
from symmf.clustering.baselines.dsc import networks, rounds
from symmf.clustering.baselines.dsc.affinity import closed_form_coefficients
from symmf.clustering.baselines.dsc.networks import Training
from symmf.errors import InputError, SymmfWarning
from symmf.features.preprocess import tfidf
from symmf.metrics import accuracy

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
)
QUICK = {"n_pretrain": 20, "n_finetune": 5, "n_init": 3}


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture
def directions():
    """Sixty rows around three directions, in random order."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(3), 20))
    return np.kron(np.eye(3), np.ones(4))[y] + 0.2 * rng.random((60, 12)), y


@pytest.fixture
def stripes():
    """Images of 8 x 7 pixels: bright rows against bright columns."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1], 15))
    images = 0.1 * rng.random((30, 8, 7))
    for image, kind in zip(images, y, strict=True):
        lines = image if kind else image.T
        lines[1::2] += rng.uniform(0.5, 0.9, size=len(lines[1::2]))[:, None]
    return images.reshape(30, -1), y


def identity_network(torch):
    return networks.Autoencoder(
        encoder=torch.nn.Sequential(torch.nn.Identity()),
        decoder=torch.nn.Sequential(torch.nn.Identity()),
    )


def test_without_pytorch_the_message_says_what_to_install(monkeypatch, directions):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r'pip install "symmf\[deep\]"') as caught:
        DSC(3).fit(directions[0])
    assert isinstance(caught.value, ImportError)


@needs_torch
def test_independent_subspaces_are_recovered_exactly():
    rng = np.random.default_rng(1)
    y = rng.permutation(np.repeat(np.arange(3), 30))
    bases = rng.standard_normal((3, 2, 12))
    X = np.einsum("nd,ndm->nm", rng.uniform(0.2, 1, (90, 2)), bases[y])
    model = DSC(3, subspace_dim=2, n_finetune=30, random_state=0).fit(X)
    assert accuracy(y, model.labels_) == 1.0


@needs_torch
@pytest.mark.parametrize("regularizer", ["l2", "l1"])
def test_images_are_clustered(stripes, regularizer):
    X, y = stripes
    model = DSC(2, image_shape=[8, 7], regularizer=regularizer, random_state=0).fit(X)
    assert accuracy(y, model.labels_) == 1.0
    assert model.architecture_ == "conv"
    diagonal = np.diag(model.coefficients_)
    assert np.all(diagonal == 0) if regularizer == "l1" else np.all(diagonal > 0)


@needs_torch
def test_what_is_found_has_the_promised_form(directions):
    X, y = directions
    model = DSC(3, random_state=0).fit(X)
    assert accuracy(y, model.labels_) == 1.0
    assert model.coefficients_.shape == model.affinity_.shape == (60, 60)
    assert np.array_equal(model.affinity_, model.affinity_.T)
    assert (model.n_iter_, model.n_pretrain_, model.stop_) == (15, 300, "max_iter")
    error = model.history_.error
    assert error[-1] < error[0]
    # Sixty unit rows: the squared norm of the input is 60.
    assert model.objective_ == pytest.approx(60 * error[-1], rel=1e-5)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.labels_, model.labels_)
    # The closed-form start is a variant that begins lower.
    warm = DSC(3, warm_start_closed_form=True, random_state=0, **QUICK).fit(X)
    assert accuracy(y, warm.labels_) == 1.0
    assert warm.history_.error[0] < 0.5 * error[0]


@pytest.mark.parametrize("architecture", ["dense", "conv", "conv_small"])
def test_a_seed_gives_the_same_bits_and_leaves_pytorch_alone(
    torch, stripes, architecture
):
    X, _ = stripes
    shape = None if architecture == "dense" else (8, 7)
    model = DSC(2, architecture=architecture, image_shape=shape, random_state=3)
    model.set_params(**QUICK)
    threads = torch.get_num_threads()
    state = torch.random.get_rng_state()
    try:
        first = model.fit(X)
        bits = first.coefficients_.tobytes(), first.affinity_.tobytes(), first.labels_
        torch.manual_seed(5)
        torch.set_num_threads(2)
        second = model.fit(X)
        assert torch.get_num_threads() == 2
        torch.set_num_threads(threads)
        assert second.coefficients_.tobytes() == bits[0]
        assert second.affinity_.tobytes() == bits[1]
        assert np.array_equal(second.labels_, bits[2])
        expected = torch.Generator().manual_seed(5).get_state()
        assert torch.equal(torch.random.get_rng_state(), expected)
        other = model.set_params(random_state=4).fit(X)
        assert other.coefficients_.tobytes() != bits[0]
    finally:
        torch.random.set_rng_state(state)
        torch.set_num_threads(threads)


@pytest.mark.parametrize(
    ("lambda2", "steps"),
    [
        (2.0, {"n_steps": 1500, "learning_rate": 1e-2}),
        (1e6, {"n_steps": 1, "learning_rate": 1e-9, "closed_form_start": True}),
    ],
)
def test_training_C_alone_ends_at_the_closed_form(torch, lambda2, steps):
    Z = np.random.default_rng(0).standard_normal((12, 4)).astype(np.float32)
    how = Training(lambda1=1.0, lambda2=lambda2, **steps)
    tuned = networks.fine_tune(identity_network(torch), torch.from_numpy(Z), how)
    # With an identity decoder the reconstruction term adds 2 to lambda2.
    C = closed_form_coefficients(Z, 1.0, lambda2 + 2)
    assert np.abs(tuned.C - C).max() < 1e-4
    least = np.sum(C**2) + (1 + lambda2 / 2) * np.sum((Z - C @ Z) ** 2)
    assert tuned.loss[-1] == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("regularizer", ["l2", "l1"])
def test_rounds_of_one_step_are_joint_training_as_published(
    torch, monkeypatch, regularizer
):
    # Several blocks of rows, the last one short.
    monkeypatch.setattr(rounds, "_ROWS", 8)
    monkeypatch.setattr(rounds, "_IMAGES", 7)
    X = torch.rand(30, 6, generator=torch.Generator().manual_seed(1))
    options = {"n_steps": 12, "lambda1": 0.5, "lambda2": 3.0, "learning_rate": 1e-2}
    found = []
    for train in (
        networks.fine_tune,
        partial(rounds.train_in_rounds, generator=None),
    ):
        network = networks.dense_autoencoder(6, torch.Generator().manual_seed(0))
        found.append(train(network, X, Training(regularizer=regularizer, **options)))
    # Sums in single precision, added in another order.
    assert np.allclose(found[1].loss, found[0].loss, rtol=1e-4)
    assert np.allclose(found[1].C, found[0].C, atol=1e-4)
    assert np.abs(found[0].C).max() > 0.02


@pytest.mark.parametrize("rank", [128, 20])
def test_rounds_end_at_the_loss_they_report(torch, monkeypatch, stripes, rank):
    """The loss of few directions is that of all latent numbers, to what they miss."""
    monkeypatch.setattr(rounds, "RANK", rank)
    images = torch.from_numpy(_deep_inputs.image_inputs(stripes[0], (8, 7, 1)))
    generator = torch.Generator().manual_seed(0)
    network = networks.convolutional_autoencoder((8, 7, 1), 1, generator)
    tuned = rounds.train_in_rounds(
        network,
        images,
        Training(n_steps=13, steps_per_round=5, lambda1=1.0, lambda2=150.0),
        generator,
    )
    assert len(tuned.loss) == 4
    assert np.abs(tuned.C).max() <= 13.5e-3  # an entry moves by 1e-3 a step
    with torch.no_grad():
        Z, C = network.encoder(images), torch.from_numpy(tuned.C)
        exact = (images - network.decoder(C @ Z)).square().sum()
        exact += C.square().sum() + 75 * (Z - C @ Z).square().sum()
    assert tuned.loss[-1] == pytest.approx(float(exact), rel=1e-2)
    assert tuned.loss[-1] < tuned.loss[0]


@needs_torch
def test_images_are_trained_in_every_step_as_published(stripes):
    X, y = stripes
    model = DSC(2, image_shape=[8, 7], random_state=0)
    assert model.fit(X).n_iter_ == 6
    loss = model.objective_
    model.set_params(published=True).fit(X)
    assert model.n_iter_ == 30
    assert accuracy(y, model.labels_) == 1.0
    assert loss < 1.05 * model.objective_


@pytest.mark.parametrize("regularizer", ["l2", "l1"])
def test_the_loss_is_made_of_sums(torch, regularizer):
    X = np.random.default_rng(0).standard_normal((7, 5)).astype(np.float32)
    tuned = networks.fine_tune(
        identity_network(torch),
        torch.from_numpy(X),
        Training(
            n_steps=40,
            lambda1=0.5,
            lambda2=3.0,
            regularizer=regularizer,
            learning_rate=1e-2,
        ),
    )
    C = tuned.C.astype(float)
    penalty = np.abs(C).sum() if regularizer == "l1" else np.sum(C**2)
    residual = np.sum((X - C @ X) ** 2)
    expected = residual + 0.5 * penalty + 1.5 * residual
    assert tuned.loss[-1] == pytest.approx(expected, rel=1e-5)
    assert tuned.loss[0] == pytest.approx(2.5 * np.sum(X.astype(float) ** 2), rel=1e-4)


def test_a_loss_that_overflows_is_an_error(torch):
    with pytest.raises(InputError, match="learning_rate"):
        networks.fine_tune(
            identity_network(torch),
            torch.full((3, 2), 1e30),
            Training(n_steps=2, lambda1=1.0, lambda2=1.0, learning_rate=1.0),
        )


@pytest.mark.parametrize("shape", [(32, 32, 1), (8, 7, 3), (5, 1, 1)])
@pytest.mark.parametrize("n_layers", [1, 2])
def test_convolutions_return_to_the_size_of_the_image(torch, shape, n_layers):
    generator = torch.Generator().manual_seed(0)
    network = networks.convolutional_autoencoder(shape, n_layers, generator)
    images = torch.rand(2, shape[2], *shape[:2], generator=generator)
    latent = network.encoder(images)
    assert network.decoder(latent).shape == images.shape
    assert bool((network.decoder[-2].weight >= 0).all())
    if shape == (32, 32, 1):
        assert latent.shape == (2, {1: 3840, 2: 960}[n_layers])


@pytest.mark.parametrize("seed", range(3))
def test_pretraining_stops_when_images_are_reconstructed(torch, stripes, seed):
    generator = torch.Generator().manual_seed(seed)
    images = torch.from_numpy(_deep_inputs.image_inputs(stripes[0], (8, 7, 1)))
    network = networks.convolutional_autoencoder((8, 7, 1), 1, generator)
    steps = networks.pretrain(
        network,
        images,
        n_steps=1500,
        batch_size=16,
        tol=0.025,
        learning_rate=1e-2,
        generator=generator,
    )
    assert steps < 1500
    with torch.no_grad():
        error = (images - network.decoder(network.encoder(images))).square().sum()
    assert error < 0.025 * images.square().sum()


def test_pretraining_takes_exactly_the_steps_it_is_given(torch):
    generator = torch.Generator().manual_seed(0)
    network = networks.dense_autoencoder(4, generator)
    X = torch.rand(10, 4, generator=generator)
    for n_steps in (0, 1, 7):
        taken = networks.pretrain(
            network,
            X,
            n_steps=n_steps,
            batch_size=4,
            tol=0.0,
            learning_rate=1e-3,
            generator=generator,
        )
        assert taken == n_steps


def test_rescaling_the_latent_rows_changes_no_reconstruction(torch):
    generator = torch.Generator().manual_seed(0)
    network = networks.dense_autoencoder(6, generator)
    X = torch.rand(9, 6, generator=generator)
    with torch.no_grad():
        network.encoder[-1].bias.add_(0.3)
        before = network.decoder(network.encoder(X))
        networks.rescale_latent(network, X)
        after = network.decoder(network.encoder(X))
        assert torch.allclose(before, after, atol=1e-5)
        size = network.encoder(X).square().sum(dim=1).mean()
    assert float(size) == pytest.approx(1, rel=1e-5)


@needs_torch
def test_counts_are_weighted_and_weighted_text_is_not():
    rng = np.random.default_rng(0)
    counts = sparse.csr_array(rng.poisson(0.3, (40, 90)).astype(float))
    model = DSC(2, random_state=0, **QUICK)
    automatic = model.fit(counts).coefficients_
    weighted = model.fit(tfidf(counts)).coefficients_
    assert np.array_equal(automatic, weighted)
    assert not np.array_equal(
        model.set_params(tfidf=False).fit(counts).coefficients_, automatic
    )
    assert np.array_equal(
        model.set_params(tfidf=True).fit(counts).coefficients_, automatic
    )


def test_vectors_become_few_unit_coordinates_with_the_same_angles():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3)) @ rng.standard_normal((3, 50))
    Z = _deep_inputs.vector_inputs(X, lsa_dim=64, weight="auto", rng=rng)
    assert Z.shape == (20, 10)
    assert np.allclose(np.linalg.norm(Z, axis=1), 1, atol=1e-6)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert np.allclose(Z @ Z.T, unit @ unit.T, atol=1e-5)


def test_images_outside_zero_one_are_mapped_with_a_warning():
    X = np.array([[0.0, 255.0, 51.0, 102.0]])
    with pytest.warns(SymmfWarning, match=r"\[0, 1\]"):
        images = _deep_inputs.image_inputs(X, (2, 2, 1))
    assert np.allclose(images, [[[[0, 1], [0.2, 0.4]]]])
    images = _deep_inputs.image_inputs(sparse.csr_array(X / 255), (2, 1, 2))
    assert np.allclose(images, [[[[0], [0.2]], [[1], [0.4]]]])


@needs_torch
@pytest.mark.parametrize(
    ("X", "images"),
    [
        (np.arange(6.0)[:, None], {}),
        (np.ones((6, 3)), {}),
        (np.zeros((6, 3)), {}),
        (np.eye(2), {}),
        (sparse.csr_array((6, 4)), {}),
        (np.zeros((5, 4)), {"image_shape": (2, 2)}),
        (np.ones((5, 4), np.float32), {"image_shape": (2, 2)}),
        (np.ones((5, 4)), {"image_shape": (2, 2), "architecture": "conv_small"}),
    ],
)
@pytest.mark.parametrize("k", [1, 2])
def test_degenerate_data_give_labels(X, images, k):
    labels = DSC(k, random_state=0, **QUICK, **images).fit_predict(X)
    assert labels.shape == (X.shape[0],)
    assert set(labels) <= set(range(k))
