"""Measures over real scorers: each by hand, and none without what it rests on."""

import pytest

from evals.comparison.assemble_run import measures
from evals.comparison.variant_metrics import VariantTrials
from tests.builders.case import a_case, a_point
from tests.builders.measure import some_evidence
from tests.builders.trace import a_report, a_trace, an_answer, an_exchange

WRONG = a_report("pkg/io.py", ("pkg/io.py",))


def measured(name: str, evidence: VariantTrials):
    (measuring,) = [each for each in measures() if each.info.name == name]
    return measuring.of(evidence)


def severities(*pairs):
    """One case per (labelled, reported) severity; None: off the tape."""
    cases = [a_case(f"c{n}", severity=label) for n, (label, _) in enumerate(pairs)]
    traces = [
        a_trace(case_id=f"c{n}", variant="v3", **({"report": a_report(severity=said)} if said else OFF))
        for n, (_, said) in enumerate(pairs)
    ]
    return some_evidence(cases, traces)


OFF = {"provenance": "frontier", "frontier": 1}


def test_kappa_is_one_where_every_severity_is_right():
    found = measured("severity.kappa", severities(("LOW", "LOW"), ("HIGH", "HIGH")))

    assert (found.value, found.n, found.of) == (1.0, 2, 2)


def test_a_trial_off_the_tape_is_counted_but_not_rated():
    found = measured("severity.kappa", severities(("LOW", "LOW"), ("HIGH", "HIGH"), ("HIGH", None)))

    assert (found.value, found.n, found.of) == (1.0, 2, 3)


def test_one_severity_throughout_has_no_kappa_and_says_why():
    found = measured("severity.kappa", severities(("HIGH", "HIGH"), ("HIGH", "HIGH")))

    assert (found.value, "chance cannot disagree" in found.why_not) == (None, True)


def test_a_severity_no_source_states_is_not_rated():
    """What stands in an imported case is a default."""
    case = a_case("c0", severity="LOW", tags=("unlabelled:severity",))

    assert measured("severity.kappa", some_evidence([case], [a_trace(case_id="c0", variant="v3")])).n == 0


def asking(*pairs):
    """One case per (policy, asked); asked None: off the tape."""
    cases = [a_case(f"c{n}", question=policy) for n, (policy, _) in enumerate(pairs)]
    traces = [
        a_trace(
            case_id=f"c{n}",
            variant="v3",
            exchanges=(an_exchange(),) if asked else (),
            **({} if asked is not None else OFF),
        )
        for n, (_, asked) in enumerate(pairs)
    ]
    return some_evidence(cases, traces)


def test_a_sample_off_the_tape_bounds_the_asking_of_its_case():
    """Asked where it is required in the one sample known, not asked where it is forbidden: recall is 1/2 to 1."""
    cases = [a_case("c0", question="required"), a_case("c1", question="forbidden")]
    traces = [
        a_trace(case_id="c0", variant="v3", exchanges=(an_exchange(),)),
        a_trace(case_id="c0", variant="v3", sample=1, **OFF),
        a_trace(case_id="c1", variant="v3"),
    ]

    found = measured("ask.balanced_accuracy", some_evidence(cases, traces))

    assert (found.value, found.n, found.of, found.pessimistic, found.optimistic) == (1.0, 2, 2, 0.75, 1.0)


@pytest.mark.parametrize("asks", [True, False])
def test_asking_always_and_never_are_worth_one_half(asks):
    evidence = asking(*[("required", asks)] * 1, *[("forbidden", asks)] * 5)

    assert measured("ask.balanced_accuracy", evidence).value == 0.5


def test_a_habit_seen_in_few_cases_is_not_taken_for_certain():
    """Never asked: one half each time it is drawn again, while eight cases say little."""
    found = measured("ask.balanced_accuracy", asking(*[("required", False)] * 2, *[("forbidden", False)] * 6))

    assert (round(found.low, 2), round(found.high, 2)) == (0.08, 0.92)


def test_balanced_accuracy_is_bounded_by_the_cases_off_the_tape():
    """Recall 1 of 1, of 2 with the rest: at worst (1/2 + 1) / 2, at best 1."""
    found = measured("ask.balanced_accuracy", asking(("required", True), ("required", None), ("forbidden", False)))

    assert (found.value, found.pessimistic, found.optimistic, found.n, found.of) == (1.0, 0.75, 1.0, 2, 3)


def test_a_case_where_asking_is_allowed_has_no_part_in_it():
    assert measured("ask.balanced_accuracy", asking(("required", True), ("allowed", None))).of == 1


def sure(*answers, variant="v3"):
    """One case per (confidence before the writer, right); right None: off the tape."""
    cases = [a_case(f"c{n}") for n in range(len(answers))]
    traces = [
        a_trace(
            case_id=f"c{n}",
            variant=variant,
            confidence=confidence,
            report=a_report() if right else WRONG,
            **({} if right is not None else OFF),
        )
        for n, (confidence, right) in enumerate(answers)
    ]
    return cases, traces


def test_the_share_right_when_sure_leaves_the_unsure_out():
    found = measured("confidence.right_when_sure", some_evidence(*sure((0.9, True), (0.85, False), (0.8, False))))

    assert (found.value, found.n, found.of) == (0.5, 2, 2)


def test_whoever_left_the_tape_may_have_been_sure_and_wrong_or_sure_and_right():
    found = measured("confidence.right_when_sure", some_evidence(*sure((0.9, True), (0.9, None))))

    assert (found.value, found.pessimistic, found.optimistic) == (1.0, 0.5, 1.0)


def test_the_coverage_of_being_sure_is_of_all_answers():
    assert measured("confidence.sure", some_evidence(*sure((0.9, True), (0.5, False)))).value == 0.5


def test_ece_stands_beside_what_chance_alone_gives():
    found = measured("confidence.ece", some_evidence(*sure((0.9, False), (0.9, False))))

    assert found.value == pytest.approx(0.9)
    assert found.null_low <= found.null_high < found.value


def test_paired_brier_is_the_difference_to_the_reference_on_the_same_trials():
    """0.1² against 0.9², and the case only one of them stated a confidence in is left out."""
    cases, now = sure((0.9, True), (0.9, True))
    _, was = sure((0.9, False), (0.9, None), variant="v2")

    found = measured("confidence.paired_brier", some_evidence(cases, [*now, *was]))

    assert (found.value, found.n, found.of) == (pytest.approx(0.01 - 0.81), 1, 2)


def test_pairs_of_which_either_side_is_off_the_tape_are_unknown():
    """Each side lost another case: two of three pairs are open, not one."""
    cases, now = sure((0.9, True), (0.9, None), (0.9, True))
    _, was = sure((0.9, False), (0.9, True), (0.9, None), variant="v2")

    found = measured("confidence.paired_brier", some_evidence(cases, [*now, *was]))

    assert (found.n, found.of) == (1, 3)
    assert (found.pessimistic, found.optimistic) == pytest.approx(((-0.8 + 2) / 3, (-0.8 - 2) / 3))


def test_equal_confidence_throughout_is_not_taken_for_certain():
    cases, now = sure((0.9, True), (0.7, True))
    _, was = sure((0.9, True), (0.7, True), variant="v2")

    found = measured("confidence.paired_brier", some_evidence(cases, [*now, *was]))

    assert (found.value, found.n) == (0.0, 2)
    assert (found.low, found.high) == pytest.approx((-0.69, 0.69), abs=0.01)


def test_the_reference_is_not_paired_with_itself():
    cases, traces = sure((0.9, True))

    assert (
        measured("confidence.paired_brier", some_evidence(cases, traces, reference="v3")).why_not
        == "this is the reference"
    )


def twins(*outcomes):
    """Pairs whose members were (right, right); None: off the tape."""
    cases = [a_case(f"{side}{n}", pair_id=f"pair-{n}") for n in range(len(outcomes)) for side in "ab"]
    traces = [
        a_trace(
            case_id=f"{side}{n}",
            variant="v3",
            report=a_report() if right else WRONG,
            **({} if right is not None else OFF),
        )
        for n, pair in enumerate(outcomes)
        for side, right in zip("ab", pair, strict=True)
    ]
    return some_evidence(cases, traces)


def test_twins_fare_alike_whether_both_are_right_or_both_wrong():
    found = measured("robustness.twins_root_cause", twins((True, True), (False, False), (True, False)))

    assert (found.value, found.n, found.of) == (pytest.approx(2 / 3), 3, 3)


def test_a_pair_with_one_twin_off_the_tape_is_open_both_ways():
    found = measured("robustness.twins_root_cause", twins((True, True), (True, None)))

    assert (found.value, found.n, found.of, found.pessimistic, found.optimistic) == (1.0, 1, 2, 0.5, 1.0)


def test_a_dataset_without_twins_says_so():
    found = measured("robustness.twins_route", some_evidence(*sure((0.9, True))))

    assert (found.value, found.why_not) == (None, "there are no metamorphic pairs among the cases")


def test_the_micro_average_counts_every_frozen_state_once():
    points = [a_point(f"p{n}", codebase_search=1.0) for n in range(3)] + [a_point("p3", writer=1.0)]
    answers = [an_answer(f"p{n}", "codebase_search") for n in range(4)]
    evidence = some_evidence([a_case("c0", points=points)], [a_trace(case_id="c0", variant="v3", points=answers)])

    assert measured("decision.micro", evidence).value == 0.75


def test_frozen_states_all_answered_rightly_are_not_taken_for_certain():
    """The mid-P interval of 2 of 2 cases, as for the headline."""
    cases = [a_case(f"c{n}", points=(a_point(),)) for n in range(2)]
    traces = [a_trace(case_id=f"c{n}", variant="v3", points=(an_answer(),)) for n in range(2)]

    found = measured("decision.micro", some_evidence(cases, traces))

    assert (found.value, found.low, found.high) == (1.0, pytest.approx(0.05**0.5), 1.0)


@pytest.mark.parametrize("measuring", measures(), ids=lambda measuring: measuring.info.name)
def test_nothing_on_the_tape_gives_no_value_and_a_reason(measuring):
    found = measuring.of(some_evidence([a_case("c0")], [a_trace(case_id="c0", variant="v3", **OFF)]))

    assert (found.value, found.n, bool(found.why_not)) == (None, 0, True)


@pytest.mark.parametrize("measuring", measures(), ids=lambda measuring: measuring.info.name)
def test_no_case_at_all_gives_no_value_and_a_reason(measuring):
    found = measuring.of(some_evidence([], []))

    assert (found.value, found.n, found.of, bool(found.why_not)) == (None, 0, 0, True)
