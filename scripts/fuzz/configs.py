"""Odd experiment files, read by ``symmf run --dry-run``."""

from __future__ import annotations

import random

from scripts.fuzz.harness import Case
from scripts.fuzz.mutate import damage, damage_text, exchange, odd_value
from scripts.fuzz.process import LOST, ROOT

_SMALL = """\
name: small
title: Small
note: a note
seed: 1
dataset: {name: synthetic, kind: planted, n: 30, k: 3, m: 6}
n_clusters: [2, 3]
trials: 2
lambda: [0, 0.5]
methods:
  - method: kmeans
    preprocess: [unit_rows]
    parameters: {n_init: 3}
  - method: symmf
    name: ours
    label: Ours
    parameters: {solver: projected_gradient, max_iter: 20, tol: 1e-4}
"""
_MARKER = "MARKER"
_HEAVY = ("features:", "clustbench")


def _templates() -> list[str]:
    shipped = ROOT / "configs"
    texts = [path.read_text() for path in sorted(shipped.glob("*.yaml"))]
    # Learning features, or reading 67 data sets, is work and no reading of a file.
    light = [text for text in texts if not any(word in text for word in _HEAVY)]
    return [_SMALL] * 4 + light


def live(case: Case) -> None:
    """Damage a good file, exchange values, or say odd things by --set."""
    rng, folder = case.rng, case.folder
    text = rng.choice(_templates())
    path = folder / rng.choice(("c.yaml", "c.yaml", "odd name.yaml", "c.yml"))
    words = ["run", path, "--dry-run", "--results", folder / "r"]
    kind = rng.randrange(5)
    if kind == 0:
        path.write_bytes(damage(rng, text.encode()))
    elif kind == 3:
        path.write_text(text)
        for _ in range(rng.randint(1, 2)):
            words += ["--set", _setting(rng)]
    else:
        text = {1: damage_text, 2: _exchange, 4: _forge}[kind](rng, text)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
    case.run(*words)
    if list(folder.rglob(_MARKER)):
        case.blame(LOST, "a file was made by what the configuration says")
    if left := [p for p in (folder / "r").rglob("*") if p.is_file()]:
        case.blame(LOST, f"a dry run wrote {left}")


def _exchange(rng: random.Random, text: str) -> str:
    """Put odd values in the place of good ones, anywhere in the tree."""
    import yaml

    tree = yaml.safe_load(text)
    for _ in range(rng.randint(1, 3)):
        tree = exchange(rng, tree, ("PLACEHOLDER",))
    text = yaml.safe_dump(tree, allow_unicode=True, sort_keys=False)
    # Placeholders become what YAML itself could not have written.
    while "PLACEHOLDER" in text:
        text = text.replace("PLACEHOLDER", odd_value(rng).replace("\n", " "), 1)
    return text


def _setting(rng: random.Random) -> str:
    key = rng.choice(
        ("seed", "trials", "lambda", "n_clusters", "title", "dataset.n", "dataset.name",
         "dataset.folder", "methods.0.label", "methods.0.parameters.n_init", "name",
         "x.y",
         "methods.9.label", "", "methods", "figures", "role")
    )  # fmt: skip
    value = odd_value(rng)
    return rng.choice((f"{key}={value}", f"{key}{value}", value))


def _forge(rng: random.Random, _: str) -> str:
    """Return a file made to take forever, all memory, or the parser apart."""
    depth, width = rng.randint(2, 40), rng.randint(2, 12)
    forged = (
        _laughs(rng.randint(4, 12), width),
        _SMALL + "x: " + "[" * depth * 20 + "]" * depth * 20,
        _SMALL.replace("trials: 2", f"trials: {10 ** rng.randint(3, 18)}"),
        _SMALL.replace("[0, 0.5]", str(list(range(10 ** rng.randint(2, 5))))),
        _SMALL.replace("[2, 3]", "[" + "2, " * (10 ** rng.randint(2, 5)) + "3]"),
        _SMALL.replace("n: 30", f"n: {10 ** rng.randint(2, 12)}"),
        _SMALL.replace("noise", "x") + "y: &a {b: *a}\n",
        _SMALL + _SMALL,
        _SMALL.replace("\n", "\r\n"),
        "\ufeff" + _SMALL,
        _SMALL.encode().decode("latin-1") + "\x00",
        "# only a comment\n",
        "",
        "a: 1\n--- \nb: 2\n",
        "\n".join(f"key{i}: {odd_value(rng)}" for i in range(depth)),
        "!!python/object/apply:os.system ['touch MARKER']\n",
        _SMALL + f"{odd_value(rng)}: {odd_value(rng)}\n",
        "{" * depth + odd_value(rng) + "}" * depth,
        _SMALL.replace("kmeans", odd_value(rng)),
        _SMALL.replace("{n_init: 3}", odd_value(rng)),
    )
    return rng.choice(forged)


def _laughs(levels: int, width: int) -> str:
    lines = ["a0: &a0 [ha]"]
    lines += [
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * width)}]" for i in range(1, levels)
    ]
    return "\n".join(lines) + "\n" + _SMALL
