"""YAML read safely, with the line of every key kept for error messages.

Only plain data are read: text, numbers, true, false, null, lists and mappings. Any text
gives a document or a :class:`~symmf.errors.ConfigError`, in bounded time: bytes have a
limit, and so have the levels and values that aliases expand to.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from symmf.common.files import check_file, read_text
from symmf.errors import ConfigError, DataError

#: The way to a value: keys and numbers of items.
YamlPath: TypeAlias = tuple[str | int, ...]

# Far above any experiment: the largest shipped file has 4 kB and 300 nodes.
MAX_BYTES = 1_000_000
MAX_NODES = 50_000
MAX_DEPTH = 40

_CORE = "tag:yaml.org,2002:"
_MERGE = f"{_CORE}merge"
_SCALARS = {f"{_CORE}{kind}" for kind in ("str", "int", "float", "bool", "null")}
_FLOAT = re.compile(r"^[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)[eE][-+]?[0-9]+$")
# What PyYAML raises beside its own errors: constructors given text they do not expect,
# escapes beyond Unicode.
_LIBRARY_ERRORS = (
    yaml.YAMLError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    TypeError,
)


class _TooMuchError(Exception):
    """A limit was passed; the text says which."""


class _Loader(yaml.SafeLoader):
    """Safe YAML in which ``1e-3`` is a number, a date and ``=`` stay text."""


def _limit(what: str, count: int, limit: int) -> None:
    if count > limit:
        raise _TooMuchError(f"it has more than {limit} {what}, aliases counted in full")


_Loader.yaml_implicit_resolvers = {
    first: [(tag, p) for tag, p in pairs if not tag.endswith((":timestamp", ":value"))]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class _Dumper(yaml.SafeDumper):
    """Quotes the texts that :class:`_Loader` would read as something else."""


for _class in (_Loader, _Dumper):
    _class.add_implicit_resolver(f"{_CORE}float", _FLOAT, list("-+.0123456789"))


def dump_yaml(data: Any) -> str:
    """Write plain data as YAML that :func:`parse_yaml` reads back."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Plain data with the places they were written at."""

    source: str
    data: Any
    lines: Mapping[YamlPath, int | str] = field(default_factory=dict)
    words: Mapping[YamlPath, str] = field(default_factory=dict)

    def where(self, place: YamlPath) -> str:
        """Say where a value, or else what contains it, was written."""
        while True:
            if place in self.lines:
                line = self.lines[place]
                return line if isinstance(line, str) else f"line {line}"
            if not place:
                return "the file"
            place = place[:-1]


def read_yaml(path: Path | str) -> Document:
    """Read a YAML file; every failure is a sentence naming the file."""
    path = Path(path)
    try:
        check_file(path, largest=MAX_BYTES, advice="Name an experiment file.")
        text = read_text(path)
    except (DataError, OSError) as error:
        raise ConfigError(str(error)) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text, so not a YAML file.") from None
    return parse_yaml(text, source=str(path))


def parse_yaml(text: str, *, source: str) -> Document:
    """Parse YAML text and remember on which line each key and item stands.

    This is the one place where errors of the YAML library are caught.
    """
    walker = _Walker(source)
    loader = None
    try:
        if len(text) > MAX_BYTES:
            raise _TooMuchError(f"it has more than {MAX_BYTES} characters")
        loader = _Loader(text)
        node = loader.get_single_node()
        data = None if node is None else walker.value(loader, node, (), ())
    except _TooMuchError as error:
        raise ConfigError(f"{source}: {error}.") from None
    except RecursionError:
        raise ConfigError(
            f"{source}: it has more than {MAX_DEPTH} levels, aliases counted in full."
        ) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        problem = error.problem or error.context
        raise ConfigError(f"{source}{line}: not valid YAML: {problem}.") from None
    except yaml.reader.ReaderError as error:
        shape = error.character
        name = f"U+{shape:04X}" if isinstance(shape, int) else repr(shape)
        line = f", line {_line_of(text, error.position)}"
        raise ConfigError(
            f"{source}{line}: the character {name} cannot stand in YAML."
        ) from None
    except _LIBRARY_ERRORS as error:
        line = f", line {walker.line}" if walker.line else ""
        raise ConfigError(f"{source}{line}: not valid YAML: {error}.") from None
    finally:
        if loader is not None:
            loader.dispose()
    return Document(source=source, data=data, lines=walker.lines, words=walker.words)


def parse_value(text: str, *, source: str) -> Any:
    """Parse one YAML value, as in ``--set trials=2``.

    Every command with ``--set KEY=VALUE`` reads VALUE by this function, so that all of
    them know the same numbers and refuse the same texts with a
    :class:`~symmf.errors.ConfigError`. ``source`` begins the sentence.

    Examples
    --------
    >>> parse_value("1e-3", source="--set tol=1e-3")
    0.001
    >>> parse_value("[2, 10]", source="--set n_clusters=[2, 10]")
    [2, 10]
    """
    return parse_yaml(text, source=source).data


def shown(value: Any) -> str:
    """Write a value as YAML would: ``true``, not ``True``; long ones cut.

    Examples
    --------
    >>> shown(True), shown([1, "a"])
    ('true', "[1, 'a']")
    """
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: "null"}[value]
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]} ..."


def _line_of(text: str, position: Any) -> int:
    return text.count("\n", 0, position if isinstance(position, int) else 0) + 1


class _Walker:
    """Turns YAML nodes into plain data, noting lines and words as written."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.line = 0
        self.lines: dict[YamlPath, int | str] = {}
        self.words: dict[YamlPath, str] = {}
        self._nodes = 0

    def value(
        self, loader: _Loader, node: yaml.Node, place: YamlPath, above: tuple[int, ...]
    ) -> Any:
        self.line = node.start_mark.line + 1
        self.lines.setdefault(place, self.line)
        if id(node) in above:
            raise self._error("an alias contains itself.")
        self._nodes += 1
        _limit("values", self._nodes, MAX_NODES)
        above = (*above, id(node))
        _limit("levels", len(above), MAX_DEPTH)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_CORE}map":
            return self._mapping(loader, node, place, above)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_CORE}seq":
            return [
                self.value(loader, item, (*place, i), above)
                for i, item in enumerate(node.value)
            ]
        self.words[place] = str(node.value)
        return self._scalar(loader, node)

    def _scalar(self, loader: _Loader, node: yaml.Node) -> Any:
        if node.tag == _MERGE:
            return str(node.value)
        if node.tag not in _SCALARS or not isinstance(node, yaml.ScalarNode):
            tag = node.tag.replace(_CORE, "!!")
            raise self._error(
                f"the tag {tag} does not make plain data here. Remove it: text, "
                "numbers, lists and `key: value` lines need none."
            )
        kind = node.tag.removeprefix(_CORE)
        try:
            value = loader.construct_object(node)
        except _LIBRARY_ERRORS:
            raise self._error(f"{shown(node.value)} is not of type {kind}.") from None
        if isinstance(value, str):
            self._check_text(value)
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise self._error(f"{shown(node.value)} needs more than 64 bits.")
        if (
            isinstance(value, float)
            and math.isinf(value)
            and "inf" not in (node.value.lower())
        ):
            raise self._error(f"{shown(node.value)} is too large for a number.")
        return value

    def _check_text(self, text: str) -> None:
        """Refuse what no UTF-8 file and no file name can hold."""
        if "\0" in text or (not text.isascii() and re.search("[\ud800-\udfff]", text)):
            raise self._error(
                f"{shown(text)} holds half a character (a lone surrogate) or a zero "
                "byte. Write the character itself."
            )

    def _mapping(
        self,
        loader: _Loader,
        node: yaml.MappingNode,
        place: YamlPath,
        above: tuple[int, ...],
    ) -> dict[str, Any]:
        result: dict[str, Any] = {}
        first: dict[str, int] = {}
        own = []
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                result |= self._merged(loader, value_node, place, above)
            else:
                own.append((key_node, value_node))
        for key_node, value_node in own:
            self.line = line = key_node.start_mark.line + 1
            key = self._key(loader, key_node)
            if key in first:
                raise self._error(
                    f'the key "{key}" is here twice (first on line {first[key]}). '
                    "Keep one."
                )
            first[key] = line
            self.lines[(*place, key)] = line
            result[key] = self.value(loader, value_node, (*place, key), above)
        return result

    def _merged(
        self,
        loader: _Loader,
        node: yaml.Node,
        place: YamlPath,
        above: tuple[int, ...],
    ) -> dict[str, Any]:
        """Return what ``<<`` brings in: one mapping or several, the first winning."""
        several = isinstance(node, yaml.SequenceNode)
        result: dict[str, Any] = {}
        for item in reversed(node.value) if several else [node]:
            found = self.value(loader, item, place, above)
            if not isinstance(found, dict):
                raise self._error("<< needs `key: value` lines, or an alias of them.")
            result |= found
        return result

    def _key(self, loader: _Loader, node: yaml.Node) -> str:
        key = self._scalar(loader, node) if isinstance(node, yaml.ScalarNode) else None
        if isinstance(key, str):
            return key
        written = node.value if isinstance(node, yaml.ScalarNode) else "this"
        read = shown(key) if isinstance(node, yaml.ScalarNode) else "a list or mapping"
        raise self._error(
            f"a key must be text, but YAML reads {written} as {read}. Put it in quotes."
        )

    def _error(self, sentence: str) -> ConfigError:
        return ConfigError(f"{self.source}, line {self.line}: {sentence}")
