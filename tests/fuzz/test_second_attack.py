"""What the second attack found, one test for each finding.

Whatever is given, the answer is a sentence and an exit code; where something is
accepted, it is right.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import symmf as library
from symmf.clustering import METHODS
from symmf.datasets.transfer import ResumingDownloader
from symmf.errors import DataError, InputError
from symmf.io.images import read_images
from symmf.io.matrix import read_matrix
from symmf.plugins.methods import OutsideEstimator

Command = Callable[..., tuple[int, str]]


def write_table(path: Path, n: int = 12, names: str = "") -> Path:
    """Write a table of three columns."""
    X = np.random.default_rng(0).random((n, 3)).round(3)
    lines = [",".join(map(str, row)) for row in X]
    path.write_text("\n".join([names, *lines] if names else lines))
    return path


def in_shell(command: str, folder: Path) -> tuple[int, str]:
    """Run symmf with the redirections of a shell."""
    done = subprocess.run(
        f"{sys.executable} -m symmf {command}",
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


# Streams and terminals.


def test_closed_standard_input_is_empty(tmp_path: Path) -> None:
    code, text = in_shell("cluster - -k 2 <&-", tmp_path)
    assert code == 3
    assert "Standard input is empty" in text


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_not_matter(tmp_path: Path, closed: str) -> None:
    write_table(tmp_path / "a.csv")
    code, text = in_shell(f"cluster a.csv -k 2 --out out.csv {closed}", tmp_path)
    assert code == 0, text
    lines = (tmp_path / "out.csv").read_text().splitlines()
    # Nothing that was meant for the terminal went into the file.
    assert len(lines) == 13
    assert all(line.count(",") == 1 for line in lines)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("command", "expected"), [("cluster nosuch.csv -k 2", 3), ("cluster", 2)]
)
def test_the_exit_code_tells_where_nothing_else_can(
    tmp_path: Path, command: str, expected: int
) -> None:
    assert in_shell(f"{command} 2>/dev/full", tmp_path) == (expected, "")


def test_no_memory_for_a_library_is_a_sentence(
    symmf: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(_: str) -> None:
        raise ImportError("x.so: failed to map segment from shared object")

    monkeypatch.setattr("symmf.cli.main.importlib.import_module", load)
    code, text = symmf("methods")
    assert code == 2
    assert "not enough memory" in text


def test_errors_show_names_of_files_and_columns_as_text(
    symmf: Command, tmp_path: Path
) -> None:
    code, text = symmf("cluster", tmp_path / "a\u202e\x07.csv", "-k", 2)
    assert code == 3
    assert "a\\u202e\\x07.csv does not exist" in text
    table = tmp_path / "a.csv"
    table.write_text("a\u202e\x07,b\n" + "1,2\nx,5\n3,4\n5,1\n")
    code, text = symmf("cluster", table, "-k", 2)
    assert code == 3
    assert "--drop 'a\\u202e\\x07'" in text


def test_messages_of_a_plugin_show_as_text(symmf: Command, tmp_path: Path) -> None:
    plugin = tmp_path / "p.py"
    plugin.write_text("raise RuntimeError('\\u202e\\x07')")
    code, text = symmf("run", "quickstart", "--plugin", plugin)
    assert code == 2
    assert "RuntimeError on line 1: \\u202e\\x07" in text


def test_errors_of_usage_show_names_as_text(symmf: Command, tmp_path: Path) -> None:
    folder = tmp_path / "a\u202e\x07.csv"
    folder.mkdir()
    code, text = symmf("cluster", "a.csv", "--out", folder)
    assert code == 2
    assert "Usage: symmf cluster" in text
    assert "a\\u202e\\x07.csv' is a directory" in text


# Rows in memory.


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"dsc"}))
def test_index_arrays_in_memory_are_checked(method: str) -> None:
    X = sparse.csr_array(np.random.default_rng(0).random((20, 4)))
    X.indices[0] = 9
    with pytest.raises((InputError, TypeError), match=r"damaged|[Ss]parse"):
        METHODS[method](n_clusters=2).fit(X)


def test_index_arrays_of_a_matrix_to_factor_are_checked() -> None:
    M = sparse.csr_array(np.eye(12) + 1)
    M.indices[0] = 99
    with pytest.raises(InputError, match="damaged"):
        library.factorize(M, 2)


def test_a_complex_start_is_refused() -> None:
    with pytest.raises(InputError, match="H0 must be an array of real numbers"):
        library.factorize(np.eye(4), 2, H0=np.ones((4, 2)) + 1j)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("similarity", ["auto", "mutual_knn", "cosine"])
@pytest.mark.parametrize("m", [4, 30])
def test_new_rows_may_be_dense_or_sparse(stored: Any, similarity: str, m: int) -> None:
    X = np.random.default_rng(0).random((40, m)) * (np.arange(m) % 3 + 1)
    X[X < 0.4] = 0
    model = library.SymMF(2, similarity=similarity, laplacian_weight=0, random_state=0)
    model.fit(stored(X))
    for given in (X, sparse.csr_array(X)):
        np.testing.assert_array_equal(model.predict(given), model.labels_)


def test_sparse_new_rows_are_scaled_as_the_others() -> None:
    X = np.random.default_rng(0).random((40, 3)) * [1, 1000, 1]
    model = library.SymMF(
        2,
        similarity="cosine",
        similarity_options={"feature_scale": "range"},
        laplacian_weight=0,
    )
    model.fit(X)
    dense, few = model.transform(X), model.transform(sparse.csr_array(X))
    np.testing.assert_allclose(few, dense)


@pytest.mark.parametrize("method", ["symmf", "kmeans"])
def test_new_rows_far_beyond_the_others_are_refused(method: str) -> None:
    X = np.random.default_rng(0).random((40, 3))
    model = METHODS[method](n_clusters=2).fit(X)
    for ask in (model.predict, model.transform):
        with pytest.raises(InputError, match="go up to"):
            ask(1e300 * X)


@pytest.mark.parametrize("fitted", [np.float32, np.float64])
@pytest.mark.parametrize("new", [np.float32, np.float64])
def test_kmeans_takes_new_rows_of_either_precision(fitted: Any, new: Any) -> None:
    X = np.random.default_rng(0).random((40, 3)).astype(np.float32)
    model = METHODS["kmeans"](n_clusters=2, random_state=0).fit(X.astype(fitted))
    np.testing.assert_array_equal(model.predict(X.astype(new)), model.labels_)


def test_kmeans_takes_long_index_arrays() -> None:
    X = sparse.csr_array(np.random.default_rng(0).random((20, 4)))
    expected = METHODS["kmeans"](n_clusters=3, random_state=0).fit(X).labels_
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    model = METHODS["kmeans"](n_clusters=3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, expected)
    np.testing.assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize("members", [0, 1.5, True, "symmf", {}])
def test_members_that_are_no_list_are_named(members: Any) -> None:
    with pytest.raises(InputError, match="member"):
        library.ConsensusSymMF(2, members=members).fit(np.eye(9))


# Files of users.


@pytest.mark.parametrize("sign", ["\f", "\v", "\x1c", "\x85", "\u2028"])
def test_only_line_ends_end_a_line(symmf: Command, tmp_path: Path, sign: str) -> None:
    documents = tmp_path / "t.txt"
    lines = [f"red{sign}apple pie", "blue sky sea", "red apple tart", "blue sea fish"]
    documents.write_text("\n".join(lines * 2), encoding="utf-8")
    code, text = symmf("cluster", documents, "-k", 2, "--format", "text")
    assert code == 0, text
    assert "8 documents" in text
    table, labels = write_table(tmp_path / "a.csv"), tmp_path / "l.txt"
    labels.write_text("\n".join([f"a{sign}b", *"abcdefghijk"]), encoding="utf-8")
    found = read_matrix(table, labels=str(labels))
    assert found.classes is not None
    assert f"a{sign}b" in found.classes


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """A folder of four images in colour."""
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path / "images"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for i in range(4):
        pixels = rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)
        image.fromarray(pixels).save(folder / f"{i}.png")
    return folder


def test_no_other_program_reads_an_image(symmf: Command, images: Path) -> None:
    (images / "x.png").write_bytes(
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n"
    )
    code, text = symmf("cluster", images, "-k", 2)
    assert code == 3
    assert "cannot identify image file" in text
    assert "Ghostscript" not in text


def test_grey_images_of_sixteen_bits_are_not_cut_to_white(images: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    ramp = np.linspace(0, 65535, 64).reshape(8, 8)
    image.fromarray(ramp.astype(np.uint16)).save(images / "deep.png")
    image.fromarray((ramp / 65535).astype(np.float32)).save(images / "float.tif")
    X, names = read_images(images, side=12)
    for name in ("deep.png", "float.tif"):
        row = X[names.index(name)]
        assert row.min() < 0.05
        assert row.max() > 0.95
        assert 0.4 < row.mean() < 0.6


def write_parquet(path: Path, names: list[str], *columns: Any) -> Path:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    arrays = [pa.array(column) for column in columns]
    parquet.write_table(pa.Table.from_arrays(arrays, names=names), path)
    return path


def test_parquet_with_long_numbers_and_names_that_come_twice(tmp_path: Path) -> None:
    a, b = np.random.default_rng(0).random((2, 12))
    long = [2**62 + 7 * i for i in range(12)]
    path = write_parquet(tmp_path / "a.parquet", ["key", "a", "a"], long, a, b)
    found = read_matrix(path, drop=["key"])
    np.testing.assert_array_equal(found.X, np.column_stack([a, b]))


def test_a_cell_far_off_does_not_fill_the_memory(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.cell(1, 1, 5)
    book.active.cell(1_048_576, 16_384, 5)
    path = tmp_path / "far.xlsx"
    book.save(path)
    with pytest.raises(DataError, match="far off"):
        read_matrix(path)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (np.zeros((6, 2)), "one for each sample"),
        (np.full(12, np.nan), "label of sample 1 is missing"),
        (np.arange(12) + 1j, "numbers or texts"),
    ],
)
def test_labels_are_one_for_each_sample(tmp_path: Path, labels: Any, said: str) -> None:
    X = np.random.default_rng(0).random((12, 3))
    np.savez(tmp_path / "a.npz", X=X, y=labels)
    np.save(tmp_path / "l.npy", labels)
    for given in ("y", str(tmp_path / "l.npy")):
        with pytest.raises(DataError, match=said):
            read_matrix(tmp_path / "a.npz", labels=given)


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ("1 2 1e308\n2 1 1e308\n2 3 1\n", "more than a number can hold"),
        ("1 1 1\n2 2 1\n3 3 1\n", "joins two different nodes"),
        ("1 2 0\n2 3 0\n", "joins two different nodes"),
    ],
)
def test_weights_of_edges(
    symmf: Command, tmp_path: Path, edges: str, said: str
) -> None:
    (tmp_path / "e.txt").write_text(edges)
    code, text = symmf("cluster", tmp_path / "e.txt", "--format", "edges", "-k", 2)
    assert code == 3
    assert said in text


def test_why_no_column_is_left_is_said(symmf: Command, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("\n".join(map(str, range(10))))
    code, text = symmf("cluster", tmp_path / "a.csv", "-k", 2)
    assert code == 3
    assert "counts the rows" in text


# Published pairs, plugins, results, downloads.


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--classes", "99999999999999999999,5"], "samples in all"),
        (["--classes", f"{'9' * 400},5"], "samples in all"),
        (["--classes", "3*1000000000"], "classes and"),
        (["--classes", "10,10", "--runs", "1000000000"], "at most 10,000"),
    ],
)
def test_numbers_of_an_audit_that_are_too_large(
    symmf: Command, options: list[str], said: str
) -> None:
    code, text = symmf("audit", *options, "--ac", "0.5", "--nmi", "0.5")
    assert code == 2
    assert said in text


def test_a_cell_too_long_in_a_list_of_pairs(symmf: Command, tmp_path: Path) -> None:
    pairs = tmp_path / "p.csv"
    pairs.write_text(f"classes,ac,nmi\n{'1' * 200_000},0.9,0.8\n")
    code, text = symmf("audit", "--pairs", pairs)
    assert code == 2
    assert "not readable as a table" in text


def test_labels_of_a_plugin_that_are_not_numbers_are_refused() -> None:
    class Odd:
        def fit(self, X: Any) -> None:
            self.labels_ = np.full(len(X), np.nan)

    with pytest.raises(ValueError, match="not finite"):
        OutsideEstimator(Odd()).fit(np.eye(4))


def test_a_download_does_not_follow_a_planted_link(tmp_path: Path) -> None:
    victim, part = tmp_path / "victim", tmp_path / "x.part"
    victim.write_text("mine")
    part.symlink_to(victim)
    with pytest.raises(OSError, match="symbolic"):
        ResumingDownloader(part)("http://127.0.0.1:1/x", str(tmp_path / "out"), None)
    assert victim.read_text() == "mine"
