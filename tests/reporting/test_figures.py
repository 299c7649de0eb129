from __future__ import annotations

import errno
import os
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.made_results import entry, lambda_experiment, table_experiment
from helpers.made_traces import (
    convergence_experiment,
    illustration,
    many_entries,
    mixed_experiment,
    traced_experiment,
)
from matplotlib.backends.backend_agg import FigureCanvasAgg

from symmf.errors import InputError
from symmf.reporting.plots.base import save
from symmf.reporting.plots.factor import (
    block_means,
    load_illustration,
    matched,
    plane,
)
from symmf.reporting.plots.registry import FIGURES, draw
from symmf.reporting.plots.style import LOOKS, StyleBook
from symmf.reporting.results import Results, load_results
from symmf.reporting.selection.readings import readings
from symmf.reporting.selection.traces import band, by_problem, trials_of

FILES = ("pdf", "png", "csv", "txt")


@pytest.fixture(scope="module")
def results(full_results: Results) -> Results:
    return full_results


@pytest.fixture(scope="module")
def galleries(results):
    return {name: draw(name, results) for name in FIGURES}


def test_every_figure_is_drawn_with_its_files(galleries, tmp_path: Path) -> None:
    for name, gallery in galleries.items():
        assert gallery.drawings, name
        for drawing in gallery.drawings:
            paths = save(drawing, tmp_path)
            assert [path.suffix[1:] for path in paths] == list(FILES)
            assert all(path.stat().st_size for path in paths)
            assert len(pd.read_csv(paths[2])) == len(drawing.data) > 0
            assert drawing.caption in paths[3].read_text()


def test_a_misspelt_name_is_a_sentence() -> None:
    with pytest.raises(InputError, match="Did you mean 'lambda'"):
        draw("lamda", None)


def test_a_full_disk_is_a_sentence_and_leaves_nothing_behind(
    galleries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (drawing,) = galleries["lambda"].drawings

    def full_disk(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="could not be written"):
        save(drawing, tmp_path / "file")
    monkeypatch.setattr(os, "write", full_disk)
    with pytest.raises(InputError, match=r"lambda\.pdf could not be written: No space"):
        save(drawing, tmp_path / "full")
    assert not [path for path in tmp_path.rglob("full/**/*") if path.is_file()]


def test_a_wrong_number_of_tooltips_is_not_passed_over(galleries) -> None:
    (drawing,) = galleries["lambda"].drawings
    name = next(iter(drawing.tooltips))
    with pytest.raises(ValueError, match=r"zip\(\) argument"):
        replace(drawing, tooltips={name: ["one"]}).svg("x")


def test_same_results_same_bytes(tmp_path: Path) -> None:
    lambda_experiment(tmp_path / "r", n_trials=2)
    kept = []
    for folder in ("a", "b"):
        (drawing,) = draw("lambda", load_results(tmp_path / "r")).drawings
        paths = save(drawing, tmp_path / folder)
        kept.append([path.read_bytes() for path in paths] + [drawing.svg("x")])
    assert kept[0] == kept[1]
    assert b"CreationDate" not in kept[0][0]


def test_svg_is_valid_and_carries_the_numbers(galleries) -> None:
    for gallery in galleries.values():
        for drawing in gallery.drawings:
            text = drawing.svg("here")
            root = ET.fromstring(text)
            assert root.tag.endswith("svg")
            assert root.get("aria-label", "").startswith(drawing.title)
            ids = re.findall(r'\bid="([^"]*)"', text)
            assert len(ids) == len(set(ids))
            assert all(name.startswith("here-") for name in ids)
            titles = root.iter("{http://www.w3.org/2000/svg}title")
            labels = [label for group in drawing.tooltips.values() for label in group]
            assert sorted(str(t.text) for t in titles) == sorted(labels)
            assert "<metadata>" not in text


def test_convergence_panels_come_from_the_configuration(tmp_path: Path) -> None:
    convergence_experiment(tmp_path, n_trials=3)
    (drawing,) = draw("convergence", load_results(tmp_path)).drawings
    data = drawing.data
    assert list(data["panel"].unique()) == ["a", "b", "c", "d", "e"]
    first = data[data["panel"] == "a"]
    assert set(first["method"]) == {"algorithm1", "sym_anls", "admm"}
    assert set(first["y_axis"]) == {"split_error"}
    assert set(data[data["panel"] == "d"]["x_axis"]) == {"seconds"}
    assert (data["low"] <= data["median"]).all()
    assert (data["median"] <= data["high"]).all()
    assert set(data["n_trials"]) == {3}
    assert "Mixed comparison as in the paper" in drawing.caption
    assert "Fair comparison" in drawing.caption
    assert drawing.stem == "figures/convergence/convergence"


def test_titles_that_bring_their_letter_keep_it(tmp_path: Path) -> None:
    panel = {"title": "(a') fair", "methods": ["admm"], "y": "split_error"}
    convergence_experiment(tmp_path, panels=[panel, {**panel, "title": "plain"}])
    (drawing,) = draw("convergence", load_results(tmp_path)).drawings
    titles = [ax.get_title(loc="left") for ax in drawing.figure.axes]
    assert titles == ["(a') fair", "(b) plain"]


def test_errors_of_different_matrices_never_share_an_axis(tmp_path: Path) -> None:
    mixed_experiment(tmp_path)
    (drawing,) = draw("convergence", load_results(tmp_path)).drawings
    panels = drawing.data.groupby("panel")["method"].unique().map(sorted).to_dict()
    graph, ours = ["symhals", "symnmf"], ["closed_form", "ours"]
    rows = [["nmf"], graph, ours, ["uncentred"]]
    assert list(panels.values()) == [row for row in rows for _ in range(2)]
    titles = [ax.get_title(loc="left") for ax in drawing.figure.axes]
    assert titles[::2] == [
        "(a) X: data weighting ncut",
        "(c) M: self tuning",
        "(e) M: centred cosine, λ = 0.5",
        "(g) M: cosine, λ = 0.5",
    ]
    symbols = [ax.get_ylabel() for ax in drawing.figure.axes[::2]]
    assert symbols[0] == "‖X − UVᵀ‖² / ‖X‖²"
    assert set(symbols[1:]) == {"‖M − HHᵀ‖² / ‖M‖²"}
    assert "K = 4" in drawing.caption
    assert "errors of different panels cannot be compared" in drawing.caption
    assert "not drawn: Closed form, λ = 0" in drawing.caption


def test_the_stored_matrix_decides_which_errors_share_an_axis(tmp_path: Path) -> None:
    # The parameters say the contrary: what ran is what counts.
    alike = {"parameters": {"similarity": "cosine"}}
    traced_experiment(
        tmp_path,
        "told",
        [
            entry("symhals", matrix="M: self_tuning", **alike),
            entry("symmf", name="free", matrix="M: self_tuning"),
            entry("symnmf", matrix="M: self_tuning, lambda 0.5", **alike),
            entry("gnmf", matrix="X and a graph: 5 neighbours, binary"),
            entry("kmeans", name="plugin", matrix="Z: a plugin's own"),
        ],
    )
    (experiment,) = load_results(tmp_path).experiments
    found = by_problem(experiment, list(experiment.entries))
    assert {p.title: (p.symbol, names) for p, names in found.items()} == {
        "M: self tuning": ("‖M − HHᵀ‖² / ‖M‖²", ["symhals", "free"]),
        "M: self tuning, λ = 0.5": ("‖M − HHᵀ‖² / ‖M‖²", ["symnmf"]),
        "X and a graph: 5 neighbours, binary": ("objective / ‖X‖²", ["gnmf"]),
        "Z: a plugin's own": ("error", ["plugin"]),
    }


def test_legend_and_panels_do_not_meet_whatever_the_number_of_entries(
    tmp_path: Path,
) -> None:
    for count in (1, 9, 30):
        many_entries(tmp_path / str(count), count)
        (drawing,) = draw("convergence", load_results(tmp_path / str(count))).drawings
        figure = drawing.figure
        renderer = FigureCanvasAgg(figure).get_renderer()
        (legend,) = figure.legends
        assert len(legend.get_texts()) == count
        box = legend.get_window_extent(renderer)
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.width
        for ax in figure.axes:
            assert ax.get_legend() is None
            assert ax.get_tightbbox(renderer).y0 >= box.y1
            assert ax.get_window_extent(renderer).height > 100


def test_median_and_quartiles_by_hand() -> None:
    frame = pd.DataFrame(
        {
            "trial": np.repeat([0, 1, 2], 2),
            "iteration": [0, 1] * 3,
            "error": [1, 1e-2, 1, 1e-4, 1, 1e-6],
        }
    )
    traces = list(trials_of(frame, "iteration", "error").values())
    curve = band(traces)
    assert curve["median"].tolist() == pytest.approx([1, 1e-4])
    assert curve["low"].tolist() == pytest.approx([1, 1e-5])
    assert curve["high"].tolist() == pytest.approx([1, 1e-3])
    # A run that stopped keeps its last value.
    longer = (np.array([0.0, 1, 2]), np.array([1, 1e-2, 1e-4]))
    curve = band([traces[0], longer])
    assert curve["x"].tolist() == [0, 1, 2]
    assert curve["median"].iloc[-1] == pytest.approx(1e-3)  # between 1e-2 and 1e-4


def test_lambda_shows_the_papers_panels_and_names_the_missing_one(galleries) -> None:
    gallery = galleries["lambda"]
    (drawing,) = gallery.drawings
    assert set(drawing.data["dataset"]) == {"coil20", "tdt2"}
    assert set(drawing.data["metric"]) == {"ac", "nmi"}
    (gap,) = gallery.missing
    assert "Reuters-21578, K = 12" in gap.reason
    assert gap.command == "symmf run lambda_reuters21578"


def test_published_values_and_what_was_not_run(galleries) -> None:
    (drawing,) = galleries["published"].drawings
    data = drawing.data
    assert len(data) == 216
    run = data[data["mean"].notna()]
    assert sum(map(len, drawing.tooltips.values())) == len(run)
    assert 0 < len(run) < 216
    assert "216 published values" in drawing.caption
    assert f"{216 - len(run)} not run" in drawing.caption
    low, high = drawing.figure.axes[0].get_xlim()
    for ax in drawing.figure.axes:  # nothing is cut off
        assert (ax.get_xlim(), ax.get_ylim()) == ((low, high), (low, high))
    assert low < run[["published", "low", "mean"]].min().min()
    assert high > run[["published", "high", "mean"]].max().max()
    (ranks,) = galleries["critical-difference"].drawings
    assert "Not ranked for lack of results: DSC." in ranks.caption


def test_lambda_shows_paired_differences_to_zero(galleries) -> None:
    (drawing,) = galleries["lambda"].drawings
    data = drawing.data
    keys = ["dataset", "method", "metric"]
    means = data.set_index([*keys, "lambda"])["mean"]
    zero = data[data["lambda"] == 0]
    assert zero["difference"].isna().all()
    for line in data[data["lambda"] > 0].to_dict("records"):
        at_zero = means[(*(line[key] for key in keys), 0.0)]
        # All trials are good at every weight, so pairing leaves the mean alone.
        assert line["difference"] == pytest.approx(line["mean"] - at_zero, abs=1e-12)
        assert line["difference_low"] <= line["difference"] <= line["difference_high"]
        assert line["n_pairs"] == line["n_good"]
    assert "paired differences" in drawing.caption
    axes = np.array(drawing.figure.axes).reshape(4, -1)
    for row in axes:
        assert len({ax.get_ylim() for ax in row}) == 1
    for low, high in (ax.get_ylim() for ax in axes[1::2].ravel()):
        assert low == -high


def test_nothing_to_draw_names_the_commands(tmp_path: Path) -> None:
    results = load_results(tmp_path)
    for name in FIGURES:
        gallery = draw(name, results)
        assert gallery.drawings == ()
        assert gallery.missing
        assert all(gap.command.startswith("symmf run") for gap in gallery.missing)
    lambda_experiment(tmp_path, "mine", "digits", 4, n_trials=2)
    gallery = draw("lambda", load_results(tmp_path))
    assert set(gallery.drawings[0].data["dataset"]) == {"digits"}
    assert len(gallery.missing) == 3


def test_a_damaged_illustration_counts_as_missing(tmp_path: Path) -> None:
    folder = table_experiment(tmp_path, ks=(2,), n_trials=2)
    experiment = load_results(tmp_path).experiments[0]
    assert load_illustration(experiment) is None
    (folder / "illustration.npz").write_bytes(b"PK not a zip")
    assert load_illustration(experiment) is None
    np.savez(folder / "illustration.npz", A=np.eye(3), H=np.ones((2, 1)),
             labels=[0, 1], classes=[0, 1])  # fmt: skip
    assert load_illustration(experiment) is None
    illustration(tmp_path, "coil20")
    picture = load_illustration(experiment)
    assert picture is not None
    assert picture.names == ("duck", "cup", "car", "cat")
    assert (np.diff(picture.classes) >= 0).all()


def test_two_classes_can_be_illustrated(tmp_path: Path) -> None:
    folder = table_experiment(tmp_path, ks=(2,), n_trials=2)
    A = np.kron(np.array([[1, -1], [-1, 1.0]]), np.ones((3, 3)))
    np.savez(folder / "illustration.npz", A=A, H=A[:, :1], labels=[1, 1, 1, 0, 0, 0],
             classes=[0, 0, 0, 1, 1, 1])  # fmt: skip
    results = load_results(tmp_path)
    assert (
        "class 0 with class 1, -1.00" in draw("motivation", results).drawings[0].caption
    )
    assert "100% of the samples agree" in draw("embedding", results).drawings[0].caption


def test_parts_of_the_pictures_by_hand() -> None:
    A = np.array([[9, 1, 4], [1, 9, 6], [4, 6, 9.0]])
    means = block_means(A, np.array([0, 0, 1]))
    assert means.tolist() == [[1, 5], [5, 0]]  # the diagonal is left out
    H = np.random.default_rng(0).normal(size=(20, 3))
    assert np.allclose(plane(H), plane(H + 5))  # a shift of all rows is centred away
    assert np.allclose(plane(H)[::-1], plane(H[::-1]))
    assert plane(H[:, :1]).shape == (20, 2)
    # More clusters than classes.
    found = matched(np.array([0, 0, 0, 1]), np.array([7, 7, 8, 9]))
    assert found.tolist() == [0, 0, 2, 1]


def test_one_look_per_method_everywhere(results) -> None:
    known = [r for e in results.experiments for r in readings(e)]
    book = StyleBook(known)
    again = StyleBook(dict.fromkeys(known))
    for reading in known:
        look = book.look(reading.experiment, reading.method)
        assert look == again.look(reading.experiment, reading.method)
        base = LOOKS.get(reading.estimator)
        if base and reading.method == reading.estimator:
            assert (look.color, look.marker) == (base.color, base.marker)
    for experiment in results.experiments:
        looks = [book.look(experiment.name, m) for m in experiment.entries]
        assert len(set(looks)) == len(looks)
    nine = [LOOKS[name] for name in LOOKS][:9]
    assert len({(look.color, look.marker) for look in nine}) == 9
    # Unknown methods get looks of their own; one never seen before is drawn plain.
    mine, other = (replace(known[0], method=m, estimator=m) for m in ("mine", "other"))
    book, place = StyleBook([mine, other]), mine.experiment
    assert book.look(place, "mine") != book.look(place, "other")
    assert book.look(place, "never seen").marker == "o"
