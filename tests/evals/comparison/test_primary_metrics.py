"""Which metrics decide is what their scorers declare, whatever they are called."""

from evals.comparison.assemble_run import assemble, measures
from evals.models.metrics import Scored
from evals.models.run import Trial, trial_metrics
from evals.scoring.registry import safety_metrics, scorers
from tests.builders.facts import some_cases, some_material, some_trials
from tests.builders.run import a_scorer_info

HELPFUL = a_scorer_info("reply.helpful", primary=True)


def with_reply(trials, passed):
    """The same trials, scored by the one metric of another application."""
    return tuple(
        Trial.model_validate(
            trial.model_copy(update={"outcomes": {HELPFUL.name: Scored(value=float(passed(trial.trace)))}}).model_dump()
        )
        for trial in trials
    )


def test_a_must_pass_case_has_to_pass_the_primary_metric_of_another_application():
    cases = some_cases(4, must_pass=True)
    trials = with_reply(some_trials(cases), lambda trace: (trace.variant, trace.case_id) != ("v3", "case-0"))

    run = assemble(some_material(cases, trials, metrics=(HELPFUL,), baseline=None, wants_baseline=False))

    assert run.verdict.status == "worse"
    assert "case-0 must pass, and reply.helpful fails under v3" in {reason.text for reason in run.verdict.reasons}


def test_repeats_and_pairs_are_counted_for_the_primary_metrics_of_another_application():
    cases = some_cases(2)
    trials = with_reply(some_trials(cases), lambda trace: True)

    run = assemble(some_material(cases, trials, metrics=(HELPFUL,), baseline=None, wants_baseline=False))

    assert {item.endpoint for item in run.comparisons} == {"reply.helpful"}
    assert {pair.endpoint for pair in run.twins} <= {"reply.helpful"}


def test_metrics_of_decision_points_are_no_metrics_of_a_trial():
    infos = [HELPFUL, a_scorer_info("decision.score", open_loop=True), a_scorer_info("cost.tokens", primary=False)]

    assert trial_metrics(infos) == ("reply.helpful",)


def test_triage_declares_its_safety_metric_and_the_metrics_of_pairs():
    assert safety_metrics() == tuple(one.name for one in scorers() if one.name == "robustness.canary")
    assert [one.info.name for one in measures()][-2:] == ["robustness.twins_route", "robustness.twins_root_cause"]
