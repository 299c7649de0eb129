"""What the first attack found, one test for each finding, through the command line.

Whatever is given, the answer is a sentence and an exit code; where something is
accepted, it is right.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from symmf.datasets import DATASETS, data_folder
from symmf.datasets.local import file_path

ROOT = Path(__file__).parents[2]
Command = Callable[..., tuple[int, str]]

CONFIG = """\
name: small
title: Small
dataset: {name: synthetic, kind: planted, n: 30, k: 3, m: 6}
n_clusters: [2]
trials: 1
methods:
  - method: kmeans
    label: K-means
"""


def config(folder: Path, *changes: tuple[str, str], text: str = CONFIG) -> Path:
    path = folder / "small.yaml"
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    return path


def dry_run(symmf: Command, path: Path) -> tuple[int, str]:
    return symmf("run", path, "--dry-run", "--results", path.parent / "r")


# 1: index arrays of sparse files that point outside of the matrix.
DAMAGES = {
    "beyond": lambda X: X.indices.__setitem__(1, 25),
    "far beyond": lambda X: X.indices.__setitem__(1, 2_000_000_000),
    "negative": lambda X: X.indices.__setitem__(1, -3),
    "pointers out of order": lambda X: X.indptr.__setitem__(1, X.indptr[-1]),
    "pointers beyond": lambda X: X.indptr.__setitem__(-1, 10_000),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("layout", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("method", ["spectral"])
def test_01_sparse_npz_with_wrong_indices_is_refused(
    symmf: Command, tmp_path: Path, damage: str, layout: str, method: str
) -> None:
    X = sparse.random_array((20, 20), density=0.3, rng=np.random.default_rng(0))
    X = X.asformat(layout)
    DAMAGES[damage](X)
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
    shape, name = np.array(X.shape), layout.encode()
    np.savez(tmp_path / "x.npz", format=name, shape=shape, **parts)
    code, text = symmf("cluster", tmp_path / "x.npz", "-k", 3, "--method", method)
    assert code == 3, text
    assert "x.npz" in text


def test_01_sparse_hdf5_of_matlab_with_wrong_indices_is_refused(
    symmf: Command, tmp_path: Path
) -> None:
    import h5py

    X = sparse.random_array((20, 6), density=0.5, rng=np.random.default_rng(0)).tocsc()
    with h5py.File(tmp_path / "x.mat", "w", userblock_size=512) as file:
        group = file.create_group("X")
        group.attrs["MATLAB_sparse"] = np.uint64(20)
        group["data"], group["jc"] = X.data, X.indptr
        group["ir"] = np.full_like(X.indices, 99)
    with (tmp_path / "x.mat").open("r+b") as opened:
        opened.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    code, text = symmf("cluster", tmp_path / "x.mat", "-k", 2)
    assert code == 3, text


# 2: one wrong byte in a cached data set.
def test_02_a_damaged_data_set_is_told_by_every_command(
    symmf: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = DATASETS["reuters21578"]
    original = file_path(spec, data_folder())
    if not original.is_file():
        pytest.skip("needs the real data set reuters21578 (set SYMMF_DATA)")
    content = bytearray(original.read_bytes())
    content[182919] = ord("Y")
    path = file_path(spec, tmp_path)
    path.parent.mkdir()
    path.write_bytes(content)
    place = ("--folder", tmp_path)
    code, text = symmf("data", "list", *place)
    assert code == 0
    assert re.search(r"reuters21578\tdamaged", text)
    assert symmf("data", "verify", "reuters21578", *place)[0] == 3
    monkeypatch.setenv("SYMMF_DATA", str(tmp_path))
    experiment = config(
        tmp_path,
        ("{name: synthetic, kind: planted, n: 30, k: 3, m: 6}", "reuters21578"),
    )
    code, text = dry_run(symmf, experiment)
    assert code == 3
    assert "symmf data fetch reuters21578" in text


# 3: see tests/datasets/test_datasets_download.py, test_every_source_has_a_checksum.


# 4: readers of scipy that crash.
@pytest.mark.parametrize(
    "content",
    [
        b"%%MatrixMarket matrix array real general\n0 0\n",
        b"%%MatrixMarket matrix array real general\n2 2\n1\n2\0\0\0\0\n3\n4\n",
        b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n9 9 1\n",
        b"%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n-1 2 1\n",
        b"%%MatrixMarket matrix array real symmetric\n3 2\n1\n2\n3\n4\n5\n6\n",
    ],
)
def test_04_odd_matrix_market_files_are_refused(
    symmf: Command, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "x.mtx").write_bytes(content)
    code, text = symmf("cluster", tmp_path / "x.mtx", "-k", 2)
    assert code == 3, text


@pytest.mark.parametrize("place", range(128, 1000, 97))
def test_04_damaged_mat_files_are_refused_or_read(
    symmf: Command, tmp_path: Path, place: int
) -> None:
    buffer = io.BytesIO()
    X = sparse.random_array((12, 5), density=0.5, rng=np.random.default_rng(0))
    cells = np.array(["a", 1.5], dtype=object)
    scipy_io.savemat(buffer, {"X": X, "c": cells})
    content = bytearray(buffer.getvalue())
    content[place : place + 4] = b"\xff\xff\xff\x7f"
    (tmp_path / "x.mat").write_bytes(content)
    code, text = symmf("cluster", tmp_path / "x.mat", "-k", 2, "--method", "kmeans")
    assert code in (0, 3), text


# 5: TeX in a label, written with full-width characters.
def test_05_full_width_characters_are_no_tex() -> None:
    from symmf.common.texts import latex_text

    text = latex_text("\uff3cinput\uff5b/etc/passwd\uff5d \uff3cimmediate\uff3cwrite18")
    assert "\\input" not in text
    assert "\\write" not in text
    assert "\\immediate" not in text


# 6: files of a few bytes that never end.
def test_06_an_alias_bomb_is_refused_at_once(symmf: Command, tmp_path: Path) -> None:
    lines = ["a0: &a0 [ha, ha]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    path = config(tmp_path, text="\n".join(lines) + "\n" + CONFIG)
    start = time.monotonic()
    code, _ = dry_run(symmf, path)
    assert code == 2
    assert time.monotonic() - start < 5


def test_06_too_many_trials_are_refused_with_the_option(
    symmf: Command, tmp_path: Path
) -> None:
    for number, advice in (("60000", "--max-trials 60000"), ("1" + "0" * 9, "fewer")):
        path = config(tmp_path, ("trials: 1", f"trials: {number}"))
        code, text = dry_run(symmf, path)
        assert code == 2
        assert advice in text


# 7: what the YAML library raises.
@pytest.mark.parametrize(
    "line",
    [
        "title: x\x01y",
        'title: "\\UFFFFFFFF"',
        'title: "\\U00110000"',
        "seed: !!bool maybe",
        "seed: !!timestamp x",
        "seed: !!int ''",
        "seed: !!float ''",
        "? !!int abc\n: 1",
        "note: " + "[" * 500 + "]" * 500,
        "methods: [{method: kmeans, parameters: {tol: !!binary aGk=}}]",
        "methods: [{method: kmeans, parameters: {tol: !!timestamp 2020-01-01}}]",
        "dataset: {name: synthetic, n: !!binary aGk=}",
        "seed: 0x" + "f" * 5000,
        "title: !!python/object/apply:os.system ['true']",
    ],
)
def test_07_odd_yaml_is_a_sentence(symmf: Command, tmp_path: Path, line: str) -> None:
    kept = [part for part in CONFIG.splitlines() if not part.startswith(line[:5])]
    text = "\n".join(kept if ":" in line[:9] else CONFIG.splitlines())
    code, said = dry_run(symmf, config(tmp_path, text=f"{text}\n{line}\n"))
    assert code == 2, said


def test_07_the_same_parser_reads_settings(symmf: Command, tmp_path: Path) -> None:
    path = config(tmp_path)
    code, _ = symmf("run", path, "--dry-run", "--set", "seed=2020-99-99")
    assert code == 2
    points = tmp_path / "p.csv"
    points.write_text("\n".join(f"{i},{i % 3}.5" for i in range(12)))
    code, _ = symmf("cluster", points, "-k", 2, "--set", "tol=2020-99-99")
    assert code == 2


# 8: options of data sets.
@pytest.mark.parametrize(
    "dataset",
    [
        "{name: coil20, folder: 5}",
        "{name: synthetic, folder: /etc}",
        "{name: synthetic, kind: [a]}",
        "{name: synthetic, n: 1000000000}",
        "{name: synthetic, kind: planted, noise: 1" + "0" * 400 + "}",
        "{name: synthetic, kind: planted, noise: 1e308}",
    ],
)
def test_08_odd_dataset_options_are_sentences(
    symmf: Command, tmp_path: Path, dataset: str
) -> None:
    old = "{name: synthetic, kind: planted, n: 30, k: 3, m: 6}"
    code, text = dry_run(symmf, config(tmp_path, (old, dataset)))
    assert code == 2, text


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a small experiment with labels that are hard to print."""
    folder = tmp_path_factory.mktemp("study")
    text = CONFIG.replace("K-means", "'$x^{$ <b>=1+1</b> [/y] \\input{x}'")
    text += "  - {method: symmf, label: '=$', parameters: {max_iter: 5, tol: 0}}\n"
    text = text.replace("title: Small", "title: '\u202e$\\alpha {'")
    path = config(folder, text=text)
    command = [sys.executable, "-m", "symmf", "run", path, "--results", folder / "r"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*map(str, command), "--quiet"], cwd=folder, env=env, check=False
    )
    assert done.returncode == 0
    return folder / "r"


def copied(results: Path, folder: Path) -> Path:
    return Path(shutil.copytree(results, folder / "r"))


# 9: texts that figures, tables and pages read as something else.
def test_09_labels_with_signs_are_shown_as_text(
    symmf: Command, results: Path, tmp_path: Path
) -> None:
    where = ("--results", copied(results, tmp_path))
    for command in ("status", "tables", ("plot", "convergence"), "compare", "report"):
        words = command if isinstance(command, tuple) else (command,)
        code, text = symmf(*words, *where)
        assert code == 0, text
    page = (tmp_path / "r" / "report.html").read_text()
    assert "<b>=1+1" not in page


def test_09_odd_figure_layouts_and_surrogates_are_refused(
    symmf: Command, tmp_path: Path
) -> None:
    for line in (
        "figures: {convergence: {panels: [5]}}",
        "figures: {convergence: {panels: [{methods: 5}]}}",
        "figures: {convergence: {columns: -1}}",
        'note: "\\uD800"',
    ):
        code, text = dry_run(symmf, config(tmp_path, text=f"{CONFIG}{line}\n"))
        assert code == 2, text


# 10: more memory than there is.
def test_10_a_matrix_of_a_billion_rows_is_a_sentence(
    symmf: Command, tmp_path: Path
) -> None:
    path = tmp_path / "x.mtx"
    path.write_text(
        "%%MatrixMarket matrix coordinate real general\n1000000000 5 1\n1 1 1\n"
    )
    code, text = symmf("cluster", path, "-k", 2)
    assert code in (2, 3)
    assert "x.mtx" in text or "memory" in text


# 11: results edited by hand.
def edit_json(path: Path, change: Callable[[Any], None]) -> None:
    tree = json.loads(path.read_text())
    change(tree)
    path.write_text(json.dumps(tree))


@pytest.mark.parametrize("edit", ["one method more", "no facts", "markup"])
def test_11_hand_edited_results_are_set_aside(
    symmf: Command, results: Path, tmp_path: Path, edit: str
) -> None:
    folder = copied(results, tmp_path)
    experiment = folder / "small" / "experiment.yaml"
    if edit == "one method more":
        text = experiment.read_text()
        experiment.write_text(text.replace("methods:\n", "methods:\n- method: nmf\n"))
    elif edit == "no facts":
        edit_json(folder / "small" / "provenance.json", lambda t: t.update(facts={}))
    else:
        experiment.write_text(experiment.read_text() + "\n'[/y]': z\n")
    for words in (
        ("status", "--results", folder),
        ("tables", "--results", folder),
        ("compare", "--results", folder),
        ("report", "--results", folder),
        ("merge", folder, "--into", tmp_path / "merged"),
    ):
        code, text = symmf(*words)
        assert code in (0, 1, 2, 3)
        assert text.strip()


def test_11_an_illustration_that_is_none_is_left_out(
    results: Path, tmp_path: Path
) -> None:
    from symmf.reporting.plots.factor import load_illustration
    from symmf.reporting.results import load_results

    folder = copied(results, tmp_path)
    experiment = load_results(folder).experiments[0]
    path = folder / "small" / "illustration.npz"
    n = 6
    good = {
        "A": np.eye(n, dtype="f4"), "H": np.ones((n, 2), dtype="f4"),
        "classes": np.arange(n) % 2, "labels": np.arange(n) % 3,
    }  # fmt: skip
    np.savez(path, **good)
    assert load_illustration(experiment) is not None
    for change in (
        {"A": np.full((n, n), np.nan, dtype="f4")},
        {"A": np.eye(n - 1, dtype="f4")},
        {"H": np.array("text")},
        {"classes": np.full(n, 2**62)},
        {"labels": np.full(n, 0.5)},
        {"labels": np.array(3)},
    ):
        np.savez(path, **(good | change))
        assert load_illustration(experiment) is None
    path.write_bytes(path.read_bytes()[:300])
    assert load_illustration(experiment) is None
    path.unlink()
    os.mkfifo(path)
    assert load_illustration(experiment) is None


# 12: tests/datasets/test_datasets_import.py: LZMA, bombs, names, sparse maps, pipes.


# 13: very large values.
@pytest.mark.parametrize("method", ["kmeans", "spectral", "symnmf", "nmf", "symmf"])
@pytest.mark.parametrize("scale", [1e160, 1e300, 1e-200, 5e-324])
@pytest.mark.filterwarnings("ignore")
def test_13_values_of_any_size_give_clusters_or_a_sentence(
    symmf: Command, tmp_path: Path, method: str, scale: float
) -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((24, 3)) + 8 * (np.arange(24) % 2)[:, None]) * scale
    np.save(tmp_path / "x.npy", X)
    code, text = symmf("cluster", tmp_path / "x.npy", "-k", 2, "--method", method)
    assert code in (0, 2, 3)
    assert "encountered" not in text
    if code == 0:
        assert not re.search(r"\b(nan|inf)\b", text)
        sizes = re.findall(r"^\d+\t(\d+)\t", text, re.MULTILINE)
        assert "24" not in sizes, f"everything in one cluster:\n{text}"


def test_13_a_weight_of_any_size(symmf: Command, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((20, 3)))
    for weight in ("1e308", "-1e308", "1e-320"):
        path = tmp_path / "x.npy"
        code, text = symmf("cluster", path, "-k", 2, f"--lambda={weight}")
        assert code in (0, 2), text
        assert not re.search(r"\b(nan|inf)\b", text)


@pytest.mark.parametrize("scale", [1e160, 1e300, 1e-200, 5e-324])
def test_13_kmeans_of_the_library_refuses_what_it_cannot_square(scale: float) -> None:
    from symmf.clustering import METHODS
    from symmf.errors import InputError

    X = (1 + np.arange(24) % 2)[:, None] * np.full(3, scale)
    with pytest.raises(InputError, match="Divide X by"):
        METHODS["kmeans"](n_clusters=2).fit(X)
    with pytest.raises(InputError, match="random_state"):
        METHODS["kmeans"](n_clusters=2, random_state=-1).fit(np.eye(4))


def test_13_one_cluster_for_all_is_told() -> None:
    from symmf.clustering import METHODS
    from symmf.errors import SymmfWarning

    X = np.full((6, 3), 2.0)
    with pytest.warns(SymmfWarning, match="in one cluster"):
        assert not METHODS["snmf"](n_clusters=2, random_state=0).fit(X).labels_.any()


def test_13_rows_that_are_all_alike_are_not_called_large() -> None:
    from symmf import SymMF
    from symmf.errors import InputError

    with pytest.raises(InputError, match="all alike"):
        SymMF(2, random_state=0).fit(np.full((6, 3), 2.0))


# 14: labels that are hard to find.
@pytest.mark.parametrize("labels", ["\u00b2", "--5", "-99", "1e3", ""])
def test_14_odd_label_columns_are_sentences(
    symmf: Command, tmp_path: Path, labels: str
) -> None:
    path = tmp_path / "p.csv"
    path.write_text("a,b\n" + "\n".join(f"{i},{i % 3}.5" for i in range(12)))
    code, text = symmf("cluster", path, "-k", 2, f"--labels={labels}")
    assert code in (2, 3), text


def test_14_mixed_cells_as_labels_do_no_harm(symmf: Command, tmp_path: Path) -> None:
    cells = np.array(["a", 1.5, np.eye(2)] * 4, dtype=object)
    X = np.random.default_rng(0).random((12, 3))
    scipy_io.savemat(tmp_path / "x.mat", {"X": X, "y": cells})
    code, text = symmf("cluster", tmp_path / "x.mat", "-k", 2, "--labels", "y")
    assert code in (0, 2, 3), text


def test_14_a_link_to_itself_is_a_sentence(symmf: Command, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.symlink_to(path)
    for extra in ((), ("--out", tmp_path / "o.csv"), ("--out", path)):
        code, text = symmf("cluster", path, "-k", 2, *extra)
        assert code in (2, 3), text


# 15: a list that contains itself.
@pytest.mark.parametrize("method", ["symmf", "kmeans", "spectral", "nmf"])
def test_15_a_list_that_contains_itself_is_a_sentence(
    symmf: Command, tmp_path: Path, method: str
) -> None:
    path = tmp_path / "p.csv"
    path.write_text("\n".join(f"{i},{i % 3}.5" for i in range(12)))
    setting = "random_state=&a [*a]"
    code, text = symmf("cluster", path, "-k", 2, "--method", method, "--set", setting)
    assert code == 2, text


# 16: dask addresses; a lost scheduler is in tests/experiment and scripts/fuzz/dask.py.
@pytest.mark.parametrize(
    "address", ["tls://127.0.0.1:1", "", " ", "nonsense", "tcp://"]
)
def test_16_bad_addresses_are_sentences(
    symmf: Command, tmp_path: Path, address: str
) -> None:
    pytest.importorskip("distributed")
    path = config(tmp_path)
    code, text = symmf(
        "run", path, "--results", tmp_path / "r", "--dask", address, "--quiet"
    )
    assert code == 2, text
    assert not list(tmp_path.rglob("*.h5"))


# 17: a folder in place of a record, where a damaged record was set aside before.
def test_17_a_folder_in_place_of_a_record_heals(results: Path, tmp_path: Path) -> None:
    folder = copied(results, tmp_path)
    record = min((folder / "small" / "records").rglob("*.h5"))
    shutil.copyfile(record, record.with_name(f"{record.name}.broken"))
    record.unlink()
    record.mkdir()
    (record / "x").write_text("x")
    path = results.parent / "small.yaml"
    command = [
        sys.executable,
        "-m",
        "symmf",
        "run",
        str(path),
        "--results",
        str(folder),
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert record.is_file()


# 18: small things. Killed workers: tests/experiment/test_runner.py.
@pytest.mark.parametrize("delay", [0.02, 0.1, 0.25, 0.5])
def test_18_ctrl_c_during_imports_is_quiet(tmp_path: Path, delay: float) -> None:
    path = tmp_path / "p.csv"
    path.write_text("\n".join(f"{i},{i % 3}.5" for i in range(12)))
    process = subprocess.Popen(
        [sys.executable, "-m", "symmf", "cluster", str(path), "-k", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    # Before the first line of the package runs, the interpreter speaks for itself.
    if "Traceback" not in text or "__main__.py" in text:
        assert "Traceback" not in text
        assert process.returncode in (0, 130, -signal.SIGINT)


def test_18_random_state_is_named_by_the_library() -> None:
    from symmf import SymMF
    from symmf.errors import InputError

    X = np.random.default_rng(0).random((10, 3))
    for wrong in ("a", -1, 1.5):
        with pytest.raises(InputError, match="random_state"):
            SymMF(n_clusters=2, random_state=wrong).fit(X)


def test_18_no_iterations_are_a_sentence_or_the_start() -> None:
    from symmf.clustering import METHODS
    from symmf.errors import InputError

    X = np.random.default_rng(0).random((10, 3))
    for name in ("symhals", "nmf", "symnmf", "symmf", "gnmf", "snmf"):
        model = METHODS[name](n_clusters=2, max_iter=0)
        with suppress(InputError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert np.isfinite(model.fit(X).objective_)


def test_18_a_user_who_is_not_there(
    symmf: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYMMF_DATA", "~nosuchuser/x")
    code, text = symmf("data", "list")
    assert code == 2
    assert "SYMMF_DATA" in text


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_18_nmf_in_single_precision_with_k_above_the_rank(
    published: bool, seed: int
) -> None:
    """It took 54 times as long as in double precision, or left the range."""
    from symmf.clustering import NMF

    X = np.random.default_rng(seed).random((30, 5))
    seconds, errors = [], []
    for kind in (np.float64, np.float32):
        times = []
        for _ in range(3):
            model = NMF(30, max_iter=15, tol=0, published=published, random_state=0)
            start = time.process_time()
            model.fit(X.astype(kind))
            times.append(time.process_time() - start)
        assert model.V_.dtype == kind
        assert np.isfinite(model.V_).all()
        seconds.append(min(times))
        errors.append(model.history_.error[-1])
    # A second pass in double precision is allowed; the rest is room for a busy machine.
    assert seconds[1] < 6 * seconds[0] + 0.05
    # X has rank 5, so that nothing but rounding is left.
    assert abs(errors[1]) < 1e-4


# Letters that the fonts of figures lack, and numbers that overflow on the way.
ODD_SIGNS = "\u4e2d\u6587 \U0001f600 \u0e01 \ufdfd"


def test_18_warnings_of_libraries_do_not_reach_a_user(tmp_path: Path) -> None:
    text = CONFIG.replace("K-means", ODD_SIGNS).replace("Small", ODD_SIGNS)
    text += f"  - {{method: symmf, label: '{ODD_SIGNS} b', parameters: {{tol: 0}}}}\n"
    path = config(tmp_path, text=text.replace("trials: 1", "trials: 2"))
    X = np.random.default_rng(0).random((20, 3))
    np.save(tmp_path / "x.npy", X.astype(np.longdouble) * np.longdouble("1e4000"))
    where = ("--results", tmp_path / "r")
    for code, words in (
        (0, ("run", path, *where, "--quiet")),
        (0, ("report", *where)),
        (0, ("plot", "convergence", *where)),
        (3, ("cluster", tmp_path / "x.npy", "-k", 2)),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "symmf", *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            # All warnings that are not caught where they arise would be shown.
            env=os.environ | {"PYTHONPATH": str(ROOT), "SYMMF_TRACEBACK": "1"},
        )
        assert done.returncode == code, done.stderr
        assert "Warning" not in done.stderr
        assert ".py:" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_18_a_full_disk_names_the_path(tmp_path: Path) -> None:
    import resource

    from symmf.common.files import write_atomically

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(OSError, match=r"out\.csv") as caught:
            write_atomically(tmp_path / "out.csv", b"x" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.filename == str(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


# Security reading.
def test_security_hdf5_external_storage_is_refused(
    symmf: Command, tmp_path: Path
) -> None:
    import h5py

    secret = tmp_path / "secret"
    secret.write_bytes(np.random.default_rng(0).random(120).tobytes())
    with h5py.File(tmp_path / "x.h5", "w") as file:
        outside = [(str(secret), 0, h5py.h5f.UNLIMITED)]
        file.create_dataset("X", shape=(30, 4), dtype="f8", external=outside)
    code, text = symmf("cluster", tmp_path / "x.h5", "-k", 2)
    assert code == 3, text


def test_security_hdf5_external_links_are_refused(
    symmf: Command, tmp_path: Path
) -> None:
    import h5py

    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["X"] = np.random.default_rng(0).random((30, 4))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["X"] = h5py.ExternalLink("other.h5", "X")
    code, text = symmf("cluster", tmp_path / "x.h5", "-k", 2)
    assert code == 3, text


def test_security_markdown_and_csv_hold_no_live_text(
    symmf: Command, results: Path, tmp_path: Path
) -> None:
    folder = copied(results, tmp_path)
    symmf("tables", "--results", folder)
    for path in folder.rglob("*.md"):
        assert "<b>" not in path.read_text()
    for path in folder.rglob("tables/*.csv"):
        for line in path.read_text().splitlines():
            assert not line.startswith(("=", "+", "@"))


def test_security_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    """Names of temporary files cannot be guessed, and the files are made anew."""
    from symmf.common.files import _beside, write_atomically

    path = tmp_path / "out.csv"
    assert _beside(path) != _beside(path)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    path.symlink_to(victim)
    write_atomically(path, "new")
    assert victim.read_text() == "mine"


def test_security_the_documentation_warns_of_open_dask_ports() -> None:
    texts = [path.read_text() for path in (ROOT / "docs").rglob("*.md")]
    texts.append((ROOT / "README.md").read_text())
    assert any(
        re.search(r"(?is)dask.{0,600}(tls|whoever|anyone|trusted)", text)
        for text in texts
    )
