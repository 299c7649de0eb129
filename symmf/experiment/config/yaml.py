"""YAML read safely, with the line of every key kept for error messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from symmf.errors import ConfigError

Place: TypeAlias = tuple[str | int, ...]

_FLOAT = re.compile(r"^[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)[eE][-+]?[0-9]+$")


class _Loader(yaml.SafeLoader):
    """Safe YAML in which ``1e-3`` is a number and a date stays text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in pairs if "timestamp" not in tag]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class _Dumper(yaml.SafeDumper):
    """Quotes the texts that :class:`_Loader` would read as something else."""


for _class in (_Loader, _Dumper):
    _class.add_implicit_resolver(
        "tag:yaml.org,2002:float", _FLOAT, list("-+.0123456789")
    )


def dump_yaml(data: Any) -> str:
    """Write plain data as YAML that :func:`parse_yaml` reads back."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint naming the closest known name, or all of them.

    Examples
    --------
    >>> nearest("trails", ["seed", "trials"])
    'did you mean "trials"?'
    """
    known = sorted(known)
    lower = {text.lower(): text for text in reversed(known)}
    close = get_close_matches(name.lower(), list(lower), n=1, cutoff=0.6)
    if close:
        return f'did you mean "{lower[close[0]]}"?'
    return f"known names are: {', '.join(known)}." if known else "none is known here."


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Plain data with the places they were written at."""

    source: str
    data: Any
    lines: Mapping[Place, int | str] = field(default_factory=dict)
    words: Mapping[Place, str] = field(default_factory=dict)

    def where(self, place: Place) -> str:
        """Say where a value, or else what contains it, was written."""
        while True:
            if place in self.lines:
                line = self.lines[place]
                return line if isinstance(line, str) else f"line {line}"
            if not place:
                return "the file"
            place = place[:-1]


class Problems:
    """Sentences about one document, raised together so that one look mends all."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._found: dict[str, tuple[bool, int]] = {}

    def add(self, place: Place, sentence: str) -> None:
        """Note what is wrong at ``place``."""
        where = self.document.where(place)
        number = int(where[5:]) if where.startswith("line ") else 0
        self._found.setdefault(f"{where}: {sentence}", (number == 0, number))

    def raise_if_any(self) -> None:
        """Raise a :class:`ConfigError` listing everything noted."""
        if not self._found:
            return
        lines = sorted(self._found, key=lambda line: self._found[line])
        if len(lines) == 1:
            raise ConfigError(f"{self.document.source}, {lines[0]}")
        listing = "\n".join(f"  {line}" for line in lines)
        raise ConfigError(
            f"{self.document.source} has {len(lines)} problems:\n{listing}"
        )


def dotted(place: Place) -> str:
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


def read_yaml(path: Path | str) -> Document:
    """Read a YAML file; every failure is a sentence naming the file."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"There is no file {path}. Check its name.") from None
    except IsADirectoryError:
        raise ConfigError(f"{path} is a folder; name a YAML file in it.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text, so not a YAML file.") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    return parse_yaml(text, source=str(path))


def parse_yaml(text: str, *, source: str) -> Document:
    """Parse YAML text and remember on which line each key and item stands."""
    walker = _Walker(source)
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        data = None if node is None else walker.value(loader, node, (), ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{source}{line}: not valid YAML: {error.problem}.") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{source}: not valid YAML: {error}.") from None
    finally:
        loader.dispose()
    return Document(source=source, data=data, lines=walker.lines, words=walker.words)


def parse_value(text: str, *, source: str) -> Any:
    """Parse one YAML value, as in ``--set trials=2``."""
    return parse_yaml(text, source=source).data


class _Walker:
    """Turns YAML nodes into plain data, noting lines and words as written."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines: dict[Place, int | str] = {}
        self.words: dict[Place, str] = {}
        self._merged: set[int] = set()

    def value(
        self, loader: _Loader, node: yaml.Node, place: Place, above: tuple[int, ...]
    ) -> Any:
        line = node.start_mark.line + 1
        self.lines.setdefault(place, line)
        if id(node) in above:
            raise ConfigError(f"{self.source}, line {line}: an alias contains itself.")
        above = (*above, id(node))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(loader, node, place, above)
        if isinstance(node, yaml.SequenceNode):
            return [
                self.value(loader, item, (*place, i), above)
                for i, item in enumerate(node.value)
            ]
        self.words[place] = node.value
        try:
            return loader.construct_object(node)
        except ValueError as error:
            raise ConfigError(f"{self.source}, line {line}: {error}.") from None

    def _mapping(
        self,
        loader: _Loader,
        node: yaml.MappingNode,
        place: Place,
        above: tuple[int, ...],
    ) -> dict[str, Any]:
        if id(node) not in self._merged:
            self._refuse_twice(node)
            loader.flatten_mapping(node)
            self._merged.add(id(node))
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = loader.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise ConfigError(
                    f"{self.source}, line {line}: a key must be text, but YAML reads "
                    f"{getattr(key_node, 'value', key)!s} as {shown(key)}. "
                    "Put it in quotes."
                )
            self.lines[(*place, key)] = line
            result[key] = self.value(loader, value_node, (*place, key), above)
        return result

    def _refuse_twice(self, node: yaml.MappingNode) -> None:
        first: dict[str, int] = {}
        for key_node, _ in node.value:
            line, key = key_node.start_mark.line + 1, str(key_node.value)
            if key in first:
                raise ConfigError(
                    f'{self.source}, line {line}: the key "{key}" is here twice '
                    f"(first on line {first[key]}). Keep one."
                )
            first[key] = line


def shown(value: Any) -> str:
    """Write a value as YAML would: ``true``, not ``True``."""
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: "null"}[value]
    return repr(value)
