r"""Patches of images as sparse codes, and the manifold they lie on, in closed form.

The sparse manifold transform (Y. Chen et al., arXiv:2209.15261) without an iteration. A
patch x and its mirror image Fx are treated alike: everything is held in mirror-even and
mirror-odd coordinates

.. math:: e = (x + Fx)/\sqrt 2, \qquad o = (x - Fx)/\sqrt 2,

in which mirroring is a change of sign of o. So the code and the embedding of a mirrored
patch follow exactly, and nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.linalg import eigh

Single = npt.NDArray[np.float32]

PATCH = 6
STRIDE = 2
# Cells of pooled patches along each side of an image.
CELLS = 4
# Added to the eigenvalues of the patches' covariance (pixels in 0 .. 1).
_RIDGE = 1e-3
_TINY = 1e-12
# Images coded at a time: two blocks of cosines of about 50 MB each.
_CHUNK = 64
_ROOT = np.float32(np.sqrt(0.5))


@dataclass(frozen=True, slots=True, kw_only=True)
class Dictionary:
    """Whitening of even and odd patches, and atoms in the same coordinates.

    Atom j + h is the mirror image of atom j, for j < h = ``len(even)``.
    """

    whiten_even: Single
    whiten_odd: Single
    even: Single
    odd: Single
    threshold: float

    @property
    def n_atoms(self) -> int:
        """Return 2 h: atoms and their mirror images."""
        return 2 * len(self.even)


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """Codes (2 h) to coordinates (d): ``code @ weights - offset``.

    ``odd`` marks the coordinates that change sign when the image is mirrored.
    """

    weights: Single
    offset: Single
    odd: npt.NDArray[np.bool_]


def patch_places(side: int) -> int:
    """Return how many patches stand side by side in an image.

    Examples
    --------
    >>> patch_places(32)
    14
    """
    return (side - PATCH) // STRIDE + 1


def mirrored_halves(images: Single) -> tuple[Single, Single]:
    """Cut images (n, s, s, c) into patches, as even and odd coordinates.

    Each patch has its mean taken away. The result is a pair of (n p^2, 18 c) arrays, p
    patches along a side, rows in the order of the places.
    """
    _, side, _, channels = images.shape
    p = patch_places(side)
    windows = np.lib.stride_tricks.sliding_window_view(images, (PATCH, PATCH), (1, 2))
    # (n, p, p, c, 6, 6) -> (n p p, columns, rest), so that a mirror turns columns.
    patches = windows[:, : STRIDE * p : STRIDE, : STRIDE * p : STRIDE]
    x = patches.transpose(0, 1, 2, 5, 4, 3).reshape(-1, PATCH, PATCH * channels)
    left, right = x[:, : PATCH // 2], x[:, : PATCH // 2 - 1 : -1]
    even = (left + right).reshape(len(x), -1)
    odd = (left - right).reshape(len(x), -1)
    # The mean is even; in these coordinates it is the mean of the even ones.
    even = even - even.mean(axis=1, keepdims=True)
    return even * _ROOT, odd * _ROOT


def chunks(images: Single) -> Iterator[Single]:
    """Yield a few images at a time."""
    for first in range(0, len(images), _CHUNK):
        yield images[first : first + _CHUNK]


def learn_dictionary(
    images: Single,
    *,
    n_atoms: int,
    threshold: float,
    max_cosine: float,
    rng: np.random.Generator,
) -> Dictionary:
    """Whiten the patches and choose atoms among them, far from each other.

    Patches are looked at in random order; one becomes an atom if its cosine with every
    atom so far, and with their mirror images, is below ``max_cosine``.
    """
    whiten_even, whiten_odd = _whitening(images)
    blank = np.zeros((0, len(whiten_even)), dtype=np.float32)
    even, odd = blank, blank
    p = patch_places(images.shape[1]) ** 2
    order = rng.permutation(len(images) * p)
    wanted = n_atoms // 2
    for first in range(0, len(order), 2048):
        places = order[first : first + 2048]
        e, o = _chosen_patches(images, places, p)
        e, o = _unit(e @ whiten_even, o @ whiten_odd)
        even, odd = _add_distant(even, odd, e, o, max_cosine, wanted)
        if len(even) == wanted:
            break
    return Dictionary(
        whiten_even=whiten_even,
        whiten_odd=whiten_odd,
        even=even,
        odd=odd,
        threshold=threshold,
    )


def encode(images: Single, dictionary: Dictionary) -> Any:
    """Return the codes of all patches, (n p^2, 2 h) sparse: 1 where an atom is near."""
    even, odd = mirrored_halves(images)
    even, odd = _unit(even @ dictionary.whiten_even, odd @ dictionary.whiten_odd)
    same = even @ dictionary.even.T
    swap = odd @ dictionary.odd.T
    near = np.empty((len(even), dictionary.n_atoms), dtype=np.bool_)
    h = len(dictionary.even)
    np.greater_equal(same + swap, dictionary.threshold, out=near[:, :h])
    np.greater_equal(same - swap, dictionary.threshold, out=near[:, h:])
    flat = np.flatnonzero(near)
    rows, columns = np.divmod(flat, dictionary.n_atoms)
    indptr = np.searchsorted(rows, np.arange(len(even) + 1)).astype(np.int32)
    ones = np.ones(len(columns), dtype=np.float32)
    return sparse.csr_array((ones, columns.astype(np.int32), indptr), shape=near.shape)


def learn_embedding(
    codes: list[Any], places: int, *, drop: int, n_components: int
) -> Embedding:
    r"""Find directions in which whole images differ more than their patches do.

    The eigenvectors of largest ratio between the covariance of the images' mean codes
    and C + 1e-3 tr(C)/h I, C the second moment of the codes, in the even half (centred)
    and in the odd half (whose mean is zero, since every image may be mirrored). Sorted
    by eigenvalue, the first ``drop`` left out.
    """
    h = codes[0].shape[1] // 2
    moment = np.zeros((2 * h, 2 * h))
    means = []
    for code in codes:
        moment += (code.T.tocsr() @ code).toarray()
        # Sums of a few ones: exact in any order.
        means.append(_sums_of_images(code, places) / places)
    mean = np.concatenate(means)
    n = len(mean)
    moment /= n * places
    a, b = moment[:h, :h] + moment[h:, h:], moment[:h, h:] + moment[h:, :h]
    even_mean = (mean[:, :h] + mean[:, h:]) * np.sqrt(0.5)
    odd_mean = (mean[:, :h] - mean[:, h:]) * np.sqrt(0.5)
    centre = even_mean.mean(axis=0)
    even_mean = even_mean - centre
    halves = [
        _ratio_vectors(
            even_mean.T @ even_mean / n,
            (a + b) / 2 - np.outer(centre, centre),
            drop + n_components,
        ),
        _ratio_vectors(odd_mean.T @ odd_mean / n, (a - b) / 2, drop + n_components),
    ]
    values = np.concatenate([half[0] for half in halves])
    even, odd = (half[1] * np.sqrt(0.5) for half in halves)
    weights = np.hstack([np.vstack([even, even]), np.vstack([odd, -odd])])
    offset = np.concatenate([centre @ halves[0][1], np.zeros(odd.shape[1])])
    is_odd = np.repeat([False, True], [even.shape[1], odd.shape[1]])
    order = np.argsort(-values, kind="stable")
    # What rounding makes of zero is no direction; few images have few of them.
    order = order[values[order] > 1e-10 * values.max(initial=0.0)]
    order = order[drop : drop + n_components]
    return Embedding(
        weights=np.ascontiguousarray(weights[:, order], dtype=np.float32),
        offset=offset[order].astype(np.float32),
        odd=is_odd[order],
    )


def pool(code: Any, embedding: Embedding, p: int) -> Single:
    """Embed every patch at unit length and sum over cells: (n, 4, 4, d), cells unit."""
    z = code @ embedding.weights - embedding.offset
    z /= np.maximum(np.linalg.norm(z, axis=1, keepdims=True), _TINY)
    z = z.reshape(-1, p, p, z.shape[1])
    width, starts = cell_windows(p)
    rows = np.stack([z[:, s : s + width].sum(axis=1) for s in starts], axis=1)
    cells = np.stack([rows[:, :, s : s + width].sum(axis=2) for s in starts], axis=2)
    cells /= np.maximum(np.linalg.norm(cells, axis=3, keepdims=True), _TINY)
    return np.asarray(cells, dtype=np.float32)


def cell_windows(p: int) -> tuple[int, list[int]]:
    """Return width and starts of the four overlapping windows along p patches.

    Examples
    --------
    >>> cell_windows(14)
    (5, [0, 3, 6, 9])
    """
    width = max(1, -(-5 * p // 14))
    starts = np.linspace(0, p - width, CELLS).round().astype(int)
    return width, starts.tolist()


def _whitening(images: Single) -> tuple[Single, Single]:
    """ZCA of the patches and their mirror images: one symmetric matrix per half."""
    total_even: Any = 0.0
    total_odd: Any = 0.0
    count = 0
    for chunk in chunks(images):
        even, odd = mirrored_halves(chunk)
        total_even = total_even + (even.T @ even).astype(np.float64)
        total_odd = total_odd + (odd.T @ odd).astype(np.float64)
        count += len(even)
    return _inverse_root(total_even / count), _inverse_root(total_odd / count)


def _inverse_root(covariance: npt.NDArray[np.float64]) -> Single:
    values, vectors = np.linalg.eigh(covariance)
    root = 1 / np.sqrt(np.maximum(values, 0) + _RIDGE)
    return np.asarray((vectors * root) @ vectors.T, dtype=np.float32)


def _chosen_patches(images: Single, places: Any, p: int) -> tuple[Single, Single]:
    """Patches by number: place within the image runs fastest."""
    at, place = np.divmod(places, p)
    row, column = np.divmod(place, patch_places(images.shape[1]))
    pieces = np.stack(
        [
            images[i, STRIDE * r : STRIDE * r + PATCH, STRIDE * c : STRIDE * c + PATCH]
            for i, r, c in zip(at, row, column, strict=True)
        ]
    )
    return mirrored_halves(pieces)


def _unit(even: Single, odd: Single) -> tuple[Single, Single]:
    square = np.einsum("ij,ij->i", even, even) + np.einsum("ij,ij->i", odd, odd)
    norm = np.maximum(np.sqrt(square), _TINY)[:, None]
    return even / norm, odd / norm


def _add_distant(
    even: Single, odd: Single, e: Single, o: Single, limit: float, wanted: int
) -> tuple[Single, Single]:
    """Add the patches (e, o), in their order, that no atom so far is near to."""
    # A flat patch has no direction.
    alive = np.einsum("ij,ij->i", e, e) + np.einsum("ij,ij->i", o, o) > 0.5
    alive &= _nearest(e, o, even, odd) < limit
    e, o = e[alive], o[alive]
    among = np.abs(o @ o.T) + e @ e.T
    taken: list[int] = []
    for i in range(len(e)):
        if len(even) + len(taken) == wanted:
            break
        if not taken or among[i, taken].max() < limit:
            taken.append(i)
    return np.vstack([even, e[taken]]), np.vstack([odd, o[taken]])


def _nearest(e: Single, o: Single, even: Single, odd: Single) -> Any:
    """Largest cosine with an atom or its mirror image: same + |swap|."""
    if not len(even):
        return np.full(len(e), -1.0)
    return (e @ even.T + np.abs(o @ odd.T)).max(axis=1)


def _sums_of_images(code: Any, places: int) -> npt.NDArray[np.float64]:
    n = code.shape[0] // places
    gather = sparse.csr_array(
        (
            np.ones(n * places),
            np.arange(n * places),
            np.arange(0, n * places + 1, places),
        ),
        shape=(n, n * places),
    )
    return np.asarray((gather @ code).toarray(), dtype=np.float64)


def _ratio_vectors(top: Any, bottom: Any, count: int) -> tuple[Any, Any]:
    """Largest generalised eigenpairs, the bottom matrix regularised."""
    h = len(top)
    bottom = bottom + np.eye(h) * max(1e-3 * np.trace(bottom) / h, _TINY)
    first = max(0, h - count)
    values, vectors = eigh(top, bottom, subset_by_index=(first, h - 1))
    # A sign of its own, so that the same images give the same features.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))])
    return values, vectors * signs
