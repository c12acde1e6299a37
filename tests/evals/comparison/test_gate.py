"""The gate: which facts give which exit code. Each rule is shown to bite, with everything else in order."""

import numpy as np
import pytest

from evals.comparison.gate import decide
from evals.comparison.paired_comparison import compare
from evals.models.suite import GatePolicy
from tests.builders.facts import a_comparison, a_coverage, some_facts

BASELINE = {"against": "baseline", "right": "v3 (baseline)"}
UNJUDGEABLE = {
    "no case": ({"coverage": {}}, "nothing to judge"),
    "no trial": ({"coverage": {"v3": a_coverage(0), "v2": a_coverage()}}, "nothing to judge"),
    "nothing recorded": (
        {"coverage": {"v3": a_coverage(0, unrecorded=10), "v2": a_coverage(0, unrecorded=10)}},
        "nothing to judge",
    ),
    "no pair scored": ({"judged": (a_comparison(n=0, verdict="cannot judge"),)}, "nothing to judge"),
    "only the baseline compares": ({"judged": (a_comparison(**BASELINE),)}, "nothing to judge"),
    "scorer failed": ({"failures": ("scorer route.pass failed: boom",)}, "failed"),
    "trial failed": ({"coverage": {"v3": a_coverage(9, failed=1), "v2": a_coverage()}}, "coverage too low"),
    "miss swallowed": ({"coverage": {"v3": a_coverage(9, frontier=1), "v2": a_coverage()}}, "coverage too low"),
    "reference off the tape": (
        {"coverage": {"v3": a_coverage(), "v2": a_coverage(9, unrecorded=1)}},
        "coverage too low",
    ),
    "reference missing": ({"coverage": {"v3": a_coverage()}}, "coverage too low"),
    "points unanswered": ({"unanswered": {"v3": (1, 10)}}, "coverage too low"),
    "must-pass case off the tape": ({"must_pass_unknown": ("case-1",)}, "coverage too low"),
    "blessed variant off the tape": (
        {
            "coverage": {"v3": a_coverage(), "v2": a_coverage(), "v1": a_coverage(0, unrecorded=10)},
            "blessed": ("v1",),
        },
        "coverage too low",
    ),
    "partial run": ({"partial": ("only case-1 was run (--case)",)}, "partial run"),
    "not comparable": ({"incomparable": ("the scorers have changed",)}, "not comparable"),
    "no baseline": ({"missing_baseline": ("no baseline yet",)}, "no baseline"),
    "equivalence required": ({"policy": GatePolicy(require="equivalence")}, "equivalence not shown"),
}
WORSE = {
    "must-pass broken": {"must_pass_broken": ("case-1 must pass",)},
    "new hard violation": {"new_violations": ("v3 breaks P4 in case-1",)},
    "canary leaked": {"leaks": ("the canary of case-1 reached an output",)},
    "slice collapsed": {"collapsed": ("route.pass of v3 against v2: of the 3 cases of race that passed, none does",)},
    "regression": {"judged": (a_comparison(verdict="regression", delta=-0.5, p_holm=0.01),)},
}


def test_all_recorded_and_nothing_worse_is_green():
    """The ground the other tests stand on: without it every one of them could pass by chance."""
    verdict = decide(some_facts())

    assert (verdict.exit_code, verdict.status, verdict.reasons) == (0, "not worse", ())


@pytest.mark.parametrize(("fields", "kind"), UNJUDGEABLE.values(), ids=UNJUDGEABLE.keys())
def test_what_cannot_be_judged_is_three_and_says_why(fields, kind):
    verdict = decide(some_facts(**fields))

    assert verdict.exit_code == 3
    assert kind in {reason.kind for reason in verdict.reasons}


@pytest.mark.parametrize("kind", WORSE)
def test_what_is_worse_is_one_and_says_why(kind):
    verdict = decide(some_facts(**WORSE[kind]))

    assert (verdict.exit_code, [reason.kind for reason in verdict.reasons]) == (1, [kind])


def test_a_regression_against_the_baseline_counts_as_much():
    """Every variant is held against its own past, the reference as well."""
    past = a_comparison(left="v2", right="v2 (baseline)", against="baseline", verdict="regression", delta=-0.5)

    assert decide(some_facts(a_comparison(), past)).exit_code == 1


def test_a_doubtful_run_is_not_called_worse():
    """Trust comes first: a regression over a hole in the tape is 3, and both are told."""
    verdict = decide(some_facts(a_comparison(verdict="regression", delta=-0.5), failures=("boom",)))

    assert verdict.exit_code == 3
    assert {"failed", "regression"} <= {reason.kind for reason in verdict.reasons}


def test_what_a_coverage_floor_allows_is_green():
    coverage = {"v3": a_coverage(9, frontier=1), "v2": a_coverage()}

    assert decide(some_facts(policy=GatePolicy(coverage_floor=0.9), coverage=coverage)).exit_code == 0


def test_a_lost_coverage_names_variant_number_and_command():
    coverage = {"v3": a_coverage(8, frontier=2), "v2": a_coverage()}

    sentence = decide(some_facts(coverage=coverage)).sentence

    assert "v3 lost coverage in 2 of 10 trials" in sentence
    assert "make record SUITE=prompts" in sentence


@pytest.mark.parametrize("verdict", ["equivalent within margin", "improvement"])
def test_equivalence_is_satisfied_by_what_shows_it(verdict):
    facts = some_facts(a_comparison(verdict=verdict), policy=GatePolicy(require="equivalence"))

    assert decide(facts).exit_code == 0


def test_a_green_names_the_largest_of_the_smallest_detectable_drops_rounded_up():
    """Of all metrics, whatever is said of them: a drop of that size in any of them is detected."""
    told = (
        a_comparison(minimum_detectable=0.31),
        a_comparison("root_cause.hit", minimum_detectable=0.411, verdict="equivalent within margin"),
        a_comparison("decision.score", minimum_detectable=0.05, verdict="improvement", delta=0.2),
    )

    assert "; smallest detectable drop: 42 points (root_cause.hit)." in decide(some_facts(*told)).sentence


def test_a_green_names_metrics_of_which_no_drop_would_be_detected():
    told = (a_comparison(minimum_detectable=None), a_comparison("decision.score", minimum_detectable=0.31))

    assert decide(some_facts(*told)).sentence == (
        "v3 is not shown to be worse than v2 over 10 cases; route.pass and decision.score: no significant change; "
        "smallest detectable drop: 31 points (decision.score); no drop of route.pass would be detected."
    )


def test_a_green_claims_for_each_metric_what_was_shown_and_no_more():
    """It said "not worse elsewhere" beside a metric that was inconclusive."""
    told = (
        a_comparison(verdict="improvement", delta=0.09, low=0.03, high=0.16),
        a_comparison("root_cause.hit", verdict="equivalent within margin"),
        a_comparison("decision.score", delta=-0.01, low=-0.05, high=0.02),
    )

    assert decide(some_facts(*told)).sentence == (
        "v3 is better than v2 over 10 cases; route.pass +9 points (95 % interval +3 to +16); root_cause.hit: "
        "equivalent within 5 points; decision.score: no significant change; smallest detectable drop: 42 points "
        "(route.pass)."
    )


def test_a_green_names_what_chance_may_explain():
    verdict = decide(some_facts(within_chance=("v3 newly violates hard constraints in 1 case",)))

    assert (verdict.exit_code, "; v3 newly violates hard constraints in 1 case." in verdict.sentence) == (0, True)


@pytest.mark.parametrize("seed", range(30))
def test_what_a_green_claims_holds_for_generated_comparisons(seed):
    """Each metric stands in one clause, and the drop is no smaller than any metric's smallest detectable one."""
    rng = np.random.default_rng(seed)
    names = ["route.pass", "root_cause.hit", "decision.score"]
    owners = {str(n): str(n // 2 if n < 10 else n) for n in range(60)}
    was = {name: {case: float(rng.random() < 0.8) for case in owners} for name in names}
    now = {
        name: {case: float(rng.random() < 0.97) if rng.random() < seed / 60 else v for case, v in values.items()}
        for name, values in was.items()
    }
    told = compare({("v3", "v2"): {name: (now[name], was[name]) for name in names}}, owners, "reference", GatePolicy())
    verdict = decide(some_facts(*told))
    if verdict.exit_code:
        assert "regression" in {item.verdict for item in told}
        return
    clauses = verdict.sentence.removesuffix(".").split("; ")
    (drop,) = [clause for clause in clauses if clause.startswith("smallest detectable drop: ")]

    for item in told:
        (clause,) = [text for text in clauses if item.endpoint in text and text != drop][:1]
        expected = {"improvement": "points (95", "equivalent within margin": "equivalent", "inconclusive": "no signif"}
        assert expected[item.verdict] in clause
        assert item.minimum_detectable * 100 <= int(drop.split()[3]) + 1e-6
        assert item.verdict != "improvement" or item.p_holm <= 0.05
    assert clauses[0].startswith(
        "v3 is better than" if "improvement" in {item.verdict for item in told} else "v3 is not shown to be worse"
    )


def test_a_green_sentence_does_not_keep_quiet_about_a_drop_that_chance_may_explain():
    fell = a_comparison("decision.score", delta=-0.41, low=-0.55, high=-0.05, p_holm=0.09375)

    said = decide(some_facts(a_comparison(), fell))
    assert said.exit_code == 0
    assert said.sentence.endswith("; decision.score -41 points [-55, -5] over 10 cases is not significant (p 0.09).")


def fallen(name="v3", **fields):
    return a_comparison(left=name, right=f"{name} (baseline)", against="baseline", delta=-0.1, p_holm=0.5, **fields)


def test_a_green_sentence_names_every_fall_against_a_baseline():
    """Also a small one, and one of a variant that is not judged: unless something changed, nothing falls there."""
    judged = (a_comparison(), fallen("v2"), fallen(verdict="equivalent within margin"))
    verdict = decide(some_facts(*judged))

    assert verdict.exit_code == 0
    assert "; v2 against its baseline: route.pass -10 points" in verdict.sentence
    assert "; v3 against its baseline: route.pass -10 points" in verdict.sentence


def test_a_fall_that_nothing_could_have_shown_to_be_significant_is_no_green():
    verdict = decide(some_facts(a_comparison(), fallen(minimum_detectable=None)))

    assert (verdict.exit_code, verdict.reasons[0].kind) == (3, "cannot be weighed")


def test_a_fall_that_cannot_be_weighed_does_not_hide_what_is_worse():
    worse = a_comparison("root_cause.hit", verdict="regression", delta=-0.8)

    assert decide(some_facts(worse, fallen(minimum_detectable=None))).exit_code == 1


def test_a_green_says_why_no_baseline_was_looked_at():
    assert "not compared with the baseline: --samples 3" in decide(some_facts(unblessed=("--samples 3",))).sentence


def test_a_collapsed_slice_stands_behind_the_number_of_a_regression():
    item = a_comparison(verdict="regression", delta=-0.5)

    assert decide(some_facts(item, collapsed=("of the 3 cases",))).sentence.startswith(
        "v3 is worse than v2: route.pass"
    )


@pytest.mark.parametrize(
    ("judged", "rests_on"),
    [
        ((a_comparison(), a_comparison("root_cause.hit")), "over 10 cases;"),
        ((a_comparison(n=3), a_comparison("root_cause.hit")), "over 3 to 10 cases;"),
        (
            (a_comparison(), a_comparison("decision.score", n=0, delta=None, verdict="cannot judge")),
            "in decision.score;",
        ),
    ],
)
def test_a_green_sentence_does_not_lend_one_endpoints_cases_to_another(judged, rests_on):
    assert rests_on in decide(some_facts(*judged)).sentence


def test_a_note_decides_nothing():
    verdict = decide(some_facts(notes=("known since the baseline",)))

    assert (verdict.exit_code, [reason.kind for reason in verdict.reasons]) == (0, ["note"])


def test_a_red_sentence_says_who_by_how_much_and_where_it_went_wrong():
    lost = a_comparison(
        verdict="regression",
        n=64,
        delta=-0.11,
        low=-0.19,
        high=-0.04,
        broke=tuple(f"c{n}" for n in range(7)),
        mended=("c8",),
        divergence="5 of 7 losses: critic skipped",
    )

    assert decide(some_facts(lost)).sentence == (
        "v3 is worse than v2: route.pass -11 points [-19, -4] over 64 cases, 7 worse, 1 better; "
        "5 of 7 losses: critic skipped."
    )


def test_a_small_fall_of_a_green_is_no_zero_and_what_its_cases_have_in_common_is_left_out():
    fall = a_comparison(
        against="baseline",
        right="v3 (baseline)",
        delta=-0.004,
        low=-0.1,
        high=0.1,
        broke=("a",),
        mended=("b",),
        divergence="so it is",
    )
    said = decide(some_facts(a_comparison(), fall)).sentence

    assert "v3 against its baseline: route.pass -0.4 points [-10, +10] over 10 cases, 1 worse, 1 better is not" in said
