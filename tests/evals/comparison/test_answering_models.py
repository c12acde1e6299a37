"""Which models answered, and a verdict that does not compare the answers of different ones."""

import pytest

from evals.comparison.assemble_run import assemble
from evals.comparison.baseline import answered_by, different_models
from evals.models.suite import GatePolicy
from tests.builders.facts import a_baseline, a_good_trace, some_cases, some_material, some_trials
from tests.builders.trace import a_call, a_report, an_answer

CASES = some_cases()
WRONG = a_report("pkg/io.py", ("pkg/io.py",))


def answered(models, *, agents=("supervisor", "writer"), **fields):
    """Trials of every case; `models` maps a variant, or a case under a variant, to who answered."""
    changed = {}
    for case in CASES:
        for variant in ("v2", "v3"):
            model = models.get((case.id, variant)) or models.get(variant, "claude")
            calls = tuple(a_call(agent, model=model) for agent in agents)
            told = fields if variant == "v3" else {}
            points = (an_answer(models=(model,)),)
            changed[case.id, variant] = a_good_trace(case.id, variant, **{"calls": calls, "points": points, **told})
    return some_trials(CASES, changed)


def run_of(trials, blessed=None, **fields):
    baseline = a_baseline(CASES, blessed if blessed is not None else trials)
    return assemble(some_material(CASES, trials, **{"baseline": baseline, **fields}))


def told(verdict, kind="different models"):
    return [reason.text for reason in verdict.reasons if reason.kind == kind]


@pytest.mark.parametrize("fields", [{"report": WRONG}, {}], ids=["a worse model", "as good a model"])
def test_a_candidate_answered_by_another_model_is_not_compared_with_the_reference(fields):
    """Neither a red nor a green would be about the prompt."""
    verdict = run_of(answered({"v3": "small"}, **fields)).verdict

    assert (verdict.exit_code, verdict.reasons[0].kind) == (3, "different models")
    assert "v3 was answered by small, v2 by claude (decision points, supervisor, writer in 8 of 8 cases)" in (
        verdict.sentence
    )


def test_a_suite_that_compares_models_may_have_two():
    verdict = run_of(answered({"v3": "small"}), policy=GatePolicy(models="compared")).verdict

    assert verdict.exit_code == 0


def test_a_variant_answered_by_another_model_than_when_it_was_blessed_is_not_compared_with_its_baseline():
    verdict = run_of(answered({"v2": "small", "v3": "small"}), blessed=answered({})).verdict

    assert verdict.exit_code == 3
    assert [text.partition(" (")[0] for text in told(verdict)] == [
        "v2 was answered by small, and by claude when it was blessed",
        "v3 was answered by small, and by claude when it was blessed",
    ]


def test_a_suite_that_compares_models_is_still_held_against_its_baseline_model_by_model():
    policy = GatePolicy(models="compared")
    verdict = run_of(answered({"v3": "large"}), blessed=answered({"v3": "small"}), policy=policy).verdict

    assert verdict.exit_code == 3
    assert told(verdict)[0].startswith("v3 was answered by large, and by small when it was blessed")


def test_one_case_that_another_model_answered_is_a_difference():
    verdict = run_of(answered({("case-3", "v3"): "small"}), blessed=answered({})).verdict

    assert verdict.exit_code == 3
    assert "v3 was answered by small, v2 by claude (decision points, supervisor, writer in 1 of 8 cases)" in (
        verdict.sentence
    )


def test_a_case_that_changed_hands_with_another_is_a_difference():
    """Both baselines and runs have one case by the small model: not the same one."""
    was = answered({("case-3", "v2"): "small", ("case-3", "v3"): "small"})
    now = answered({("case-4", "v2"): "small", ("case-4", "v3"): "small"})

    assert run_of(now, blessed=was).verdict.exit_code == 3
    assert run_of(now, blessed=now).verdict.exit_code == 0


def test_models_are_compared_agent_by_agent():
    mixed = {}
    for case in CASES:
        for variant, writer in (("v2", "claude"), ("v3", "small")):
            calls = (a_call("supervisor", model="claude"), a_call("writer", model=writer))
            mixed[case.id, variant] = a_good_trace(case.id, variant, calls=calls)

    verdict = run_of(some_trials(CASES, mixed)).verdict
    assert "v3 was answered by small, v2 by claude (writer in 8 of 8 cases)" in verdict.sentence


def test_an_agent_that_only_one_side_asked_is_no_difference():
    """Plain code that decides asks no model for it."""
    trials = answered({})
    here = {"writer": answered_by(trials, "v2")["writer"]}

    assert different_models(trials, "v3", answered_by(trials, "v3"), here) == []


def test_an_agent_with_two_models_on_both_sides_is_none():
    """As a suite with one model per agent, or with a fallback, has it."""
    trials = answered({("case-1", "v2"): "mini", ("case-1", "v3"): "mini"})

    assert run_of(trials).verdict.exit_code == 0
    assert answered_by(trials, "v2")["writer"] == {"claude": (), "mini": ("case-1",)}


def test_a_baseline_that_does_not_say_who_answered_is_named_and_decides_nothing():
    older = a_baseline(CASES, answered({})).model_copy(update={"answered_by": {}})
    verdict = run_of(answered({}), baseline=older).verdict

    assert verdict.exit_code == 0
    assert told(verdict, "note") == [
        "the baseline does not say which models answered, so that was not compared; bless it again"
    ]
