"""A verdict that no missing answer could change is given before all is recorded, and is that of the whole recording."""

from dataclasses import replace

import numpy as np
import pytest

from evals.comparison.assemble_run import verdict_of
from evals.comparison.baseline import make_baseline
from evals.models.metrics import Scored, Skipped
from evals.models.run import ScorerInfo
from evals.models.suite import GatePolicy
from tests.builders.case import a_case, a_point
from tests.builders.facts import a_baseline, a_good_trace, a_variant, some_cases, some_material, some_trials
from tests.builders.shipped import every
from tests.builders.trace import a_report, an_answer
from tests.builders.unasked import Unasked, claims

WRONG = a_report("pkg/io.py", ("pkg/io.py",))


def new_candidate(cases, trials, **fields):
    """The whole run of a candidate v3 that was not blessed; the reference v2 was."""
    baseline = make_baseline("prompts", cases, [a_variant("v2")], trials)
    return some_material(cases, trials, baseline=baseline, **fields)


def wrong(cases, numbers, **fields):
    return {(cases[n].id, "v3"): a_good_trace(cases[n].id, "v3", **(fields or {"report": WRONG})) for n in numbers}


def without(material, *numbers):
    """The run with these of the candidate's trials not recorded."""
    ids = [(material.cases[n].id, "v3", 0) for n in numbers]
    return Unasked(material, ids).with_only(())


def test_a_regression_that_no_missing_answer_could_mend_is_worse():
    cases = some_cases(40)
    whole = new_candidate(cases, some_trials(cases, wrong(cases, range(20))))

    verdict = verdict_of(without(whole, *range(20, 40)))

    assert verdict.exit_code == 1
    assert verdict.sentence.startswith("v3 is worse than v2: root_cause.hit")
    assert "20 trials of v3 are not recorded; they cannot change the verdict" in verdict.sentence


def test_of_two_regressions_only_the_one_that_no_missing_answer_could_mend_is_named():
    """Of 60 cases the root cause is lost in 20, and the route in 8; the 8 that are missing gain a route."""
    cases = some_cases(60)
    short = ("investigator", "writer")
    theirs = {(case.id, "v2"): a_good_trace(case.id, "v2", *short) for case in cases[52:]}
    routes = {(case.id, "v3"): a_good_trace(case.id, "v3", *short) for case in cases[20:28]}
    whole = new_candidate(cases, some_trials(cases, {**wrong(cases, range(20)), **routes, **theirs}))

    early, verdict = verdict_of(without(whole, *range(52, 60))), verdict_of(whole)

    assert (early.status, verdict.status) == ("worse", "worse")
    assert claims(early) == claims(verdict) == {"v3 against v2: root_cause.hit"}


def test_a_regression_that_missing_answers_could_mend_cannot_be_judged():
    """The reference is wrong in 20 cases: the candidate may be right there."""
    cases = some_cases(40)
    theirs = {(case.id, "v2"): a_good_trace(case.id, "v2", report=WRONG) for case in cases[20:]}
    whole = new_candidate(cases, some_trials(cases, {**wrong(cases, range(10)), **theirs}))

    assert verdict_of(without(whole, *range(20, 40))).exit_code == 3


def test_too_few_missing_answers_for_a_regression_are_not_worse():
    cases = some_cases(40)
    whole = new_candidate(cases, some_trials(cases))

    verdict = verdict_of(without(whole, 0))

    assert verdict.exit_code == 0
    assert "1 trial of v3 is not recorded; it cannot change the verdict" in verdict.sentence


def test_while_answers_are_missing_no_gain_and_no_equivalence_is_stated():
    """Of 60 cases 8 are gained; the 4 that are missing are lost, so that nothing is better once all is recorded."""
    cases = some_cases(60)
    gained = {(case.id, "v2"): a_good_trace(case.id, "v2", report=WRONG) for case in cases[:8]}
    whole = new_candidate(cases, some_trials(cases, {**gained, **wrong(cases, range(56, 60))}))

    verdict = verdict_of(without(whole, *range(56, 60)))

    assert verdict.sentence.startswith(
        "v3 is not shown to be worse than v2 over 56 cases; 4 trials of v3 are not recorded"
    )
    assert not any(word in verdict.sentence for word in ("better than", "equivalent", "+14 points", "detectable"))
    assert "equivalent within 5 points" in verdict_of(whole).sentence


def test_enough_missing_answers_for_a_regression_cannot_be_judged():
    cases = some_cases(40)

    assert verdict_of(without(new_candidate(cases, some_trials(cases)), *range(12))).exit_code == 3


def test_a_drop_that_could_not_be_weighed_cannot_be_judged():
    """In four cases no loss is ever significant."""
    cases = some_cases(4)

    assert verdict_of(without(new_candidate(cases, some_trials(cases)), 0)).exit_code == 3


def test_a_missing_case_that_must_pass_cannot_be_judged():
    cases = [*some_cases(40), a_case("needed", must_pass=True, points=(a_point(),))]
    whole = new_candidate(cases, some_trials(cases))

    assert verdict_of(without(whole, 40)).exit_code == 3
    assert verdict_of(without(whole, 0)).exit_code == 0


def test_a_case_that_must_pass_and_fails_is_worse_whatever_is_missing():
    cases = [*some_cases(40), a_case("needed", must_pass=True, points=(a_point(),))]
    whole = new_candidate(cases, some_trials(cases, wrong(cases, [40])))

    assert verdict_of(without(whole, *range(40))).exit_code == 1


def test_a_missing_case_that_plants_a_canary_cannot_be_judged():
    cases = [*some_cases(40), a_case("planted", canary="XYZZY", points=(a_point(),))]
    whole = new_candidate(cases, some_trials(cases))

    assert verdict_of(without(whole, 40)).exit_code == 3


@pytest.mark.parametrize(("canary", "code"), [(0.0, 0), (1.0, 3)])
def test_a_missing_case_may_leak_its_canary_unless_that_very_leak_was_blessed(canary, code):
    """The case counts as one with a leak by another metric, too."""
    cases = [*some_cases(40), a_case("planted", canary="XYZZY", points=(a_point(),))]
    whole = some_material(cases, some_trials(cases))
    blessed = whole.baseline
    values = {**blessed.values["v3"], "planted": {**blessed.values["v3"]["planted"], "robustness.canary": canary}}
    changes = {
        "prompts": {**blessed.prompts, "v3": "before the edit"},
        "values": {**blessed.values, "v3": values},
        "leaks": {**blessed.leaks, "v3": ("planted",)},
    }
    run = replace(whole, baseline=blessed.model_copy(update=changes))

    assert verdict_of(without(run, 40)).exit_code == code


def test_a_trial_that_was_blessed_and_is_lost_without_an_edit_cannot_be_judged():
    """Code that all variants share may have led it elsewhere: that is a fault, and no answer that was not asked yet."""
    cases = some_cases(40)

    assert verdict_of(without(some_material(cases, some_trials(cases)), 0)).exit_code == 3


def test_a_variant_whose_prompt_was_edited_is_bounded_against_its_own_baseline_too():
    cases = some_cases(40)
    whole = some_material(cases, some_trials(cases))
    before = whole.baseline.model_copy(update={"prompts": {**whole.baseline.prompts, "v3": "before the edit"}})

    assert verdict_of(without(replace(whole, baseline=before), 0)).exit_code == 0


def test_new_hard_violations_that_missing_answers_could_make_up_for_cannot_be_judged():
    """The edit breaks hard rules in 10 cases; in the 20 that are not recorded again both variants broke them before."""
    cases = some_cases(40)

    def trials(edited):
        short = {(case.id, name): ("investigator", "writer") for case in cases[20:] for name in ("v2", "v3")}
        short |= {(case.id, "v3"): ("investigator", "writer") for case in cases[:10] if edited}
        return some_trials(cases, {one: a_good_trace(*one, *visits) for one, visits in short.items()})

    blessed = a_baseline(cases, trials(edited=False))
    before = blessed.model_copy(update={"prompts": {**blessed.prompts, "v3": "before the edit"}})
    whole = some_material(cases, trials(edited=True), baseline=before)

    assert verdict_of(without(whole, *range(20, 40))).exit_code == 3


def test_decision_points_that_are_missing_are_bounded():
    cases = some_cases(40)
    trials = some_trials(cases, wrong(cases, [0], points=(an_answer(chosen=None),)))

    assert verdict_of(new_candidate(cases, trials)).exit_code == 0


@pytest.mark.parametrize("policy", [{"require": "equivalence"}, {"cost": {"tokens": "+10 %"}}], ids=str)
def test_what_has_no_bounds_is_judged_when_all_is_recorded(policy):
    """Tokens have no upper limit; equivalence needs every case."""
    cases = some_cases(40)
    whole = new_candidate(cases, some_trials(cases), policy=GatePolicy.model_validate(policy))

    assert verdict_of(without(whole, 0)).exit_code == 3


def test_a_suite_with_a_judge_is_judged_when_all_is_recorded():
    cases = some_cases(40)
    whole = new_candidate(cases, some_trials(cases))
    judged = replace(whole, suite=whole.suite.model_copy(update={"judge": "v1"}))

    assert verdict_of(without(judged, 0)).exit_code == 3


def test_what_keeps_a_run_from_being_judged_is_not_hidden():
    cases = some_cases(40)
    whole = new_candidate(cases, some_trials(cases), partial=("only 40 of 80 cases",))

    assert verdict_of(without(whole, 0)).reasons[0].kind == "partial run"


def with_metric(material, name, values, **info):
    """The run with one primary metric, worth `values` by (case, variant), and skipped where there is none."""
    trials = []
    for trial in material.trials:
        value = values.get((trial.trace.case_id, trial.trace.variant))
        outcome = Skipped(reason="not recorded") if value is None else Scored(value=value)
        trials.append(trial.model_copy(update={"outcomes": {**trial.outcomes, name: outcome}}))
    others = [each.model_copy(update={"primary": False}) for each in material.metrics]
    return replace(material, trials=trials, metrics=[*others, a_metric(name, **info)])


def a_metric(name, **info):
    return ScorerInfo(name=name, unit="fraction", better="higher", primary=True, definition="A share.", **info)


def test_a_metric_of_decision_points_that_are_missing_is_bounded_case_by_case():
    """It is no macro-average, and its trial is recorded to the end: only the answers at its points are missing."""
    cases = some_cases(40)
    values = {(case.id, name): 1.0 for case in cases for name in ("v2", "v3")}
    points = {(case.id, "v3"): a_good_trace(case.id, "v3", points=(an_answer(chosen=None),)) for case in cases[:20]}
    known = {key: value for key, value in values.items() if key not in points}

    run = with_metric(new_candidate(cases, some_trials(cases, points)), "kept", known, open_loop=True)

    assert verdict_of(run).exit_code == 3


def test_a_metric_that_may_be_graded_is_worse_only_when_all_is_recorded():
    """8 of 12 cases are lost, one is gained, and two that are missing turn out to be 0.1, the first grade: the gate
    then demands Hall's test too, whose p is larger than that of 8 losses."""
    cases = some_cases(12)
    values = {(case.id, name): 1.0 for case in cases for name in ("v2", "v3")}
    values |= {(case.id, "v3"): 0.0 for case in cases[:8]} | {(cases[8].id, "v2"): 0.0}
    run = new_candidate(cases, some_trials(cases))

    early = with_metric(without(run, 10, 11), "grade", {key: values[key] for key in values if key not in MISSING})
    whole = with_metric(run, "grade", {**values, **dict.fromkeys(MISSING, 0.1)})

    assert (verdict_of(early).exit_code, verdict_of(whole).exit_code) == (3, 0)


MISSING = ("case-10", "v3"), ("case-11", "v3")


def drawn(seed):
    """A suite of random size, the candidate better, alike or worse by chance in each metric, blessed before or not. In
    two of three a grade is primary too, and a metric of decision points that is no macro-average; in some of these only
    answers at decision points are missing."""
    rng = np.random.default_rng(seed)
    macro = [a_point(), a_point(writer=1.0, codebase_search=0.5)] if rng.random() < 0.5 else [a_point()]
    cases = [
        a_case(
            f"case-{n}",
            points=(macro[n % len(macro)],),
            pair_id=f"pair-{n // 2}" if n % 5 < 2 else None,
            archetype=("local_bug", "regression", "race")[n % 7 % 3],
            must_pass=bool(rng.random() < 0.01),
        )
        for n in range(rng.integers(6, 60))
    ]
    rates = {
        name: rng.beta(4, 1, 3) if rng.random() < 0.5 else rng.choice([0.0, 0.5, 0.9, 1.0], 3) for name in ("v2", "v3")
    }

    def trace(case, name):
        routed, found, chosen = rng.random(3) < rates[name]
        told = {} if found else {"report": WRONG}
        told |= {"points": (an_answer(chosen="codebase_search" if chosen else "writer"),)}
        return a_good_trace(case.id, name, *(() if routed else ("investigator", "writer")), **told)

    more = [a_metric("grade"), a_metric("kept", open_loop=True)] if seed % 3 else []

    def trials():
        found = some_trials(cases, {(case.id, name): trace(case, name) for case in cases for name in ("v2", "v3")})
        return [each.model_copy(update={"outcomes": {**each.outcomes, **graded(each.trace.variant)}}) for each in found]

    def graded(name):
        partly = rng.random(2) < 0.1  # most values are 0 or 1, so that a grade may come late
        values = np.where(partly, rng.random(2), rng.random(2) < rates[name][:2])
        return {info.name: Scored(value=float(value)) for info, value in zip(more, values, strict=False)}

    now, blessed = trials(), trials()
    theirs = [each for each in now if each.trace.variant == "v2"]
    before = [*theirs, *(each for each in blessed if each.trace.variant == "v3" and seed % 2)]
    baseline = make_baseline("prompts", cases, [a_variant("v2"), a_variant("v3")], before)
    baseline = baseline.model_copy(update={"prompts": {**baseline.prompts, "v3": "before the edit"}})
    whole = some_material(cases, now, baseline=baseline)
    whole = replace(whole, metrics=[*whole.metrics, *more])
    order = [(cases[n].id, "v3", 0) for n in rng.permutation(len(cases))]
    return Unasked(whole, set(order), only_points=seed % 3 == 1 and rng.random() < 0.5), order, rng


@pytest.mark.parametrize("seed", range(600 if every() else 12))
def test_the_verdict_of_any_order_is_that_of_the_whole_recording(seed):
    """By simulation: from the first verdict on, every further answer leaves it as it is."""
    run, order, rng = drawn(seed)
    verdict = verdict_of(run.whole)

    first = run.needed(order)
    later = {first, *rng.integers(first, len(order) + 1, 3).tolist()}

    early = [verdict_of(run.with_only(order[:n])) for n in later]

    assert {each.status for each in early} == {verdict.status}
    assert all(claims(each) <= claims(verdict) for each in early)
