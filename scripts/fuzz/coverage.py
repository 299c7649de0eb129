"""Which lines and branches the quick tests reach, in the processes they start too."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter

from scripts.fuzz.harness import Case
from scripts.fuzz.process import LOST, ROOT

_PYTEST = ("-m", "pytest", "--cov", "--cov-report=", "-q")
_QUICK = ("-m", "not slow and not network", "-n", "2", "--dist", "worksteal")


def live(case: Case) -> None:
    """Run the quick tests, and count for each room what they reached."""
    found = case.folder / "found.json"
    environment = os.environ | {"COVERAGE_FILE": str(case.folder / "data")}

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], cwd=ROOT, env=environment, text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        if done.returncode:
            case.blame(LOST, done.stdout + done.stderr)
        return done.stdout

    told = run(*_PYTEST, *_QUICK)
    run("-m", "coverage", "json", "-q", "-o", str(found))
    case.tried = int(re.findall(r"(\d+) passed", told)[-1])
    reached, there = Counter[str](), Counter[str]()
    for name, file in json.loads(found.read_text())["files"].items():
        summary, room = file["summary"], name.split("/")[1].removesuffix(".py")
        deep = "/dsc/" in name
        for key in ("all", *([] if deep else ["all but DSC"]), room):
            reached[key] += summary["covered_lines"] + summary["covered_branches"]
            there[key] += summary["num_statements"] + summary["num_branches"]
    for key, count in there.items():
        case.notes[f"per cent of lines and branches of {key}"] = (
            100 * reached[key] // max(count, 1)
        )
