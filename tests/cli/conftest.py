"""Commands in this process: in a folder of their own, or with workers they share."""

import pytest

from symmf.cli.main import main


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in a folder; return exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def invoke(*args):
        with pytest.raises(SystemExit) as end:
            main([str(arg) for arg in args])
        said = capsys.readouterr()
        assert "Traceback" not in said.out + said.err
        return end.value.code or 0, said.out, said.err

    return invoke


@pytest.fixture
def one_pool(pool, monkeypatch):
    """Let every command of a module use the same workers."""
    monkeypatch.setattr("symmf.experiment.run.local_pool.LocalPool", lambda *_: pool)
    monkeypatch.setattr("symmf.experiment.again.LocalPool", lambda *_: pool)
    monkeypatch.setattr(pool, "close", lambda: None)
