import inspect

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse

from symmf.clustering import METHODS
from symmf.metrics import accuracy
from symmf.similarity import build_similarity


@pytest.fixture(scope="module")
def planted():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 12)
    X = np.kron(np.eye(3), np.ones((12, 4))) + 0.1 * rng.random((36, 12))
    return X, y


def write_csv(path, X, y=None, names=None, delimiter=","):
    lines = [] if names is None else [delimiter.join(names)]
    for i, row in enumerate(X):
        cells = [f"{value:.17g}" for value in row]
        if y is not None:
            cells.append(f"class {y[i]}")
        lines.append(delimiter.join(cells))
    path.write_text("\n".join(lines) + "\n")


def read_clusters(path):
    return pd.read_csv(path).iloc[:, [0, -1]].to_numpy()


def test_a_csv_is_clustered_scored_and_written(run, tmp_path, planted):
    X, y = planted
    names = [f"x{j}" for j in range(12)] + ["kind"]
    write_csv(tmp_path / "data.csv", X, y, names)
    code, out, err = run(
        *("cluster", "data.csv", "-k", 3, "--labels", "kind"),
        *("--out", "clusters.csv", "--factor", "H.csv"),
    )
    assert (code, err) == (0, "")
    assert "36 samples, 12 features; symmf" in out
    assert out.count("\t12\t33.3%") == 3
    assert "AC: 1.0000" in out
    assert "NMI: 1.0000" in out
    assert "ARI: 1.0000" in out
    assert "objective" not in out
    assert "seconds: " in out
    table = read_clusters(tmp_path / "clusters.csv")
    np.testing.assert_array_equal(table[:, 0], np.arange(1, 37))
    assert accuracy(y, table[:, 1]) == 1.0
    H = np.loadtxt(tmp_path / "H.csv", delimiter=",", skiprows=1)
    assert H.shape == (36, 3)
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {"H.csv", "clusters.csv", "data.csv"}


@pytest.mark.parametrize("name", [name for name in METHODS if name != "dsc"])
def test_every_method_runs(run, tmp_path, planted, name):
    np.save(tmp_path / "X.npy", planted[0])
    np.save(tmp_path / "y.npy", planted[1])
    code, out, _ = run(
        *("cluster", "X.npy", "-k", 3, "--method", name, "--labels", "y.npy"),
        *("--out", "c.npy"),
    )
    assert code == 0
    assert "AC: 1.0000" in out
    assert np.load(tmp_path / "c.npy").shape == (36,)


def save_mat73(path, X):
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        S = sparse.csc_array(X)
        group = file.create_group("fea")
        group.attrs["MATLAB_sparse"] = np.uint64(X.shape[0])
        group["data"], group["ir"], group["jc"] = S.data, S.indices, S.indptr
        file["gnd"] = np.arange(len(X))[None]
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


def save_hdf5(path, X):
    import h5py

    with h5py.File(path, "w") as file:
        file["measured/values"] = X
        file["y"] = np.arange(len(X))


FORMATS = {
    "b.csv": lambda path, X: write_csv(path, X, delimiter=";"),
    "a.tsv": lambda path, X: write_csv(path, X, delimiter="\t"),
    "a.txt": lambda path, X: np.savetxt(path, X, header="made"),
    "sparse.npz": lambda path, X: sparse.save_npz(path, sparse.csr_array(X)),
    "a.mat": lambda path, X: io.savemat(path, {"fea": X, "gnd": np.ones((36, 1))}),
    "sparse.mat": lambda path, X: io.savemat(path, {"Z": sparse.csc_array(X)}),
    "new.mat": save_mat73,
    "a.h5": save_hdf5,
    "sparse.mtx": lambda path, X: io.mmwrite(path, sparse.coo_array(X), precision=17),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_clusters(run, tmp_path, planted, name):
    X, y = planted
    FORMATS[name](tmp_path / name, X)
    code, _, err = run("cluster", name, "-k", 3, "--out", "c.csv")
    assert (code, err) == (0, "")
    assert accuracy(y, read_clusters(tmp_path / "c.csv")[:, 1]) == 1.0


def test_labels_may_be_a_variable_a_file_or_a_number(run, tmp_path, planted):
    X, y = planted
    io.savemat(tmp_path / "a.mat", {"fea": X, "gnd": y[:, None] + 1})
    write_csv(tmp_path / "a.csv", X, y)
    (tmp_path / "y.txt").write_text("\n".join(f"c{c}" for c in y))
    for arguments in (
        ("a.mat", "--labels", "gnd"),
        ("a.mat", "--labels", "y.txt"),
        ("a.csv", "--labels", "13"),
        ("a.csv", "--labels", "-1"),
    ):
        code, out, _ = run("cluster", *arguments, "-k", 3)
        assert code == 0
        assert "AC: 1.0000" in out
        assert "use --out" in out


def test_clusters_written_can_be_read_as_labels(run, tmp_path, planted):
    np.save(tmp_path / "X.npy", planted[0])
    run("cluster", "X.npy", "-k", 3, "--out", "c.csv")
    code, out, _ = run("cluster", "X.npy", "-k", 3, "--labels", "c.csv")
    assert code == 0
    assert "AC: 1.0000" in out


def test_a_header_is_seen_or_told(run, tmp_path, planted):
    X = planted[0]
    write_csv(tmp_path / "names.csv", X, names=[f"x{j}" for j in range(12)])
    write_csv(tmp_path / "numbers.csv", X, names=[str(j) for j in range(12)])
    assert "36 samples" in run("cluster", "names.csv", "-k", 3)[1]
    assert "36 samples" in run("cluster", "numbers.csv", "-k", 3)[1]
    assert "37 samples" in run("cluster", "numbers.csv", "-k", 3, "--no-header")[1]
    assert "36 samples" in run("cluster", "numbers.csv", "-k", 3, "--header")[1]
    code, _, err = run("cluster", "names.csv", "-k", 3, "--no-header")
    assert code == 3
    assert "'x0' is not a number" in err


def test_a_similarity_can_be_given(run, tmp_path, planted):
    X, y = planted
    A = build_similarity(X, "self_tuning").M
    io.mmwrite(tmp_path / "A.mtx", A)
    code, out, _ = run(
        *("cluster", "A.mtx", "-k", 3, "--precomputed", "--method", "symnmf"),
        *("--out", "c.csv", "--factor", "H.npy"),
    )
    assert code == 0
    assert "36 samples, similarity, sparse; symnmf" in out
    assert accuracy(y, read_clusters(tmp_path / "c.csv")[:, 1]) == 1.0
    assert np.load(tmp_path / "H.npy").min() >= 0
    np.save(tmp_path / "wrong.npy", X)
    code, _, err = run("cluster", "wrong.npy", "-k", 3, "--precomputed")
    assert code == 2
    assert "square" in err


def test_options_reach_the_method(run, tmp_path, planted):
    np.save(tmp_path / "X.npy", planted[0])
    code, out, _ = run(
        *("cluster", "X.npy", "-k", 3, "--lambda", 0, "--constraint", "nonnegative"),
        "--verbose",
        *("--set", "max_iter=7", "--set", "tol=0"),
        *("--set", "solver_options={start: uniform}"),
    )
    assert code == 0
    assert "iterations: 7 (max_iter)" in out
    code, out, _ = run(
        *("cluster", "X.npy", "-k", 3, "--method", "symhals", "--seed", 3),
        *("--similarity", "cosine", "--set", "tol=1e-3", "--verbose"),
    )
    assert code == 0
    assert "(tolerance)" in out


def test_warnings_are_sentences_on_standard_error(run, tmp_path, planted):
    np.save(tmp_path / "X.npy", planted[0] + 50)
    code, _, err = run("cluster", "X.npy", "-k", 3, "--similarity", "cosine")
    assert code == 0
    assert err.startswith("Warning: With lambda = 0.5 only 1 of the 3")


GOOD = "1,2\n3,4\n5,7\n"
# So many different numbers that a word among them may be a mistake.
MANY = "a,b\n" + "".join(f"{i},{i * i}\n" for i in range(1, 21))
WRONG_FILES = {
    "blank.csv": ("\n\n", 3, "is empty"),
    "header.csv": ("a,b\n", 3, "a line of names and no data"),
    "word.csv": (MANY + "21,abc\n", 3, "line 22, column 'b': 'abc' is not a number"),
    "text.npy": ("hello", 3, "cannot be read; it is damaged"),
    "text.npz": ("hello", 3, "is not an NPZ archive"),
    "text.mat": ("hello" * 100, 3, "cannot be read; it is damaged"),
    "text.h5": ("hello", 3, "cannot be read; it is damaged"),
    "text.mtx": ("hello", 3, "cannot be read; it is damaged"),
    "text.xyz": ("hello", 3, "does not tell its format"),
}


@pytest.mark.parametrize("name", WRONG_FILES)
def test_an_unreadable_file_is_one_sentence_and_no_output(run, tmp_path, name):
    content, code, sentence = WRONG_FILES[name]
    content = content if isinstance(content, bytes) else content.encode()
    (tmp_path / name).write_bytes(content)
    found, out, err = run("cluster", name, "-k", 2, "--out", "c.csv")
    assert found == code
    assert out == ""
    assert err.startswith("Error: ")
    assert sentence in err
    assert [path.name for path in tmp_path.iterdir()] == [name]


NOT_A_NUMBER = "line 4, column '2': 'abc' is not a number"
MISSING = "line 4, column '2': the value is missing"
FILLED = "Missing values were filled: '2' in 1 row with the median 5.5"
REFUSED_IF_ASKED = {
    "words.csv": ("1,abc\n", "--categories", NOT_A_NUMBER, "Categories were encoded"),
    "gap.csv": ("1,\n", "--missing", MISSING, FILLED),
    "nan.csv": ("1,nan\n", "--missing", MISSING, FILLED),
}


@pytest.mark.parametrize("name", REFUSED_IF_ASKED)
def test_words_and_holes_are_read_unless_they_are_to_be_errors(run, tmp_path, name):
    last, option, sentence, note = REFUSED_IF_ASKED[name]
    (tmp_path / name).write_text(GOOD + last)
    code, out, err = run("cluster", name, "-k", 2, option, "error", "--out", "c.csv")
    assert (code, out) == (3, "")
    assert err.startswith("Error: ")
    assert sentence in err
    assert not (tmp_path / "c.csv").exists()
    code, _, err = run("cluster", name, "-k", 2, "--out", "c.csv")
    assert code == 0
    assert note in err
    assert len((tmp_path / "c.csv").read_text().splitlines()) == 1 + 3


WRONG_ARRAYS = {
    "objects.npy": (np.array([{}], dtype=object), "cannot be read"),
    "words.npy": (np.array([["a", "b"]]), "does not hold real numbers"),
    "vector.npy": (np.ones(4), "shape (4,)"),
    "none.npy": (np.ones((0, 3)), "empty matrix"),
    "nan.npy": (np.array([[1.0, 2], [3, np.nan]]), "first in row 2"),
}


@pytest.mark.parametrize("name", WRONG_ARRAYS)
def test_a_wrong_array_is_one_sentence(run, tmp_path, name):
    array, sentence = WRONG_ARRAYS[name]
    np.save(tmp_path / name, array, allow_pickle=True)
    code, _, err = run("cluster", name, "-k", 1, "--out", "c.csv")
    assert code == 3
    assert sentence in err
    assert not (tmp_path / "c.csv").exists()


def test_a_file_with_several_matrices_asks_which(run, tmp_path, planted):
    np.savez(tmp_path / "two.npz", first=planted[0], second=planted[0])
    code, _, err = run("cluster", "two.npz", "-k", 3)
    assert code == 3
    assert "Choose one with --variable" in err
    assert run("cluster", "two.npz", "-k", 3, "--variable", "second")[0] == 0
    code, _, err = run("cluster", "two.npz", "-k", 3, "--variable", "third")
    assert code == 2
    assert "Known: first, second" in err


WRONG_USE = {
    "more clusters than samples": (["-k", "37"], 2, "there are 36 samples"),
    "no clusters": (["-k", "0"], 2, "at least 1"),
    "not a number": (["-k", "three"], 2, "a whole number or auto"),
    "method": (["-k", "3", "--method", "symnfm"], 2, "Did you mean 'symnmf'"),
    "similarity": (["-k", "3", "--similarity", "cosin"], 2, "Did you mean 'cosine'"),
    "constraint": (["-k", "3", "--constraint", "positive"], 2, "constraint"),
    "lambda": (["-k", "3", "--method", "nmf", "--lambda", "1"], 2, "has no --lambda"),
    "negative lambda": (["-k", "3", "--lambda", "-1"], 2, "a finite number >= 0"),
    "no similarity": (
        ["-k", "3", "--method", "kmeans", "--precomputed"],
        2,
        "has no --precomputed; spectral, symhals, snmf, symnmf, symmf have",
    ),
    "both": (["-k", "3", "--precomputed", "--similarity", "cosine"], 2, "not both"),
    "parameter": (["-k", "3", "--set", "maxiter=3"], 2, "Did you mean 'max_iter'"),
    "setting": (["-k", "3", "--set", "max_iter"], 2, "KEY=VALUE"),
    "value": (["-k", "3", "--set", "max_iter=-3"], 2, "max_iter"),
    "kmeans value": (
        ["-k", "3", "--method", "kmeans", "--set", "n_init=-3"],
        2,
        "kmeans: The 'n_init' parameter",
    ),
    "no factor": (["-k", "3", "--method", "kmeans", "--factor", "H.csv"], 2, "factor"),
    "labels": (["-k", "3", "--labels", "kind"], 2, "has no line of names"),
    "label column": (["-k", "3", "--labels", "14"], 2, "no line of names"),
    "input": (["-k", "3", "--out", "data.csv"], 2, "overwritten"),
    "folder": (["-k", "3", "--out", "there/c.csv"], 2, "does not exist"),
    "ending": (["-k", "3", "--out", "c.xlsx"], 2, "must end in .csv or .npy"),
}


@pytest.mark.parametrize("case", WRONG_USE)
def test_wrong_use_is_one_sentence_and_no_output(run, tmp_path, planted, case):
    arguments, code, sentence = WRONG_USE[case]
    write_csv(tmp_path / "data.csv", planted[0])
    if "--out" not in arguments:
        arguments = [*arguments, "--out", "c.csv"]
    found, _, err = run("cluster", "data.csv", *arguments)
    assert found == code
    assert sentence in err
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_a_missing_file_and_a_wrong_number_of_labels(run, tmp_path, planted):
    code, _, err = run("cluster", "nowhere.csv", "-k", 3)
    assert code == 3
    assert "does not exist" in err
    np.save(tmp_path / "X.npy", planted[0])
    (tmp_path / "y.txt").write_text("1\n2\n")
    code, _, err = run("cluster", "X.npy", "-k", 3, "--labels", "y.txt")
    assert code == 3
    assert "2 for 36 samples" in err


def test_negative_data_for_a_nonnegative_method(run, tmp_path, planted):
    np.save(tmp_path / "X.npy", planted[0] - 1)
    code, _, err = run("cluster", "X.npy", "-k", 3, "--method", "nmf", "--out", "c.csv")
    assert code == 2
    assert "Negative values in data passed to NMF" in err
    assert not (tmp_path / "c.csv").exists()


@pytest.mark.parametrize("option", ["--out c.csv", "--report p.html", "--save m.npz"])
def test_a_full_disk_is_a_sentence_and_leaves_nothing(
    run, tmp_path, monkeypatch, planted, option
):
    np.save(tmp_path / "X.npy", planted[0])

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("symmf.common.files._write_all", full)
    code, _, err = run("cluster", "X.npy", "-k", 3, *option.split())
    assert code == 2
    assert f"{option.split()[1]} could not be written: No space left" in err
    assert [path.name for path in tmp_path.iterdir()] == ["X.npy"]


# symmf methods


def test_methods_lists_everything(run):
    code, out, _ = run("methods")
    assert code == 0
    lines = [line.split("\t") for line in out.splitlines()]
    meanings = {line[0]: line[2] for line in lines if len(line) == 3}
    for name, kind in METHODS.items():
        assert f"\n{name}: " in f"\n{out}"
        for parameter in inspect.signature(kind).parameters:
            assert meanings[parameter], (name, parameter)
    assert out.count("Reference: ") == len(METHODS)
    assert "Reference: \n" not in out
    for word in ("centred_cosine", "projected_gradient", "nonnegative_unit_rows"):
        assert word in out


def test_methods_shows_one(run):
    code, out, _ = run("methods", "gnmf")
    assert code == 0
    assert "graph_weight\t100.0\tlambda_g, the weight of the graph" in out
    assert "symnmf" not in out
    code, _, err = run("methods", "gnfm")
    assert code == 2
    assert "Did you mean 'gnmf'" in err
