"""What `evals bless` takes for a baseline, and what it says it kept."""

from evals.comparison.assemble_run import assemble
from evals.comparison.gate_input import new_violations
from evals.pipeline.bless_suite import holes, kept_trials
from tests.builders.facts import a_coverage, a_good_trace, some_cases, some_material, some_trials
from tests.builders.run import a_run, a_trial
from tests.builders.trace import an_answer


def test_a_variant_recorded_in_part_is_no_baseline():
    """The gate would say of the next run that it lost coverage it never had."""
    (said,) = holes(a_run(coverage={"v1": a_coverage(5, unrecorded=3), "v2": a_coverage(8)}))

    assert said.startswith("v1 is recorded in 5 of 8 trials")


def test_a_run_whose_verdict_needed_no_further_answer_is_no_baseline():
    cases = some_cases(40)
    names = [case.id for case in cases[:2]]
    open_points = {(name, "v3"): a_good_trace(name, "v3", points=(an_answer(chosen=None),)) for name in names}
    run = assemble(some_material(cases, some_trials(cases, open_points), baseline=None, wants_baseline=False))

    assert run.verdict.exit_code == 0
    assert holes(run) == ["v3 is recorded in 38 of 40 trials; record the rest, or take it out of the suite"]


def test_a_variant_nobody_recorded_has_nothing_to_lose():
    assert holes(a_run(coverage={"v1": a_coverage(0, unrecorded=8), "v2": a_coverage(8)})) == []


def test_only_what_is_on_the_tape_is_said_to_be_blessed():
    run = a_run(a_trial(), a_trial(), coverage={"v1": a_coverage(0, unrecorded=1), "v2": a_coverage(1)})

    assert kept_trials(run) == "1 of 2 trials (v1 0/1)"


def test_a_new_candidate_that_violates_more_hard_constraints_is_blessed_for_a_reason_only():
    good, bad = a_good_trace("case-0", "v2"), a_good_trace("case-0", "v3")
    trials = [a_trial(good), a_trial(bad, hard_violations=("P4",))]

    assert new_violations(trials, "v3", "v2") == [
        "v3 violates hard constraints that v2 does not in 1 case (P4 in case-0)"
    ]
    assert not new_violations(trials, "v2", "v3")
