"""Names that are markup, formulas or escapes, and modules that wait to be imported."""

from __future__ import annotations

import csv
import io
import os
import random
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

from scripts.fuzz import study
from scripts.fuzz.harness import Case
from scripts.fuzz.process import LOST

# What must run nowhere, and the file that it would make.
TOKEN, MARKER = "hAcKeD", "MARKER"
_PAYLOADS = (
    f"<script>{TOKEN}()</script>", f'"><img src=x onerror={TOKEN}()>',
    f"<svg/onload={TOKEN}()>", f"'><a href=javascript:{TOKEN}()>x</a>",
    f"</title></style></textarea><script>{TOKEN}()</script>",
    f"<iframe srcdoc={TOKEN}>", f"</script><script>{TOKEN}()</script>",
    f"<!--><script>{TOKEN}()</script>", "{{ 7777777 * 7 }}", "{% raise %}",
    f"[x](javascript:{TOKEN})", f"\\input{{{TOKEN}}}", "\\immediate\\write18{touch M}",
    f"\uff3cinput\uff5b{TOKEN}\uff5d", "$x^{$", "a & b \\\\ \\hline", "100 % # ~ ^ _",
    "\x1b[2J\x1b]0;x\x07", "\x9b2J", "\u202egnp.exe", "\u2066x\u200f", "a\rb",
    "=1+1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1",
)  # fmt: skip
_TEX = re.compile(r"\\(input|include|write|immediate|openout|def|catcode|csname)\b")
_CONTROLS = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_FORMULA = tuple("=+-@\t\r\n")


class _Page(HTMLParser):
    """Collects what a browser would run."""

    def __init__(self) -> None:
        super().__init__()
        self.active: list[str] = []
        self._runs = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._runs = tag == "script" and given.get("type") != "application/json"
        for name, value in attrs:
            if TOKEN.lower() in name or (TOKEN in (value or "") and name[:2] == "on"):
                self.active.append(f"{tag} {name}={value}")
            if re.match(r"\s*(javascript|vbscript|data:text)", value or "", re.I):
                self.active.append(f"{tag} {name}={value}")
        if tag in ("iframe", "object", "embed", "base"):
            self.active.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._runs &= tag != "script"

    def handle_data(self, data: str) -> None:
        if self._runs and TOKEN in data:
            self.active.append(data[:80])


def live(case: Case) -> None:
    """Send one of these; nothing may run, be shown as markup, or leave the folder."""
    kind = case.rng.choice((_names, _names, _study, _planted))
    case.notes[kind.__name__[1:]] += 1
    here = case.folder / "in" / "here"
    here.mkdir(parents=True)
    said = kind(case, here)
    if case.verdict != "crashes" and (found := _CONTROLS.search(said)):
        case.blame(LOST, f"{found[0]!r} on the terminal: {said!r}")
    escaped = [path for path in case.folder.iterdir() if path.name != "in"]
    escaped += [path for path in (case.folder / "in").iterdir() if path != here]
    escaped += list(case.folder.rglob(MARKER))
    if escaped:
        case.blame(LOST, f"something ran, or left the folder: {escaped}")
    for path in here.rglob("*"):
        if path.is_file() and not path.name.startswith("given"):
            wrong = look(path, path.read_text("utf-8", "replace"))
            if wrong:
                case.blame(LOST, f"{path.name}: {wrong}")


def look(path: Path, text: str) -> str:
    """Return what is wrong with a file that symmf wrote."""
    if path.suffix == ".html":
        page = _Page()
        page.feed(text)
        return f"active: {page.active}" if page.active or "54444439" in text else ""
    if path.suffix == ".tex" and (found := _TEX.search(text)):
        return f"TeX runs {found[0]}"
    if path.suffix == ".csv" and path.name not in ("trials.csv", "traces.csv"):
        for row in csv.reader(io.StringIO(text)):
            for cell in row:
                if len(cell) > 1 and cell[0] in _FORMULA and not _is_number(cell):
                    return f"a formula: {cell!r}"
    return ""


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[+-][\d.]+(e[+-]?\d+)?|[+-](inf|nan)", cell, re.I) is not None


def _odd(rng: random.Random) -> str:
    return rng.choice(("", "x")) + rng.choice(_PAYLOADS) + rng.choice(("", " y"))


def _names(case: Case, here: Path) -> str:
    """Cluster a table, documents or edges whose names are markup."""
    rng = case.rng
    rows = [[f"{_odd(rng)}{i}", i % 3 + i / 99, i % 3 - i / 77, _odd(rng)]
            for i in range(40)]  # fmt: skip
    name = rng.choice(("given", f"given{_odd(rng)}")).replace("/", "").replace("\0", "")
    path = here / f"{name}.csv"
    words = []
    with path.open("w", newline="") as file:
        kind = rng.randrange(3)
        if kind == 0:
            head = [_odd(rng), f"a{_odd(rng)}", f"b{_odd(rng)}", f"c{_odd(rng)}"]
            csv.writer(file).writerows([head, *rows])
            words = rng.choice(([], ["--labels", "-1"], ["--keep-columns"]))
        elif kind == 1:
            lines = (" ".join(_odd(rng) for _ in range(4)) for _ in rows)
            file.writelines(re.sub(r"[\r\n]", " ", line) + "\n" for line in lines)
            words = ["--format", "text"]
        else:
            nodes = [row[0] for row in rows]
            pairs = ((nodes[i], nodes[(7 * i + 3) % 40]) for i in range(40))
            csv.writer(file).writerows(pairs)
            words = ["--format", "edges"]
    made = ("--out", "o.csv", "--report", "p.html")
    return case.run("cluster", path, "-k", 3, *made, *words, here=here).text


def _study(case: Case, here: Path) -> str:
    """Run a study whose title, labels and notes are markup, and show it."""
    import yaml

    rng = case.rng
    config = yaml.safe_load(study.CONFIG.replace("TRIALS", "1"))
    config |= {"n_clusters": [2], "title": _odd(rng), "note": _odd(rng)}
    config["methods"] = [
        {"method": "kmeans", "label": _odd(rng), "parameters": {"n_init": 1}},
        {"method": "spectral", "name": "b", "label": _odd(rng)},
    ]
    (here / "given.yaml").write_text(yaml.safe_dump(config))
    commands = [("run", "given.yaml", "--results", "r", "--jobs", 1), ("tables",)]
    commands += rng.sample((("plot", "all"), ("report",), ("compare",), ("status",)), 1)
    texts = []
    for name, *words in commands:
        where = ["--results", "r"] if name != "run" else []
        texts.append(case.run(name, *words, *where, here=here, seconds=120).text)
    return "".join(texts)


def _planted(case: Case, here: Path) -> str:
    """Leave modules where symmf works, and name them in a configuration."""
    rng = case.rng
    code = f"open({str(case.folder / MARKER)!r}, 'w')\n"
    for name in rng.sample(("numpy", "yaml", "symmf_plugin", "sitecustomize", "h5py",
                            "json", "symmf"), 4):  # fmt: skip
        (here / f"{name}.py").write_text(code)
    config = study.write_config(here, trials=1)
    odd = rng.choice((
        "plugins: [symmf_plugin]", "plugin: symmf_plugin.py", "x: !!python/name:yaml.x",
        "methods: [symmf_plugin.Method]", "dataset: {name: symmf_plugin}", "",
    ))  # fmt: skip
    config.write_text(config.read_text() + odd + "\n")
    script = str(Path(sys.executable).with_name("symmf"))
    words = [script, "run", str(config), "--dry-run"]
    return case.run(lambda: os.execv(script, words), here=here).text
