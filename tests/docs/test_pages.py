"""Documentation that cannot drift: its programs run, its commands exist."""

from __future__ import annotations

import re
import shlex
import warnings
from pathlib import Path

import click
import pytest

from symmf.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("docs/guides/*.md")]
)
GALLERY = sorted((ROOT / "docs" / "gallery").glob("plot_*.py"))
CODE = re.compile(r"^```python\n(.*?)^```", re.S | re.M)
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.S | re.M)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def with_matches(pattern: re.Pattern[str]) -> list[Path]:
    return [page for page in PAGES if pattern.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", with_matches(CODE), ids=name_of)
def test_programs_of_a_page_run_in_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # they may write files
    names: dict[str, object] = {"__name__": "page"}
    for code in CODE.findall(page.read_text(encoding="utf-8")):
        # What this file imports from __future__ is not the page's.
        exec(compile(code, str(page), "exec", dont_inherit=True), names)


def commands(page: Path) -> list[list[str]]:
    """Return the symmf commands that a page tells its reader to type."""
    found = []
    for block in CONSOLE.findall(page.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$").strip(), comments=True)
            if words[:1] == ["symmf"]:
                found.append(words[1:])
    return found


@pytest.mark.parametrize("page", with_matches(CONSOLE), ids=name_of)
def test_commands_of_a_page_exist_with_their_options(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in commands(page):
        context = click.Context(cli, info_name="symmf")
        command: click.Command = cli
        while isinstance(command, click.Group):
            assert words, f"{page.name}: a command is missing"
            name, found, words = command.resolve_command(context, words)
            assert found is not None, f"{page.name}: symmf {name}"
            command = found
        for word in words:
            examples = [ROOT / word, ROOT / "docs" / "examples" / word]
            if shown := [path for path in examples if path.is_file()]:
                Path(word).parent.mkdir(parents=True, exist_ok=True)
                Path(word).write_bytes(shown[0].read_bytes())
            # Other files of examples need not exist; their names must not look odd.
            elif re.search(r"\.(csv|txt|html|npz|yaml|py|h5)$", word):
                Path(word).parent.mkdir(parents=True, exist_ok=True)
                Path(word).touch()
            elif word.endswith("/"):
                Path(word).mkdir(exist_ok=True)
        command.make_context(command.name, list(words))


@pytest.mark.slow
@pytest.mark.parametrize("example", GALLERY, ids=name_of)
def test_gallery(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    drawn = []
    monkeypatch.setattr(plt, "show", lambda: drawn.append(plt.gcf()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(example.read_text(encoding="utf-8"), str(example), "exec"), {})
    assert drawn, "an example of the gallery shows a picture"
    plt.close("all")


def test_open_dask_ports_are_warned_of() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    warning = r"(?is)dask.{0,600}(tls|whoever|anyone|trusted)"
    assert any(re.search(warning, text) for text in texts)
