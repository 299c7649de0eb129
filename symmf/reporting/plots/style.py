"""One colour, marker and dash per method in every figure.

Colours are Okabe and Ito's, which readers with colour-vision deficiencies can tell
apart; yellow is darkened because it vanishes on paper. Marker and dash repeat the
distinction for grey-scale print.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from symmf.common.figures import GREY, INK
from symmf.reporting.selection.readings import Reading

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


@dataclass(frozen=True, slots=True, kw_only=True)
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


def _look(color: str, marker: str) -> Look:
    return Look(color=color, marker=marker)


LOOKS: dict[str, Look] = {
    # the nine methods of the tables
    "kmeans": _look(GREY, "s"),
    "nmf": _look(ORANGE, "^"),
    "spectral": _look(SKY, "D"),
    "symhals": _look(GREEN, "v"),
    "snmf": _look(OCHRE, "P"),
    "symnmf": _look(BLUE, "<"),
    "gnmf": _look(PURPLE, "X"),
    "dsc": _look(INK, ">"),
    "symmf": _look(VERMILLION, "o"),
    # solvers of the convergence figures
    "projected_gradient": _look(VERMILLION, "o"),
    "columnwise": _look(PURPLE, "h"),
    "eigen": _look(INK, "*"),
    "fixed_step": _look(GREY, "d"),
    "sym_anls": _look(GREEN, "p"),
    "sym_hals": _look(GREEN, "v"),
    "newton": _look(BLUE, "<"),
    "symnmf_anls": _look(SKY, "D"),
    "admm": _look(ORANGE, "^"),
    "procrustes": _look(OCHRE, "P"),
}
_SPARE = tuple(
    _look(color, marker)
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

    def __init__(self, readings: Iterable[Reading]) -> None:
        known = list(readings)
        unknown = sorted({family(reading) for reading in known} - set(LOOKS))
        bases = LOOKS | {
            name: _SPARE[index % len(_SPARE)] for index, name in enumerate(unknown)
        }
        members: dict[tuple[str, Look], list[str]] = {}
        for reading in known:
            base = bases[family(reading)]
            names = members.setdefault((reading.experiment, base), [])
            if reading.method not in names:
                names.append(reading.method)
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
        return found or LOOKS.get(method) or _look(INK, "o")
