"""YAML read safely, with the line of every key for error messages.

Only plain data are read: text, numbers, true, false, null, lists and mappings. Any text
gives a document or a :class:`~symmf.errors.ConfigError`, in bounded time: a file has a
limit of bytes, and a document limits of levels and of values, in which what an alias
stands for counts every time (a few lines of aliases may stand for billions of values).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from symmf.common import validation
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
# What no UTF-8 file and no file name can hold.
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


class _Loader(yaml.SafeLoader):
    """Safe YAML in which ``1e-3`` is a number, a date and ``=`` stay text."""


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
        for end in range(len(place), -1, -1):
            line = self.lines.get(place[:end])
            if line is not None:
                return line if isinstance(line, str) else f"line {line}"
        return "the file"


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
    try:
        node = yaml.compose(text, Loader=_Loader)
        data = None if node is None else walker.value(node, ())
    except ConfigError:
        raise
    except RecursionError:
        raise walker.too_much("levels", MAX_DEPTH) from None
    except yaml.reader.ReaderError as error:
        walker.line = text.count("\n", 0, error.position) + 1
        character = f"the character U+{error.character:04X}"
        raise walker.error(f"{character} cannot stand in YAML.") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        walker.line = mark.line + 1 if mark else 0
        problem = error.problem or error.context
        raise walker.error(f"not valid YAML: {problem}.") from None
    # The library lets errors of Python through, as of escapes beyond Unicode.
    except Exception as error:
        raise walker.error(f"not valid YAML: {error}.") from None
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
    text = validation.shown(value)
    return {"True": "true", "False": "false", "None": "null"}.get(text, text)


class _Walker:
    """Turns YAML nodes into plain data, noting lines and words as written."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.line = 0
        self.lines: dict[YamlPath, int | str] = {}
        self.words: dict[YamlPath, str] = {}
        self._constructor = yaml.constructor.SafeConstructor()
        self._nodes = 0

    def error(self, sentence: str) -> ConfigError:
        line = f", line {self.line}" if self.line else ""
        return ConfigError(f"{self.source}{line}: {sentence}")

    def too_much(self, what: str, limit: int) -> ConfigError:
        return self.error(f"it has more than {limit} {what}, aliases counted in full.")

    def value(self, node: Any, place: YamlPath) -> Any:
        self.line = node.start_mark.line + 1
        self.lines.setdefault(place, self.line)
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self.too_much("values", MAX_NODES)
        if len(place) >= MAX_DEPTH:
            raise self.too_much("levels", MAX_DEPTH)
        if node.tag == f"{_CORE}map" and node.id == "mapping":
            return self._mapping(node, place)
        if node.tag == f"{_CORE}seq" and node.id == "sequence":
            return [self.value(item, (*place, i)) for i, item in enumerate(node.value)]
        self.words[place] = str(node.value)
        return self._scalar(node)

    def _scalar(self, node: Any) -> Any:
        if node.tag == _MERGE:
            return str(node.value)
        if node.tag not in _SCALARS or node.id != "scalar":
            raise self.error(
                f"the tag {node.tag.replace(_CORE, '!!')} does not make plain data "
                "here. Remove it: text, numbers, lists and `key: value` lines need "
                "none."
            )
        word = shown(node.value)
        try:
            value = self._constructor.construct_object(node)
        # Its constructors fail in any way on a text they do not expect.
        except Exception:
            kind = node.tag.removeprefix(_CORE)
            raise self.error(f"{word} is not of type {kind}.") from None
        if isinstance(value, str) and _NO_TEXT.search(value):
            raise self.error(
                f"{word} holds half a character (a lone surrogate) or a zero byte. "
                "Write the character itself."
            )
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise self.error(f"{word} needs more than 64 bits.")
        if value in (math.inf, -math.inf) and "inf" not in word.lower():
            raise self.error(f"{word} is too large for a number.")
        return value

    def _mapping(self, node: Any, place: YamlPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                result |= self._merged(value, place)
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                continue
            self.line = line = key_node.start_mark.line + 1
            key = self._key(key_node)
            if key in first:
                raise self.error(
                    f'the key "{key}" is here twice (first on line {first[key]}). '
                    "Keep one."
                )
            first[key] = self.lines[(*place, key)] = line
            result[key] = self.value(value_node, (*place, key))
        return result

    def _merged(self, node: Any, place: YamlPath) -> dict[str, Any]:
        """Return what ``<<`` brings in: one mapping or several, the first winning."""
        result: dict[str, Any] = {}
        for item in reversed(node.value) if node.id == "sequence" else [node]:
            found = self.value(item, place)
            if not isinstance(found, dict):
                raise self.error("<< needs `key: value` lines, or an alias of them.")
            result |= found
        return result

    def _key(self, node: Any) -> str:
        written, read = "this", "a list or mapping"
        if node.id == "scalar":
            key = self._scalar(node)
            if isinstance(key, str):
                return key
            written, read = node.value, shown(key)
        raise self.error(
            f"a key must be text, but YAML reads {written} as {read}. Put it in quotes."
        )
