"""A stored run gives the verdict it gave, unless the baseline or the policy is another."""

import pytest

from evals.comparison.assemble_run import assemble, decide_again
from evals.models.run import Run
from evals.models.suite import GatePolicy
from tests.builders.facts import a_good_trace, some_cases, some_material, some_trials
from tests.builders.trace import a_report

WRONG = a_report("pkg/io.py", ("pkg/io.py",))
CHANGES = {
    "unchanged": {},
    "worse": {(f"case-{n}", "v3"): a_good_trace(f"case-{n}", "v3", report=WRONG) for n in range(8)},
    "off the tape": {("case-0", "v3"): a_good_trace("case-0", "v3", provenance="frontier", frontier=1)},
}


def stored(changed=None, **fields):
    """(the run as it would be read back from run.json, the baseline it was judged against)"""
    cases = some_cases(must_pass=fields.pop("must_pass", False))
    blessed = some_material(cases, some_trials(cases)).baseline
    run = assemble(some_material(cases, some_trials(cases, changed), **{"baseline": blessed, **fields}))
    return Run.model_validate_json(run.model_dump_json(by_alias=True)), blessed


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES.keys())
def test_the_same_run_gives_the_same_verdict(changed):
    run, baseline = stored(changed)

    again = decide_again(run, baseline, run.gate)

    assert (again.verdict, again.comparisons) == (run.verdict, run.comparisons)


def test_a_stricter_policy_is_heard():
    run, baseline = stored()

    assert decide_again(run, baseline, GatePolicy(require="equivalence")).verdict.exit_code == 3


def test_a_baseline_that_went_missing_keeps_it_from_being_judged():
    run, _ = stored()

    assert "no baseline" in {reason.kind for reason in decide_again(run, None, run.gate).verdict.reasons}


def test_a_run_that_needed_no_baseline_needs_none_later():
    run, _ = stored(baseline=None, wants_baseline=False)

    assert decide_again(run, None, run.gate).verdict.exit_code == 0


def test_a_part_of_a_suite_stays_a_part():
    run, baseline = stored(partial=("only one case",))

    assert decide_again(run, baseline, run.gate).verdict.exit_code == 3


def test_a_run_that_lost_trials_is_not_judged_by_the_rest():
    run, baseline = stored()
    left = run.model_copy(update={"trials": tuple(trial for trial in run.trials if trial.trace.case_id == "case-0")})

    assert decide_again(left, baseline, run.gate).verdict.exit_code == 3


def test_a_case_that_must_pass_is_remembered():
    run, baseline = stored({("case-0", "v3"): a_good_trace("case-0", "v3", report=WRONG)}, must_pass=True)

    assert decide_again(run, baseline, run.gate).verdict == run.verdict
    assert run.verdict.exit_code == 1


def test_scores_of_other_scorers_are_not_taken_for_present_ones():
    """What counts is the code that scored the run, not the code that judges it again."""
    run, baseline = stored()
    foreign = run.model_copy(update={"digests": {**run.digests, "scorers": "0" * 64}})

    assert "not comparable" in {reason.kind for reason in decide_again(foreign, baseline, run.gate).verdict.reasons}
