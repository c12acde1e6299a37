"""Hard constraints: one new violation is worse with the answers of the baseline, and a test decides with new ones."""

from dataclasses import replace

import pytest

from evals.comparison.comparison_pairs import compared
from evals.comparison.gate import decide
from evals.comparison.gate_input import facts_of
from evals.comparison.paired_comparison import replayed_cases
from evals.scoring.registry import score_trials, scorer_infos
from tests.builders.facts import a_baseline, a_variant, cassettes_of, some_cases, some_material, some_trials
from tests.builders.trace import a_call

CASES = some_cases(30)


def violated(trials, cases, variant="v3", rule="P4"):
    """The trials with a hard constraint violated by one variant in these cases."""
    return tuple(
        trial.model_copy(update={"hard_violations": (rule,)})
        if trial.trace.variant == variant and trial.trace.case_id in cases
        else trial
        for trial in trials
    )


def verdict_of(new, before=(), recorded="once", **fields):
    plain = some_trials(CASES)
    baseline = a_baseline(CASES, violated(plain, named(before)))
    material = some_material(
        CASES, violated(plain, named(new)), baseline=baseline, cassettes=cassettes_of(CASES, recorded), **fields
    )
    return decide(facts_of(material, baseline, compared(material, scorer_infos())))


def named(numbers):
    return {f"case-{number}" for number in numbers}


def test_one_new_violation_is_worse_where_the_answers_are_those_of_the_baseline():
    verdict = verdict_of([3])

    assert (verdict.exit_code, verdict.sentence) == (1, "Worse: v3 breaks P4 in case-3.")


def test_one_is_worse_where_the_graph_asks_no_model_so_that_there_is_no_cassette():
    plain = some_trials(CASES)
    baseline = a_baseline(CASES, plain).model_copy(update={"cassettes": {}})
    material = some_material(CASES, violated(plain, named([3])), baseline=baseline, cassettes={})

    assert decide(facts_of(material, baseline, compared(material, scorer_infos()))).exit_code == 1


def test_one_is_within_chance_where_a_model_was_asked_and_nobody_knows_whether_the_answers_are_the_same():
    plain = some_trials(CASES)
    asked = tuple(
        each.model_copy(update={"trace": each.trace.model_copy(update={"calls": (a_call(),)})}) for each in plain
    )
    baseline = a_baseline(CASES, asked).model_copy(update={"cassettes": {}})
    material = some_material(CASES, violated(asked, named([3])), baseline=baseline, cassettes={})

    assert decide(facts_of(material, baseline, compared(material, scorer_infos()))).exit_code == 0


def test_a_green_of_a_new_candidate_names_hard_constraints_that_the_reference_does_not_violate():
    plain = some_trials(CASES)
    both = violated(plain, named([4]), "v2")
    told = a_baseline(CASES, both)
    baseline = told.model_copy(update={"values": {"v2": told.values["v2"]}})
    trials = violated(both, named([3, 4]))
    material = some_material(CASES, trials, baseline=baseline)
    verdict = decide(facts_of(material, baseline, compared(material, scorer_infos())))

    assert "v3 violates hard constraints that v2 does not in 1 case (P4 in case-3)" in verdict.sentence


def test_it_is_within_chance_where_answers_were_recorded_anew_and_the_green_says_so():
    verdict = verdict_of([3], recorded="again")

    assert verdict.exit_code == 0
    assert (
        "v3 newly violates hard constraints in 1 case (P4 in case-3), within chance of newly recorded answers; 6 cases "
        "would be significant" in verdict.sentence
    )


@pytest.mark.parametrize(("new", "code"), [(4, 0), (5, 1)])
def test_five_new_violations_beside_nothing_else_that_changed_are_significant(new, code):
    """2^-5 = 0.031, and no other test of the gate could be significant: none counts."""
    assert verdict_of(range(new), recorded="again").exit_code == code


def test_a_significant_number_is_told_as_a_count_with_its_p_value():
    verdict = verdict_of(range(6), recorded="again")

    assert verdict.reasons[0].kind == "new hard violation"
    assert (
        "v3 newly violates hard constraints in 6 cases and no longer in 0 (p 0.016): P4 in case-0" in verdict.sentence
    )


def test_violations_that_ended_are_weighed_against_new_ones():
    assert verdict_of(range(5), before=range(10, 14), recorded="again").exit_code == 0


def test_an_edited_prompt_asks_for_answers_of_its_own():
    edited = (a_variant("v2"), a_variant("v3").model_copy(update={"prompt_digest": "edited"}))
    material = replace(some_material(CASES, some_trials(CASES)), variants=edited)

    assert replayed_cases(material, "v3") == frozenset()
    assert replayed_cases(material, "v2") == named(range(30))


def test_a_baseline_from_before_cassettes_were_kept_proves_no_replay():
    material = some_material(CASES, some_trials(CASES))
    old = material.baseline.model_copy(update={"cassettes": {}})

    assert replayed_cases(replace(material, baseline=old), "v3") == frozenset()


def test_a_violation_in_any_repeat_is_one_of_the_case():
    """The baseline kept the last repeat's alone, and forgot those of the others."""
    traces = [trial.trace for trial in some_trials(CASES[:1])]
    repeats = [trace.model_copy(update={"sample": sample}) for trace in traces for sample in range(2)]
    trials = score_trials({case.id: case for case in CASES}, repeats)
    first = [
        trial.model_copy(update={"hard_violations": ("P4",) if trial.trace.sample == 0 else ("P3",)})
        for trial in trials
    ]

    assert a_baseline(CASES[:1], first).hard_violations["v3"] == {"case-0": ("P4", "P3")}


def test_a_p_value_is_never_shown_as_zero():
    assert "no longer in 0 (p <0.001): P4 in case-0" in verdict_of(range(16), recorded="again").sentence
