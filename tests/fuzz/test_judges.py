"""What the parts of the attack would see, if it were there."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from scripts.fuzz import hostile, mutants
from scripts.fuzz.mutate import damage, damage_number, exchange


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.html", f"<p><script>{hostile.TOKEN}()</script>"),
        ("p.html", f"<img onerror={hostile.TOKEN}()>"),
        ("p.html", "<a href=' javascript:x()'>"),
        ("p.html", "<iframe srcdoc=x>"),
        ("p.html", "54444439"),
        ("t.tex", "a & \\input{x}"),
        ("o.csv", "name,cluster\n=1+1,0\n"),
        ("o.csv", 'name,cluster\n"\t=1",0\n'),
    ],
)
def test_what_would_run_is_seen(name: str, text: str) -> None:
    assert hostile.look(Path(name), text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.html", f"<p>&lt;script&gt;{hostile.TOKEN}() <b title='{hostile.TOKEN}'>"),
        ("p.html", f'<script type="application/json">"{hostile.TOKEN}"</script>'),
        ("t.tex", "a & \\textbackslash{}input\\{x\\} \\\\"),
        ("o.csv", "name,cluster\n'=1+1,0\n-0.5,1\n"),
    ],
)
def test_what_is_shown_as_text_is_right(name: str, text: str) -> None:
    assert hostile.look(Path(name), text) == ""


def test_a_mutant_changes_one_place() -> None:
    code = "def f(a, b):\n    if a < b and a:\n        return a + 1\n"
    changed = set()
    for number in range(len(list(mutants.mutants(ast.parse(code))))):
        tree = ast.parse(code)
        changed.add(mutants.mutate(tree, number))
        assert ast.unparse(tree) != ast.unparse(ast.parse(code))
    assert "2: a < b as a <= b" in changed
    assert "2: a < b and a as a < b or a" in changed
    assert "3: 1 as 2" in changed
    assert "3: return a + 1 as return" in changed


def test_damage_is_different_each_time_and_the_same_again() -> None:
    content = b"\x93NUMPY {'shape': (12, 5), 'descr': '<f8'}" + bytes(50)
    for change in (damage, damage_number):
        made = [change(random.Random(seed), content) for seed in range(40)]
        assert len(set(made)) > 15
        assert made == [change(random.Random(seed), content) for seed in range(40)]


def test_a_value_anywhere_in_a_tree_is_exchanged() -> None:
    trees = [
        exchange(random.Random(seed), {"a": [1, {"b": 2}]}, ("new",))
        for seed in range(99)
    ]
    for expected in ("new", {"a": "new"}, {"a": [1, {"b": "new"}]}, {}):
        assert expected in trees
