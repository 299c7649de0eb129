"""``symmf configs``, and completion."""

from __future__ import annotations

import os

import pytest
from click.testing import CliRunner

from symmf.cli.main import cli, main
from symmf.common import shipped


def symmf(*arguments):
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def test_configs_are_listed_and_printed(tmp_path):
    listed = symmf("configs").output
    for name in shipped.config_names():
        assert f"\n{name}\t" in listed
    text = shipped.config_path("quickstart").read_text()
    assert symmf("configs", "quickstart").output == text
    target = tmp_path / "mine.yaml"
    assert symmf("configs", "quickstart", "--copy", str(target)).exit_code == 0
    assert target.read_text() == text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["configs", "quickstat"], "Did you mean 'quickstart'?"),
        (["configs", "quickstart", "--copy", "."], "exists already"),
        (["configs", "--copy", "x"], "needs the NAME"),
        (["run", "quickstat"], "no shipped config of that name. Did you mean 'quick"),
    ],
)
def test_bad_names_get_a_sentence(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err


SHIPPED = {name for name in shipped.config_names() if name.startswith("coil")}
COMPLETED = {
    "symmf configs coil": SHIPPED,
    "symmf run quick": {"quickstart"},
    "symmf run coil20 --only sym": {"symhals", "symmf", "symnmf"},
    "symmf con": {"configs"},
    "symmf help con": {"configs"},
    "symmf cluster x --method spec": {"spectral"},
    "symmf cluster x --constraint sp": {"sparse_rows"},
    "symmf select x --similarity mut": {"mutual_knn"},
    "symmf tables --reference clustb": {"clustbench"},
    "symmf plot lam": {"lambda"},
    "symmf methods gn": {"gnmf"},
    "symmf data verify coi": {"coil20"},
}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("words", COMPLETED)
def test_the_shell_completes_names(words, shell, capsys, monkeypatch):
    *_, last = words.split()
    typed = last if shell == "fish" else str(len(words.split()) - 1)
    variables = {
        "_SYMMF_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": typed,
    }
    for name, value in variables.items():
        monkeypatch.setitem(os.environ, name, value)
    with pytest.raises(SystemExit):
        main([])
    lines = capsys.readouterr().out.splitlines()
    if shell == "zsh":  # kind, name and help, each on a line of its own
        pairs = list(zip(lines[::3], lines[1::3], strict=True))
    else:
        pairs = [line.partition("\t")[0].split(",", 1) for line in lines]
    assert {name for kind, name in pairs if kind == "plain"} == COMPLETED[words]


def test_a_new_study_runs_as_it_is(symmf, tmp_path):
    path = tmp_path / "study.yaml"
    code, text = symmf("configs", "--new", path)
    assert code == 0
    assert f"symmf run {path}" in text
    code, text = symmf("run", path, "--dry-run", "--results", tmp_path / "results")
    assert code == 0
    assert "study: 80 trials" in text
    assert symmf("configs", "--new", path)[0] == 2
    assert symmf("configs", "coil20", "--new", tmp_path / "b.yaml")[0] == 2
