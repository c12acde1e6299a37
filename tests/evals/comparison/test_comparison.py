"""Comparisons: pinned p-values, Holm over the endpoints, and no claim of equivalence without the cases for it."""

import numpy as np
import pytest

from evals.comparison.paired_comparison import TestedRule, compare, compare_family
from evals.models.suite import GatePolicy
from evals.scoring.route_scorers import State
from evals.statistics.paired_tests import SignFlip

POLICY = GatePolicy()


def compared(was, now, *, others=0, clusters=None, policy=POLICY):
    """The first comparison of endpoint `e` (and `others` unchanged ones) over cases named 0, 1, ..."""
    left, right = ({str(n): float(value) for n, value in enumerate(values)} for values in (now, was))
    endpoints = {"e": (left, right)} | {f"other{n}": (right, right) for n in range(others)}
    owners = clusters or {case: case for case in right}
    return compare({("v3", "v2"): endpoints}, owners, "reference", policy)[0]


def test_five_lost_cases_of_ten_are_a_regression():
    """One-sided exact McNemar: 1/2^5 = 0.03125."""
    item = compared([1] * 10, [0] * 5 + [1] * 5)

    assert item.p_value == pytest.approx(0.03125)
    assert item.verdict == "regression"
    assert item.broke == ("0", "1", "2", "3", "4")


def test_four_lost_cases_of_ten_are_not():
    """1/2^4 = 0.0625 is above alpha."""
    assert compared([1] * 10, [0] * 4 + [1] * 6).verdict == "inconclusive"


def test_metrics_in_which_nothing_changed_cost_the_others_nothing():
    """They could not be significant, so they raise no false alarm, and do not count (Tarone 1990)."""
    item = compared([1] * 10, [0] * 5 + [1] * 5, others=2)

    assert item.p_holm == pytest.approx(0.03125)
    assert item.verdict == "regression"


def test_more_is_asked_where_more_metrics_could_have_been_significant():
    """Two metrics moved in ten cases each, and could be below 0.05 / 2; five losses could not: 2 * 0.03125."""
    lost, moved = ({str(n): float(n >= 5) for n in range(10)}, {str(n): float(n < 5) for n in range(10)})
    endpoints = {"e": (lost, dict.fromkeys(lost, 1.0)), "f": (lost, moved), "g": (moved, lost)}
    item = compare({("v3", "v2"): endpoints}, {case: case for case in lost}, "reference", POLICY)[0]

    assert item.p_holm == pytest.approx(0.0625)
    assert item.verdict == "inconclusive"


def test_a_rule_is_adjusted_together_with_the_metrics():
    names, cases = ("v3", "v3 (baseline)"), [str(n) for n in range(10)]
    lost = {case: float(case >= "5") for case in cases}
    rule = TestedRule("e", "new hard violation")
    found = compare_family(
        {names: {"e": (lost, dict.fromkeys(cases, 1.0))}},
        {case: case for case in cases},
        "baseline",
        POLICY,
        rules={(names, rule): SignFlip(0.02, 1.0, 1 / 64)},
    )

    assert found.comparisons[0].p_holm == pytest.approx(0.04)
    assert found.rules[names, rule] == (pytest.approx(0.04), 2)


def test_gains_are_an_improvement_and_name_what_they_mended():
    item = compared([0] * 5 + [1] * 5, [1] * 10)

    assert (item.verdict, item.mended) == ("improvement", ("0", "1", "2", "3", "4"))


def test_pass_or_fail_of_pairs_that_move_together_is_tested_pair_by_pair():
    """Eight lost cases of sixteen in four pairs are four losses: 1/16, and not 1/256."""
    pairs = {str(n): str(n // 2) for n in range(16)}
    item = compared([1] * 16, [0] * 8 + [1] * 8, clusters=pairs)

    assert (item.p_value, item.verdict) == (pytest.approx(1 / 16), "inconclusive")


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("passing", [60, 76])
def test_a_drop_of_the_smallest_detectable_size_is_called_in_80_of_100_comparisons(size, passing):
    """Losses planted in 80 cases, each cluster independently, none gained; a third of that size mostly passes."""
    rng = np.random.default_rng(5)
    clusters = {str(n): str(n // size) for n in range(80)}
    was = [float(n < passing) for n in range(80)]
    drop = compared(was, was, others=2, clusters=clusters).minimum_detectable

    def called(share):
        red = 0
        for _ in range(200):
            lost = np.repeat(rng.random(80 // size) < share * 80 / passing, size)
            red += compared(was, np.where(lost, 0.0, was), others=2, clusters=clusters).verdict == "regression"
        return red / 200

    assert called(drop) >= 0.8 - 0.06
    assert called(drop / 3) < 0.5


def test_a_graded_drop_is_tested_by_flipping_signs():
    """Four cases, each half a point lower: of the 2^4 ways to choose the signs, one is as low: 1/16."""
    item = compared([0.75, 0.8, 0.9, 1.0], [0.25, 0.3, 0.4, 0.5])

    assert item.p_value == pytest.approx(1 / 16)


def test_twins_are_flipped_together():
    """The same four cases as two pairs: 2^2 ways, one as low: 1/4."""
    pairs = {"0": "a", "1": "a", "2": "b", "3": "b"}

    assert compared([0.75, 0.8, 0.9, 1.0], [0.25, 0.3, 0.4, 0.5], clusters=pairs).p_value == pytest.approx(1 / 4)


@pytest.mark.parametrize("value", [0, 0.5, 1])
def test_seven_unchanged_cases_do_not_show_equivalence(value):
    """95 % allow that 1 - 0.05^(1/7) = 35 % of all cases would have changed."""
    assert compared([value] * 7, [value] * 7).verdict == "inconclusive"


@pytest.mark.parametrize(("cases", "verdict"), [(58, "inconclusive"), (59, "equivalent within margin")])
def test_fifty_nine_unchanged_cases_show_equivalence_within_five_points(cases, verdict):
    """1 - 0.05^(1/n) falls below 0.05 at n = 59."""
    assert compared([1] * cases, [1] * cases).verdict == verdict


def test_cases_that_only_one_side_has_do_not_count():
    item = compare({("l", "r"): {"e": ({"a": 1.0, "b": 0.0}, {"b": 1.0, "c": 1.0})}}, {"b": "b"}, "reference", POLICY)[
        0
    ]

    assert (item.n, item.broke) == (1, ("b",))


def test_without_a_common_case_there_is_no_verdict():
    item = compare({("l", "r"): {"e": ({"a": 1.0}, {"b": 1.0})}}, {}, "reference", POLICY)[0]

    assert (item.n, item.delta, item.p_value, item.verdict) == (0, None, None, "cannot judge")


def test_the_same_values_give_the_same_interval():
    """The bootstrap is seeded: two runs of one suite must print the same numbers."""
    was, now = [0.2, 0.4, 0.6, 0.8, 1.0], [0.1, 0.5, 0.4, 0.8, 0.9]

    assert compared(was, now) == compared(was, now)


def test_more_variants_that_changed_make_each_finding_harder():
    """Six lost cases of six are p = 1/64: enough alone, not among four comparisons in which six cases changed."""
    lost = ({f"c{i}": 0.0 for i in range(6)}, {f"c{i}": 1.0 for i in range(6)})
    owners = {f"c{i}": f"c{i}" for i in range(6)}
    half = ({f"c{i}": float(i < 3) for i in range(6)}, {f"c{i}": float(i >= 3) for i in range(6)})

    alone = compare({("v3", "v3 (baseline)"): {"e": lost}}, owners, "baseline", POLICY)[0]
    among = compare(
        {("v3", "v3 (baseline)"): {"e": lost}, **{(f"w{i}", "b"): {"e": half} for i in range(3)}},
        owners,
        "baseline",
        POLICY,
    )[0]

    assert (alone.verdict, among.verdict) == ("regression", "inconclusive")


def states(*grades):
    """One case per (gold node, grade)."""
    return {State(f"case-{n}", "p", gold): grade for n, (gold, grade) in enumerate(grades)}


def compared_states(was, now, unknown=()):
    left, right = states(*now), states(*was)
    owners = {state.case_id: state.case_id for state in (*left, *right, *unknown)}
    key = ("v3", "v2")
    family = {key: {"decision.score": (left, right)}}
    return compare(family, owners, "reference", POLICY, {(key, "decision.score"): dict.fromkeys(unknown, 1.0)})[0]


def test_a_rare_gold_node_weighs_as_much_as_a_frequent_one():
    """The writer's only state is lost: half of the macro-average, a fifth of the states."""
    was = [("codebase_search", 1.0)] * 4 + [("writer", 1.0)]
    item = compared_states(was, [*was[:4], ("writer", 0.0)])

    assert item.delta == pytest.approx(-0.5)
    assert item.broke == ("case-4",)


def test_states_that_weigh_differently_are_tested_by_flipping_signs():
    """All five clusters fall: of 2^5 choices of signs one is as low, whatever the weights."""
    was = [("codebase_search", 1.0)] * 4 + [("writer", 1.0)]
    item = compared_states(was, [(gold, 0.0) for gold, _ in was])

    assert item.p_value == pytest.approx(1 / 32)


def test_two_states_of_one_case_are_no_two_trials_of_mcnemar():
    left, right = ({State("a", point, "writer"): value for point in "pqrst"} for value in (0.0, 1.0))
    (item,) = compare({("v3", "v2"): {"e": (left, right)}}, {"a": "a"}, "reference", POLICY)

    assert (item.n, item.p_value) == (1, 0.5)


def test_a_state_off_the_tape_bounds_the_difference():
    """Nothing changed in what is known; the writer's state is half of the whole."""
    known = [("codebase_search", 1.0)] * 3
    item = compared_states(known, known, unknown=[State("case-9", "p", "writer")])

    assert (item.delta, item.pessimistic, item.optimistic) == (0, pytest.approx(-0.5), pytest.approx(0.5))
    assert (item.n, item.of) == (3, 4)


@pytest.mark.parametrize(("gained", "fewest"), [(0, 5), (1, 7)])
def test_the_fewest_losses_that_would_count_are_told(gained, fewest):
    """Sign test at 0.05: 5 to 0, and 7 to 1."""
    assert compared([0] * gained + [1] * 15, [1] * 16 if gained else [1] * 15).fewest_losses == fewest


def test_graded_scores_have_no_number_of_losses():
    assert compared([0.5, 1], [0.5, 1]).fewest_losses is None


def test_no_loss_counts_where_too_few_cases_passed():
    """Five losses would count, and only four cases have anything to lose."""
    item = compared([1] * 4 + [0] * 6, [1] * 4 + [0] * 6)

    assert (item.fewest_losses, item.minimum_detectable) == (None, None)


def test_a_graded_score_that_did_not_move_could_have_been_seen_to_fall():
    """Five clusters must fall at 0.05; at 0.8^(1/5) each, all of five do with 80 % power. Each is worth one half."""
    item = compared([0.5] * 5, [0.5] * 5)

    assert item.minimum_detectable == pytest.approx(0.8**0.2 / 2, abs=0.001)


def test_a_drop_of_grades_that_all_move_a_little_is_called_in_80_of_100_comparisons():
    """New answers move every grade up or down: that is noise, and no sign that nothing could be seen."""
    rng = np.random.default_rng(5)
    seen = [compared(*rng.normal(0.7, 0.1, (2, 24))).minimum_detectable for _ in range(20)]
    drop = np.mean([each for each in seen if each is not None])

    assert None not in seen
    called = [compared(*rng.normal([[0.7], [0.7 - drop]], 0.1, (2, 24))).verdict == "regression" for _ in range(200)]
    assert 0.7 <= np.mean(called) <= 0.9
    assert compared(*rng.normal(0.7, 0.1, (2, 4))).minimum_detectable is None


def test_a_graded_score_at_nought_has_nothing_to_fall():
    assert compared([0.5, 0, 0, 0, 0], [0.5, 0, 0, 0, 0]).minimum_detectable is None
