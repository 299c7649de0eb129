"""symmf cluster FOLDER --dask, on the threads of this process."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

from symmf import SymMF
from symmf.app import on_dask

dask = pytest.importorskip("dask", reason="the extra 'dask' is absent")

# Of dask itself, with the newest pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace:DeprecationWarning")


@pytest.fixture
def run(run, monkeypatch):
    asked = []

    def connected(address):
        asked.append(address)
        return nullcontext()

    monkeypatch.setattr(on_dask, "connected", connected)
    with dask.config.set(scheduler="threads", num_workers=2):
        yield run
    assert set(asked) <= {"tcp://there:1"}


@pytest.fixture
def X(tmp_path):
    rng = np.random.default_rng(0)
    X = np.kron(np.eye(3), np.ones((12, 4))) + 0.1 * rng.random((36, 12))
    (tmp_path / "rows").mkdir()
    for first in (0, 20):
        frame = pd.DataFrame(X[first : first + 20]).rename(columns=str)
        frame["who"] = [f"w{first + i}" for i in range(len(frame))]
        frame.to_parquet(tmp_path / "rows" / f"part-{first}.parquet")
    return X


def test_a_folder_is_clustered_and_written(run, tmp_path, X) -> None:
    code, out, err = run(
        *("cluster", "rows", "-k", 3, "--dask", "tcp://there:1", "--id", "who"),
        *("--out", "clusters.csv", "--factor", "H.npy", "--save", "model.npz"),
    )
    assert code == 0, err
    assert err == ""
    assert "36 samples, 12 features in 2 blocks" in out
    assert out.count("\t12\t33.3%") == 3
    table = pd.read_csv(tmp_path / "clusters.csv")
    assert table["who"].tolist() == [f"w{i}" for i in range(36)]
    near = SymMF(3, random_state=0).fit(X)
    np.testing.assert_array_equal(table["cluster"], near.labels_)
    H = np.load(tmp_path / "H.npy")
    np.testing.assert_array_equal(H, near.H_)
    new = pd.DataFrame(X[::-1]).rename(columns=str)
    new.to_csv(tmp_path / "new.csv", index=False)
    code, _, err = run("cluster", "new.csv", "--model", "model.npz", "--out", "new.npy")
    assert code == 0, err
    np.testing.assert_array_equal(np.load(tmp_path / "new.npy"), near.predict(X[::-1]))


@pytest.mark.usefixtures("X")
def test_landmarks_of_a_folder_are_asked_for(run, tmp_path) -> None:
    code, _, err = run(
        *("cluster", "rows", "-k", 3, "--dask", "tcp://there:1", "--drop", "who"),
        *("--set", "similarity_options={n_landmarks: 20}", "--factor", "H.npy"),
    )
    assert code == 0, err
    assert np.load(tmp_path / "H.npy").shape == (36, 3)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--report", "page.html"], "--report needs the rows in memory"),
        (["--standardize"], "--standardize needs the rows in memory"),
        (["--labels", "who"], "--labels needs the rows in memory"),
        (["--method", "nmf"], "--dask is for the method symmf"),
        (["--similarity", "gaussian"], "needs all rows in memory"),
        (["--out", "there/a.csv"], "does not exist"),
    ],
)
@pytest.mark.usefixtures("X")
def test_what_needs_rows_in_memory_is_refused(run, options, sentence) -> None:
    common = ["cluster", "rows", "-k", 3, "--drop", "who", "--dask", "tcp://there:1"]
    code, out, err = run(*common, *options)
    assert (code, out) == (2, "")
    assert sentence in err


@pytest.mark.usefixtures("X")
def test_missing_values_are_named(run, tmp_path) -> None:
    path = tmp_path / "rows" / "part-20.parquet"
    frame = pd.read_parquet(path)
    frame.loc[frame.index[3], "5"] = np.nan
    frame.to_parquet(path)
    common = ["cluster", "rows", "-k", 3, "--drop", "who", "--dask", "tcp://there:1"]
    code, _, err = run(*common)
    assert code == 2
    assert "first in row 23" in err
