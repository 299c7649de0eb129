"""What to cite for a method, a solver or a data set: the entries of references.bib."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from symmf.common.validation import check_name


@dataclass(frozen=True, slots=True)
class Reference:
    """A publication, and the names in this package that stand on it."""

    key: str
    names: tuple[str, ...]
    bibtex: str


def read_references() -> list[Reference]:
    """Read references.bib, whose field ``keywords`` holds the names in this package."""
    text = Path(__file__).with_name("references.bib").read_text("utf-8")
    references = []
    for entry in text.strip().split("\n\n"):
        start, keywords, rest = re.split(r"  keywords = \{(.*)\},\n", entry)
        key = start.partition("{")[2].strip(",\n")
        references.append(Reference(key, tuple(keywords.split(", ")), start + rest))
    return references


def citations(name: str) -> list[Reference]:
    """Return what to cite for a method, solver or data set, by its name.

    Examples
    --------
    >>> [reference.key for reference in citations("sym_hals")]
    ['zhu2018dropping', 'ang2019accelerating']
    """
    references = read_references()
    known = {known for reference in references for known in reference.names}
    check_name("citation", name, sorted(known))
    return [reference for reference in references if name in reference.names]
