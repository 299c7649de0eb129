"""Sentences for what is wrong in an experiment file, each with its line."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from symmf.common.validation import nearest
from symmf.common.yaml import Document, YamlPath, shown
from symmf.errors import ConfigError

# A file with hundreds of problems is the wrong file; the first ones show it.
MAX_LISTED = 20
_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "`key: value` lines",
    "list_type": "a list",
    "model_type": "a name or `key: value` lines",
    "finite_number": "a finite number",
}


def hint(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence: the closest known name, or all of them.

    Examples
    --------
    >>> hint("trails", ["seed", "trials"])
    'did you mean "trials"?'
    """
    known = sorted(known)
    close = nearest(name, known)
    if close:
        return f'did you mean "{close}"?'
    return f"known names are: {', '.join(known)}." if known else "none is known here."


class Problems:
    """Sentences about one document, raised together so that one look mends all."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._found: dict[str, tuple[bool, int]] = {}

    def add(self, place: YamlPath, sentence: str) -> None:
        """Note what is wrong at ``place``."""
        where = self.document.where(place)
        number = int(where[5:]) if where.startswith("line ") else 0
        self._found.setdefault(f"{where}: {sentence}", (number == 0, number))

    def unknown(
        self, place: YamlPath, what: str, name: object, known: Iterable[str]
    ) -> None:
        """Note a name that is not known: ``what`` says there is none, and of what."""
        self.add(place, f'{what} "{name}"; {hint(str(name), known)}')

    def error(self) -> ConfigError:
        """Return everything noted as one error."""
        lines = sorted(self._found, key=lambda line: self._found[line])
        if len(lines) == 1:
            return ConfigError(f"{self.document.source}, {lines[0]}")
        listing = "\n".join(f"  {line}" for line in lines[:MAX_LISTED])
        if len(lines) > MAX_LISTED:
            listing += f"\n  and {len(lines) - MAX_LISTED} more"
        count = f"{self.document.source} has {len(lines)} problems"
        return ConfigError(f"{count}:\n{listing}")

    def raise_if_any(self) -> None:
        """Raise a :class:`ConfigError` listing everything noted."""
        if self._found:
            raise self.error()


def dotted(place: YamlPath) -> str:
    """Write a place as a person would: ``methods[2].parameters.tol``.

    Examples
    --------
    >>> dotted(("methods", 2, "parameters", "tol"))
    'methods[2].parameters.tol'
    """
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def explain(
    error: ValidationError, document: Document, model: type[BaseModel]
) -> ConfigError:
    """Return one error that lists every problem with its line."""
    problems = Problems(document)
    for detail in error.errors(include_url=False):
        problems.add(detail["loc"], _sentence(detail, document, model))
    return problems.error()


def _sentence(
    detail: Mapping[str, Any], document: Document, model: type[BaseModel]
) -> str:
    kind, place, given = detail["type"], detail["loc"], detail["input"]
    name = dotted(place)
    if kind == "extra_forbidden":
        return f'unknown key "{place[-1]}"; {hint(str(place[-1]), keys(model, place))}'
    if kind == "missing":
        return f'the key "{name}" is missing.'
    if kind == "string_pattern_mismatch":
        return (
            f"{name} becomes a folder or column name, so it must be made of letters, "
            f"digits, dots, hyphens and underscores, not {shown(given)}."
        )
    if kind in ("enum", "literal_error"):
        choices = re.findall(r"'([^']*)'", detail["ctx"]["expected"])
        near = hint(given, choices) if isinstance(given, str) else ""
        listed = ", ".join(choices)
        return f"{name} is one of {listed}, not {shown(given)}; {near}".rstrip("; ")
    if kind == "value_error":
        return f"{name}: {detail['ctx']['error']}."
    expected = _EXPECTED.get(kind)
    if expected is None:
        message = detail["msg"].replace("Input should be", "must be")
        return f"{name}: {message}, not {shown(given)}."
    # A single value where a list may stand is written without an index.
    word = document.words.get(place) or document.words.get(place[:-1], "")
    if isinstance(given, bool) and word:
        quotes = f' Write "{word}" in quotes if you mean the word.'
        return (
            f"{name} must be {expected}, but YAML reads {word} as {shown(given)}."
            f"{quotes if expected == 'text' or 'name' in expected else ''}"
        )
    return f"{name} must be {expected}, not {shown(given)}."


def keys(model: type[BaseModel], place: YamlPath) -> list[str]:
    """Return the keys known beside the last part of ``place``."""
    for part in place[:-1]:
        if isinstance(part, str):
            model = _model_in(model.model_fields[part].annotation) or model
    return [info.alias or name for name, info in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the part of the file that a type such as ``list[Part] | None`` holds."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, typing.get_args(annotation))), None)
