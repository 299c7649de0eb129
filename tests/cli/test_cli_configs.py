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
        assert f"\n{name} " in f"\n{listed}"
    text = shipped.config_path("quickstart").read_text()
    assert symmf("configs", "quickstart").output == text
    target = tmp_path / "mine.yaml"
    assert symmf("configs", "quickstart", "--copy", str(target)).exit_code == 0
    assert target.read_text() == text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["configs", "quickstat"], "Did you mean 'quickstart'?"),
        (["configs", "quickstart", "--copy", "."], "is there already"),
        (["configs", "--copy", "x"], "needs the NAME"),
        (["run", "quickstat"], "no shipped config of that name. Did you mean 'quick"),
    ],
)
def test_bad_names_get_a_sentence(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "symmf configs coil",
            {name for name in shipped.config_names() if name.startswith("coil")},
        ),
        ("symmf run quick", {"quickstart"}),
        ("symmf run coil20 --only sym", {"symhals", "symmf", "symnmf"}),
        ("symmf con", {"configs"}),
    ],
)
def test_the_shell_completes_names(words, expected, capsys, monkeypatch):
    variables = {
        "_SYMMF_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    for name, value in variables.items():
        monkeypatch.setitem(os.environ, name, value)
    with pytest.raises(SystemExit):
        main([])
    found = dict(
        reversed(line.split(",", 1)) for line in capsys.readouterr().out.splitlines()
    )
    assert {name for name, kind in found.items() if kind == "plain"} == expected


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
