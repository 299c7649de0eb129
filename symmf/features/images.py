r"""Label-free features of small images, learned from the images alone.

A row of features has three parts: histograms of oriented gradients, pooled patch codes
in colour, and the same in grey. Each part is kept in two halves, u which stays as it is
when the image is mirrored and v which changes its sign. So the similarity of two
images, the better of "as they are" and "one of them mirrored", is

.. math:: \max(\langle f, f'\rangle, \langle f, Mf'\rangle)
          = \langle u, u'\rangle + |\langle v, v'\rangle| .
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from symmf.common.notation import FloatArray
from symmf.common.seeds import RandomState, as_generator
from symmf.common.validation import check_number
from symmf.errors import InputError
from symmf.features import _patches
from symmf.features.hog import BLOCK, CELL, hog_blocks, mirror_blocks

Single = npt.NDArray[np.float32]

# Grey of a colour, as television sees it.
_LUMA = np.array([0.2989, 0.5870, 0.1140], dtype=np.float32)
_SMALLEST = 12
# Rows of a block of similarities.
_ROWS = 1000
# Weights of h0, h1, colour patches, grey patches.
_IN_COLOUR = (0.25, 0.25, 0.3, 0.2)
_IN_GREY = (0.25, 0.25, 0.0, 0.5)


class HOG(TransformerMixin, BaseEstimator):
    """Histograms of oriented gradients of square images; nothing is learned.

    Rows of X are square images, grey (s * s values) or in colour (s * s * 3, a pixel's
    three values together). Half of the features stay when an image is mirrored, the
    other half change their sign.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((2, 16 * 16))
    >>> HOG().fit_transform(X).shape
    (2, 324)
    """

    def fit(self, X: Any, y: Any = None) -> HOG:
        """Learn nothing but the size of the images."""
        del y
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        image_side(X.shape[1])
        return self

    def transform(self, X: Any) -> Single:
        """Return the features, float32; every row has length 1 (0 for flat images)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return _hog_rows(_grey(as_images(X, pixel_scale(X))))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")


class ImageFeatures(TransformerMixin, BaseEstimator):
    """HOG and patch-manifold features of square images, in closed form.

    Patches of 6 x 6 pixels are whitened and coded by the atoms they are near to; the
    codes are embedded where whole images differ more than their patches, and pooled in
    4 x 4 cells (the sparse manifold transform of Chen et al., arXiv:2209.15261).
    Compare rows with :func:`image_similarity`.

    Parameters
    ----------
    n_atoms : int
        Size of the dictionaries, mirror images counted.
    n_components : int
        Coordinates of a cell; with few images the last ones are 0.
    random_state : int, Generator or None
        Chooses the patches that become atoms.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((20, 16 * 16 * 3))
    >>> features = ImageFeatures(n_atoms=32, n_components=4, random_state=0)
    >>> F = features.fit_transform(X)
    >>> F.shape, F.dtype
    ((20, 452), dtype('float32'))
    """

    def __init__(
        self,
        n_atoms: int = 2048,
        n_components: int = 256,
        random_state: RandomState = 0,
    ) -> None:
        self.n_atoms = n_atoms
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> ImageFeatures:
        """Learn dictionaries and embeddings from the images in the rows of X."""
        del y
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Single:
        """Learn from the images and return their features, coding them once."""
        del y
        images, codes = self._learn(X)
        return self._rows(images, codes)

    def transform(self, X: Any) -> Single:
        """Return the features of images of the same size and kind."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        images = as_images(X, self.pixel_scale_)
        codes = [
            [_patches.encode(chunk, dictionary) for chunk in _patches.chunks(part)]
            for part, dictionary in zip(
                _channels(images), self.dictionaries_, strict=True
            )
        ]
        return self._rows(images, codes)

    def _learn(self, X: Any) -> tuple[Single, list[list[Any]]]:
        check_number("n_atoms", self.n_atoms, least=2, whole=True)
        check_number("n_components", self.n_components, least=1, whole=True)
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        self.pixel_scale_ = pixel_scale(X)
        images = as_images(X, self.pixel_scale_)
        rng = as_generator(self.random_state)
        self.dictionaries_, self.embeddings_ = [], []
        kept = []
        places = _patches.patch_places(images.shape[1]) ** 2
        for part in _channels(images):
            colour = part.shape[3] == 3
            dictionary = _patches.learn_dictionary(
                part,
                n_atoms=self.n_atoms,
                threshold=0.3 if colour else 0.5,
                max_cosine=0.4 if colour else 0.6,
                rng=rng,
            )
            if not len(dictionary.even):
                raise InputError("The images are flat: every pixel of each is equal.")
            codes = [
                _patches.encode(chunk, dictionary) for chunk in _patches.chunks(part)
            ]
            # The first directions of colour patches tell tints, not things.
            embedding = _patches.learn_embedding(
                codes,
                places,
                drop=8 if colour else 0,
                n_components=self.n_components,
            )
            self.dictionaries_.append(dictionary)
            self.embeddings_.append(embedding)
            kept.append(codes)
        return images, kept

    def _rows(self, images: Single, codes: list[list[Any]]) -> Single:
        p = _patches.patch_places(images.shape[1])
        parts = [_hog_rows(_grey(images))]
        for part, embedding in zip(codes, self.embeddings_, strict=True):
            cells = np.concatenate([_patches.pool(c, embedding, p) for c in part])
            parts.append(_cell_rows(cells, embedding.odd, self.n_components))
        return np.hstack(parts)


def image_similarity(F: Any, other: Any = None, *, n_components: int = 256) -> Single:
    r"""Return the similarity of images from rows of :class:`ImageFeatures`.

    .. math:: S = .25\,h_0 + .25\,h_1 + .3\,C + .2\,G

    h0 compares gradients over the mirror image, h1 over the mirror image and shifts of
    one cell, C and G patches in colour and in grey. Grey images have
    S = .25 h0 + .25 h1 + .5 G. The diagonal is 1.

    Parameters
    ----------
    F : (n, p) array
        Rows of features.
    other : (m, p) array, optional
        Compare with these images instead of with each other.
    n_components : int
        That of :class:`ImageFeatures`.

    Returns
    -------
    S : (n, n) or (n, m) array of float32
        Symmetric, if images are compared with each other.
    """
    F = np.asarray(F, dtype=np.float32)
    G = F if other is None else np.asarray(other, dtype=np.float32)
    blocks, patches = _layout(F.shape[1], n_components)
    width = _patches.CELLS**2 * n_components
    first = BLOCK * blocks**2
    hog = F[:, :first]
    hog_other = hog if other is None else G[:, :first]
    weights = _IN_COLOUR if patches == 2 else _IN_GREY
    S = weights[0] * _mirror_max(hog, hog_other)
    S += weights[1] * _shift_max(hog, hog_other, blocks)
    for weight in weights[4 - patches :]:
        part = slice(first, first + width)
        S += weight * _mirror_max(F[:, part], G[:, part])
        first += width
    if other is not None:
        return np.asarray(S, dtype=np.float32)
    # Products of a pair may round differently in its two places.
    S = np.asarray((S + S.T) / 2, dtype=np.float32)
    np.fill_diagonal(S, 1.0)
    return S


def image_side(n_features: int) -> tuple[int, int]:
    """Return (side, channels) of square images with this many values.

    Examples
    --------
    >>> image_side(3072), image_side(1024)
    ((32, 3), (32, 1))
    """
    for channels in (1, 3):
        side = round((n_features / channels) ** 0.5)
        if side * side * channels == n_features and side >= _SMALLEST:
            return side, channels
    raise InputError(
        f"Rows of {n_features} values are no square images: s * s grey values or "
        f"s * s * 3 of colour are needed, with s at least {_SMALLEST}."
    )


def pixel_scale(X: FloatArray) -> float:
    """Return 255 if the values pass 1 (8-bit pixels), else 1."""
    return 255.0 if float(X.max(initial=0.0)) > 1.0 else 1.0


def as_images(X: FloatArray, scale: float) -> Single:
    """Return rows as images (n, s, s, channels) with values in 0 .. 1."""
    side, channels = image_side(X.shape[1])
    pixels = np.asarray(X / scale, dtype=np.float32)
    return pixels.reshape(-1, side, side, channels)


def _grey(images: Single) -> Single:
    return images[..., 0] if images.shape[3] == 1 else images @ _LUMA


def _channels(images: Single) -> list[Single]:
    """List what is coded: colour images in colour and in grey."""
    if images.shape[3] == 1:
        return [images]
    return [images, _grey(images)[..., None]]


def _hog_rows(grey: Single) -> Single:
    blocks = np.concatenate([hog_blocks(part) for part in _patches.chunks(grey)])
    return _halves(blocks, mirror_blocks(blocks)) / np.float32(blocks.shape[1])


def _halves(f: Single, mirrored: Single) -> Single:
    """Return (u, v) with u + v = f and u - v = Mf, each pair of entries once."""
    n = len(f)
    index = np.arange(f[0].size).reshape(1, *f.shape[1:])
    # Cells of a block are turned round, so no entry is its own mirror image.
    first = (index < _mirror_index(index)).ravel()
    root = np.float32(np.sqrt(0.5))
    flat, other = f.reshape(n, -1), np.ascontiguousarray(mirrored).reshape(n, -1)
    return np.hstack([(flat + other)[:, first], (flat - other)[:, first]]) * root


def _mirror_index(index: Any) -> Any:
    return mirror_blocks(index) if index.ndim == 6 else index[:, :, ::-1]


def _cell_rows(cells: Single, odd: Any, n_components: int) -> Single:
    """Rows of pooled cells (n, 4, 4, d), padded to n_components, of length 1."""
    missing = n_components - cells.shape[3]
    if missing:
        cells = np.pad(cells, ((0, 0), (0, 0), (0, 0), (0, missing)))
        odd = np.pad(odd, (0, missing))
    signs = np.where(odd, -1, 1).astype(np.float32)
    return _halves(cells, cells[:, :, ::-1] * signs) / np.float32(_patches.CELLS)


def _layout(n_features: int, n_components: int) -> tuple[int, int]:
    """Return (blocks along a side, kinds of patch features) of a row."""
    width = _patches.CELLS**2 * n_components
    for kinds in (2, 1):
        rest = n_features - kinds * width
        blocks = round(max(rest, 0) ** 0.5 / BLOCK**0.5)
        if blocks >= _SMALLEST // CELL - 1 and BLOCK * blocks**2 == rest:
            return blocks, kinds
    raise InputError(
        f"Rows of {n_features} values are no image features. Make them with the step "
        "'image_features' first."
    )


def _mirror_max(left: Single, right: Single) -> Single:
    """<u, u'> + |<v, v'>|, a few rows at a time."""
    half = left.shape[1] // 2
    out = np.empty((len(left), len(right)), dtype=np.float32)
    for first in range(0, len(left), _ROWS):
        rows = slice(first, first + _ROWS)
        out[rows] = np.abs(left[rows, half:] @ right[:, half:].T)
        out[rows] += left[rows, :half] @ right[:, :half].T
    return out


def _shift_max(hog: Single, other: Single, blocks: int) -> Single:
    """Best match of the central blocks with blocks one cell further, either way."""
    inner = max(blocks - 2, 1)
    centre = (blocks - inner) // 2
    shifts = range(-centre, centre + 1)

    def crop(rows: Single, dy: int, dx: int) -> Single:
        y, x = centre + dy, centre + dx
        whole = _from_halves(rows, blocks) * np.float32(blocks)
        part = whole[:, y : y + inner, x : x + inner]
        return _halves(part, mirror_blocks(part)) / np.float32(inner)

    middle, middle_other = crop(hog, 0, 0), crop(other, 0, 0)
    best = np.full((len(hog), len(other)), -1, dtype=np.float32)
    for dy in shifts:
        for dx in shifts:
            np.maximum(best, _mirror_max(middle, crop(other, dy, dx)), out=best)
            if other is not hog:
                moved = _mirror_max(crop(hog, dy, dx), middle_other)
                np.maximum(best, moved, out=best)
    return np.maximum(best, best.T) if other is hog else best


def _from_halves(rows: Single, blocks: int) -> Single:
    """Invert :func:`_halves` for blocks of gradients."""
    shape = (1, blocks, blocks, 2, 2, BLOCK // 4)
    index = np.arange(BLOCK * blocks**2).reshape(shape)
    mirror = _mirror_index(index).ravel()
    first = np.flatnonzero(np.arange(mirror.size) < mirror)
    half = len(first)
    root = np.float32(np.sqrt(0.5))
    flat = np.empty_like(rows)
    flat[:, first] = (rows[:, :half] + rows[:, half:]) * root
    flat[:, mirror[first]] = (rows[:, :half] - rows[:, half:]) * root
    return flat.reshape(-1, *shape[1:])
