"""Make the data of the guide on ``symmf cluster``: a table, documents, images.

Usage: python docs/examples/make_cluster_data.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

TOPICS = (
    "tea coffee cup kettle milk sugar kitchen brew",
    "tax budget minister parliament vote law court reform",
    "goal match team coach league player season stadium",
    "rain storm wind cloud forecast snow flood summer",
)
COMMON = "good new day people time year made said long last"


def customers(path: Path, n: int = 300, seed: int = 0) -> None:
    """Four kinds of customers; income is in other units than visits."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 4, n)
    age = np.array([27, 45, 68, 39])[kind] + rng.normal(0, 2.5, n)
    income = np.array([31e3, 82e3, 40e3, 55e3])[kind] + rng.normal(0, 3e3, n)
    visits = np.array([14, 3, 7, 22])[kind] + rng.normal(0, 1.0, n)
    returns = np.array([0.30, 0.05, 0.10, 0.15])[kind] + rng.normal(0, 0.02, n)
    lines = ["customer;age;income;visits;returns;since"]
    for i in range(n):
        numbers = f"{age[i]:.0f};{income[i]:.0f};{visits[i]:.1f};{returns[i]:.3f};2019"
        lines.append(f"C{i:04d};{numbers}")
    # As a spreadsheet in much of Europe writes it: semicolons and decimal commas.
    path.write_text("\n".join(lines).replace(".", ",") + "\n")


def documents(path: Path, n: int = 240, seed: int = 0) -> None:
    """Short texts about four things, one in each line."""
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(n):
        words = list(rng.choice(TOPICS[i % 4].split(), 7))
        words += list(rng.choice(COMMON.split(), 5))
        rng.shuffle(words)
        lines.append(" ".join(words[: rng.integers(8, 13)]).capitalize() + ".")
    path.write_text("\n".join(lines) + "\n")


def images(folder: Path, n: int = 90, seed: int = 0) -> None:
    """Discs, frames and stripes of any colour, size and place."""
    from PIL import Image

    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    y, x = np.mgrid[:48, :48]
    for i in range(n):
        pixels = rng.normal(rng.integers(190, 240), 8, (48, 48, 3))
        across, down = x - 24 - rng.integers(-5, 6), y - 24 - rng.integers(-5, 6)
        size = rng.integers(10, 16)
        far = np.maximum(np.abs(across), np.abs(down))
        shapes = (
            across**2 + down**2 < size**2,
            (far < size) & (far > size - 5),
            (x + y + rng.integers(0, 10)) % 10 < 4,
        )
        pixels[shapes[i % 3]] = rng.integers(20, 140, 3)
        image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
        image.save(folder / f"image{i:02d}.png")


def make(folder: Path) -> None:
    """Make everything in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    customers(folder / "customers.csv")
    documents(folder / "notes.txt")
    images(folder / "photos")


if __name__ == "__main__":
    make(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
