from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from helpers.made_results import (
    PAPER_METHODS,
    entry,
    lambda_experiment,
    regularization_experiment,
    scored,
    table_experiment,
)
from helpers.made_traces import convergence_experiment, full

from symmf.errors import DataError
from symmf.reporting.results import load_results
from symmf.reporting.verdicts.claims import (
    CLAIMS,
    counts,
    ledger,
)
from symmf.reporting.verdicts.convergence import (
    adaptive_faster,
    algorithm1_faster,
    eigen_expensive,
    monotone,
)
from symmf.reporting.verdicts.decision import ClaimVerdict
from symmf.reporting.verdicts.regulariser import (
    gain_grows,
    lambda_depends,
    lambda_insensitive,
    regulariser_helps,
)
from symmf.reporting.verdicts.scores import (
    best_everywhere,
    improvement_significant,
    stable_over_clusters,
    worse_with_clusters,
)
from symmf.reporting.verdicts.write import write_ledger

PAPER_CELLS = {
    "coil20": (2, 10, 20),
    "cifar10": (3, 6, 10),
    "reuters21578": (2, 8, 15),
    "tdt2": (2, 10, 20),
}


def test_without_results_nothing_is_decided_and_every_claim_has_a_command(
    tmp_path: Path,
) -> None:
    decided = ledger(load_results(tmp_path))
    assert {each.verdict for each in decided} == {ClaimVerdict.CANNOT}
    commands = {each.claim.proved: each.decision.command for each in decided}
    assert commands[True] == "symmf audit --theory"
    assert commands[False].startswith("symmf run ")
    assert {each.decision.scope for each in decided} == {"not attempted"}
    assert len(decided) == len(CLAIMS) == len({each.claim.key for each in decided})


def test_the_ledger_on_partial_results(tmp_path: Path) -> None:
    results = load_results(full(tmp_path / "r"))
    decided = ledger(results)
    total = {kind: sum(counts(decided, proved=kind).values()) for kind in (True, False)}
    assert sum(total.values()) == len(CLAIMS)
    assert total[False] == sum(not claim.proved for claim in CLAIMS)
    assert all(len(each.decision.evidence) > 10 for each in decided)
    write_ledger(decided, tmp_path / "a")
    write_ledger(ledger(load_results(tmp_path / "r")), tmp_path / "b")
    for file in ("claims.csv", "claims.md"):
        assert (tmp_path / "a" / file).read_bytes() == (
            tmp_path / "b" / file
        ).read_bytes()


def test_best_everywhere_needs_all_cells_but_one_loss_is_enough(
    tmp_path: Path,
) -> None:
    for name, ks in PAPER_CELLS.items():
        table_experiment(tmp_path, name, name, ks, n_trials=5)
    results = load_results(tmp_path)
    decision = best_everywhere(results)
    assert decision.verdict in ("holds", "holds partly")
    assert "of 24 values" in decision.evidence
    partial = load_results(tmp_path, ["coil20"])
    won = best_everywhere(partial)
    assert won.verdict == ("holds partly" if won.details else "cannot be decided")
    assert "symmf run tdt2" in won.command


def test_the_proposed_method_last_does_not_hold(tmp_path: Path) -> None:
    methods = ("symmf", *PAPER_METHODS[:-1])
    table_experiment(tmp_path, methods=methods)
    results = load_results(tmp_path)
    decision = best_everywhere(results)
    assert decision.verdict == "does not hold"
    assert decision.details
    significant = improvement_significant(results)
    assert significant.verdict == "does not hold"
    assert "significantly worse in" in significant.evidence
    assert significant.evidence.startswith("Each on its authors' input: does not hold")
    assert worse_with_clusters(results).verdict == "cannot be decided"  # 1 data set
    assert stable_over_clusters(results).verdict in ClaimVerdict


@pytest.mark.parametrize(
    ("gain", "helps", "grows"),
    [
        (0.01, "holds", "holds"),
        (-0.01, "does not hold", "does not hold"),
    ],
)
def test_regulariser(tmp_path: Path, gain: float, helps: str, grows: str) -> None:
    regularization_experiment(tmp_path, gain=gain, n_trials=6)
    results = load_results(tmp_path)
    assert regulariser_helps(results).verdict == helps
    assert gain_grows(results).verdict == grows
    assert "paired trials" in regulariser_helps(results).details[0]


@pytest.mark.parametrize(
    ("slope", "verdict"), [(0.0, "cannot be decided"), (-0.3, "does not hold")]
)
def test_lambda(tmp_path: Path, slope: float, verdict: str) -> None:
    # Agreement on one of three panels decides nothing; a counterexample does.
    lambda_experiment(tmp_path, slope=slope)
    assert lambda_insensitive(load_results(tmp_path)).verdict == verdict


def test_lambda_holds_on_all_three_panels(tmp_path: Path) -> None:
    for name, dataset, k in (
        ("lambda", "coil20", 5),
        ("lambda_reuters21578", "reuters21578", 12),
        ("lambda_tdt2", "tdt2", 10),
    ):
        lambda_experiment(tmp_path, name, dataset, k, slope=0.0)
    decision = lambda_insensitive(load_results(tmp_path))
    assert decision.verdict == "holds"
    assert len(decision.details) == 6


def test_convergence_claims(tmp_path: Path) -> None:
    convergence_experiment(tmp_path)
    results = load_results(tmp_path)
    decision = algorithm1_faster(results)
    assert decision.verdict == "holds"
    assert sum("on the same problem" in text for text in decision.details) == 2
    # Newton needs fewer iterations but more seconds than Algorithm 2.
    adaptive = adaptive_faster(results)
    assert adaptive.verdict == "holds partly"
    assert adaptive.evidence == (
        "Comparisons in which it is faster: without constraint 5 of 6; on the same "
        "problem 5 of 6."
    )
    assert monotone(results).verdict == "holds"
    assert eigen_expensive(results).verdict == "cannot be decided"


def test_rises_are_counted(tmp_path: Path) -> None:
    convergence_experiment(tmp_path, rises=True)
    decision = monotone(load_results(tmp_path))
    assert decision.verdict == "does not hold"
    assert "6 rises" in decision.details[0]


def test_cost_of_the_closed_form(tmp_path: Path) -> None:
    table_experiment(tmp_path, n_trials=3)
    decision = eigen_expensive(load_results(tmp_path))
    assert decision.verdict == "does not hold"
    assert (
        "closed form 0.2 s, SymMF (run to convergence) 0.51 s" in (decision.details[0])
    )


def test_a_claim_is_decided_on_every_input_and_says_where_it_holds(
    tmp_path: Path,
) -> None:
    last_best = PAPER_METHODS  # scores rise along the list: ours is best
    ours_worst = ("symmf", *PAPER_METHODS[:-1])
    for name, ks in PAPER_CELLS.items():
        table_experiment(tmp_path, name, name, ks, ours_worst, n_trials=5)
        table_experiment(
            *(tmp_path, f"{name}_graph", name, ks, last_best),
            n_trials=40,
            role="equal_terms",
        )
    decision = best_everywhere(load_results(tmp_path))
    assert decision.verdict is ClaimVerdict.DOES_NOT_HOLD
    assert decision.equal_terms is ClaimVerdict.HOLDS
    main, graph = decision.evidence.split("; ")
    assert main.startswith(
        "Each on its authors' input: does not hold (highest mean for"
    )
    assert graph.startswith("all on the common graph: holds")
    details = decision.details
    assert all(
        text.startswith(("each on", "all on the common graph,")) for text in details
    )


def test_too_few_trials_decide_no_claim(tmp_path: Path) -> None:
    for name, ks in PAPER_CELLS.items():
        table_experiment(tmp_path, name, name, ks, n_trials=4)
    regularization_experiment(tmp_path, n_trials=4)
    lambda_experiment(tmp_path, n_trials=4)
    results = load_results(tmp_path)
    for decide in (
        best_everywhere,
        stable_over_clusters,
        worse_with_clusters,
        regulariser_helps,
        gain_grows,
        lambda_insensitive,
    ):
        assert decide(results).verdict is ClaimVerdict.CANNOT


def test_stability_compares_rows_with_the_same_k_only(tmp_path: Path) -> None:
    # Every rival misses the largest K, so nothing can be compared.
    skip = [(method, 20) for method in PAPER_METHODS[:-1]]
    table_experiment(tmp_path, n_trials=5, skip=skip)
    decision = stable_over_clusters(load_results(tmp_path))
    assert decision.verdict is ClaimVerdict.CANNOT
    assert "No data set was run at several K with other rows" in decision.evidence


def test_the_regulariser_is_judged_on_the_shared_graph_too(tmp_path: Path) -> None:
    regularization_experiment(tmp_path, gain=0.01, n_trials=6)
    e = entry("symmf", name="closed_form", label="Ours (closed form)", primary=True)

    def score(_e, _k, weight: float, t: int) -> float:
        return 0.8 - 0.1 * (weight > 0) + 0.001 * t

    asked = {"ks": (2, 10, 20), "weights": (0, 0.5), "n_trials": 6}
    scored(tmp_path, "coil20_graph", "equal_terms", [e], score, **asked)
    decision = regulariser_helps(load_results(tmp_path))
    assert decision.verdict is ClaimVerdict.HOLDS
    assert decision.equal_terms is ClaimVerdict.DOES_NOT_HOLD
    graph = "from -0.10 to -0.10 on the common graph"
    assert f"{graph}, where it holds for 0 of 1 pairs" in decision.evidence
    assert "(coil20_graph)" in decision.details[-1]


def test_a_solver_left_to_choose_is_not_taken_for_the_papers(tmp_path: Path) -> None:
    folder = convergence_experiment(tmp_path)
    before = monotone(load_results(tmp_path)).evidence
    path = folder / "trials.csv"
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    mine = frame["method"] == "algorithm2_nonnegative"
    frame.loc[mine, "parameters"] = '{"constraint": "nonnegative"}'
    frame.loc[mine, "solver"] = "projected_gradient"
    frame.to_csv(path, index=False)
    after = monotone(load_results(tmp_path)).evidence
    assert (before, after) == (
        "No rise in 4 of 4 entries.",
        "No rise in 3 of 3 entries.",
    )


def test_the_rule_is_stated_before_the_numbers(tmp_path: Path) -> None:
    table_experiment(tmp_path / "r", n_trials=5)
    write_ledger(ledger(load_results(tmp_path / "r")), tmp_path)
    for part in (tmp_path / "claims.md").read_text().split("## ")[1:]:
        assert 0 < part.index("- Rule: ") < part.index("- **Verdict in ")


def theory_row(item: str, failures: int, cases: int = 40) -> dict[str, object]:
    texts = {"statement": "It is so", "tried": "random problems", "measure": "excess"}
    numbers = {"failures": failures, "cases": cases, "worst": 0.5, "seconds": 0.1}
    return {"item": item, "verdict": "", **texts, **numbers}


def test_theorems_are_decided_by_the_stored_checks(tmp_path: Path) -> None:
    (tmp_path / "audit").mkdir()
    rows = [
        theory_row("Theorem 1", 0),
        theory_row("Proposition 1, as printed", 11),
        theory_row("Proposition 1, where it is used", 0),
        theory_row("Theorem 3, nonnegative", 0),
        theory_row("Theorem 3, signed_max", 5),  # no projection, so not the theorem's
        theory_row("Remark: indicator rows are K-means", 5),
        theory_row("Remark: indicator rows are K-means, unit rows", 0),
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "audit" / "theory.csv", index=False)
    found = {d.claim.key: d for d in ledger(load_results(tmp_path))}
    expected = {
        "theorem-1": "holds",
        "proposition-1": "does not hold",
        "theorem-3": "holds",
        "remark-k-means": "holds partly",
        "theorem-2": "cannot be decided",
    }
    assert {key: found[key].verdict for key in expected} == expected
    assert "11 of 40 cases fail" in found["proposition-1"].decision.evidence
    assert "where it is used" in found["proposition-1"].decision.details[1]


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "item,cases\nTheorem 1,x\n"])
def test_damaged_checks_are_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "audit" / "theory.csv"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(DataError, match=r"theory\.csv is damaged: .* --theory\."):
        ledger(load_results(tmp_path))


def test_the_objective_must_fall_in_the_checks_as_well(tmp_path: Path) -> None:
    convergence_experiment(tmp_path)
    assert monotone(load_results(tmp_path)).scope == "partial"
    (tmp_path / "audit").mkdir()
    row = theory_row("Algorithm 1 as printed, mu = 1, as released", 9)
    pd.DataFrame([row]).to_csv(tmp_path / "audit" / "theory.csv", index=False)
    decision = monotone(load_results(tmp_path))
    assert (decision.verdict, decision.scope) == ("holds partly", "complete")
    assert "never rises in 0 of 1 checks" in decision.evidence


@pytest.mark.parametrize(
    ("shift", "verdict"), [(True, "holds"), (False, "holds partly")]
)
def test_the_best_lambda_is_compared_between_data_sets(
    tmp_path: Path, shift: bool, verdict: str
) -> None:
    e = entry("symmf", label="SymMF")
    places = (("coil20", 5, 0.1), ("reuters21578", 12, 1.0), ("tdt2", 10, 10.0))
    for name, k, best in places:
        peak = best if shift or name == "tdt2" else 0.1

        def score(_e, _k, weight: float, t: int, peak=peak) -> float:
            return 0.5 + 0.1 * (weight == peak) + 0.01 * t

        asked = {"ks": (k,), "weights": (0.0, 0.1, 1.0, 10.0), "dataset": name}
        scored(tmp_path, f"lambda_{name}", "sensitivity", [e], score, **asked)
    decision = lambda_depends(load_results(tmp_path))
    assert decision.verdict == verdict
    assert "+0.100 (+0.100 to +0.100)" in decision.details[-1]
