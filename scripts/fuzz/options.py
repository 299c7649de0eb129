"""Odd words on the command line, and in the environment, of every command."""

from __future__ import annotations

import random

from scripts.fuzz.harness import Case
from scripts.fuzz.mutate import ODD

_PLAIN = ("0", "1", "-1", "2", "3", "x", "", " ", "a=b", "--", "-", "all",
          "99999999999999999999",
          "1e308", "nan", "inf", "\u00b2", "--5", "\udc80", "1/2", "0/0", "9/3", "a/b",
          "true")  # fmt: skip
_SETTINGS = ("max_iter", "tol", "label_options", "random_state", "similarity", "solver",
             "x", "labels",
             "constraint", "published", "similarity_options", "solver_options",
             "n_clusters", "verbose", "init", "coupling")  # fmt: skip
_COMMANDS = {
    "cluster": ("FILE", "-k", "--method", "--lambda", "--similarity", "--constraint",
                "--precomputed",
                "--labels", "--variable", "--header", "--seed", "--set", "--set",
                "--set", "--set", "--out"),
    "run": ("CONFIG", "--dry-run", "--jobs", "--only", "--shard", "--set",
            "--max-trials", "--fresh"),
    "status": ("--results",), "info": ("WORD", "--results"), "replay": ("WORD",
               "--results"),
    "tables": ("WORD", "--format", "--std", "--results"), "plot": ("WORD", "--results"),
    "audit": ("--classes", "--ac", "--nmi", "--decimals"), "methods": ("WORD",),
    "configs": ("WORD",), "data": ("WORD", "WORD", "--folder"), "merge": ("WORD",
                "--into"),
    "select": ("FILE", "-k", "--set", "--method"), "verify": ("--results",),
}  # fmt: skip
_FLAGS = ("--precomputed", "--header", "--dry-run", "--fresh", "--std")


def live(case: Case) -> None:
    """Put odd words where options want values."""
    rng, folder = case.rng, case.folder
    points = folder / "points.csv"
    rows = (f"{i % 5},{i % 3 + 0.5},{i * 7 % 11}" for i in range(24))
    points.write_text("\n".join(rows))
    config = folder / "c.yaml"
    config.write_text(
        "dataset: {name: synthetic, kind: planted, n: 30, k: 3, m: 6}\n"
        "n_clusters: [2]\ntrials: 1\nmethods: [kmeans]\n"
    )
    command = rng.choice(("cluster", "cluster", "cluster", *_COMMANDS))
    arguments = [command]
    if command in ("cluster", "select"):
        arguments += [str(points), *(["-k", "3"] if command == "cluster" else [])]
    elif command == "run":
        arguments += [str(config), "--dry-run", "--results", str(folder / "r")]
    for _ in range(rng.randint(1, 3)):
        arguments += _option(rng, rng.choice(_COMMANDS[command]))
    case.run(*arguments, seconds=20, may_be_long=True)


def _option(rng: random.Random, name: str) -> list[str]:
    value = _known(rng, name) if rng.random() < 0.5 else _word(rng)
    if name.isupper():
        return [value] if rng.random() < 0.5 else []
    if name in _FLAGS:
        return [name]
    if name == "--set":
        key = rng.choice(_SETTINGS)
        return [name, rng.choice((f"{key}={value}", f"{key}={value}", key, value))]
    return [f"{name}={value}"] if name.startswith("--") else [name, value]


def _known(rng: random.Random, name: str) -> str:
    """Return a value that the option knows, so that what follows is reached."""
    known = {
        "--method": ("kmeans", "nmf", "spectral", "symhals", "snmf", "symnmf", "gnmf"),
        "--similarity": ("cosine", "gaussian", "auto", "self_tuning"),
        "--constraint": ("nonnegative", "simplex_rows", "orthogonal"),
        "-k": ("2", "5", "24"),
    }
    return rng.choice(known[name]) if name in known else _word(rng)


def _word(rng: random.Random) -> str:
    # The system passes no NUL.
    return rng.choice(rng.choice((_PLAIN, ODD))).replace("\0", "")
