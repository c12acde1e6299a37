"""The table of cases."""

from evals.models.metrics import Failed, Scored, Skipped
from evals.report.view.case_table import case_table, changed_first, mark
from evals.report.view.divergence_view import pools_for
from tests.builders.run import a_case_info, a_comparison, a_divergence, a_run, a_trial
from tests.builders.trace import a_trace


def _words(*trials, **fields) -> set[str]:
    run = a_run(*trials, **fields)
    return set(case_table(run, pools_for(run)).rows[0].outcomes.split())


def test_a_score_is_a_word_and_a_sign_not_only_a_colour():
    outcomes = [Scored(value=1), Scored(value=0), Skipped(reason="off"), Failed(error="broke"), None]

    assert [mark("route", outcome).text for outcome in outcomes] == [
        "✓ route",
        "✗ route",
        "\N{EN DASH} route",
        "! route failed",
        "\N{EN DASH} route",
    ]


def test_a_case_that_passes_everywhere_is_found_as_such():
    assert _words() == {"pass"}


def test_a_variant_off_the_tape_does_not_count_as_disagreeing():
    off = a_trace("investigator", variant="v3", provenance="frontier", frontier=1)
    skipped = {name: Skipped(reason="off the tape") for name in ("route.pass", "root_cause.hit")}

    assert _words(a_trial(a_trace(variant="v2")), a_trial(off, skipped)) == {"unrecorded"}


def test_a_case_that_got_worse_is_found_by_any_metric_and_by_its_own():
    words = _words(comparisons=(a_comparison(broke=("local-bug",)), a_comparison("root_cause.hit")))

    assert words & {"worse", "worse:route.pass", "worse:root_cause.hit"} == {"worse", "worse:route.pass"}


def test_cases_that_changed_come_first():
    run = a_run(
        cases=[a_case_info(name) for name in ("same", "other", "better", "worse")],
        comparisons=(a_comparison(broke=("worse",), mended=("better",)),),
        divergences=(a_divergence("other"),),
    )

    assert [case.id for case in changed_first(run)] == ["worse", "better", "other", "same"]


def test_a_failed_scorer_is_found():
    assert "failed" in _words(a_trial(a_trace(variant="v2"), {"route.pass": Failed(error="broke")}), a_trial())
