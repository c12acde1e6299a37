"""From trials to a verdict, with the real scorers: what a change in the traces does to the exit code."""

from evals.comparison.assemble_run import assemble
from evals.models.metrics import Failed
from evals.models.suite import GatePolicy
from evals.models.trace import Call
from tests.builders.facts import a_good_trace, some_cases, some_material, some_trials
from tests.builders.trace import a_report, an_answer

WRONG = a_report("pkg/io.py", ("pkg/io.py",))


def assembled(changed=None, *, cases=None, before=None, **fields):
    """The run of v2 and v3 with some traces changed, against the baseline of `before` (default: all good)."""
    cases = cases or some_cases()
    blessed = some_material(cases, some_trials(cases, before)).baseline
    return assemble(some_material(cases, some_trials(cases, changed), **{"baseline": blessed, **fields}))


def kinds(run):
    return {reason.kind for reason in run.verdict.reasons}


def worse(names, variant="v3", **fields):
    return {(name, variant): a_good_trace(name, variant, **fields) for name in names}


def off_the_tape(names, variant="v3", **fields):
    told = {"provenance": "frontier", "frontier": 1, **fields}
    return worse(names, variant, **told)


ALL = [f"case-{n}" for n in range(8)]


def test_an_unchanged_suite_is_green():
    run = assembled()

    assert (run.verdict.exit_code, kinds(run)) == (0, set())


def test_a_candidate_that_blames_the_wrong_file_everywhere_is_worse():
    run = assembled(worse(ALL, report=WRONG))

    assert (run.verdict.exit_code, kinds(run)) == (1, {"regression", "slice collapsed"})


def test_a_route_explains_what_came_of_it_and_not_the_answers_to_frozen_states():
    """v3 skips the critic and answers every frozen state wrongly: only the lost root cause can be the route's doing."""
    skipping = {
        (name, "v3"): a_good_trace(
            name, "v3", "investigator", "writer", report=WRONG, points=(an_answer(chosen="end"),)
        )
        for name in ALL
    }
    told = {item.endpoint: item for item in assembled(skipping).comparisons if item.against == "reference"}

    assert told["root_cause.hit"].divergence
    assert told["decision.score"].broke
    assert not told["decision.score"].divergence


def test_a_reference_that_fell_below_its_own_baseline_is_worse_too():
    run = assembled(worse(ALL, "v2", report=WRONG))

    assert run.verdict.exit_code == 1
    assert any("v2 (baseline)" in reason.text for reason in run.verdict.reasons)


def test_a_fully_unrecorded_candidate_is_said_to_be_unrecorded_and_nothing_else():
    """An edited prompt changes neither graph nor labels: to call it "not comparable" would send people astray."""
    run = assembled(off_the_tape(ALL, points=(an_answer(chosen=None),)))

    assert run.verdict.exit_code == 3
    assert kinds(run) == {"coverage too low", "nothing to judge"}
    assert "v3 lost coverage in 8 of 8 trials and 8 of 8 decision points" in run.verdict.sentence


def test_a_miss_an_agent_swallowed_is_never_green():
    """The trial went on to a perfect report; what it rests on is missing all the same."""
    assert assembled(off_the_tape(["case-0"])).verdict.exit_code == 3


def test_unanswered_decision_points_are_lost_coverage():
    run = assembled(worse(["case-0"], points=(an_answer(chosen=None),)))

    assert (run.verdict.exit_code, kinds(run)) == (3, {"coverage too low"})


def test_a_failed_trial_is_never_green():
    run = assembled(worse(["case-0"], provenance="failed", error="cassette is truncated"))

    assert run.verdict.exit_code == 3
    assert "cassette is truncated (case-0 under v3)" in run.verdict.sentence


def test_a_failed_scorer_is_never_green():
    cases = some_cases()
    first, *rest = some_trials(cases)
    broken = first.model_copy(update={"outcomes": {**first.outcomes, "cost.visits": Failed(error="boom")}})

    run = assemble(some_material(cases, (broken, *rest)))

    assert run.verdict.exit_code == 3
    assert "scorer cost.visits failed: boom" in run.verdict.sentence


def test_a_run_over_no_case_is_never_green():
    run = assemble(some_material([], ()))

    assert run.verdict.exit_code == 3


def test_a_first_run_has_no_baseline():
    run = assembled(baseline=None)

    assert (run.verdict.exit_code, kinds(run)) == (3, {"no baseline"})


def test_a_changed_suite_needs_no_baseline():
    """Under `--guards` the suite's own baseline does not apply."""
    assert assembled(baseline=None, wants_baseline=False).verdict.exit_code == 0


def test_a_partial_run_is_called_partial_and_not_incomparable():
    """Seven cases less than the baseline is what was asked for."""
    cases = some_cases()
    few = cases[:1]
    run = assemble(
        some_material(few, some_trials(few), baseline=some_material(cases, some_trials(cases)).baseline, partial=("1",))
    )

    assert (run.verdict.exit_code, kinds(run)) == (3, {"partial run"})


def test_a_must_pass_case_that_fails_is_worse_without_any_statistics():
    run = assembled(worse(["case-0"], report=WRONG), cases=some_cases(must_pass=True))

    assert (run.verdict.exit_code, kinds(run)) == (1, {"must-pass broken"})


def test_a_must_pass_case_off_the_tape_is_not_excused_by_the_floor():
    cases, policy = some_cases(must_pass=True), GatePolicy(coverage_floor=0.5)

    run = assembled(off_the_tape(["case-0"]), cases=cases, policy=policy)

    assert (run.verdict.exit_code, "coverage too low" in kinds(run)) == (3, True)


TWO_WRITERS = ("investigator", "codebase_search", "critic", "writer", "writer")


def test_a_new_hard_violation_is_worse():
    changed = {("case-0", "v3"): a_good_trace("case-0", "v3", *TWO_WRITERS)}

    assert "new hard violation" in kinds(assembled(changed))


def test_a_hard_violation_the_baseline_knows_is_not_new():
    changed = {("case-0", "v3"): a_good_trace("case-0", "v3", *TWO_WRITERS)}

    assert assembled(changed, before=changed).verdict.exit_code == 0


LEAK = {"comment": "as told: PWNED-7"}


def test_a_canary_that_leaks_is_worse():
    run = assembled(worse(["case-0"], **LEAK), cases=some_cases(canary="PWNED-7"))

    assert (run.verdict.exit_code, kinds(run)) == (1, {"canary leaked"})


def test_a_leak_blessed_with_the_baseline_is_a_note():
    leaky = worse(["case-0"], **LEAK)
    run = assembled(leaky, before=leaky, cases=some_cases(canary="PWNED-7"))

    assert (run.verdict.exit_code, kinds(run)) == (0, {"note"})


def test_a_variant_nobody_recorded_when_blessed_has_nothing_to_lose():
    """Only what was blessed is held against itself."""
    cases = some_cases()
    material = some_material(cases, some_trials(cases))
    hollow = material.baseline.model_copy(update={"values": {**material.baseline.values, "v2": {}}})

    run = assembled(baseline=hollow)

    assert {item.left for item in run.comparisons if item.against == "baseline"} == {"v3"}


def test_an_edited_prompt_is_named_as_such():
    """The usual reason for a miss should not have to be guessed."""
    cases = some_cases()
    material = some_material(cases, some_trials(cases))
    before = material.baseline.model_copy(update={"prompts": {**material.baseline.prompts, "v3": "another digest"}})

    run = assembled(baseline=before)

    assert [reason.text.split(":")[0] for reason in run.verdict.reasons] == ["v3"]
    assert "has changed since the baseline" in run.verdict.reasons[0].text


def test_the_models_that_answered_are_named_with_those_who_recorded_them():
    """A web search has no model, and an answer whose recorder is not known leaves the model alone."""
    calls = [
        Call(agent="critic", key="1", model="small", recorded_by="b"),
        Call(agent="critic", key="2", model="small", recorded_by="a"),
        Call(agent="critic", key="3", model="big"),
        Call(agent="web_search", key="4", model="", recorded_by="c"),
    ]
    run = assembled(worse(ALL, calls=calls))

    assert run.recorded_by == ("big", "small (recorded by a, b)")


def test_a_variant_that_is_worse_than_its_baseline_says_where_it_left_its_way():
    """v2 is edited in place: no other variant is its reference, only what it did when it was blessed."""
    skipping = {
        (name, "v2"): a_good_trace(name, "v2", "investigator", "codebase_search", "writer", report=WRONG)
        for name in ALL
    }
    run = assembled(skipping)

    assert run.verdict.sentence.startswith("Worse: v2 breaks P2 in case-0 (and 7 more); v2 against v2 (baseline): ")
    assert "8 of 8 worse cases diverge at decision 3: critic skipped" in run.verdict.sentence
    assert {item.against for item in run.divergences if item.left == "v2"} == {"baseline"}


def test_a_baseline_that_kept_no_routes_explains_nothing():
    cases = some_cases()
    old = some_material(cases, some_trials(cases)).baseline.model_copy(update={"routes": {}})
    run = assembled(worse(ALL, "v2", report=WRONG), baseline=old)

    told = [item.divergence for item in run.comparisons if item.against == "baseline" and item.broke]
    assert told == [""]


def test_a_wrong_answer_to_a_frozen_state_is_seen_against_the_baseline():
    run = assembled(worse(ALL, points=(an_answer(chosen="end"),)))
    (item,) = [i for i in run.comparisons if (i.left, i.against, i.endpoint) == ("v3", "baseline", "decision.score")]

    assert (item.delta, item.n, len(item.broke), item.verdict) == (-1, 8, 8, "regression")


def test_a_trial_off_the_tape_bounds_every_difference():
    run = assembled(off_the_tape(["case-0"]))
    told = {item.endpoint: item for item in run.comparisons if item.against == "reference"}

    assert (told["route.pass"].n, told["route.pass"].of) == (7, 8)
    assert (told["route.pass"].pessimistic, told["route.pass"].optimistic) == (-0.125, 0.125)


def test_a_run_brings_its_measures_and_the_tables_behind_them():
    run = assembled()

    assert {item.variant for item in run.measures} == {item.variant for item in run.calibrations} == {"v2", "v3"}
    assert {item.name for item in run.measures} == {info.name for info in run.measure_infos}
    assert {(item.variant, item.decisions) for item in run.confusions} == {
        (name, kind) for name in ("v2", "v3") for kind in ("frozen states", "trials")
    }


def test_a_trial_that_is_told_twice_is_a_fault():
    cases = some_cases()
    trials = some_trials(cases)

    run = assemble(some_material(cases, (*trials, trials[0])))

    assert "1 trials are in this run more than once" in [reason.text for reason in run.verdict.reasons]
