"""Variants without a baseline, and variants that decide nothing: what they do to the verdict of the candidate."""

from dataclasses import replace

import pytest

from evals.comparison.assemble_run import assemble
from evals.comparison.baseline import make_baseline
from evals.comparison.gate import decide
from tests.builders.facts import (
    a_baseline,
    a_comparison,
    a_good_trace,
    a_variant,
    some_cases,
    some_facts,
    some_material,
    some_trials,
)
from tests.builders.trace import a_report, an_answer

CASES = some_cases()
WRONG = a_report("pkg/io.py", ("pkg/io.py",))


def without(baseline, *names):
    """The baseline as it was before these variants were added."""
    values = {name: cases for name, cases in baseline.values.items() if name not in names}
    prompts = {name: digest for name, digest in baseline.prompts.items() if name not in names}
    return baseline.model_copy(update={"values": values, "prompts": prompts})


def with_v1(changed=None, blessed=None):
    """Variant v1 beside reference v2 and candidate v3; `blessed` are the trials of the baseline."""
    return _three(changed), _three(blessed)


def _three(changed):
    told = {key: trace for key, trace in (changed or {}).items() if key[1] != "v1"}
    own = {(case.id, "v2"): (changed or {}).get((case.id, "v1")) or a_good_trace(case.id, "v1") for case in CASES}
    first = some_trials(CASES, own)
    return (*(trial for trial in first if trial.trace.variant == "v1"), *some_trials(CASES, told))


def run_of_three(now, blessed, *, edited=True, known=("v1", "v2", "v3")):
    infos = tuple(a_variant(name) for name in ("v1", "v2", "v3"))
    baseline = make_baseline("prompts", CASES, [info for info in infos if info.variant.name in known], blessed)
    if edited:
        baseline = baseline.model_copy(update={"prompts": {**baseline.prompts, "v1": "before the edit"}})
    material = some_material(CASES, now, baseline=baseline)
    suite = material.suite.model_copy(update={"variants": tuple(info.variant for info in infos)})
    return assemble(replace(material, suite=suite, variants=infos))


def unrecorded(*numbers, **fields):
    told = {"provenance": "unrecorded", "points": (an_answer(chosen=None),), **fields}
    return {(f"case-{n}", "v1"): a_good_trace(f"case-{n}", "v1", **told) for n in numbers}


def test_a_new_candidate_that_is_worse_than_the_reference_is_worse_and_not_without_a_baseline():
    trials = some_trials(CASES, {(case.id, "v3"): a_good_trace(case.id, "v3", report=WRONG) for case in CASES})
    verdict = assemble(some_material(CASES, trials, baseline=without(a_baseline(CASES, trials), "v3"))).verdict

    assert verdict.exit_code == 1
    assert verdict.sentence.startswith("v3 is worse than v2: root_cause.hit -100 points")
    assert "evals bless" not in verdict.sentence


def test_a_new_candidate_that_is_not_worse_is_green_and_said_to_have_no_baseline():
    trials = some_trials(CASES)
    verdict = assemble(some_material(CASES, trials, baseline=without(a_baseline(CASES, trials), "v3"))).verdict

    assert verdict.exit_code == 0
    assert verdict.sentence.endswith("; no baseline yet for v3: bless it after a review (`evals bless prompts`).")


def test_a_new_reference_has_nothing_to_be_held_against():
    trials = some_trials(CASES)
    verdict = assemble(some_material(CASES, trials, baseline=without(a_baseline(CASES, trials), "v2"))).verdict

    assert (verdict.exit_code, verdict.reasons[0].kind) == (3, "no baseline")
    assert "no baseline for the reference v2" in verdict.sentence


@pytest.mark.parametrize("recorded", [True, False])
def test_a_new_variant_that_is_not_the_candidate_keeps_nobody_from_being_judged(recorded):
    now, _ = with_v1({} if recorded else unrecorded(*range(8)))
    verdict = run_of_three(now, now, edited=False, known=("v2", "v3")).verdict

    assert verdict.exit_code == 0
    assert "no baseline yet for v1: shown, and decides nothing here" in [reason.text for reason in verdict.reasons]


def test_a_first_run_names_the_loss_before_anybody_blesses_it():
    lost = a_comparison("root_cause.hit", verdict="regression", delta=-0.38, p_holm=0.001)
    verdict = decide(some_facts(lost, missing_baseline=("tiny has no baseline yet; then run `evals bless tiny`",)))

    assert verdict.exit_code == 3
    assert "before that, see what is lost: v3 is worse than v2: root_cause.hit -38 points" in verdict.sentence


@pytest.mark.parametrize("numbers", [range(8), range(3)], ids=["wholly", "in part"])
def test_an_edit_that_takes_another_variant_off_its_recordings_decides_nothing(numbers):
    verdict = run_of_three(*with_v1(unrecorded(*numbers))).verdict

    assert verdict.exit_code == 0
    assert "; v1 is not recorded after its edit; it decides nothing here." in verdict.sentence


def test_what_is_left_of_such_a_variant_is_no_reason_for_a_red():
    """Seven cases are worse, one is not recorded: what the rest would say, nobody knows."""
    bad = {(f"case-{n}", "v1"): a_good_trace(f"case-{n}", "v1", report=WRONG) for n in range(1, 8)}

    assert run_of_three(*with_v1({**unrecorded(0), **bad})).verdict.exit_code == 0


def test_a_variant_that_lost_its_recordings_without_an_edit_cannot_be_judged():
    """Code that all variants share may have led it elsewhere."""
    verdict = run_of_three(*with_v1(unrecorded(*range(8))), edited=False).verdict

    assert (verdict.exit_code, verdict.reasons[0].kind) == (3, "coverage too low")


def test_an_edited_variant_that_is_recorded_is_held_against_its_own_baseline():
    bad = {(case.id, "v1"): a_good_trace(case.id, "v1", report=WRONG) for case in CASES}
    verdict = run_of_three(*with_v1(bad)).verdict

    assert verdict.exit_code == 1
    assert "v1 is worse than v1 (baseline)" in verdict.sentence


def test_a_default_prompt_that_was_changed_or_edited_is_a_note():
    trials = some_trials(CASES)
    before = {"llm": "v3 aa", "registry": "v4 bb", "plan-llm": "plan-v1 cc"}
    baseline = a_baseline(CASES, trials).model_copy(update={"default_prompts": before})
    now = {"llm": "v1 dd", "registry": "v4 ee", "plan-llm": "plan-v1 cc"}

    verdict = assemble(some_material(CASES, trials, baseline=baseline, default_prompts=now)).verdict
    assert verdict.exit_code == 0
    assert [reason.text for reason in verdict.reasons] == [
        "the default prompt of router llm changed from v3 to v1 since the baseline",
        "the default prompt of router registry was edited (v4) since the baseline",
    ]
