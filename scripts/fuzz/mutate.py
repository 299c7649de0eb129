"""Damage: to bytes, to texts, and the odd values that break parsers."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Values that have broken something once, here or elsewhere.
NUMBERS = (
    "0", "-1", "1", "2", "3.5", "1e308", "-1e308", "1e-320", "1e400", ".inf", "-.inf",
    ".nan", "NaN", "0x7fffffffffffffff", "9" * 40, "1_000", "1e9", "1000000000", "1e-3",
    "010", "1.", "+1", "007", "1:30", "0.1e1", "-0.0", "2147483648", "4294967296",
    "18446744073709551616",
)  # fmt: skip
TEXTS = (
    "''", '"\\0"', '"\\uD800"', '"\\U0010FFFF"', '"a\\nb"', "'$x^{$'", "'[/y]'",
    "'=1+1'", "'\u202eabc'", "'\uff3cinput\uff5b/etc/passwd\uff5d'", "'<script>'",
    "'../../x'", "/etc/passwd", "~nosuchuser", "true", "no", "null", "~", "2020-01-01",
    "'" + "x" * 300 + "'", "caf\u00e9", "'\U0001f600'", "'%s%n'", "'{0}'",
    "'\\input{x}'",
    '"\\x1b[31m"', "con", "a/b", ".", "..", "'a b'", "-", "--help",
)  # fmt: skip
YAML = (
    "[]", "{}", "[[]]", "{a: {b: c}}", "[1, 2, 3]", "[null]",
    "!!python/object/apply:os.system ['touch MARKER']",
    "!!python/name:os.system", "!!binary aGk=", "!!timestamp 2020-01-01", "!!int ''",
    "!!float x", "!!bool maybe", "!!set {a, b}",
    "!!omap [a: 1]", "&a [*a]", "*nothing", "&x 1", "!tag x", "[" * 300 + "]" * 300,
    "{" * 40 + "}" * 40, "|\n  text", ">-\n  text", "? a\n: b", "<<: {a: 1}",
    "%YAML 1.1", "---", "...", "@a", "`a`",
    "!!str 5", "!!null ''", "!!seq {a: 1}", "!!map [1]", "0xffffffffffffffffffffffff",
    "{a: 1, a: 2}",
)  # fmt: skip
ODD = NUMBERS + TEXTS + YAML


def odd_value(rng: random.Random) -> str:
    """Return a value in YAML that somebody might write, or an attacker would."""
    return rng.choice(rng.choice((NUMBERS, TEXTS, YAML)))


def odd_path(rng: random.Random, path: Path) -> None:
    """Make something that is no ordinary file, or an empty or a huge one."""
    kind = rng.randrange(5)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        targets = ("/dev/zero", "/dev/null", "/dev/random", "/etc/passwd", "/nowhere")
        path.symlink_to(rng.choice((*targets, path, path.parent)))
    elif kind == 2:
        path.mkdir()
        (path / "x").write_text("x")
    else:
        with path.open("wb") as file:
            file.truncate(rng.choice((0, 896756, 20 << 30)))


def damage(rng: random.Random, content: bytes, *, most: int = 6) -> bytes:
    """Return the content with a few of its bytes changed, lost, moved or doubled."""
    data = bytearray(content)
    for _ in range(rng.randint(1, most)):
        start, other = (rng.randrange(len(data) + 1) for _ in range(2))
        size = rng.choice((1, 1, 1, 2, 4, 8, 16, 64))
        flipped = bytes(
            byte ^ 1 << rng.randrange(8) for byte in data[start : start + 1]
        )
        pieces = (rng.randbytes(size), bytes(size), b"\xff" * size, flipped, b"")
        piece = rng.choice((*pieces, data[other : other + size]))
        # In the place of as many bytes, between them, or of all that follow.
        ends = (start + size, start + size, start, start, len(data))
        data[start : rng.choice(ends)] = piece
    return bytes(data)


def damage_header(rng: random.Random, content: bytes, size: int = 512) -> bytes:
    """Return the content with damage near its beginning, where formats have sizes."""
    head = damage(rng, content[:size], most=3)
    return head + content[size:]


def damage_number(rng: random.Random, content: bytes) -> bytes:
    """Return the content with an odd number, or another word, in the place of one."""
    found = list(re.finditer(rb"\d[\d.]*|[A-Za-z]{3,}", content[:512]))
    if not found:
        return damage(rng, content)
    place = rng.choice(found)
    new = rng.choice(NUMBERS).encode()
    if place[0].isalpha():
        new = rng.choice(found)[0]
    return content[: place.start()] + new + content[place.end() :]


DAMAGES = (damage, damage, damage_header, damage_header, damage_number)


def exchange(rng: random.Random, tree: Any, values: Sequence[Any]) -> Any:
    """Exchange a value somewhere in a tree of dicts and lists, or lose or add one."""
    if rng.random() < 0.25 or not isinstance(tree, dict | list) or not tree:
        return rng.choice(values)
    key: Any = rng.choice(list(tree) if isinstance(tree, dict) else range(len(tree)))
    if isinstance(tree, dict) and rng.random() < 0.1:
        del tree[key]
    elif isinstance(tree, dict) and rng.random() < 0.1:
        tree[rng.choice(("x", "folder", "name", "label"))] = rng.choice(values)
    else:
        tree[key] = exchange(rng, tree[key], values)
    return tree


def damage_text(rng: random.Random, text: str) -> str:
    """Return a text with lines lost, doubled, moved, indented, or values replaced."""
    lines = text.splitlines()
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(lines) + 1)
        line = lines[place] if place < len(lines) else ""
        value = f"{line.partition(':')[0]}: {odd_value(rng)}"
        broken = f"{line[: rng.randrange(len(line) + 1)]}{odd_value(rng)}"
        moved = f"{rng.choice(('', '  ', '    '))}{line.strip()}"
        other = rng.choice(lines or [""])
        new = ([], [line, line], [other, line], [value], [moved], [broken, line])
        lines[place : place + 1] = rng.choice(new)
    return "\n".join(lines) + "\n"
