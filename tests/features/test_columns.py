"""Tables with words, dates and holes as rows of numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from symmf import SymMF, select
from symmf.errors import InputError, SymmfWarning
from symmf.features import MixedColumns
from symmf.similarity import build_similarity


def table(n=90, seed=0):
    """Return three groups that a word, a number and a date tell apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n) + 6 * y,
            "city": np.array(["Bonn", "Rome", "Oslo"])[y],
            "since": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(400 * y + rng.integers(0, 99, n), unit="D"),
            "member": y == 1,
        }
    )
    frame.loc[4, "size"] = np.nan
    frame.loc[7, "city"] = None
    return frame, y


@parametrize_with_checks([MixedColumns()])
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def test_words_and_numbers_contribute_alike_to_the_distance_of_rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": rng.normal(size=4000), "c": rng.choice(["a", "b"], 4000)}
    )
    variances = MixedColumns().fit_transform(frame).var(axis=0)
    assert variances[0] == pytest.approx(variances[1:].sum(), rel=0.1)


def test_holes_are_the_median_or_a_level_and_are_told():
    frame, _ = table()
    encoder = MixedColumns().fit(frame)
    names = encoder.get_feature_names_out().tolist()
    Z = encoder.transform(frame)
    assert Z[4, 0] == 0
    assert Z[7, names.index("city=missing")] > 0
    units = Z * encoder.scale_ + encoder.centre_
    np.testing.assert_allclose(units[5, 0], frame["size"][5])
    told = " ".join(encoder.notes())
    assert "'size' in 1 row with the median" in told
    assert "'city' (4 levels)" in told


def test_new_rows_get_the_encoding_of_the_fit():
    frame, _ = table()
    encoder = MixedColumns().fit(frame)
    new = frame.iloc[:3].assign(city=["Rome", "Paris", None])
    Z = encoder.transform(new)
    np.testing.assert_array_equal(Z[0, 1:5], encoder.transform(frame)[1, 1:5])
    assert not Z[1, 1:5].any()
    with pytest.raises(InputError, match=r"'size' held numbers.*'tall'"):
        encoder.transform(frame.astype({"size": object}).assign(size="tall"))


def test_what_cannot_be_a_feature_is_left_out_and_told_at_once():
    frame, _ = table()
    n = len(frame)
    frame["customer_id"] = np.random.default_rng(0).permutation(n) + 1000
    frame["name"] = [f"N{i}" for i in range(n)]
    frame["remark"] = [f"this is what number {i} wrote to us" for i in range(n)]
    frame["country"] = "X"
    with pytest.warns(SymmfWarning, match="Left out") as caught:
        encoder = MixedColumns().fit(frame)
    assert len(caught) == 1
    assert set(encoder.ignored_) == {"customer_id", "name", "remark", "country"}
    assert all(name in str(caught[0].message) for name in encoder.ignored_)


def test_words_and_holes_may_be_left_out_or_refused():
    frame, _ = table()
    kept = MixedColumns(categories="drop", missing="drop").fit(frame)
    assert kept.get_feature_names_out().tolist() == ["since"]
    with pytest.raises(InputError, match=r"'city' \(words\), 'member' \(words\)"):
        MixedColumns(categories="error").fit(frame)
    with pytest.raises(InputError, match=r"'size' \(missing values\), 'city' "):
        MixedColumns(missing="error").fit(frame)
    with pytest.raises(InputError, match="No column is left"):
        MixedColumns(categories="drop").fit(frame[["city"]])
    with pytest.raises(InputError, match="Several columns are called 'city'"):
        SymMF(2).fit(frame[["city", "city"]])


def test_amounts_and_dates_as_texts_are_numbers():
    frame = pd.DataFrame(
        {"cost": ["$1,200", "$300", "-$5.50"] * 4, "on": ["31.12.2020", "1.1.2021"] * 6}
    )
    encoder = MixedColumns().fit(frame)
    units = encoder.transform(frame) * encoder.scale_ + encoder.centre_
    np.testing.assert_allclose(units[:3, 0], [1200, 300, -5.5])
    assert units[1, 1] - units[0, 1] == pytest.approx(1)


def test_new_dates_are_read_in_the_order_of_the_fit():
    frame = pd.DataFrame({"on": ["3/4/2020", "31/12/2020", "1/1/2021"] * 4})
    encoder = MixedColumns().fit(frame)
    np.testing.assert_array_equal(
        encoder.transform(frame[:1]), encoder.transform(frame)[:1]
    )


def test_it_stands_in_a_pipeline():
    frame, y = table()
    model = make_pipeline(MixedColumns(), KMeans(3, n_init=4, random_state=0))
    assert adjusted_rand_score(y, model.fit_predict(frame)) > 0.9
    assert (model.predict(frame) == model[-1].labels_).all()


@pytest.mark.parametrize(
    "columns", [["size", "since"], ["size", "city", "since"], ["city", "member"]]
)
def test_symmf_takes_such_frames_and_keeps_the_encoding(columns):
    frame, y = table()
    model = SymMF(3, random_state=0).fit(frame[columns])
    assert adjusted_rand_score(y, model.labels_) > 0.85
    assert model.feature_names_in_.tolist() == columns
    words = "city" in columns
    assert model.similarity_ == ("partitions" if words else "mutual_knn")
    np.testing.assert_array_equal(model.predict(frame[columns]), model.labels_)
    if "size" in columns:
        assert select(frame[columns], range(2, 6), n_subsamples=0).best == 3


def test_a_plain_frame_is_clustered_as_its_numbers():
    X = np.random.default_rng(0).normal(size=(60, 3))
    frame = pd.DataFrame(X, columns=list("abc"))
    ours = SymMF(2, random_state=0)
    np.testing.assert_array_equal(ours.fit(frame).labels_, ours.fit(X).labels_)


def test_frames_of_polars():
    polars = pytest.importorskip("polars")
    frame, _ = table()
    ours = MixedColumns()
    np.testing.assert_allclose(
        ours.fit_transform(polars.from_pandas(frame)), ours.fit_transform(frame)
    )


def test_labels_of_columns_may_be_numbers():
    frame = pd.DataFrame({0: list("abab") * 5, 1: range(20)})
    model = SymMF(2, random_state=0).fit(frame)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(model.predict(frame), model.labels_)


def test_numbers_that_only_name_rows_are_told():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"customer_id": np.arange(1000, 1030)})
    frame["x"], frame["y"] = rng.random((2, 30))
    with pytest.warns(SymmfWarning, match="'customer_id'.*only name the rows"):
        SymMF(2, random_state=0).fit(frame)
    frame["word"] = list("ab") * 15
    with pytest.warns(SymmfWarning, match="Left out: 'customer_id'"):
        SymMF(2, random_state=0).fit(frame)


def test_a_similarity_of_words_names_their_columns():
    frame = pd.DataFrame({"city": list("abab"), "x": [1.0, 2, 3, 5]})
    with pytest.raises(InputError, match=r"all numbers: city\..*MixedColumns"):
        build_similarity(frame, "cosine")
