"""Histograms of oriented gradients: where edges are and how they run.

N. Dalal, B. Triggs, "Histograms of oriented gradients for human detection", CVPR 2005:
cells of 4 pixels, 9 directions without sign, blocks of 2 x 2 cells, clipped at 0.2.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Single = npt.NDArray[np.float32]

CELL = 4
BINS = 9
#: numbers in a block of 2 x 2 cells
BLOCK = 4 * BINS
_CLIP = 0.2
_TINY = 1e-6


def hog_blocks(grey: Single) -> Single:
    """Return the blocks of grey images (n, s, s): (n, b, b, 2, 2, 9), float32.

    Every block has length 1, or 0 where the image is flat. A direction counts for the
    two nearest bins, so that a mirrored image has exactly mirrored blocks: columns of
    blocks and of cells turned round, bin j becomes bin 8 - j.

    Examples
    --------
    >>> ramp = np.tile(np.arange(16, dtype=np.float32), (1, 16, 1))
    >>> hog_blocks(ramp).shape
    (1, 3, 3, 2, 2, 9)
    """
    cells = _cells(np.asarray(grey, dtype=np.float32))
    near = [
        cells[:, y : y - 1 or None, x : x - 1 or None] for y in (0, 1) for x in (0, 1)
    ]
    blocks = np.stack(near, axis=3)
    blocks = blocks.reshape(*blocks.shape[:3], BLOCK)
    blocks = np.minimum(_unit(blocks), np.float32(_CLIP))
    blocks = _unit(blocks)
    return np.asarray(blocks.reshape(*blocks.shape[:3], 2, 2, BINS), dtype=np.float32)


def mirror_blocks(blocks: Single) -> Single:
    """Return the blocks of the mirrored images.

    Examples
    --------
    >>> image = np.random.default_rng(0).random((1, 16, 16), dtype=np.float32)
    >>> mirrored = hog_blocks(image[:, :, ::-1])
    >>> bool(np.allclose(mirrored, mirror_blocks(hog_blocks(image)), atol=1e-6))
    True
    """
    return blocks[:, :, ::-1, :, ::-1, ::-1]


def _cells(grey: Single) -> Single:
    """Sum gradients over cells, by direction: (n, c, c, 9)."""
    n, height, width = grey.shape
    dy, dx = np.zeros_like(grey), np.zeros_like(grey)
    dy[:, 1:-1] = grey[:, 2:] - grey[:, :-2]
    dx[:, :, 1:-1] = grey[:, :, 2:] - grey[:, :, :-2]
    size = np.hypot(dx, dy)
    # Angle from the horizontal, 0 to 90 degrees, in bins; left or right by the sign.
    place = np.arctan2(np.abs(dy), np.abs(dx)) * np.float32(BINS / np.pi) - 0.5
    low = np.floor(place)
    share = place - low
    low = low.astype(np.intp)
    turned = dx * dy < 0
    rows, columns = height // CELL, width // CELL
    out = np.zeros((n, rows, columns, BINS), dtype=np.float32)
    for bin_, weight in ((low % BINS, 1 - share), ((low + 1) % BINS, share)):
        at = np.where(turned, BINS - 1 - bin_, bin_)
        value = size * weight
        for b in range(BINS):
            inside = np.where(at == b, value, 0)[:, : rows * CELL, : columns * CELL]
            out[..., b] += inside.reshape(n, rows, CELL, columns, CELL).sum((2, 4))
    return out


def _unit(blocks: Single) -> Single:
    norms = np.linalg.norm(blocks, axis=-1, keepdims=True)
    scaled: Single = blocks / np.maximum(norms, np.float32(_TINY))
    return scaled
