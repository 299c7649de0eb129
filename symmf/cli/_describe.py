"""What a numpydoc docstring says about a class: summary, parameters, reference."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter with its default and its meaning in one line."""

    name: str
    default: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a user needs to know to choose and configure a method."""

    summary: str
    parameters: tuple[Parameter, ...]
    reference: str


def describe(kind: Any) -> Description:
    """Read the docstring and the signature of a class.

    Examples
    --------
    >>> from symmf.similarity.graphs.self_tuning import gaussian
    >>> describe(gaussian).parameters[-1]
    Parameter(name='scale', default="'median'", meaning='s; the median distance ...')
    """
    text = inspect.getdoc(kind) or ""
    sections = _sections(text)
    meanings = _meanings(_parameters(kind))
    parameters = tuple(
        Parameter(
            name=name,
            default=_default(parameter),
            meaning=meanings.get(name, ""),
        )
        for name, parameter in inspect.signature(kind).parameters.items()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    )
    reference = " ".join(line.strip() for line in sections.get("References", []))
    return Description(
        summary=text.split("\n\n")[0].replace("\n", " ").strip(),
        parameters=parameters,
        reference=reference.strip(),
    )


def _parameters(kind: Any) -> list[str]:
    """Return what is said of the parameters, by a class or what it is made from."""
    for each in getattr(kind, "__mro__", (kind,)):
        found = _sections(inspect.getdoc(each) or "").get("Parameters")
        if found:
            return found
    return []


def _sections(text: str) -> dict[str, list[str]]:
    """Split a docstring at its underlined titles."""
    lines = text.splitlines()
    titles = [
        i
        for i, line in enumerate(lines[:-1])
        if line.strip() and re.fullmatch(r"-{3,}", lines[i + 1].strip())
    ]
    ends = [*titles[1:], len(lines)]
    return {
        lines[begin].strip(): lines[begin + 2 : end]
        for begin, end in zip(titles, ends, strict=False)
    }


def _meanings(lines: list[str]) -> dict[str, str]:
    """Map every name of a Parameters section to the first sentence about it."""
    meanings: dict[str, str] = {}
    names: list[str] = []
    text: list[str] = []
    for line in [*lines, "end"]:
        if line[:1].strip():
            meanings.update(dict.fromkeys(names, _first_sentence(text)))
            names = [name.strip() for name in line.split(" :")[0].split(",")]
            text = []
        else:
            text.append(line.strip())
    return meanings


def _first_sentence(lines: list[str]) -> str:
    """Return the text up to its first full stop or empty line, on one line."""
    paragraph = " ".join(lines).replace("``", "").strip()
    if "" in lines:
        paragraph = " ".join(lines[: lines.index("")]).replace("``", "").strip()
    sentence = re.split(r"(?<!e\.g)(?<!i\.e)\.\s", paragraph, maxsplit=1)[0]
    return sentence.rstrip(".:")


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return "required"
    return repr(parameter.default)
