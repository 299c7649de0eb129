"""Fuzzing guided by coverage: what the parsers do with whatever reaches a new branch.

Needs atheris (``.[fuzz]``). A case is a parser and a minute; what reached new branches
is kept for its next minute, in a folder of the system's temporary one. All is parsed in
one process and not in a child, so that branches count.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from scripts.fuzz.harness import Case
from scripts.fuzz.process import CRASH, ROOT

# Formats that C code parses (.mat .h5 .parquet) can crash it: `files` tries them.
ENDINGS = (".csv", ".txt", ".edges", ".npy", ".npz", ".xlsx")
PARSERS = (*ENDINGS, "yaml", "model", "record")
SECONDS = 60


def live(case: Case) -> None:
    """Fuzz one parser for a minute; an input that is neither parsed nor told fails."""
    name = PARSERS[case.index % len(PARSERS)]
    corpus = Path(tempfile.gettempdir()) / "symmf-fuzz-corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    seed = str(case.rng.randrange(1, 2**31))
    done = subprocess.run(
        [sys.executable, "-m", "scripts.fuzz.guided", name, str(corpus), seed],
        cwd=case.folder,
        env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.STDOUT,
        stdout=subprocess.PIPE,
        check=False,
    )
    text = done.stdout.decode("utf-8", "replace")
    units = re.findall(r"number_of_executed_units: (\d+)|^#(\d+)\t", text, re.MULTILINE)
    case.tried = max((int(a or b) for a, b in units), default=0)
    case.notes[f"inputs of {name}"] += case.tried
    if done.returncode:
        inputs = [path.read_bytes() for path in case.folder.glob("*-*")]
        case.blame(CRASH, f"{name} {inputs!r:.400}\n{text[-2000:]}")


def in_this_process(function: Callable[..., Any], path: Path, /, **options: Any) -> Any:
    """Do what the child does, whose failures are all DataErrors."""
    from symmf.errors import DataError, SymmfError

    limits = ("memory", "seconds", "largest")
    try:
        return function(path, **{k: v for k, v in options.items() if k not in limits})
    except SymmfError:
        raise
    except Exception as error:
        raise DataError(str(error)) from error


def parser(name: str) -> tuple[Callable[[Path], object], list[bytes]]:
    """Return a parser of files, and good ones."""
    import atheris

    with atheris.instrument_imports(include=["symmf", "yaml"]):
        from scripts.fuzz.files import good_files
        from scripts.fuzz.models import good_models
        from scripts.fuzz.study import undisturbed
        from symmf.clustering.symmf.model_file import load_model
        from symmf.common.shipped import configs_folder
        from symmf.common.yaml import parse_yaml
        from symmf.experiment.store.record_file import read_record
        from symmf.io import arrays, images, matrix, sheets
    for module in (arrays, images, sheets):
        module.read_in_child = in_this_process
    if name == "yaml":
        files = [path.read_bytes() for path in configs_folder().glob("*.yaml")]
        return lambda path: parse_yaml(
            path.read_text("utf-8", "replace"), source="x"
        ), files
    if name == "model":
        return load_model, list(good_models().values())
    if name == "record":
        records = undisturbed(1)[0].rglob("*.h5")
        return read_record, [path.read_bytes() for path in records]
    good = good_files()
    good["a.edges"] = good["edges.txt"]
    files = [content for key, content in good.items() if key.endswith(name)]
    return matrix.read_matrix, files


def main(name: str, corpus: str, seed: str) -> None:
    """Fuzz one parser, in this process, from its good files on."""
    import atheris

    parse, files = parser(name)
    for number, content in enumerate(files):
        (Path(corpus) / f"good{number}").write_bytes(content)
    from symmf.errors import SymmfError

    path = Path.cwd() / f"x{name if name in ENDINGS else ''}"

    def one(content: bytes) -> None:
        path.write_bytes(content)
        with suppress(SymmfError):
            parse(path)

    limits = [f"-max_total_time={SECONDS}", "-rss_limit_mb=6000", "-timeout=60",
              "-print_final_stats=1", f"-seed={seed}"]  # fmt: skip
    atheris.Setup([sys.argv[0], *limits, corpus], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
