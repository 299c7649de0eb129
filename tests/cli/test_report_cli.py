from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from helpers.made_results import table_experiment
from helpers.made_traces import full
from rich.console import Console

from symmf.cli.report import compare, plot, report, tables
from symmf.errors import InputError
from symmf.reporting.plots.registry import FIGURES
from symmf.reporting.results import load_results
from symmf.reporting.tables.model import combined_table, experiment_table
from symmf.reporting.tables.terminal import fitted


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
    assert "symmf run tdt2" in done.output
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
    assert {path.parent.name for path in tmp_path.rglob("*.tex")} == {"quickstart"}
    assert (tmp_path / "tables" / "quickstart" / "ac_std.tex").is_file()


def test_an_unknown_experiment_is_a_sentence(folder: Path) -> None:
    with pytest.raises(
        InputError, match=r"no experiment 'quick'.*Did you mean 'quickstart'"
    ):
        run(tables, "--results", folder, "quick")


def test_plot_one_experiment(folder: Path, tmp_path: Path) -> None:
    done = run(plot, "lambda", "lambda_coil20", "--results", folder, "--out", tmp_path)
    assert done.exit_code == 0
    assert (tmp_path / "figures" / "lambda_coil20" / "lambda.pdf").is_file()
    assert "Not drawn: lambda: no grid" in done.output
    with pytest.raises(InputError, match="Did you mean 'lambda'"):
        run(plot, "lamda", "--results", folder)


def test_compare(folder: Path, tmp_path: Path) -> None:
    done = run(compare, "--results", folder, "--out", tmp_path)
    assert done.exit_code == 0
    names = {path.name for path in (tmp_path / "verdicts").iterdir()}
    pages = ("compare", "claims", "statistics", "sensitivity")
    assert names == {f"{stem}.{kind}" for stem in pages for kind in ("csv", "md")} | {
        "claim_sensitivity.csv",
        "levels.csv",
    }
    assert "holds partly" in done.output
    assert "Published values:" in done.output


def test_nothing_run_is_a_sentence_and_exit_code_1(tmp_path: Path) -> None:
    for command, *rest in ((tables,), (plot, "all"), (compare,), (report,)):
        done = run(command, *rest, "--results", tmp_path / "none")
        assert done.exit_code == 1
        assert "Start: symmf run quickstart" in done.output
    assert list(tmp_path.iterdir()) == []


def test_nothing_drawn_is_exit_code_1(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2,), n_trials=2)
    done = run(plot, "lambda", "--results", tmp_path)
    assert done.exit_code == 1
    assert "Nothing was written." in done.output


def test_own_runs_come_first_and_the_reference_is_never_written(tmp_path: Path) -> None:
    table_experiment(tmp_path / "reference", ks=(2,), n_trials=5)
    before = sorted(tmp_path.rglob("*"))
    for command in (tables, compare):
        done = run(command, "--results", tmp_path)
        assert "Results: the reference study in" in done.output.splitlines()[0]
    reference = tmp_path / "reference"
    assert sorted(p for p in tmp_path.rglob("*") if reference in p.parents) == [
        p for p in before if reference in p.parents
    ]
    made = tmp_path / "from_reference"
    assert "Results: the reference study in" in (made / "tables/ac.tex").read_text()
    assert (made / "verdicts" / "compare.md").is_file()
    assert not (tmp_path / "tables").exists()
    # One own run is enough to be read alone: own and reference are never mixed.
    table_experiment(tmp_path, "cifar10", "cifar10", (3,), n_trials=2)
    done = run(compare, "--results", tmp_path)
    assert "Results: your own runs in" in done.output.splitlines()[0]
    assert "18 too few trials, 198 not run" in done.output
    done = run(compare, "--results", tmp_path, "--reference")
    assert "0 too few trials, 198 not run" in done.output


def test_a_first_look_is_shown_but_enters_no_table_of_the_paper(tmp_path: Path) -> None:
    methods = ("kmeans", "spectral", "symmf")
    table_experiment(
        tmp_path, "quickstart", "digits", (3,), methods, 3, "Digits", role="example"
    )
    done = run(tables, "--results", tmp_path)
    assert done.exit_code == 0
    assert "Digits" in done.output
    assert (tmp_path / "tables" / "quickstart" / "ac.md").is_file()
    assert not list((tmp_path / "tables").glob("*.*"))  # Tables I to III
    note = (tmp_path / "tables" / "quickstart" / "ac.md").read_text()
    assert "Means over 3 trials (verdicts need at least 5)." in note
    table_experiment(tmp_path, ks=(2,), n_trials=5)
    run(tables, "--results", tmp_path)
    assert "Digits" not in (tmp_path / "tables" / "ac.md").read_text()


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("std", [False, True])
def test_no_number_is_cut_at_any_width(folder: Path, width: int, std: bool) -> None:
    results = load_results(folder)
    everything = [combined_table(results, "ac")]
    everything += [experiment_table(e, results, "ac") for e in results.experiments]
    for table in everything:
        stream = io.StringIO()
        place = Console(file=stream, width=width, force_terminal=False)
        parts = fitted(table, width, std=std)
        for part in parts:
            place.print(part)
        shown = stream.getvalue()
        assert "…" not in shown
        assert max(map(len, shown.splitlines())) <= width
        for row in table.rows:
            for cell in row.cells:
                if cell.n_good:
                    text = f"{cell.text} ± {cell.spread}" if std else cell.text
                    assert text in shown


def test_an_unwritable_place_is_a_sentence(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="could not be written"):
        run(tables, "--results", folder, "--out", tmp_path / "file" / "below")


def test_the_page_goes_where_it_is_asked_for(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2,), n_trials=2)
    done = run(report, "--results", tmp_path)
    assert f"Written to {tmp_path}: report.html" in done.output
    run(report, "--results", tmp_path, "--out", tmp_path / "other.html")
    own, other = (tmp_path / name for name in ("report.html", "other.html"))
    assert own.read_bytes() == other.read_bytes()
