"""Features of images: mirror symmetry, sparse codes, determinism, the similarity."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from symmf.errors import InputError
from symmf.features import _patches
from symmf.features.hog import hog_blocks, mirror_blocks
from symmf.features.images import HOG, ImageFeatures, image_side, image_similarity
from symmf.features.preprocess import preprocess

SIDE = 16


def images_of(n: int, channels: int, seed: int = 0) -> np.ndarray:
    """Smooth random images, so that patches have structure."""
    rng = np.random.default_rng(seed)
    small = rng.random((n, 6, 6, channels))
    big = small.repeat(3, axis=1).repeat(3, axis=2)[:, 1 : SIDE + 1, 1 : SIDE + 1]
    noise = 0.1 * rng.random((n, SIDE, SIDE, channels))
    return ((big + noise) / 1.1).astype(np.float32)


def rows_of(images: np.ndarray) -> np.ndarray:
    return images.reshape(len(images), -1)


def small_features(**options: int) -> ImageFeatures:
    return ImageFeatures(**{"n_atoms": 64, "n_components": 8} | options)


def brute_force_best(f: np.ndarray, g: np.ndarray, mirrored: np.ndarray) -> float:
    return max(float(f @ g), float(f @ mirrored))


@pytest.mark.parametrize("channels", [1, 3])
def test_a_mirrored_image_has_the_same_even_and_the_negated_odd_features(channels):
    images = images_of(24, channels)
    model = small_features().fit(rows_of(images))
    F = model.transform(rows_of(images))
    M = model.transform(rows_of(np.ascontiguousarray(images[:, :, ::-1])))
    width = (F.shape[1] - 36 * 9) // (1 if channels == 1 else 2)
    first = 0
    for size in [36 * 9] + [width] * (1 if channels == 1 else 2):
        u, v = F[:, first : first + size // 2], F[:, first + size // 2 : first + size]
        mu = M[:, first : first + size // 2]
        mv = M[:, first + size // 2 : first + size]
        np.testing.assert_allclose(mu, u, atol=2e-6)
        np.testing.assert_allclose(mv, -v, atol=2e-6)
        first += size


def test_codes_of_mirrored_patches_are_exactly_the_mirrored_codes():
    images = images_of(12, 3)
    dictionary = _patches.learn_dictionary(
        images, n_atoms=64, threshold=0.3, max_cosine=0.4, rng=np.random.default_rng(0)
    )
    h, p = dictionary.n_atoms // 2, _patches.patch_places(SIDE)
    code = _patches.encode(images, dictionary).toarray().reshape(-1, p, p, 2 * h)
    turned = np.ascontiguousarray(images[:, :, ::-1])
    other = _patches.encode(turned, dictionary).toarray().reshape(-1, p, p, 2 * h)
    swapped = np.concatenate([code[..., h:], code[..., :h]], axis=-1)
    np.testing.assert_array_equal(other, swapped[:, :, ::-1])


def test_codes_are_few_and_atoms_far_from_each_other_and_from_mirror_images():
    images = images_of(20, 3)
    d = _patches.learn_dictionary(
        images, n_atoms=256, threshold=0.3, max_cosine=0.4, rng=np.random.default_rng(0)
    )
    same, swap = d.even @ d.even.T, d.odd @ d.odd.T
    between = ~np.eye(len(same), dtype=bool)
    assert (same + np.abs(swap))[between].max() < 0.4 + 1e-5
    code = _patches.encode(images, d)
    assert set(np.unique(code.data)) == {1.0}
    assert code.nnz < 0.25 * code.shape[0] * code.shape[1]


def test_codes_agree_with_cosines_in_pixel_coordinates():
    images = images_of(4, 1)
    dictionary = _patches.learn_dictionary(
        images, n_atoms=32, threshold=0.5, max_cosine=0.6, rng=np.random.default_rng(1)
    )
    code = _patches.encode(images, dictionary).toarray()
    # The independent route: patches one by one, whitened by a full 36 x 36 matrix.
    x = np.stack(
        [
            image[2 * r : 2 * r + 6, 2 * c : 2 * c + 6, 0].ravel()
            for image in images
            for r in range(_patches.patch_places(SIDE))
            for c in range(_patches.patch_places(SIDE))
        ]
    ).astype(np.float64)
    x -= x.mean(axis=1, keepdims=True)
    mirror = np.arange(36).reshape(6, 6)[:, ::-1].ravel()
    covariance = (x.T @ x + x[:, mirror].T @ x[:, mirror]) / (2 * len(x))
    values, vectors = np.linalg.eigh(covariance)
    z = x @ (vectors / np.sqrt(np.maximum(values, 0) + 1e-3)) @ vectors.T
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    even, odd = dictionary.even, dictionary.odd
    atoms = np.zeros((len(even), 6, 6))
    atoms[:, :, :3] = ((even + odd) / np.sqrt(2)).reshape(-1, 3, 6).transpose(0, 2, 1)
    right = ((even - odd) / np.sqrt(2)).reshape(-1, 3, 6).transpose(0, 2, 1)
    atoms[:, :, 3:] = right[:, :, ::-1]
    both = np.concatenate([atoms, atoms[:, :, ::-1]]).reshape(-1, 36)
    cosines = z @ both.T
    sure = np.abs(cosines - 0.5) > 1e-4
    np.testing.assert_array_equal(code[sure], (cosines >= 0.5)[sure])


def test_equal_images_give_equal_bits_and_float32():
    X = rows_of(images_of(20, 3))
    first, second = small_features().fit_transform(X), small_features().fit_transform(X)
    assert first.dtype == np.float32
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, small_features().fit(X).transform(X))


def test_bytes_and_shares_of_one_are_the_same_images():
    pixels = np.round(rows_of(images_of(12, 1)) * 255)
    # The scale is a decision about all images, so one pixel must pass 1.
    np.testing.assert_allclose(
        small_features().fit_transform(pixels),
        small_features().fit_transform(pixels / 255),
        atol=1e-5,
    )


def test_hog_looks_like_the_mirror_image_in_every_block():
    grey = images_of(6, 1)[..., 0]
    blocks = hog_blocks(grey)
    np.testing.assert_allclose(
        hog_blocks(np.ascontiguousarray(grey[:, :, ::-1])),
        mirror_blocks(blocks),
        atol=1e-6,
    )
    assert blocks.dtype == np.float32
    norms = np.linalg.norm(blocks.reshape(6, 9, 36), axis=2)
    np.testing.assert_allclose(norms, 1, atol=1e-5)


@pytest.mark.parametrize("channels", [1, 3])
def test_similarity_is_the_best_over_mirror_images_and_shifts(channels):
    images = images_of(10, channels)
    model = small_features().fit(rows_of(images))
    F = model.transform(rows_of(images))
    S = image_similarity(F, n_components=8)
    turned = np.ascontiguousarray(images[:, :, ::-1])
    M = model.transform(rows_of(turned))
    grey = images[..., 0] if channels == 1 else images @ [0.2989, 0.587, 0.114]
    blocks = hog_blocks(grey)
    flipped = mirror_blocks(blocks)
    weights = (0.25, 0.25, 0.3, 0.2) if channels == 3 else (0.25, 0.25, 0.5)
    for i, j in [(0, 1), (2, 7), (8, 3)]:
        parts = [slice(0, 324)]
        width = 16 * 8
        parts += [
            slice(324 + k * width, 324 + (k + 1) * width)
            for k in range(len(weights) - 2)
        ]
        best = [brute_force_best(F[i, s], F[j, s], M[j, s]) for s in parts]
        shifted = max(
            float(np.vdot(a[1, 1], b[1 + y, 1 + x]))
            for a, others in ((blocks[i], j), (blocks[j], i))
            for b in (blocks[others], flipped[others])
            for y in (-1, 0, 1)
            for x in (-1, 0, 1)
        )
        expected = sum(
            w * v for w, v in zip(weights, [best[0], shifted, *best[1:]], strict=True)
        )
        assert S[i, j] == pytest.approx(expected, abs=1e-4)
    assert S.dtype == np.float32
    np.testing.assert_array_equal(S, S.T)
    np.testing.assert_array_equal(np.diag(S), 1)


def test_a_mirrored_copy_is_as_similar_as_the_image_itself():
    images = images_of(8, 3)
    both = np.concatenate([images, images[:, :, ::-1]])
    S = image_similarity(small_features().fit_transform(rows_of(both)), n_components=8)
    np.testing.assert_allclose(np.diag(S[:8, 8:]), 1, atol=1e-4)


def test_new_images_are_compared_with_old_ones_alike():
    F = small_features().fit_transform(rows_of(images_of(12, 3)))
    S = image_similarity(F, n_components=8)
    part = image_similarity(F[:4], F[4:], n_components=8)
    np.testing.assert_allclose(part, S[:4, 4:], atol=1e-5)


def test_transformers_are_scikit_learn_s():
    model = small_features(random_state=3)
    assert clone(model).get_params() == model.get_params()
    assert HOG().fit_transform(rows_of(images_of(3, 3))).shape == (3, 324)


def test_rows_that_are_no_images_are_refused():
    assert image_side(12 * 12 * 3) == (12, 3)
    with pytest.raises(InputError, match="no square images"):
        image_side(1000)
    with pytest.raises(InputError, match="flat"):
        small_features().fit(np.ones((4, 256)))
    with pytest.raises(InputError, match="image_features"):
        image_similarity(np.ones((4, 50)))
    with pytest.raises(InputError, match="n_atoms"):
        small_features(n_atoms=1).fit(rows_of(images_of(4, 1)))


def test_steps_by_name_give_similarities():
    S = preprocess(rows_of(images_of(20, 1)), ["image_features", "image_similarity"])
    assert S.shape == (20, 20)
    assert preprocess(rows_of(images_of(2, 1)), ["hog"]).shape == (2, 324)
