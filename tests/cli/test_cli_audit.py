import pandas as pd
import pytest
from click.testing import CliRunner
from helpers.made_results import entry, trial_row, write

import symmf.audit
from symmf.cli.audit import AVERAGES, audit
from symmf.errors import InputError


@pytest.fixture
def run():
    def call(*args):
        result = CliRunner().invoke(audit, [str(a) for a in args])
        if result.exception is not None and result.exit_code == 1:
            raise result.exception
        assert result.exit_code == 0, result.output
        return " ".join(result.output.split())

    return call


PAIR = ("--classes", "72,72", "--clusters", 2, "--ac", "0.975", "--nmi", "0.958")
SCORES = ("--ac", "0.5", "--nmi", "0.5")


def test_one_pair(run):
    text = run(*PAIR, "--average", "arithmetic")
    assert "0.975 0.958 arithmetic NMI <= 0.9344 +0.0231 impossible" in text
    assert "at mean AC 0.975 the mean NMI is at most 0.9344" in text
    assert "Possible explanations include" in text


def test_all_normalisations_and_the_weakest_claim_in_words(run):
    text = run(*PAIR)
    assert text.count("impossible") == 5
    assert "divided by the smaller entropy: at mean AC 0.975" in text


def test_a_possible_pair_needs_no_explanation(run):
    text = run("--classes", "72*10", "--ac", "0.674", "--nmi", "0.624", "--runs", "any")
    assert "possible" in text
    assert "does not make them likely" in text
    assert "Possible explanations" not in text


def test_accuracy_below_its_floor_is_one_line(run):
    text = run("--classes", "300*3", "--ac", "0.316", "--nmi", "0.296")
    assert "all AC >= 0.3333 +0.0168 impossible" in text
    assert text.count("impossible") == 1


def test_classes_drawn_from_a_pool(run):
    scores = ("--choose", 2, "--ac", "0.500", "--nmi", "0.151", "--average", "max")
    assert "impossible" in run("--classes", "30*2", *scores)
    assert "explicit tables" in run("--classes", "30*2 90", *scores)


def test_a_file_of_pairs(run, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(
        "name,classes,clusters,ac,nmi,runs\n"
        'first,"72, 72",2,0.975,0.958,10\n'
        "second,300 300 300,,0.316,0.296,\n"
    )
    text = run("--pairs", path, "--average", "max", "--out", tmp_path / "out")
    assert "first 0.975 0.958 max NMI <= 0.9311" in text
    assert "second 0.316 0.296 max AC >= 0.3333" in text
    written = pd.read_csv(tmp_path / "out" / "audit.csv")
    assert list(written["verdict"]) == ["impossible", "impossible"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--ac", "0.9"), "needs all of --classes, --ac and --nmi"),
        (("--clusters", "3"), "needs all of"),
        (("--classes", "x,2", "--ac", ".9", "--nmi", ".8"), "'x' under classes"),
        (("--classes", "5,5", "--ac", "90", "--nmi", ".8"), "not a percentage"),
        (("--classes", "5,5", "--ac", "a", "--nmi", ".8"), "'a' under ac"),
        (("--classes", "5", "--ac", ".9", "--nmi", ".8"), "at least two"),
        ((*SCORES, "--classes", f"{'9' * 400},5"), "samples in all"),
        ((*SCORES, "--classes", "3*1000000000"), "classes and"),
        ((*SCORES, "--classes", "10,10", "--runs", "1000000000"), "<= 10,000"),
        ((*PAIR, "--runs", "many"), "'many' under runs"),
        (("mine", *PAIR), "not several of them"),
    ],
)
def test_bad_input_is_a_sentence(run, args, message):
    with pytest.raises(InputError, match=message):
        run(*args)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("classes,ac\n5 5,0.9\n", r"lacks \['nmi'\]"),
        ("classes,ac,nmi,size\n", r"unknown columns \['size'\]"),
        ("classes,ac,nmi\n5 5,0.9,0.8\n5 5,1.9,0.8\n", "line 3: AC "),
        ("classes,ac,nmi\n", "holds no pairs"),
        ("", "not a CSV file in UTF-8"),
        (f"classes,ac,nmi\n{'1' * 200_000},0.9,0.8\n", "under classes is not a whole"),
        (f"classes,ac,{'n' * 200_000}\n", "lacks"),
        ("\xff", "not a CSV file in UTF-8"),
        ("classes,ac,nmi\n72,72,0.5,0.6\n", "need quotation marks"),
    ],
)
def test_bad_files_are_named_with_the_line(run, tmp_path, content, message):
    path = tmp_path / "pairs.csv"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(InputError, match=message) as caught:
        run("--pairs", path)
    assert len(str(caught.value)) < 1000
    with pytest.raises(InputError, match="not several of them"):
        run("--pairs", path, *PAIR)


def test_the_paper(run, tmp_path):
    out = tmp_path / "results"
    text = run("--average", "arithmetic", "--no-search", "--out", out)
    assert "35 of 108 pairs cannot be means of the same runs" in text
    assert "COIL-20, K = 2, Proposed 0.975 0.958 arithmetic NMI <= 0.9344" in text
    assert sorted(p.name for p in out.iterdir()) == [
        "audit.csv",
        "audit.md",
        "inputs.sha256",
        "witnesses.json",
    ]
    assert len(pd.read_csv(out / "audit.csv")) == 108
    before = (out / "audit.csv").stat().st_mtime_ns
    again = run("--average", "arithmetic", "--no-search", "--out", out)
    assert again == text.replace("Written to", "Unchanged, in")
    assert (out / "audit.csv").stat().st_mtime_ns == before
    fresh = run("--average", "arithmetic", "--no-search", "--out", out, "--fresh")
    assert fresh == text


def own_study(folder, values, **keys):
    e = entry("symmf")
    config = {"name": "mine", "dataset": "rings", "n_clusters": [2], "trials": 2,
              "methods": [e], "published": {"source": "A journal", "values": values},
              **keys}  # fmt: skip
    rows = [trial_row("mine", "rings", 2, t, e, 0.9) for t in range(2)]
    write(folder, config, rows, sizes=(144, 4, 2))


def test_published_pairs_of_a_study_of_ones_own(run, tmp_path):
    scores = {"Theirs": (0.975, 0.958), "Possible": (0.9, 0.6)}
    values = [
        {"method": name, "n_clusters": 2, "metric": metric, "value": value}
        for name, pair in scores.items()
        for metric, value in zip(("ac", "nmi"), pair, strict=True)
    ]
    values.append({"method": "Half", "n_clusters": 2, "metric": "ac", "value": 0.9})
    own_study(tmp_path, values)
    args = ("mine", "--results", tmp_path, "--average", "arithmetic")
    text = run(*args)
    # As for the first pair of the paper: two classes of 72.
    assert "mine, K = 2, Theirs 0.975 0.958 arithmetic NMI <= 0.9344 +0.0231" in text
    assert "1 of 2 pairs cannot be means of the same runs" in text
    folder = tmp_path / "verdicts" / "mine"
    assert "COIL-20" not in (folder / "audit.md").read_text()
    written = pd.read_csv(folder / "audit.csv")
    assert list(written["verdict"]) == ["impossible", "possible"]
    assert list(written["decimals"]) == [3, 1]
    assert "Unchanged, in" in run(*args)
    assert "9344" not in run(*args, "--decimals", 2)
    # Of several studies none writes over the files of another.
    run(*args, "--out", tmp_path / "out")
    assert (tmp_path / "out" / "mine" / "audit.csv").is_file()


def test_a_study_without_pairs_says_what_is_missing(run, tmp_path):
    value = {"method": "Theirs", "n_clusters": 2, "metric": "ac", "value": 0.9}
    own_study(tmp_path, [value])
    with pytest.raises(InputError, match="no method with both AC and NMI"):
        run("mine", "--results", tmp_path)


def test_the_command_knows_all_normalisations():
    assert AVERAGES == symmf.audit.AVERAGES
