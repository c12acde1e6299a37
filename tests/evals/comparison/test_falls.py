"""Large falls of metrics that decide nothing: named in a green sentence, listed below it."""

from evals.comparison import metric_losses as told
from evals.comparison.assemble_run import assemble
from tests.builders.facts import a_baseline, a_good_trace, some_cases, some_material, some_trials
from tests.builders.trace import a_report

CASES = some_cases(40)


def falls(material):
    """Of trials that would be blessed as they are."""
    return told.falls(material, a_baseline(material.cases, material.trials))


LOW = a_report(severity="LOW")


def changed(numbers, variants=("v2", "v3"), **fields):
    return {
        (f"case-{n}", variant): a_good_trace(f"case-{n}", variant, **fields) for n in numbers for variant in variants
    }


def material_of(now, before=None, cases=CASES, **fields):
    baseline = a_baseline(cases, some_trials(cases, before))
    return some_material(cases, some_trials(cases, now), **{"baseline": baseline, **fields})


def test_a_fall_in_code_that_all_variants_share_is_named_in_the_green_sentence():
    """Every report says LOW: no primary metric knows."""
    verdict = assemble(material_of(changed(range(40), report=LOW))).verdict

    assert verdict.exit_code == 0
    assert (
        "outside the primary metrics, severity.exact fell from 100 % to 0 % (v2), 100 % to 0 % (v3) over 40 cases "
        "since the baseline (and 2 more)"
    ) in verdict.sentence
    assert [reason.text.partition(" from")[0] for reason in verdict.reasons] == [
        "outside the primary metrics: severity.exact fell",
        "outside the primary metrics: severity.within_one fell",
        "outside the primary metrics: severity.under_triage rose",
    ]


def test_a_fall_of_the_candidate_against_the_reference_is_named_too():
    said = falls(material_of(changed(range(40), ("v3",), report=LOW), baseline=None))

    assert said[0] == "severity.exact fell from 100 % to 0 % (v3) over 40 cases against v2"


def test_a_fall_below_ten_points_is_not_told():
    assert falls(material_of(changed(range(3), report=LOW))) == ()


def test_a_fall_that_chance_may_explain_is_not_told():
    """Six of 40 fell and five rose elsewhere: many metrics are looked at, one of them always moves."""
    was = changed(range(2), report=LOW)
    now = changed(range(2, 8), report=LOW)

    assert falls(material_of(now, before=was)) == ()


def test_what_rises_is_no_fall():
    assert falls(material_of({}, before=changed(range(40), report=LOW))) == ()


def test_in_a_suite_too_small_for_a_test_every_large_fall_against_the_baseline_is_told():
    cases = some_cases(2)
    said = falls(material_of(changed(range(1), report=LOW), cases=cases))

    assert said[0] == (
        "severity.exact fell from 100 % to 50 % (v2), 100 % to 50 % (v3) over 2 cases since the baseline "
        "(too few cases for a test)"
    )


def test_a_comment_that_says_nothing_is_told():
    told = "An index is off by one in the core, as far as it goes."
    good, bad = changed(range(40), comment=told), changed(range(40), comment="ok")

    assert falls(material_of(bad, before=good))[0].startswith("comment.cause fell from 100 % to 0 % (v2)")


def test_a_metric_without_any_value_left_is_told():
    cases = some_cases(40, canary="PWNED")
    plain = [case.model_copy(update={"labels": case.labels.model_copy(update={"canary": None})}) for case in cases]
    baseline = a_baseline(cases, some_trials(cases))

    said = falls(some_material(cases, some_trials(plain), baseline=baseline))
    assert said == ("robustness.canary of v2, v3 has no value any more; it had one for 40 cases",)


def test_a_red_verdict_lists_what_made_it_red_and_no_other_fall():
    wrong = a_report("pkg/io.py", ("pkg/io.py",), severity="LOW")
    verdict = assemble(material_of(changed(range(40), report=wrong))).verdict

    assert verdict.exit_code == 1
    assert not any("outside the primary metrics" in reason.text for reason in verdict.reasons)
