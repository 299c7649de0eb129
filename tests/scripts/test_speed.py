"""The speed table: one line per measurement, nothing that was not measured."""

from __future__ import annotations

from pathlib import Path

from scripts.readme.speed import speed_block
from symmf.reporting.results import Results


def block(tmp_path: Path, **files: str) -> str:
    folder = tmp_path / "benchmarks"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return speed_block(Results(folder=tmp_path))


def test_what_was_not_measured_has_no_line(tmp_path: Path) -> None:
    assert block(tmp_path).startswith("Not measured yet")
    text = block(tmp_path, runner_csv="round,runner_over_joblib\n0,1.2\n1,1.4\n2,9\n")
    assert [line.split("|")[2].strip() for line in text.splitlines()[2:]] == ["1.4"]


def test_every_benchmark_is_told(tmp_path: Path) -> None:
    text = block(
        tmp_path,
        solvers_csv="problem,ratio\ndense,1.25\nsparse,2\n",
        octave_csv='code,ratio\n"released code, GNU Octave",100\nsymmf,1\n',
        accuracy_csv=(
            "problem,solver,ratio\neasy,auto,1\neasy,slow,7\neasy,slower,9\n"
            "hard,auto,1\nhard,slow,\n"
        ),
        peers_csv="task,ratio\nCOIL: SymMF,1\nCOIL: NMF,2.5\n",
        lambda_csv="problem,ratio\nCOIL,2.9\n",
        kernels_csv="matrix,kernel,ratio\nX,scipy,1\nX,symmf,0.5\nX,numba,0.4\n",
        scale_csv=(
            "n,seconds,peak_mb,times_x,accuracy\n10000,1,200,50,1\n"
            "1000000,51.2,1126.4,2.9,0.999\n"
        ),
        scale_json='{"exponent": 0.923}',
    )
    cells = [line.split("|")[2:4] for line in text.splitlines()[2:]]
    told = [(value.strip(), command.strip()) for value, command in cells]
    assert told == [
        ("dense: 1.25<br>sparse: 2", "`solvers`"),
        ("100", "`peers --octave-code FOLDER`"),
        ("easy: 7<br>hard: none got there", "`peers`"),
        ("COIL: NMF: 2.5", "`peers`"),
        ("COIL: 2.9", "`lambda`"),
        ("X: 0.5", "`kernels`"),
        ("n^0.92", "`scale`"),
        ("51 s; 1.1 GiB, 2.9 times the data; accuracy 0.999", "`scale`"),
    ]
