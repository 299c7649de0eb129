"""Sentences for what pydantic finds wrong in an experiment file."""

from __future__ import annotations

import re
import types
import typing
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from symmf.errors import ConfigError
from symmf.experiment.config.yaml import (
    Document,
    Place,
    Problems,
    dotted,
    nearest,
    shown,
)

_BOOLEAN_WORDS = {"yes", "no", "on", "off", "y", "n", "true", "false"}
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


def describe(
    error: ValidationError, document: Document, model: type[BaseModel]
) -> ConfigError:
    """Return one error that lists every problem with its line."""
    problems = Problems(document)
    for detail in error.errors(include_url=False):
        place: Place = tuple(detail["loc"])
        problems.add(place, _sentence(detail, place, document, model))
    try:
        problems.raise_if_any()
    except ConfigError as described:
        return described
    return ConfigError(f"{document.source}: {error}")


def _sentence(
    detail: ErrorDetails, place: Place, document: Document, model: type[BaseModel]
) -> str:
    kind, given = detail["type"], detail["input"]
    name = dotted(place)
    if kind == "extra_forbidden":
        return (
            f'unknown key "{place[-1]}"; {nearest(str(place[-1]), keys(model, place))}'
        )
    if kind == "missing":
        return f'the key "{name}" is missing.'
    if kind == "string_pattern_mismatch":
        return (
            f"{name} becomes a folder or column name, so it must be made of letters, "
            f"digits, dots, hyphens and underscores, not {shown(given)}."
        )
    if kind in ("enum", "literal_error"):
        choices = re.findall(r"'([^']*)'", detail["ctx"]["expected"])
        hint = nearest(given, choices) if isinstance(given, str) else ""
        listed = ", ".join(choices)
        return f"{name} is one of {listed}, not {shown(given)}; {hint}".rstrip("; ")
    if kind == "value_error":
        return f"{name}: {detail['ctx']['error']}."
    expected = _EXPECTED.get(kind)
    if expected is None:
        message = detail["msg"].replace("Input should be", "must be")
        return f"{name}: {message}, not {shown(given)}."
    # A single value where a list may stand is written without an index.
    word = document.words.get(place) or document.words.get(place[:-1], "")
    if isinstance(given, bool) and word.lower() in _BOOLEAN_WORDS:
        hint = f' Write "{word}" in quotes if you mean the word.'
        return (
            f"{name} must be {expected}, but YAML reads {word} as {shown(given)}."
            f"{hint if expected == 'text' or 'name' in expected else ''}"
        )
    return f"{name} must be {expected}, not {shown(given)}."


def keys(model: type[BaseModel], place: Place) -> list[str]:
    """Return the keys known beside the last part of ``place``."""
    for part in place[:-1]:
        if isinstance(part, int):
            continue
        fields = {info.alias or name: info for name, info in model.model_fields.items()}
        inner = _model_in(fields[str(part)].annotation) if str(part) in fields else None
        if inner is None:
            return []
        model = inner
    return [info.alias or name for name, info in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    origin = typing.get_origin(annotation)
    if origin in (list, typing.Union, types.UnionType, typing.Annotated):
        for argument in typing.get_args(annotation):
            if found := _model_in(argument):
                return found
    return None
