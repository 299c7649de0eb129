"""Where the trajectories of the authors' own code are."""

from pathlib import Path

GOLDEN_FILE = Path(__file__).parents[1] / "golden" / "golden_compact.h5"
