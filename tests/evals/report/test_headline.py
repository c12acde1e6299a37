"""The numbers at the top."""

import pytest

from evals.report.view.headline import comparisons, deciding, headline, secondary
from evals.report.view.page_parts import Lists
from tests.builders.run import (
    PRIMARY,
    a_comparison,
    a_run,
    a_scorer_info,
    a_summary,
    a_trial,
    a_variant_info,
    rules_info,
)
from tests.builders.trace import a_trace

NO_LISTS = Lists(["local-bug"])


def test_what_decides_is_the_candidate_against_the_reference():
    run = a_run(comparisons=(a_comparison(left="v1"), a_comparison(), a_comparison(against="baseline")))
    table = deciding(run, NO_LISTS)

    assert (table.left, table.right, len(table.rows)) == ("v3", "v2", 1)
    assert (table.rows[0].now, table.rows[0].was) == ("100 % (1/1)", "100 % (1/1)")


def test_without_a_reference_the_baseline_decides():
    baseline = a_comparison(right="v3 (baseline)", against="baseline")

    assert deciding(a_run(comparisons=(baseline,)), NO_LISTS).right == "v3 (baseline)"


def test_the_axis_of_the_differences_reaches_as_far_as_their_intervals():
    table = deciding(a_run(comparisons=(a_comparison(delta=0.1, low=-0.1, high=0.3),)), NO_LISTS)
    bar = table.rows[0].bar

    assert (table.low, table.high) == ("\N{MINUS SIGN}10", "+30")
    assert (bar.low, bar.width, bar.value, bar.zero) == ("0.0", "100.0", "50.0", "25.0")


def test_a_count_of_cases_leads_to_them_and_a_lost_case_of_the_baseline_is_no_link():
    row = comparisons(a_run(comparisons=(a_comparison(broke=("local-bug",), mended=("gone",)),)), NO_LISTS).rows[0]

    assert (row.worse.text, row.worse.list) == ("1", "0")
    assert (row.better.text, row.better.list) == ("1", "")


def test_primary_endpoints_are_the_columns_in_order():
    assert headline(a_run()).endpoints == PRIMARY


def test_candidate_and_reference_are_named():
    rows = headline(a_run()).rows

    assert [(row.name, row.part) for row in rows] == [("v2", "reference"), ("v3", "candidate")]


def test_a_variant_off_the_tape_says_how_far():
    off = a_trace("investigator", variant="v3", provenance="frontier", frontier=1)
    row = headline(a_run(a_trial(a_trace(variant="v2")), a_trial(off))).rows[1]

    assert (row.covered, row.complete) == ("0 of 1", False)
    assert row.coverage == (("exact", "0"), ("frontier", "1"))


def test_bounds_are_shown_where_coverage_is_short():
    short = {"pessimistic": 0.5, "optimistic": 0.75}
    summaries = [a_summary(name, scorer, **short) for name in ("v2", "v3") for scorer in PRIMARY]

    assert headline(a_run(summaries=summaries)).rows[0].cells[0].bounds == "50 % to 75 %"


def test_full_coverage_needs_no_bounds():
    assert headline(a_run()).rows[0].cells[0].bounds == ""


def test_a_comparison_the_gate_does_not_look_at_is_marked():
    run = a_run(comparisons=(a_comparison(), a_comparison(left="v1"), a_comparison(left="v1", against="baseline")))

    assert [row.judged for row in comparisons(run, NO_LISTS).rows] == [True, False, True]


def test_costs_are_kept_apart_from_other_metrics():
    scorers = [a_scorer_info(name) for name in (*PRIMARY, "ask.false", "cost.visits")]

    assert [row[0] for row in secondary(a_run(scorers=scorers)).rows] == ["ask.false"]


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({}, "prompt v3, guards hardened"),
        ({"supervisor": "registry"}, "supervisor registry, prompt v3, guards hardened"),
    ],
)
def test_a_supervisor_is_named_unless_it_is_the_usual_one(fields, shown):
    info = a_variant_info("v3")
    other = info.model_copy(update={"variant": info.variant.model_copy(update=fields)})

    assert headline(a_run(variants=[other])).rows[0].prompt == shown


def test_a_supervisor_without_a_prompt_says_so():
    assert headline(a_run(variants=[rules_info()])).rows[0].prompt == "supervisor rules, no prompt, guards hardened"


def test_a_baseline_that_nothing_flipped_against_is_quiet():
    held = a_comparison(left="v3", right="v3 (baseline)", against="baseline")
    flipped = held.model_copy(update={"broke": ("local-bug",)})
    unknown = held.model_copy(update={"n": 0})
    partly = held.model_copy(update={"n": 3, "of": 8})

    found = comparisons(a_run(comparisons=(held, flipped, unknown, partly, a_comparison())), NO_LISTS)

    assert [row.quiet for row in found.rows] == [True, False, False, False, False]
