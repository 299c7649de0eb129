from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from made_traces import full

from symmf.cli.report import compare, plot, report, tables
from symmf.errors import InputError
from symmf.reporting.plots.registry import FIGURES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return full(tmp_path_factory.mktemp("results"))


def run(command, *arguments: object) -> Result:
    done = CliRunner().invoke(command, [str(a) for a in arguments])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_plot_knows_every_figure_without_drawing_code() -> None:
    script = (
        "import sys\nfrom symmf.cli.main import main\n"
        "try:\n    main(['plot', '--help'])\nexcept SystemExit: pass\n"
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("False\n")
    shown = " ".join(done.stdout.split())
    assert f"NAME is one of {', '.join(FIGURES)}, or all." in shown.replace("- ", "-")


def test_tables(folder: Path, tmp_path: Path) -> None:
    done = run(tables, "--results", folder, "--out", tmp_path, "--format", "markdown")
    assert done.exit_code == 0
    assert "Normalized mutual information" in done.output
    assert "symmf run configs/tdt2.yaml" in done.output
    assert (
        f"Written to {tmp_path / 'tables'}: datasets.md, nmi.md, ac.md" in done.output
    )
    assert not list(tmp_path.rglob("*.tex"))


def test_tables_of_one_experiment_leave_the_combined_ones_alone(
    folder: Path, tmp_path: Path
) -> None:
    done = run(tables, "--results", folder, "--out", tmp_path, "quickstart", "--std")
    assert done.exit_code == 0
    assert "Digits" in done.output
    assert "±" in done.output
    assert not (tmp_path / "tables").exists()
    assert (tmp_path / "quickstart" / "tables" / "ac_std.tex").is_file()


def test_an_unknown_experiment_is_a_sentence(folder: Path) -> None:
    with pytest.raises(InputError, match="no experiment 'quick'"):
        run(tables, "--results", folder, "quick")


def test_plot_one_experiment(folder: Path, tmp_path: Path) -> None:
    done = run(plot, "lambda", "lambda_coil20", "--results", folder, "--out", tmp_path)
    assert done.exit_code == 0
    assert (tmp_path / "lambda_coil20" / "figures" / "lambda.pdf").is_file()
    assert "Not drawn: lambda: no grid" in done.output
    assert run(plot, "nothing").exit_code == 2


def test_compare(folder: Path, tmp_path: Path) -> None:
    done = run(compare, "--results", folder, "--out", tmp_path)
    assert done.exit_code == 0
    names = {path.name for path in (tmp_path / "verdicts").iterdir()}
    assert names == {
        f"{stem}.{kind}"
        for stem in ("compare", "claims", "statistics")
        for kind in ("csv", "md")
    }
    assert "holds partly" in done.output
    assert "Published values:" in done.output


def test_nothing_run_is_said_and_is_no_error(tmp_path: Path) -> None:
    for command, *rest in ((tables,), (plot, "all"), (compare,), (report,)):
        done = run(command, *rest, "--results", tmp_path / "none")
        assert done.exit_code == 0
        assert "Start: symmf run configs/quickstart.yaml" in done.output
    assert (tmp_path / "none" / "report.html").is_file()


def test_an_unwritable_place_is_a_sentence(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="could not be written"):
        run(tables, "--results", folder, "--out", tmp_path / "file" / "below")
