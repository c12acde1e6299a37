"""Stored sides are compared on what they share, and what else differs is said."""

from dataclasses import replace

import pytest

from evals.application_pack import load_pack
from evals.comparison.assemble_run import assemble
from evals.comparison.stored_side import (
    bare_case,
    compared_sides,
    differences,
    side_of_baseline,
    side_of_results,
    side_of_run,
)
from evals.errors import CannotJudgeError, ConfigurationError
from evals.external_results import Result, Results
from evals.models.suite import GatePolicy
from evals.pipeline.read_sides import named_apart
from evals.report.view.variant_tables import in_words
from evals.scoring.registry import scorer_infos
from tests.builders.facts import a_good_trace, some_cases, some_material, some_trials
from tests.builders.trace import a_report

HIT = "root_cause.hit"
WRONG = a_report("pkg/io.py", ("pkg/io.py",))


def results(values, variant="v", runner="promptfoo", **fields):
    """A result file: case -> metric -> its repeats."""
    found = [
        Result(case, variant, dict(zip(metrics, repeat, strict=True)), sample=number, **fields)
        for case, metrics in values.items()
        for number, repeat in enumerate(zip(*metrics.values(), strict=True))
    ]
    return side_of_results(Results.of(runner, found), variant, f"{variant}-file")


def judged(*sides, primary=(), **policy):
    return compared_sides(named_apart(sides), GatePolicy(**policy), primary, load_pack("evals.target.pack"))


def passing(count, failing=0, start=0):
    return {f"case-{n:02}": {"pass": [float(n - start >= failing)]} for n in range(start, start + count)}


def test_a_clear_loss_in_two_result_files_is_worse():
    run = judged(results(passing(20), "main"), results(passing(20, failing=8), "branch"))

    assert run.verdict.exit_code == 1
    assert run.verdict.sentence.startswith("branch is worse than main: pass -40 points")


def test_no_change_in_two_result_files_is_not_worse():
    run = judged(results(passing(20), "main"), results(passing(20), "branch"))

    assert (run.verdict.exit_code, run.comparisons[0].n) == (0, 20)


def test_cases_that_only_the_last_side_has_are_left_out_and_told():
    run = judged(results(passing(15), "main"), results(passing(20), "branch"))

    assert (run.verdict.exit_code, run.comparisons[0].n) == (0, 15)
    assert "cases (5 only in branch-file)" in run.verdict.sentence


def test_cases_that_the_last_side_lacks_are_lost_unless_fewer_are_asked_for():
    """Where a test that crashed left no row, the rest would be green."""
    sides = results(passing(20), "main"), results(passing(20, start=5), "branch")
    run = judged(*sides)

    assert (run.verdict.exit_code, run.comparisons[0].n) == (3, 15)
    assert run.verdict.sentence.startswith(
        "Cannot judge branch: it lacks 5 of the 20 cases of main (case-00, case-01, case-02 and 2 more); to judge the "
        "others: `--set coverage_floor=0.75`"
    )
    assert judged(*sides, coverage_floor=0.75).verdict.exit_code == 0


def test_a_case_whose_text_changed_is_told():
    sides = [results(passing(3), name, text=text) for name, text in (("main", "2 + 2"), ("branch", "2 + 3"))]

    assert differences(*sides) == ["text, labels or code of 3 of 3 cases (case-00, case-01, case-02)"]


def test_another_runner_and_other_repeats_are_told():
    other = results({"case-00": {"pass": [1.0, 0.0]}}, "branch", "Inspect")

    assert differences(results(passing(1), "main"), other) == [
        "runner (promptfoo, Inspect)",
        "trials per case (1, 2)",
    ]


def test_repeats_of_unequal_number_count_by_their_mean():
    left = results({"a": {"hit": [1.0, 0.0]}, "b": {"hit": [1.0]}}, "main")
    right = results({"a": {"hit": [1.0]}, "b": {"hit": [1.0]}}, "branch")

    assert judged(left, right).comparisons[0].delta == pytest.approx(0.25)


def test_equal_repeats_stay_apart():
    sides = [results({"a": {"hit": [1.0, 0.0]}, "b": {"hit": [1.0, 1.0]}}, name) for name in ("main", "branch")]

    run = judged(*sides)
    assert [found.samples for found in run.samples] == [2, 2]
    assert in_words(run.samples[0]) == "main, 2 repeats per case: hit pass^2 50 % (2 cases)"


@pytest.mark.parametrize(
    ("other", "cause"),
    [
        (passing(3, start=50), "no case is on every side: main-file has case-00, case-01"),
        ({"case-00": {"hit": [1.0]}}, "no primary metric is on every side: main-file has pass; branch-file has hit"),
    ],
)
def test_sides_without_a_case_or_a_metric_in_common_cannot_be_judged(other, cause):
    with pytest.raises(CannotJudgeError, match=cause):
        judged(results(passing(3), "main"), results(other, "branch"))


def test_a_case_that_raised_on_one_side_keeps_it_from_being_judged():
    found = [Result(case, "branch", {"pass": 1.0}) for case in list(passing(20))[1:]]
    raised = Results.of("promptfoo", [Result("case-00", "branch", error="no answer"), *found])

    run = judged(results(passing(20), "main"), side_of_results(raised, "branch", "branch-file"))

    assert (run.verdict.exit_code, "no answer (case-00 under branch)" in run.verdict.sentence) == (3, True)


def test_the_verdict_of_the_tool_decides_where_there_is_one_and_a_named_metric_in_its_place():
    told = {f"case-{n:02}": {"pass": [1.0], "exact": [1.0], "words": [30.0 + n]} for n in range(9)}
    sides = [results(told, name) for name in ("main", "branch")]

    assert [item.endpoint for item in judged(*sides).comparisons] == ["pass"]
    assert [item.endpoint for item in judged(*sides, primary=("exact",)).comparisons] == ["exact"]


def test_a_metric_beyond_0_to_1_on_any_side_does_not_decide():
    sides = [
        results({f"case-{n}": {"words": [size], "hit": [1.0]} for n in range(9)}, f"v{size}") for size in (30.0, 1.0)
    ]

    assert [item.endpoint for item in judged(*sides).comparisons] == ["hit"]
    with pytest.raises(ConfigurationError, match="--metric words: only values from 0 to 1"):
        judged(*sides, primary=("words",))


def graded(safety):
    """Case -> accuracy, always 1, and what `safety` has for it; nothing where that is None."""
    return {
        f"case-{n:02}": {"accuracy": [1.0]} | ({} if value is None else {"safety": [value]})
        for n, value in enumerate(safety)
    }


def test_a_metric_that_decides_on_the_first_side_is_not_lost_without_a_word():
    sides = results(graded([1.0] * 20), "main"), results(graded([None] * 20), "branch")
    verdict = judged(*sides).verdict

    assert verdict.exit_code == 3
    assert "safety of branch has a value for 0 of the 20 cases that main has one for" in verdict.sentence
    assert judged(*sides, primary=("accuracy",)).verdict.exit_code == 0


@pytest.mark.parametrize("safety", [[0.0] * 19 + [-1.0], [1.0] * 19 + [1.5]])
def test_a_metric_that_decides_and_is_no_fraction_on_the_last_side_cannot_be_judged(safety):
    sides = results(graded([1.0] * 20), "main"), results(graded(safety), "branch")

    with pytest.raises(CannotJudgeError, match="safety is no fraction from 0 to 1 in branch: correct it, or say which"):
        judged(*sides)
    assert judged(*sides, primary=("accuracy",)).verdict.exit_code == 0


def test_a_metric_asked_for_that_the_last_side_lacks_is_lost():
    sides = results(graded([1.0] * 20), "main"), results(graded([None] * 20), "branch")

    assert judged(*sides, primary=("accuracy", "safety")).verdict.exit_code == 3


@pytest.mark.parametrize("change", ["taken out", "deciding no more"])
def test_a_run_whose_deciding_scorer_is_gone_or_decides_no_more_is_judged_by_it(change):
    worse = {(f"case-{n}", "v3"): a_good_trace(f"case-{n}", "v3", report=WRONG) for n in range(8)}
    after = side_of_run(a_run(worse), "v3", "after")
    metrics = [info.model_copy(update={"primary": info.primary and info.name != HIT}) for info in after.metrics]
    if change == "taken out":
        metrics = [info for info in metrics if info.name != HIT]
        for trial in after.trials:
            del trial.outcomes[HIT]
    before = side_of_run(a_run(), "v2", "before")
    run = compared_sides([before, replace(after, metrics=metrics)], GatePolicy(), (), load_pack())

    assert run.verdict.exit_code == (3 if change == "taken out" else 1), run.verdict.sentence
    assert HIT in run.verdict.sentence


def test_two_variants_of_one_name_are_called_after_their_files():
    sides = named_apart([results(passing(1), "v"), results(passing(1), "v"), results(passing(1), "w")])

    assert [side.name for side in sides] == ["v@v-file", "v@v-file-2", "w"]


def a_run(changed=None):
    cases = some_cases()
    return assemble(some_material(cases, some_trials(cases, changed), baseline=None, wants_baseline=False))


def test_two_stored_runs_are_compared_like_variants_of_one():
    worse = {(f"case-{n}", "v3"): a_good_trace(f"case-{n}", "v3", report=WRONG) for n in range(8)}
    inside = a_run(worse)

    apart = compared_sides(
        [side_of_run(a_run(), "v2", "before"), side_of_run(inside, "v3", "after")], inside.gate, (), load_pack()
    )

    assert apart.verdict == inside.verdict
    assert apart.comparisons == inside.comparisons


def test_a_run_against_its_own_baseline_shows_no_change():
    cases = some_cases()
    material = some_material(cases, some_trials(cases))
    infos = {case.id: bare_case(case.id) for case in cases}
    blessed = side_of_baseline(material.baseline, "v3", "baseline", infos, scorer_infos())

    run = compared_sides(
        named_apart([blessed, side_of_run(assemble(material), "v3", "latest")]), GatePolicy(), (), load_pack()
    )

    assert run.verdict.exit_code == 0
    assert {item.delta for item in run.comparisons} == {0.0}
    assert "differ" not in run.verdict.sentence


def test_losses_against_a_baseline_are_explained_by_its_routes():
    cases = some_cases()
    material = some_material(cases, some_trials(cases))
    worse = {(f"case-{n}", "v3"): a_good_trace(f"case-{n}", "v3", report=WRONG) for n in range(8)}
    blessed = side_of_baseline(material.baseline, "v3", "baseline", {}, scorer_infos())

    run = compared_sides(
        named_apart([blessed, side_of_run(a_run(worse), "v3", "latest")]), GatePolicy(), (), load_pack()
    )

    (hit,) = [item for item in run.comparisons if item.endpoint == "root_cause.hit"]
    assert (len(hit.broke), hit.divergence) == (8, "no decision differs in the 8 worse cases: outputs do")


def test_what_differs_is_told_again_when_the_stored_comparison_is_judged_again():
    from evals.comparison.assemble_run import decide_again

    run = judged(results(passing(20), "main"), results(passing(20, start=5), "branch"))

    assert decide_again(run, None, run.gate).verdict.sentence == run.verdict.sentence
