"""First divergences over all cases, and what the verdict links to."""

from evals.models.run import Run
from evals.report.view.divergence_view import divergence_rows, leads
from evals.report.view.page_parts import Lists
from tests.builders.run import a_comparison, a_divergence, a_run_that_parts, a_scorer_info


def lists_of(run: Run) -> Lists:
    """Empty lists over its cases."""
    return Lists([case.id for case in run.cases])


def test_the_same_difference_at_the_same_decision_is_one_row():
    run = a_run_that_parts("a", "b", "c", divergences=(*map(a_divergence, "ab"), a_divergence("c", decision=1)))

    assert [(row.number, row.what, row.cases.text, row.worse.text) for row in divergence_rows(run, lists_of(run))] == [
        ("3", "critic skipped", "2", "2"),
        ("2", "critic skipped", "1", "1"),
    ]


def test_a_score_of_frozen_states_breaks_no_route():
    scorers = [a_scorer_info("decision.score", open_loop=True)]
    run = a_run_that_parts(comparisons=(a_comparison("decision.score", broke=("local-bug",)),), scorers=scorers)
    (row,) = divergence_rows(run, lists_of(run))

    assert row.worse.text == "0"


def test_the_verdict_links_to_what_broke_and_says_why():
    run = a_run_that_parts("a", "b")
    (lead,) = leads(run, lists_of(run))

    assert lead.told.text == "route.pass: 0 cases better, 2 worse than v2 (critic skipped)"
    assert lead.case_ids == ("a", "b")


def test_cases_that_can_be_explained_come_first():
    run = a_run_that_parts("a", "b", divergences=(a_divergence("b"),))
    (lead,) = leads(run, lists_of(run))

    assert lead.case_ids == ("b", "a")


def test_a_green_verdict_links_to_its_gains():
    run = a_run_that_parts(comparisons=(a_comparison(mended=("local-bug",)),))
    (lead,) = leads(run, lists_of(run))

    assert (lead.told.text, lead.case_ids) == ("route.pass: 1 case better, 0 worse than v2", ("local-bug",))
    assert lead.which == "better"


def test_where_nothing_broke_the_verdict_links_to_what_changed():
    run = a_run_that_parts(comparisons=(a_comparison(),))
    (lead,) = leads(run, lists_of(run))

    assert lead.told.text == "v3 decides otherwise than v2 in 1 of 1 cases"


def test_what_broke_against_a_baseline_is_linked_whoever_it_was():
    run = a_run_that_parts(
        "a",
        comparisons=(a_comparison(left="v2", right="v2 (baseline)", against="baseline", broke=("a",)),),
        divergences=(a_divergence("a", left="v2", right="v2 (baseline)", against="baseline"),),
    )
    (lead,) = leads(run, lists_of(run))
    (row,) = divergence_rows(run, lists_of(run))

    assert (lead.told.text, lead.case_ids) == ("route.pass: 0 cases better, 1 worse than v2 (baseline)", ("a",))
    assert (row.right, row.worse.text) == ("v2 (baseline)", "1")
