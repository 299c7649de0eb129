"""``symmf cluster`` on what users bring: ids, texts, images, graphs, models, pages."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest

from symmf.metrics import accuracy


def customers(path, n=90, sep=",", comma=False, extra=""):
    """Three kinds of customers with text ids; income is in other units than visits."""
    rng = np.random.default_rng(0)
    kind = np.arange(n) % 3
    age = np.array([28, 45, 66])[kind] + rng.normal(0, 3, n)
    income = np.array([32e3, 78e3, 41e3])[kind] + rng.normal(0, 3e3, n)
    visits = np.array([14, 4, 8])[kind] + rng.normal(0, 1, n)
    lines = [sep.join(["who", "age", "income", "visits", *filter(None, [extra])])]
    for i in range(n):
        cells = [f"C{i:03d}", f"{age[i]:.2f}", f"{income[i]:.1f}", f"{visits[i]:.3f}"]
        if extra:
            cells.append("=1+1")
        line = sep.join(cells)
        lines.append(line.replace(".", ",") if comma else line)
    path.write_text("\n".join(lines) + "\n")
    return kind


def labels_in(path):
    lines = path.read_text().splitlines()
    return np.array([int(line.split(",")[-1]) for line in lines[1:]])


def test_ids_are_written_and_the_choice_of_k_is_said(run, tmp_path):
    kind = customers(tmp_path / "t.csv")
    code, out, err = run("cluster", "t.csv", "--out", "c.csv")
    assert code == 0
    assert "K = 3 was chosen" in out
    assert "--id who" in err
    assert "divided by their ranges" in err
    text = (tmp_path / "c.csv").read_text()
    assert text.startswith("who,outlier,membership,cluster\nC000,")
    assert accuracy(kind, labels_in(tmp_path / "c.csv")) == 1.0


def test_quality_without_labels_and_traits_are_told(run, tmp_path):
    customers(tmp_path / "t.csv")
    _, out, err = run("cluster", "t.csv", "-k", 3, "--standardize", "--id", "who")
    assert err == ""
    for word in ("silhouette", "neighbours in other clusters", "stability 1.00"):
        assert word in out
    assert "relative error" not in out
    assert re.search(r"income 7\d,\d{3} \(\+", out)


@pytest.mark.parametrize("method", ["kmeans", "spectral"])
def test_columns_that_differ_in_scale_are_told_for_methods_that_do_not_scale(
    run, tmp_path, method
):
    customers(tmp_path / "t.csv")
    _, _, err = run("cluster", "t.csv", "-k", 3, "--method", method, "--id", "who")
    assert "may dominate the result" in err
    assert "--standardize" in err
    quiet = ("--no-standardize", "--no-stability")
    own = ("-k", 3, "--method", method, "--id", "who")
    assert run("cluster", "t.csv", *own, *quiet)[2] == ""


def test_all_columns_are_kept_and_formulas_are_texts(run, tmp_path):
    customers(tmp_path / "t.csv", extra="note")
    args = ("--id", "who", "--drop", "note", "--keep-columns", "--out", "c.csv")
    assert run("cluster", "t.csv", "-k", 3, *args)[0] == 0
    lines = (tmp_path / "c.csv").read_text().splitlines()
    assert lines[0] == "who,age,income,visits,note,outlier,membership,cluster"
    assert re.fullmatch(r"C000,[\d.]+,[\d.]+,[\d.]+,'=1\+1,0,[\d.]+,\d", lines[1])


def test_a_decimal_comma_and_standard_input(run, tmp_path, monkeypatch):
    kind = customers(tmp_path / "t.csv", sep=";", comma=True)

    class Pipe:
        buffer = io.BytesIO((tmp_path / "t.csv").read_bytes())

        def isatty(self):
            return False

    monkeypatch.setattr("sys.stdin", Pipe())
    code, out, err = run("cluster", "-", "-k", 3, "--out", "c.csv")
    assert code == 0
    assert "standard input: 90 samples" in out
    assert "--decimal" in err
    assert accuracy(kind, labels_in(tmp_path / "c.csv")) == 1.0


@pytest.mark.parametrize("method", ["symmf", "kmeans"])
def test_a_model_puts_new_rows_where_the_old_ones_are(run, tmp_path, method):
    kind = customers(tmp_path / "t.csv")
    made = ("-k", 3, "--standardize", "--method", method, "--save", "m.npz")
    assert run("cluster", "t.csv", *made, "--out", "c.csv")[0] == 0
    lines = (tmp_path / "t.csv").read_text().splitlines()
    # Another order of columns, and a part of the rows.
    moved = [",".join([c[3], c[0], c[2], c[1]]) for c in (x.split(",") for x in lines)]
    (tmp_path / "new.csv").write_text("\n".join(moved[:40]) + "\n")
    code, out, err = run("cluster", "new.csv", "--model", "m.npz", "--out", "n.csv")
    assert (code, err) == (0, "")
    assert "39 new samples" in out
    assert (tmp_path / "n.csv").read_text().startswith("who,cluster\nC000,")
    new = labels_in(tmp_path / "n.csv")
    np.testing.assert_array_equal(new, labels_in(tmp_path / "c.csv")[:39])
    assert accuracy(kind[:39], new) == 1.0


def test_a_model_refuses_other_columns_damage_and_a_new_k(run, tmp_path):
    customers(tmp_path / "t.csv")
    run("cluster", "t.csv", "-k", 3, "--save", "m.npz", "--no-stability")
    (tmp_path / "other.csv").write_text("age,visits\n1,2\n3,5\n")
    code, _, err = run("cluster", "other.csv", "--model", "m.npz")
    assert code == 2
    assert "no column 'income'" in err
    _, _, err = run("cluster", "t.csv", "-k", 3, "--model", "m.npz")
    assert "-k belongs to a new clustering; leave it out" in err
    content = (tmp_path / "m.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(content[:-200])
    code, _, err = run("cluster", "t.csv", "--model", "cut.npz")
    assert code == 3
    assert "cut.npz" in err
    np.savez(tmp_path / "x.npz", a=np.ones(3))
    assert "cannot be used" in run("cluster", "t.csv", "--model", "x.npz")[2]


def notes(path, n=60):
    rng = np.random.default_rng(0)
    words = ["tea cup kettle milk", "tax vote law budget", "goal match team coach"]
    lines = [
        " ".join(rng.choice(words[i % 3].split(), 5 + i % 3)) + " good" * (i % 2)
        for i in range(n)
    ]
    path.write_text("\n".join(lines) + "\n")
    return np.arange(n) % 3


def test_documents_have_terms_and_may_be_placed_later(run, tmp_path):
    kind = notes(tmp_path / "notes.txt")
    args = ("-k", 3, "--out", "c.csv", "--save", "m.npz", "--report", "p.html")
    code, out, _ = run("cluster", "notes.txt", *args)
    assert code == 0
    assert "60 documents" in out
    assert any(word in out for word in ("kettle", "milk"))
    assert accuracy(kind, labels_in(tmp_path / "c.csv")) == 1.0
    (tmp_path / "new.txt").write_text("a cup of tea\nthe team and its coach\n")
    run("cluster", "new.txt", "--model", "m.npz", "--out", "n.csv")
    new, old = labels_in(tmp_path / "n.csv"), labels_in(tmp_path / "c.csv")
    assert new.tolist() == [old[0], old[2]]


def pictures(folder, n=24):
    Image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(1)
    folder.mkdir()
    y, x = np.mgrid[:40, :40]
    for i in range(n):
        a = np.full((40, 40, 3), 220.0) + rng.normal(0, 6, (40, 40, 3))
        r = rng.integers(8, 13)
        disc = (x - 20) ** 2 + (y - 20) ** 2 < r * r
        a[disc if i % 2 else (x + y) % 10 < 4] = rng.integers(20, 120, 3)
        image = Image.fromarray(np.clip(a, 0, 255).astype(np.uint8))
        image.save(folder / f"p{i:02d}.png")
    return np.arange(n) % 2


def test_a_folder_of_images(run, tmp_path):
    kind = pictures(tmp_path / "photos")
    args = ("--image-size", 16, "--out", "c.csv", "--report", "p.html")
    code, out, _ = run("cluster", "photos", "-k", 2, *args, "--save", "m.npz")
    assert code == 0
    assert "24 images" in out
    assert accuracy(kind, labels_in(tmp_path / "c.csv")) == 1.0
    assert (tmp_path / "p.html").read_text().count("data:image/png") > 5
    assert run("cluster", "photos", "--model", "m.npz", "--out", "n.csv")[0] == 0
    np.testing.assert_array_equal(
        labels_in(tmp_path / "n.csv"), labels_in(tmp_path / "c.csv")
    )


def test_a_list_of_edges(run, tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        f"n{a},n{b}"
        for a in range(40)
        for b in range(a)
        if rng.random() < (0.5 if a // 20 == b // 20 else 0.02)
    ]
    (tmp_path / "g.edges").write_text("\n".join(lines) + "\n")
    code, out, _ = run("cluster", "g.edges", "-k", 2, "--out", "c.csv")
    assert code == 0
    assert f"40 nodes, {len(lines)} edges" in out
    text = (tmp_path / "c.csv").read_text()
    names = [int(line.split(",")[0][1:]) for line in text.splitlines()[1:]]
    labels = labels_in(tmp_path / "c.csv")
    assert accuracy(np.array(names) // 20, labels) == 1.0
    wrong = {"--save m.npz": "no new rows", "--method kmeans": "methods for graphs"}
    for option, words in wrong.items():
        code, _, err = run("cluster", "g.edges", "-k", 2, *option.split())
        assert (code, words in err) == (2, True)


def test_the_page_stands_alone_and_shows_texts_as_texts(run, tmp_path):
    customers(tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text()
    (tmp_path / "t.csv").write_text(text.replace("C000", "<script>alert(1)</script>"))
    assert run("cluster", "t.csv", "-k", 3, "--report", "p.html")[0] == 0
    page = (tmp_path / "p.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"(src|href)=\"(?!data:|#)", page)
    for word in ("Samples", "Similarity", "Silhouettes", "stability", "prefers-color"):
        assert word in page
    assert page.count("<article") == 3


def test_help_shows_each_example_on_a_line_of_its_own(run):
    _, out, _ = run("cluster", "--help")
    assert "\\b" not in out
    assert out.count("\n  symmf cluster ") == 9
    for word in ("CSV", "HDF5", "--precomputed", "--lambda", "--set"):
        assert word in out


def test_select_shows_the_evidence_and_a_recommendation(run, tmp_path):
    customers(tmp_path / "t.csv")
    args = ("--standardize", "--to", 6, "--lambda", 0, "--lambda", 0.5)
    code, out, _ = run("select", "t.csv", *args, "--plot", "e.png")
    assert code == 0
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0] == ["K", "score", "silhouette", "stability", "best by"]
    assert [line[0] for line in lines[1:6]] == ["2", "3", "4", "5", "6"]
    assert "silhouette" in lines[2][-1]
    assert "K = 3 was chosen; second best:" in out
    assert "lambda: 0 is recommended" in out
    assert (tmp_path / "e.png").read_bytes().startswith(b"\x89PNG")


def test_select_works_on_documents_and_graphs_and_refuses_nonsense(run, tmp_path):
    notes(tmp_path / "notes.txt")
    assert "K = 3 was chosen; " in run("select", "notes.txt", "--to", 5)[1]
    assert "is needed" in run("select", "notes.txt", "--from", 9, "--to", 3)[2]
    (tmp_path / "s.csv").write_text("a,b\n1,2\n3,4.5\n")
    code, _, err = run("select", "s.csv")
    assert code == 2
    assert "too few" in err


def test_a_table_with_words_and_holes_keeps_its_encoding_in_a_model(run, tmp_path):
    lines = ["city,age,joined"]
    for i in range(60):
        age = "" if i == 3 else 20 + 30 * (i % 2) + i % 5
        lines.append(f"{('Rome', 'Oslo')[i % 2]},{age},2020-01-{1 + i % 28:02d}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    code, out, err = run(
        "cluster", "t.csv", "-k", 2, "--save", "m.npz", "--out", "c.csv"
    )
    assert code == 0
    assert "city=Rome" in out
    assert "'city' (2 levels)" in err
    assert "'age' in 1 row with the median" in err
    new = "joined,age,city\n2020-01-03,52,Oslo\n2020-01-04,,Rome\n"
    (tmp_path / "new.csv").write_text(new)
    code, out, _ = run("cluster", "new.csv", "--model", "m.npz", "--out", "n.csv")
    assert code == 0
    assert labels_in(tmp_path / "n.csv")[0] == labels_in(tmp_path / "c.csv")[1]


def test_stop_words_are_left_out_of_english_texts(run, tmp_path):
    words = [("the", "tea"), ("an", "tax"), ("his", "war"), ("of", "sea")]
    texts = [f"{a} {w} is up and it is {w}" for a, w in words] * 5
    (tmp_path / "t.txt").write_text("\n".join(texts) + "\n")
    arguments = ("cluster", "t.txt", "-k", 2, "--format", "text", "--no-stability")
    _, out, err = run(*arguments)
    assert "most common English words" in err
    assert "4 terms" in out
    _, out, err = run(*arguments, "--stop-words", "none")
    assert "most common English" not in err
    assert "8 terms" in out
