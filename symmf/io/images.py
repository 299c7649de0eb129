"""A folder of images as rows of pixels (extra ``io``), read in a child process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from symmf.common.sandbox import read_in_child
from symmf.errors import DataError

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm")
# What these endings stand for, and nothing else that a library may read: an EPS file
# under the name of a PNG would be run by Ghostscript.
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
# Kinds of one channel with more than 8 bits.
_DEEP = ("I", "I;16", "I;16L", "I;16B", "I;16N", "F")
#: pixels along each side of what is clustered
SIDE = 32
_MOST = 100_000
# An image of more pixels is not opened.
_MOST_PIXELS = 100_000_000


def read_images(folder: Path, *, side: int = SIDE) -> tuple[Any, list[str]]:
    """Return square colour images (n, side * side * 3) in 0 .. 1, and their names.

    Images are the files of the folder and its subfolders with a usual ending, in the
    order of their names. Each is cut to its central square and made ``side`` pixels
    wide; what is transparent becomes white.
    """
    names = image_names(folder)
    if len(names) < 2:
        what = "no image" if not names else "only one image"
        raise DataError(
            f"{folder} has {what}. Images are files that end in {', '.join(ENDINGS)}."
        )
    pixels = read_in_child(parse_images, folder, names=names, side=side)
    return np.asarray(pixels, dtype=np.float64) / 255, names


def image_names(folder: Path) -> list[str]:
    """Return the images of a folder and its subfolders, relative to it."""
    found = sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.suffix.lower() in ENDINGS and not path.name.startswith(".")
    )
    if len(found) > _MOST:
        raise DataError(f"{folder} has more than {_MOST:,} images; use fewer.")
    return found


def parse_images(folder: Path, names: list[str], side: int) -> Any:
    """Open images one by one, as (n, side * side * 3) bytes."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = _MOST_PIXELS
    out = np.empty((len(names), side * side * 3), dtype=np.uint8)
    for row, name in zip(out, names, strict=True):
        path = folder / name
        if not path.is_file():
            raise DataError(f"{path} is not a file. Remove it from the folder.")
        try:
            with Image.open(path, formats=_FORMATS) as image:
                row[:] = np.asarray(_square(image, side)).ravel()
        except Exception as error:
            # A damaged image may make its reader fail in any way.
            raise DataError(
                f"{path} cannot be read as an image ({str(error)[:200]}). Remove it "
                "from the folder, or repair it."
            ) from error
    return out


def _square(image: Any, side: int) -> Any:
    from PIL import Image

    width, height = image.size
    if width * height > _MOST_PIXELS:
        raise ValueError(f"{width} x {height} pixels are too many")
    if image.mode in _DEEP:
        image = _of_eight_bits(image)
    if image.mode in ("RGBA", "LA", "P"):
        clear = image.convert("RGBA")
        image = Image.new("RGBA", clear.size, "white")
        image.alpha_composite(clear)
    image = image.convert("RGB")
    edge = min(width, height)
    left, top = (width - edge) // 2, (height - edge) // 2
    box = (left, top, left + edge, top + edge)
    return image.resize((side, side), Image.Resampling.BOX, box=box)


def _of_eight_bits(image: Any) -> Any:
    """Return a grey image in 0 .. 255; converting would cut all above 255 to white."""
    from PIL import Image

    values = np.asarray(image, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("it has values that are not finite")
    if image.mode == "F":
        # There is no agreed range of floating-point pixels.
        low, high = float(values.min()), float(values.max())
    else:
        low, high = min(0.0, values.min()), max(65535.0, values.max())
    spread = max(high - low, np.finfo(np.float64).tiny)
    shown = np.clip((values - low) / spread, 0, 1) * 255
    return Image.fromarray(np.round(shown).astype(np.uint8))
