"""One colour, marker and dash per method in every figure.

Colours are Okabe and Ito's, which readers with colour-vision deficiencies can tell
apart; yellow is darkened because it vanishes on paper. Marker and dash repeat the
distinction for grey-scale print.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from symmf.common.figures import GREY, INK
from symmf.reporting.results import Results
from symmf.reporting.selection.readings import Reading, readings

ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE, OCHRE = "#0072B2", "#D55E00", "#CC79A7", "#9A7D0A"

SIMILAR, DISSIMILAR = GREEN, VERMILLION

SOLID: tuple[float, ...] = ()
DASHES: tuple[tuple[float, ...], ...] = (
    SOLID,
    (5, 1.6),
    (1.4, 1.4),
    (6, 1.6, 1.4, 1.6),
    (3, 1.2),
    (8, 1.6, 1.4, 1.6, 1.4, 1.6),
)
CLASS_COLORS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, OCHRE, INK)
CLASS_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


@dataclass(frozen=True, slots=True)
class Look:
    """How a method is drawn."""

    color: str
    marker: str
    dash: tuple[float, ...] = SOLID
    hollow: bool = False

    @property
    def line(self) -> dict[str, Any]:
        """Keyword arguments for a matplotlib line."""
        style: Any = (0, self.dash) if self.dash else "-"
        return {"color": self.color, "linestyle": style}

    @property
    def points(self) -> dict[str, Any]:
        """Keyword arguments for matplotlib markers."""
        return {
            "marker": self.marker,
            "markerfacecolor": "white" if self.hollow else self.color,
            "markeredgecolor": self.color,
            "markeredgewidth": 1.0,
        }


LOOKS: dict[str, Look] = {
    # the nine methods of the tables
    "kmeans": Look(GREY, "s"),
    "nmf": Look(ORANGE, "^"),
    "spectral": Look(SKY, "D"),
    "symhals": Look(GREEN, "v"),
    "snmf": Look(OCHRE, "P"),
    "symnmf": Look(BLUE, "<"),
    "gnmf": Look(PURPLE, "X"),
    "dsc": Look(INK, ">"),
    "symmf": Look(VERMILLION, "o"),
    # solvers of the convergence figures
    "projected_gradient": Look(VERMILLION, "o"),
    "columnwise": Look(PURPLE, "h"),
    "eigen": Look(INK, "*"),
    "fixed_step": Look(GREY, "d"),
    "sym_anls": Look(GREEN, "p"),
    "sym_hals": Look(GREEN, "v"),
    "newton": Look(BLUE, "<"),
    "symnmf_anls": Look(SKY, "D"),
    "admm": Look(ORANGE, "^"),
    "procrustes": Look(OCHRE, "P"),
    "coordinate_descent": Look(SKY, "s"),
    "bsum": Look(OCHRE, "X"),
    "pgncg": Look(INK, "H"),
    "snmpbb": Look(GREY, "8"),
}
_SPARE = tuple(
    Look(color, marker)
    for marker in ("8", "H", "p", "d")
    for color in (SKY, OCHRE, PURPLE, GREEN, BLUE, ORANGE, GREY)
)


def family(reading: Reading) -> str:
    """Return what a reading is drawn as: its method, or which solver of SymMF ran."""
    if reading.estimator == "symmf" and reading.solver in LOOKS:
        return reading.solver
    return reading.estimator or reading.method


class StyleBook:
    """The looks of all readings of a results folder, the same in every figure.

    Entries of one family share its colour and marker. Within an experiment the first
    of a family, in the order of the configuration, is plain; later ones differ by
    dash and hollow markers.
    """

    def __init__(self, known: Sequence[Reading]) -> None:
        unknown = sorted({family(reading) for reading in known} - set(LOOKS))
        bases = LOOKS | {
            name: _SPARE[index % len(_SPARE)] for index, name in enumerate(unknown)
        }
        members: dict[tuple[str, Look], dict[str, None]] = {}
        for reading in known:
            base = bases[family(reading)]
            names = members.setdefault((reading.experiment, base), {})
            names[reading.method] = None
        self._looks = {
            (experiment, method): replace(
                base, dash=DASHES[index % len(DASHES)], hollow=index % 2 == 1
            )
            for (experiment, base), names in members.items()
            for index, method in enumerate(names)
        }

    def look(self, experiment: str, method: str) -> Look:
        """Return the look of an entry; an entry never seen before is drawn plain."""
        found = self._looks.get((experiment, method))
        return found or LOOKS.get(method) or Look(INK, "o")


def style_book(results: Results) -> StyleBook:
    """Return the looks of all entries of a results folder."""
    return StyleBook([r for e in results.experiments for r in readings(e)])
