"""Why routes fail, over all cases."""

from evals.models.case import RouteReading
from evals.models.run import Run, Trial
from evals.report.view.page_parts import Lists
from evals.report.view.violations_table import breach_rows, breach_table
from tests.builders.case import a_spec
from tests.builders.run import a_case_info, a_run, a_trial
from tests.builders.trace import a_trace


def a_broken(case_id: str, variant: str, *rules: str, alone: bool = False) -> Trial:
    """A trial that breaks these rules; `alone`: the first decides."""
    reading = RouteReading(alternative=0, shares=(), breaks=rules, decides=rules[:1] if alone else ())
    return a_trial(a_trace(case_id=case_id, variant=variant), reading=reading)


def a_run_of(*trials: Trial) -> Run:
    """Over cases that all have the same specification."""
    names = dict.fromkeys(trial.trace.case_id for trial in trials)
    return a_run(*trials, cases=[a_case_info(name, route_spec=a_spec()) for name in names])


FOUR = a_run_of(
    a_broken("a", "v2", "P2b", alone=True),
    a_broken("b", "v2", "P2b", "P3"),
    a_broken("a", "v3", "P2b", alone=True),
    a_broken("b", "v3"),
)


def test_a_row_counts_by_variant_who_breaks_a_rule_and_whom_it_decides_alone():
    rows = breach_rows(FOUR, Lists(["a", "b"])).rows

    assert [(row.rule, row.force, [(b.text, d.text) for b, d in row.cells]) for row in rows] == [
        ("P2b", "soft 2", [("2", "1"), ("1", "1")]),
        ("P3", "hard 1", [("1", "0"), ("0", "0")]),
    ]


def test_a_number_leads_to_its_cases():
    lists = Lists(["a", "b"])
    first = breach_rows(FOUR, lists).rows[0]
    (broken, alone), _ = first.cells

    assert [lists.pool()[int(link.list)] for link in (broken, alone)] == [
        ("P2b, v2: violated", (0, 1)),
        ("P2b, v2: decides alone", (0,)),
    ]


def test_a_cell_of_the_short_table_says_of_how_many_trials():
    assert breach_table(FOUR).rows[0] == ("P2b (soft 2)", "2 of 2 trials, 1 alone", "1 of 2 trials, 1 alone")
