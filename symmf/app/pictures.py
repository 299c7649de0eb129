"""Pictures of a clustering as SVG, drawn with the page's own colours."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from symmf.common.notation import FloatArray, LabelArray
from symmf.common.texts import plain_text

#: told apart by people who do not see all colours, on light and on dark
COLOURS = (
    "#2f7fc1",
    "#d9661f",
    "#1f9e77",
    "#c2609b",
    "#c9950c",
    "#6f6fd8",
    "#5aa02c",
    "#b5483a",
    "#4aa8c0",
    "#8a7a5c",
)
_LARGEST_MATRIX = 240


def colour(number: int) -> str:
    """Return the colour of a cluster; after ten they come again."""
    return COLOURS[number % len(COLOURS)]


def scatter(Z: FloatArray, labels: LabelArray, names: Sequence[str], rows: Any) -> str:
    """Return the samples on the two principal axes of their rows."""
    centred = Z[rows] - Z[rows].mean(axis=0)
    if centred.shape[1] == 1:
        centred = np.column_stack([centred, np.zeros(len(centred))])
    _, _, Vt = np.linalg.svd(centred, full_matrices=False)
    # A sign of its own for each axis, so that the picture does not flip.
    signs = np.sign(Vt[np.arange(2), np.abs(Vt[:2]).argmax(axis=1)])
    at = centred @ (Vt[:2] * signs[:, None]).T
    low, span = at.min(axis=0), np.maximum(np.ptp(at, axis=0), 1e-12)
    x, y = (20 + 440 * (at - low) / span).T
    points = "".join(
        f'<circle cx="{a:.1f}" cy="{480 - b:.1f}" r="3.6" fill="{colour(label)}">'
        f"<title>{escape(plain_text(names[i]))}, cluster {label}</title></circle>"
        for a, b, i, label in zip(x, y, rows, labels[rows], strict=True)
    )
    return (
        '<svg viewBox="0 0 480 480" role="img" aria-label="Samples in the plane">'
        f'<rect x="1" y="1" width="478" height="478" class="frame"/>{points}</svg>'
    )


def matrix(Z: FloatArray, labels: LabelArray, rows: Any, *, cosines: bool) -> str:
    """Return similarities of samples, in the order of their clusters.

    Cosines of the rows of Z, or exp(-d^2 / m) with m the median squared distance.
    """
    order = rows[np.argsort(labels[rows], kind="stable")]
    U = Z[order]
    if cosines:
        U = U / np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-300)
    S = U @ U.T
    if not cosines:
        squares = np.diag(S)
        D = np.maximum(squares[:, None] + squares - 2 * S, 0)
        S = np.exp(-D / max(float(np.median(D)), 1e-300))
    n = len(order)
    m = min(n, _LARGEST_MATRIX)
    edges = np.linspace(0, n, m + 1).astype(int)[:-1]
    sizes_of = np.diff([*edges, n])
    S = np.add.reduceat(np.add.reduceat(S, edges, axis=0), edges, axis=1)
    values = np.clip(S / np.multiply.outer(sizes_of, sizes_of), 0, 1)
    sizes = np.bincount(labels[order])
    ends = np.cumsum(sizes) / n * 480
    lines = "".join(
        f'<path d="M{e:.1f} 0V480M0 {e:.1f}H480" class="rule"/>' for e in ends[:-1]
    )
    marks = "".join(
        f'<rect x="{a:.1f}" y="484" width="{max(b - a - 1, 1):.1f}" height="10" '
        f'fill="{colour(c)}"><title>cluster {c}</title></rect>'
        for c, (a, b) in enumerate(zip([0, *ends[:-1]], ends, strict=True))
    )
    return (
        '<svg viewBox="0 0 480 496" role="img" aria-label="Similarities by cluster">'
        f'<image width="480" height="480" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="{_png(_shades(values))}"/>'
        f"{lines}{marks}</svg>"
    )


def silhouette_bars(values: FloatArray, labels: LabelArray) -> str:
    """Return one bar per sample, grouped by cluster and sorted."""
    low = min(float(values.min()), 0.0)
    order = np.lexsort((-values, labels))
    height = 460 / len(order)

    def x(value: float) -> float:
        return 36 + 434 * (value - low) / (1 - low)

    bars, numbers, top = [], [], 4.0
    for c in np.unique(labels):
        own = values[order][labels[order] == c]
        corners = [f"M{x(0):.1f} {top:.2f}"]
        for i, value in enumerate(own):
            corners.append(f"H{x(float(value)):.1f}V{top + (i + 1) * height:.2f}")
        corners.append(f"H{x(0):.1f}Z")
        bars.append(
            f'<path d="{"".join(corners)}" fill="{colour(int(c))}">'
            f"<title>cluster {c}: mean {own.mean():.2f}</title></path>"
        )
        middle = top + len(own) * height / 2
        numbers.append(f'<text x="8" y="{middle + 5:.1f}" class="axis">{c}</text>')
        top += len(own) * height
    mean = x(float(values.mean()))
    ticks = "".join(
        f'<text x="{x(v):.1f}" y="484" class="axis mid">{v:g}</text>'
        for v in (0.0, 0.5, 1.0)
    )
    return (
        '<svg viewBox="0 0 480 492" role="img" aria-label="Silhouettes">'
        f"{''.join(bars)}{''.join(numbers)}"
        f'<path d="M{x(0):.1f} 2V468" class="zero"/>'
        f'<path d="M{mean:.1f} 2V468" class="mean"/>{ticks}</svg>'
    )


def line_chart(points: Sequence[tuple[float, float]], chosen: float, name: str) -> str:
    """Return a score for every candidate, the chosen one marked."""
    xs, ys = np.array(points, dtype=float).T
    low, high = min(float(ys.min()), 0.0), max(float(ys.max()), 1e-9)
    span = max(float(np.ptp(xs)), 1e-9)
    px = 44 + 420 * (xs - xs.min()) / span
    py = 226 - 200 * (ys - low) / (high - low)
    path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(px, py, strict=True))
    dots = "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{7 if k == chosen else 4}" '
        f'class="{"pick" if k == chosen else "dot"}"><title>{k:g}: {v:.3f}</title>'
        "</circle>"
        for a, b, k, v in zip(px, py, xs, ys, strict=True)
    )
    step = max(1, len(xs) // 10)
    ticks = "".join(
        f'<text x="{a:.1f}" y="250" class="axis mid">{k:g}</text>'
        for a, k in list(zip(px, xs, strict=True))[::step]
    )
    sides = "".join(
        f'<text x="4" y="{226 - 200 * (v - low) / (high - low) + 5:.1f}" class="axis">'
        f"{v:.2f}</text>"
        for v in (low, high)
    )
    return (
        f'<svg viewBox="0 0 480 260" role="img" aria-label="{escape(name)}">'
        f'<path d="{path}" class="line"/>{dots}{ticks}{sides}</svg>'
    )


def thumbnail(pixels: FloatArray, side: int) -> str:
    """Return an image of the data as a PNG in a data address."""
    channels = pixels.size // (side * side)
    image = np.asarray(pixels).reshape(side, side, channels)
    scale = 1 if image.max(initial=0) > 1 else 255
    rgb = np.broadcast_to(image, (side, side, 3)) * scale
    return _png(np.clip(rgb.round(), 0, 255).astype(np.uint8))


def _shades(values: FloatArray) -> Any:
    """Grey-white to deep blue, even in lightness."""
    light, deep = np.array([240.0, 243, 248]), np.array([18.0, 62, 120])
    mixed = light + (deep - light) * values[..., None]
    return mixed.round().astype(np.uint8)


def _png(rgb: Any) -> str:
    height, width, _ = rgb.shape
    raw = np.concatenate(
        [np.zeros((height, 1), np.uint8), rgb.reshape(height, width * 3)], axis=1
    ).tobytes()

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    content = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(raw, 9))
        + chunk(b"IEND", b"")
    )
    return "data:image/png;base64," + base64.b64encode(content).decode()
