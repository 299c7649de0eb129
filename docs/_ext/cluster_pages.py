"""Make the pages that the guide on ``symmf cluster`` shows, by its own commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guides" / "cluster.md"
SHOWN = ("customers.html", "notes.html", "photos.html", "evidence.svg")


def guide_commands(text: str) -> list[list[str]]:
    """Return what the guide tells its reader to type, as words."""
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.S | re.M)
    joined = [block.replace("\\\n", " ") for block in blocks]
    lines = [line for block in joined for line in block.splitlines()]
    return [shlex.split(line.removeprefix("$")) for line in lines]


def make_pages(target: Path) -> None:
    """Run the guide's commands on its data; keep what it shows in ``target``."""
    sys.path.insert(0, str(ROOT / "docs" / "examples"))
    from make_cluster_data import make

    target.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder))
        for words in guide_commands(GUIDE.read_text(encoding="utf-8")):
            subprocess.run(
                [sys.executable, "-m", *words],
                cwd=folder,
                check=True,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        for name in SHOWN:
            (target / name).write_bytes((Path(folder) / name).read_bytes())
