"""The numbers at the top."""

from evals.report.view.headline_table import comparisons, deciding
from evals.report.view.page_parts import Lists
from tests.builders.run import (
    a_comparison,
    a_run,
)


def no_lists():
    return Lists(["local-bug"])


def test_what_decides_is_the_candidate_against_the_reference():
    run = a_run(comparisons=(a_comparison(left="v1"), a_comparison(), a_comparison(against="baseline")))
    table = deciding(run, no_lists())

    assert (table.left, table.right, len(table.rows)) == ("v3", "v2", 1)
    assert (table.rows[0].now, table.rows[0].was) == ("100 % (1/1)", "100 % (1/1)")


def test_the_axis_of_the_differences_reaches_as_far_as_their_intervals():
    table = deciding(a_run(comparisons=(a_comparison(delta=0.1, low=-0.1, high=0.3),)), no_lists())
    bar = table.rows[0].bar

    assert (table.low, table.high) == ("\N{MINUS SIGN}10", "+30")
    assert (bar.low, bar.width, bar.value, bar.zero) == ("0.0", "100.0", "50.0", "25.0")


def test_a_count_of_cases_leads_to_them_and_a_lost_case_of_the_baseline_is_no_link():
    row = comparisons(a_run(comparisons=(a_comparison(broke=("local-bug",), mended=("gone",)),)), no_lists()).rows[0]

    assert (row.worse.text, row.worse.list) == ("1", "0")
    assert (row.better.text, row.better.list) == ("1", "")


def test_a_baseline_that_nothing_flipped_against_is_quiet():
    held = a_comparison(left="v3", right="v3 (baseline)", against="baseline")
    flipped = held.model_copy(update={"broke": ("local-bug",)})
    unknown = held.model_copy(update={"n": 0})
    partly = held.model_copy(update={"n": 3, "of": 8})

    found = comparisons(a_run(comparisons=(held, flipped, unknown, partly, a_comparison())), no_lists())

    assert [row.quiet for row in found.rows] == [True, False, False, False, False]
