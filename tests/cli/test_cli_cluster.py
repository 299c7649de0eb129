import inspect

import numpy as np
import pandas as pd
import pytest
from scipy import io

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


def test_clusters_written_can_be_read_as_labels(run, tmp_path, planted):
    np.save(tmp_path / "X.npy", planted[0])
    run("cluster", "X.npy", "-k", 3, "--out", "c.csv")
    code, out, _ = run("cluster", "X.npy", "-k", 3, "--labels", "c.csv")
    assert code == 0
    assert "AC: 1.0000" in out


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


WRONG_USE = {
    "more clusters than samples": (["-k", "37"], 2, "there are 36 samples"),
    "no clusters": (["-k", "0"], 2, "at least 1"),
    "not a number": (["-k", "three"], 2, "or auto"),
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
    "page": (["-k", "3", "--report", "p.txt"], 2, "must end in .html"),
    "model": (["-k", "3", "--save", "m.pkl"], 2, "must end in .npz"),
    "twice": (["-k", "3", "--factor", "c.csv"], 2, "is also --out"),
    "option for k": (["-k", "3", "--set", "n_clusters=4"], 2, "Use -k in place of"),
    "date": (["-k", "3", "--set", "tol=2020-99-99"], 2, "tol"),
    "alias": (["-k", "3", "--set", "random_state=&a"], 2, "Use --seed"),
    "format": (["-k", "3", "--format", "tabel"], 2, "Did you mean 'table'"),
    "decimal": (["-k", "3", "--decimal", ";"], 2, "--decimal is"),
    "sparse": (["-k", "3", "--precomputed", "--standardize"], 2, "leave it out"),
    "no file": (["-k", "3", "--labels", "y.txt"], 2, "no line of names"),
    "negative": (["-k", "3", "--drop", "1", "--method", "nmf"], 2, "Negative values"),
}


@pytest.mark.parametrize("case", WRONG_USE)
def test_wrong_use_is_one_sentence_and_no_output(run, tmp_path, planted, case):
    arguments, code, sentence = WRONG_USE[case]
    write_csv(tmp_path / "data.csv", planted[0] - 0.5)
    if "--out" not in arguments:
        arguments = [*arguments, "--out", "c.csv"]
    found, _, err = run("cluster", "data.csv", *arguments)
    assert found == code
    assert sentence in err
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


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
