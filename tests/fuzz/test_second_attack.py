"""What the second attack found, one test for each finding.

Whatever is given, the answer is a sentence and an exit code; where something is
accepted, it is right.
"""

from __future__ import annotations

import json
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
from symmf.errors import InputError
from symmf.explain import model_file

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


# Models in files.


def forge(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """Change header and arrays of a model; its checksum is right again."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    header = json.loads(arrays.pop("header").tobytes())
    header.pop("sha256")
    change(header, arrays)
    header["sha256"] = model_file._digest(header, arrays)
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, header=text, **arrays)


@pytest.fixture
def model(symmf: Command, tmp_path: Path) -> Path:
    """A model of a table a.csv beside it."""
    write_table(tmp_path / "a.csv", 24)
    saved = tmp_path / "m.npz"
    assert symmf("cluster", tmp_path / "a.csv", "-k", 2, "--save", saved)[0] == 0
    return saved


def test_a_changed_number_in_a_model_is_found(symmf: Command, model: Path) -> None:
    with np.load(model) as stored:
        arrays = {name: stored[name] for name in stored.files}
    name = next(n for n, a in arrays.items() if a.dtype.kind == "f" and a.size)
    arrays[name] = arrays[name] * 2
    np.savez(model, **arrays)
    code, text = symmf("cluster", model.with_name("a.csv"), "--model", model)
    assert code == 3
    assert "damaged model" in text


@pytest.mark.parametrize("made", [np.zeros(0), np.array("x"), np.zeros((2, 2, 2))])
def test_parts_of_a_model_that_do_not_fit_are_a_sentence(
    symmf: Command, model: Path, made: Any
) -> None:
    with np.load(model) as stored:
        names = [name for name in stored.files if name != "header"]
    whole = model.read_bytes()
    ended = []
    for name in names:
        model.write_bytes(whole)
        forge(model, lambda _, arrays, name=name: arrays.update({name: made}))
        ended.append(symmf("cluster", model.with_name("a.csv"), "--model", model)[0])
    assert set(ended) <= {0, 2, 3}
    assert 3 in ended


def test_a_model_without_a_version_is_a_sentence(symmf: Command, model: Path) -> None:
    forge(model, lambda header, _: header.pop("version"))
    code, text = symmf("cluster", model.with_name("a.csv"), "--model", model)
    assert (code, "version None" in text) == (3, True)


def test_index_arrays_of_a_model_are_checked(symmf: Command, model: Path) -> None:
    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays |= {
            "data": np.ones(24),
            "indices": np.full(24, 50_000_000, dtype=np.int32),
            "indptr": np.arange(25, dtype=np.int32),
        }
        rows = {"sparse": ["data", "indices", "indptr"], "shape": [24, 3]}
        header |= {"estimator": None, "rows": rows}

    forge(model, change)
    code, text = symmf("cluster", model.with_name("a.csv"), "--model", model)
    assert code == 3
    assert "damaged model" in text


# Rows in memory.


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"dsc"}))
def test_index_arrays_in_memory_are_checked(method: str) -> None:
    X = sparse.csr_array(np.random.default_rng(0).random((20, 4)))
    X.indices[0] = 9
    with pytest.raises((InputError, TypeError), match=r"damaged|[Ss]parse"):
        METHODS[method](n_clusters=2).fit(X)


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
    model = library.SymMF(2, similarity="cosine", scale="range", laplacian_weight=0)
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
