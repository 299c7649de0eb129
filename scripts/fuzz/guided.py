"""Fuzzing guided by coverage: what the parsers do with whatever reaches a new branch.

``python -m scripts.fuzz.guided PARSER [--seconds S]`` needs atheris (``.[fuzz]``). It
begins with good files and goes on until the time is over or an input gives neither a
result nor one of our errors; that input is kept in a file. All is parsed in this
process and not in a child, so that branches count.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["symmf", "yaml"]):
    from scripts.fuzz.files import good_files
    from scripts.fuzz.models import good_models
    from scripts.fuzz.study import undisturbed
    from symmf.clustering.symmf.model_file import load_model
    from symmf.common.shipped import configs_folder
    from symmf.common.yaml import parse_yaml
    from symmf.errors import DataError, SymmfError
    from symmf.experiment.store.record_file import read_record
    from symmf.io import arrays, images, matrix, sheets

# Formats that C code parses (.mat .h5 .parquet) can crash it: `files` tries them.
ENDINGS = (".csv", ".txt", ".edges", ".npy", ".npz", ".xlsx")


def in_this_process(function: Callable[..., Any], path: Path, /, **options: Any) -> Any:
    """Do what the child does, whose failures are all DataErrors."""
    given = {k: v for k, v in options.items() if k not in ("memory", "seconds")}
    try:
        return function(path, **given)
    except SymmfError:
        raise
    except Exception as error:
        raise DataError(str(error)) from error


def by_file(ending: str, parse: Callable[[Path], object]) -> Callable[[bytes], object]:
    """Return a parser of bytes that hands over a file."""
    path = Path(tempfile.mkdtemp(prefix="fuzz-guided-")) / f"x{ending}"

    def parse_bytes(content: bytes) -> object:
        path.write_bytes(content)
        return parse(path)

    return parse_bytes


def parsers() -> dict[str, tuple[Callable[[bytes], object], list[bytes]]]:
    """Return parsers of bytes by name, and good inputs of each."""
    for module in (arrays, images, sheets):
        module.read_in_child = in_this_process
    files = good_files()
    files["a.edges"] = files["edges.txt"]
    found: dict[str, tuple[Callable[[bytes], object], list[bytes]]] = {
        ending: (
            by_file(ending, matrix.read_matrix),
            [content for name, content in files.items() if name.endswith(ending)],
        )
        for ending in ENDINGS
    }
    found["yaml"] = (
        lambda content: parse_yaml(content.decode("utf-8", "replace"), source="x"),
        [path.read_bytes() for path in configs_folder().glob("*.yaml")],
    )
    records = undisturbed(1)[0].rglob("*.h5")
    found["model"] = by_file(".npz", load_model), list(good_models().values())
    found["record"] = (
        by_file(".h5", read_record),
        [path.read_bytes() for path in records],
    )
    return found


def main() -> None:
    """Fuzz one parser for some time."""
    known = parsers()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parser", choices=sorted(known))
    parser.add_argument("--seconds", type=int, default=3600)
    given = parser.parse_args()
    parse, seeds = known[given.parser]
    corpus = Path(tempfile.mkdtemp(prefix="fuzz-corpus-"))
    for number, seed in enumerate(seeds):
        (corpus / str(number)).write_bytes(seed)

    def one(content: bytes) -> None:
        with suppress(SymmfError):
            parse(content)

    limits = [f"-max_total_time={given.seconds}", "-rss_limit_mb=6000", "-timeout=60"]
    atheris.Setup([sys.argv[0], *limits, str(corpus)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
