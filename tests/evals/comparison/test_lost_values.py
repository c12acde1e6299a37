"""Primary metrics that lose values though everything is recorded."""

from evals.comparison import metric_losses as told
from evals.comparison.assemble_run import assemble
from evals.models.metrics import Failed, Skipped
from tests.builders.facts import a_baseline, a_good_trace, some_cases, some_material, some_trials
from tests.builders.trace import an_answer


def lost_values(material):
    """Of trials that would be blessed as they are."""
    return told.lost_values(material, a_baseline(material.cases, material.trials))


WITHOUT_SAY = an_answer(say=False)


def without_say(*numbers, variants=("v3",)):
    """The plan leaves the supervisor no choice in these cases."""
    return {
        (f"case-{n}", name): a_good_trace(f"case-{n}", name, points=(WITHOUT_SAY,))
        for n in numbers
        for name in variants
    }


def material_of(changed=None, before=None, **fields):
    cases = some_cases()
    blessed = some_material(cases, some_trials(cases, before)).baseline
    return some_material(cases, some_trials(cases, changed), **{"baseline": blessed, **fields})


def without_score(material, variant, metric, outcome, *numbers):
    """The material with another outcome of a metric in some cases."""
    names = {f"case-{n}" for n in numbers}
    return [
        trial.model_copy(update={"outcomes": {**trial.outcomes, metric: outcome}})
        if trial.trace.variant == variant and trial.trace.case_id in names
        else trial
        for trial in material.trials
    ]


def test_a_metric_that_lost_all_its_values_cannot_be_judged():
    """No pair is left to compare, so nothing can fall."""
    verdict = assemble(material_of(without_say(*range(8), variants=("v2", "v3")))).verdict

    assert (verdict.exit_code, verdict.reasons[0].kind) == (3, "metric lost")
    assert "decision.score of v2 has a value for 0 of the 8 decision points" in verdict.sentence


def test_a_metric_that_lost_one_value_cannot_be_judged_either():
    verdict = assemble(material_of(without_say(4, variants=("v2", "v3")))).verdict

    assert (verdict.exit_code, verdict.reasons[0].kind) == (3, "metric lost")
    assert "has a value for 7 of the 8 decision points it had one for when it was blessed" in verdict.sentence
    assert "(case-4)" in verdict.sentence


def test_a_metric_per_case_is_counted_in_cases():
    before = material_of()
    trials = without_score(before, "v2", "root_cause.hit", Skipped(reason="none of its business"), 1, 2)

    (said,) = lost_values(some_material(before.cases, trials, baseline=before.baseline))
    assert said.startswith("root_cause.hit of v2 has a value for 6 of the 8 cases it had one for when it was blessed")


def test_without_a_baseline_the_candidate_must_have_what_the_reference_has():
    (said,) = lost_values(material_of(without_say(1), baseline=None, wants_baseline=False))

    assert said == "decision.score of v3 has a value for 7 of the 8 cases that v2 has one for (case-1)"


def test_a_metric_that_the_candidate_was_blessed_without_is_not_lost():
    changed = without_say(*range(8))

    assert lost_values(material_of(changed, before=changed)) == ()


def test_what_is_not_recorded_is_lost_coverage_and_no_lost_metric():
    changed = {("case-1", "v3"): a_good_trace("case-1", "v3", points=(an_answer(chosen=None),))}

    assert lost_values(material_of(changed)) == ()


def test_a_trial_off_the_recordings_lost_coverage_and_no_metric():
    changed = {("case-1", "v3"): a_good_trace("case-1", "v3", provenance="frontier", frontier=1)}

    assert lost_values(material_of(changed)) == ()


def test_a_scorer_that_failed_is_told_as_that():
    before = material_of()
    trials = without_score(before, "v3", "route.pass", Failed(error="boom"), 1)

    assert lost_values(some_material(before.cases, trials, baseline=before.baseline)) == ()


def test_a_case_that_must_pass_needs_a_root_cause_score_too():
    cases = some_cases(must_pass=True)
    material = some_material(cases, some_trials(cases))
    trials = without_score(material, "v3", "root_cause.hit", Skipped(reason="none of its business"), 1)

    verdict = assemble(some_material(cases, trials, baseline=None, wants_baseline=False)).verdict
    assert verdict.exit_code == 3
    assert "case-1 must pass, and v3 has no score for it" in {reason.text for reason in verdict.reasons}


def test_a_case_that_must_pass_needs_no_score_of_a_label_its_source_does_not_state():
    cases = some_cases(must_pass=True)
    material = some_material(cases, some_trials(cases))
    skipped = Skipped(reason="the case has no label gold")
    trials = without_score(material, "v3", "root_cause.hit", skipped, 1)
    trials = without_score(some_material(cases, trials), "v2", "root_cause.hit", skipped, 1)

    assert assemble(some_material(cases, trials)).verdict.exit_code == 0
