"""What scripts/benchmark measures with: pairing, preparation, figures."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


def test_preparation_is_not_timed() -> None:
    from scripts.benchmarks.timing import alternate, ratios

    now = [0.0]

    def spend(seconds: float) -> None:
        now[0] += seconds

    def prepared():
        spend(100)
        return lambda: spend(3)

    tasks = {"ours": prepared, "theirs": lambda: spend(2)}
    frame = alternate(tasks, 5, clock=lambda: now[0])
    assert len(frame) == 10
    entry = ratios(frame, "ours", "theirs")
    assert entry["ratio"] == entry["ratio_low"] == entry["ratio_high"] == 1.5
    assert entry["seconds"] == 3


def test_ratios_pair_the_rounds() -> None:
    from scripts.benchmarks.timing import ratios

    rows = [("a", 0, 2.0), ("b", 0, 1.0), ("a", 1, 30.0), ("b", 1, 10.0)]
    frame = pd.DataFrame(rows, columns=["task", "round", "seconds"])
    entry = ratios(frame, "a", "b")
    assert (entry["ratio"], entry["ratio_low"], entry["ratio_high"]) == (2.5, 2, 3)


def test_figures_are_drawn_from_the_committed_tables(tmp_path: Path) -> None:
    from scripts.benchmarks.figures import DRAWN, draw_all

    folder = ROOT / "results" / "reference" / "benchmarks"
    tables = [folder / f"{name}.csv" for name in DRAWN]
    tables = [table for table in tables if table.exists()]
    for table in tables:
        shutil.copy(table, tmp_path)
        shutil.copy(table.with_suffix(".json"), tmp_path)
    draw_all(tmp_path)
    assert tables
    assert {path.stem for path in tmp_path.glob("*.png")} == {t.stem for t in tables}


def test_the_corpus_is_seeded_and_planted() -> None:
    from scripts.benchmarks.corpus import NONZEROS, corpus, sizes_up_to

    (X, y), (again, _) = corpus(300), corpus(300)
    assert (again != X).nnz == 0
    assert NONZEROS * 0.95 <= X.nnz / 300 <= NONZEROS
    # Two documents of a topic share words of its vocabulary more often.
    gram = (X @ X.T).toarray()
    same = y[:, None] == y
    np.fill_diagonal(same, False)
    assert gram[same].mean() > 3 * gram[y[:, None] != y].mean()
    assert sizes_up_to(1_000_000) == [10_000, 32_000, 101_000, 319_000, 1_000_000]


def test_quality_is_a_mean_over_the_sets_on_which_all_methods_have_a_score() -> None:
    from scripts.benchmarks.quality import OURS, picture, summary

    rows = [
        {"battery": battery, "set": name, "method": method, "ari": score, "ac": score}
        for battery in ("design", "unseen tables")
        for name, scores in {"a": (0.9, 0.5), "b": (0.8, 0.8), "c": (0.2, 0.6)}.items()
        for method, score in zip((OURS, "other"), scores, strict=True)
    ]
    design = {"battery": "design", "set": "d"}
    rows.append(design | {"method": OURS, "ari": 1.0, "ac": 1.0})
    rows.append(design | {"method": "other", "note": "more than 30 s"})
    table = summary(pd.DataFrame(rows))
    assert table["sets"].tolist() == [3, 3, 3, 3]
    design = table[table["battery"] == "design"].set_index("method")
    assert (design.loc["other", "wins"], design.loc["other", "losses"]) == (1, 1)
    assert design.loc["other", "gain"] == pytest.approx(0.0)
    assert design.loc["other", "gain_low"] < 0 < design.loc["other", "gain_high"]
    assert design.loc[OURS, "ari_mean"] == pytest.approx(1.9 / 3)
    assert len(picture(table).axes) == 2


def test_hdbscan_gets_the_setting_that_gives_the_number_of_clusters() -> None:
    from scripts.benchmarks.quality import hdbscan

    centres = np.repeat([[0, 0], [9, 0], [0, 9]], 30, axis=0)
    X = centres + np.random.default_rng(0).normal(size=(90, 2))
    assert hdbscan(X, 3).max() + 1 == 3
    # No setting finds so many: its default.
    assert len(hdbscan(X, 80)) == 90


def test_a_method_that_does_not_end_is_stopped() -> None:
    from scripts.benchmarks.timing import at_most

    with pytest.raises(TimeoutError, match=r"0\.05"), at_most(0.05):
        time.sleep(60)


def test_no_round_begins_after_the_budget() -> None:
    from scripts.benchmarks.timing import alternate

    assert len(alternate({"a": lambda: None}, 50, warm_up=False, budget=0)) == 1


def fit_rounds():
    """Two rounds of default threads, one of one thread."""
    from scripts.benchmarks.fits import PEER

    rows = [
        ("default", "symmf", 0, 1.0),
        ("default", "symmf", 1, 2.0),
        ("default", PEER, 0, 4.0),
        ("default", PEER, 1, 4.0),
        ("1", "symmf", 0, 0.5),
        ("1", PEER, 0, 1.0),
    ]
    columns = ["threads", "task", "round", "seconds"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(case="set (n=9, k=2)", load="idle", labels=frame["threads"])


def test_what_is_measured_again_replaces_what_was(tmp_path, monkeypatch) -> None:
    from scripts.benchmarks import timing

    monkeypatch.setattr(timing, "OUT", tmp_path)
    first = pd.DataFrame({"n": [1, 1, 2], "kind": ["a", "b", "a"], "s": [3, 3, 3]})
    timing.save("own", first, {"best": {"a": 1}}, keep=("kind", "n"))
    again = pd.DataFrame({"n": [1], "kind": ["a"], "s": [4]})
    table = timing.save("own", again, {"best": {"b": 2}}, keep=("kind", "n"))
    assert table.to_dict("split")["data"] == [[1, "b", 3], [2, "a", 3], [1, "a", 4]]
    assert json.loads((tmp_path / "own.json").read_text())["best"] == {"a": 1, "b": 2}
    other = timing.save("own", again, {}, keep=("case",))
    assert len(other) == 1


def test_fits_are_told_in_units_of_the_peer_with_the_same_threads() -> None:
    from scripts.benchmarks.fits import beside_peer

    table = beside_peer(fit_rounds()).set_index(["threads", "task"])
    assert table.loc[("default", "symmf"), "ratio"] == pytest.approx(0.375)
    assert table.loc[("default", "symmf"), "rounds"] == 2
    assert table.loc[("1", "symmf"), "ratio"] == 0.5


def test_default_threads_are_told_in_units_of_one() -> None:
    from scripts.benchmarks.fits import beside_one_thread

    table = beside_one_thread(fit_rounds()).set_index("method")
    assert table.loc["symmf", "ratio"] == 2
    assert not table.loc["symmf", "same_labels"]


def test_fits_are_timed_with_a_core_kept_busy() -> None:
    from scripts.benchmarks.fits import PEER, _time_fits, busy_core

    with busy_core():
        frame = _time_fits("digits", ("symmf", PEER, "KMeans"), 1, 60)
    assert frame["task"].tolist() == ["symmf", PEER, "KMeans"]
    assert (frame["seconds"] > 0).all()
    assert frame["labels"].nunique() == 3
    assert frame["case"].unique() == ["Digits (n=1797, k=10)"]


def test_growth_is_told_by_kind(tmp_path: Path) -> None:
    from scripts.benchmarks.corpus import COLUMNS, exponents, summary
    from scripts.benchmarks.figures import draw

    rows = [
        dict.fromkeys(COLUMNS, 1.0) | {"kind": kind, "n": n, "seconds": n**power}
        for kind, power in (("sparse", 1.0), ("dense", 2.0))
        for n in (10, 100)
        for _ in range(2)
    ]
    table = summary(pd.DataFrame(rows))
    assert exponents(table) == pytest.approx({"sparse": 1.0, "dense": 2.0})
    assert table["kind"].tolist() == ["sparse", "sparse", "dense", "dense"]
    table.to_csv(tmp_path / "scale.csv", index=False)
    draw(tmp_path, "scale")
    assert (tmp_path / "scale.png").stat().st_size > 0


def test_commands_are_timed_beside_a_bare_python(monkeypatch) -> None:
    from scripts.benchmarks import startup

    now = {"cpu": 0.0, "wall": 0.0}

    def spend(cpu: float) -> None:
        now["cpu"] += cpu
        now["wall"] += 2 * cpu

    monkeypatch.setattr(startup, "children_seconds", lambda: now["cpu"])
    monkeypatch.setattr(startup.time, "perf_counter", lambda: now["wall"])

    def prepared():
        spend(100)
        return lambda: spend(4)

    commands = {
        startup.BARE: lambda: spend(1),
        "symmf --help": prepared,
        "symmf status": lambda: spend(6),
        "symmf tables": lambda: spend(2.5),
        "symmf audit, again": lambda: spend(1),
        "import sklearn.cluster": lambda: spend(10),
        "import symmf": lambda: spend(12),
    }
    table = startup.measure(commands, 3).set_index("command")
    assert table["ratio"].tolist() == [4, 6, 2.5, 1, 10, 1.2]
    assert table["wall_seconds"].tolist() == [8, 12, 5, 2, 20, 24]
    # Start-up is judged by its ratio, reporting by its seconds.
    assert table["within"].tolist() == ["true", "false", "true", "", "", "true"]


def test_the_timed_commands_are_those_with_limits(tmp_path: Path) -> None:
    from scripts.benchmarks import startup

    names = {*startup.quick_commands(tmp_path), *startup.long_commands(tmp_path)}
    assert set(startup.LIMITS) <= names
    study = tmp_path / "study"
    (study / "one").mkdir(parents=True)
    (study / "one/experiment.yaml").write_text("")
    (study / "figures").mkdir()
    with startup.scratch(study) as folder:
        assert [path.name for path in (folder / "results").iterdir()] == ["one"]
    assert not folder.exists()


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("startup", {"command": "a"}),
        ("scale_dask", {"kind": "a"}),
        ("threads", {"method": "a", "case": "b", "load": "idle"}),
        ("fits", {"task": "a", "case": "b", "load": "busy", "threads": "1"}),
        ("solvers", {"problem": "a"}),
    ],
)
def test_ratios_of_every_kind_are_drawn(
    tmp_path: Path, name: str, more: dict[str, str]
) -> None:
    from scripts.benchmarks.figures import draw

    row = {"ratio": 2.0, "ratio_low": 1.5, "ratio_high": 3.0, "n": 10_000}
    pd.DataFrame([row | more]).to_csv(tmp_path / f"{name}.csv", index=False)
    draw(tmp_path, name)
    assert (tmp_path / f"{name}.png").stat().st_size > 0


def test_sets_that_were_never_used_in_design_have_rows_and_classes():
    from scripts.benchmarks.unseen import SHAPES

    for draw in SHAPES.values():
        X, y = draw(np.random.default_rng(0))
        assert len(X) == len(y)
        assert np.isfinite(X).all()
        assert len(np.unique(y)) >= 2


def test_verdicts_are_counted_by_kind_of_data():
    from scripts.benchmarks.evidence import picture, verdicts

    table = verdicts(1)
    counts = table.set_index(["group", "data"])[["none", "weak", "clear"]]
    assert (counts.sum(axis=1) == 1).all()
    assert counts.loc[("two groups", "8 deviations apart"), "clear"] == 1
    assert counts.loc[("no clusters", "normal"), "none"] == 1
    assert picture(table).axes


def test_only_partitions_that_can_be_found_are_counted():
    from scripts.benchmarks.evidence import partitions

    rows = [("design", "clear", 0.9), ("design", "none", 0.8), ("design", "none", 0.4)]
    counts = partitions(pd.DataFrame(rows, columns=["battery", "verdict", "ari"]))
    assert counts == {"design": {"clear": 1, "none": 1}}


def test_rules_are_counted_by_how_many_agree():
    from scripts.benchmarks.evidence import hit_rates

    rows = [("design", 3, 3, 4), ("design", 3, 2, 1), ("unseen", 2, 2, 4)]
    columns = ["battery", "classes", "score", "agree"]
    table = pd.DataFrame(rows, columns=columns).assign(silhouette=3, eigengap=2)
    rates = hit_rates(table)
    assert rates["design"]["by_agreement"]["4"] == {"right": 1, "sets": 1}
    assert rates["design"]["by_agreement"]["fewer"] == {"right": 0, "sets": 1}
    assert (rates["design"]["score"], rates["unseen"]["score"]) == (0.5, 1.0)


def race_runs():
    """Four solvers on one problem: fast, nearly as fast, slow, and one not there."""
    from scripts.benchmarks.race import CANDIDATE, LOW_RANK, MOMENTUM

    times = {CANDIDATE: 1.0, LOW_RANK: 1.4, MOMENTUM: 7.0, "d": np.nan}
    rows = []
    for threads in (1, "default"):
        for solver, seconds in times.items():
            row = {"problem": "p", "n": 9, "k": 2, "solver": solver, "threads": threads}
            row["auto"] = False
            for target in (1.01, 1.001):
                row |= {
                    f"seconds_{target}": seconds,
                    f"products_{target}": 10 / seconds,
                }
                row |= {f"iterations_{target}": 5}
            rows += [row | {"start": start, "least": 1.0} for start in range(2)]
    return pd.DataFrame(rows)


def test_the_race_names_the_fastest_and_who_is_near(tmp_path) -> None:
    from scripts.benchmarks import race
    from scripts.docs_benchmarks import decision_table, race_table

    table = race.summary(race_runs())
    table.to_csv(tmp_path / "race.csv", index=False)
    assert race_table(tmp_path).splitlines()[2] == f"| {race.CANDIDATE} | 1 |"
    line = decision_table(tmp_path).splitlines()[2]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    near = f"{race.CANDIDATE} (1), {race.LOW_RANK} (1.4)"
    assert cells == ["p", near, near, f"{race.MOMENTUM} (1.4)"]
    ratios = race.profile(table[table["threads"] == 1])
    assert ratios[race.LOW_RANK].tolist() == [1.4]
    names = {
        text.get_text() for axis in race.picture(table).axes for text in axis.texts
    }
    assert names == {*ratios.columns}


def test_the_race_decides_by_what_it_measured() -> None:
    from scripts.benchmarks import race

    table = race.summary(race_runs())
    candidate, applies, elsewhere = race.decisions(table)
    assert "fastest on 1 of 1 problems" in candidate
    assert candidate.endswith(" 1.00), worth an option.")
    assert applies.endswith("nowhere.")
    assert elsewhere.endswith("p 0.20.")
    table["solver"] = table["solver"].replace(
        {race.CANDIDATE: "d", "d": race.CANDIDATE}
    )
    assert race.decisions(table)[0].endswith("not worth an option.")


def test_the_race_counts_products_from_the_same_start() -> None:
    from scripts.benchmarks import race
    from symmf.similarity import as_operator

    M = as_operator(race._planted(40, 3))
    solvers = race.contestants()
    names = ("projected gradient", "low rank, then momentum", "bsum")
    runs = [race.race(M, 3, solvers[name], 0, 0.05) for name in names]
    assert runs[0]["f"].iloc[0] == pytest.approx(runs[2]["f"].iloc[0])
    for run in runs:
        assert (np.diff(run["products"]) >= 0).all()
        assert (np.diff(run["seconds"]) >= 0).all()
