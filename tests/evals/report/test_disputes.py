"""Who is wrong, the label or the answer, as tables show it."""

from evals.analysis.label_disputes import disputes
from evals.models.run import PointInfo
from evals.report.html_page import render
from evals.report.view.dispute_page import suspect_lists
from tests.builders.dispute import a_disputed_run, an_answer_to
from tests.builders.trace import an_answer
from tests.builders.unpacked import unpacked

POINT = PointInfo(id="p1", accept={"writer": 1.0, "critic": 0.5}, why="One finding is enough.")


def a_run_in_dispute(**fields):
    """One suspect label, one lax route, one state in which all agree against the label."""
    points = (an_answer(chosen="end", confidence=0.9),)
    return a_disputed_run(
        an_answer_to("a", "v2", "P2b", decides=["P2b"], confidence=0.87, points=points),
        an_answer_to("b", "v2", right=False),
        points=(POINT,),
        **fields,
    )


def lists_of(run):
    """The four lists of one run."""
    return suspect_lists(disputes([run]))


def test_a_suspect_label_stands_beside_its_rule_the_routes_and_what_it_says():
    (row,) = lists_of(a_run_in_dispute())[0].rows

    assert row.cells == (
        ("P2b (soft 2: no critic, if confidence >= 0.85); alone in 1 of 1",),
        ("v2: I C K Wr, 0.87",),
        ("An index is off by one.",),
    )


def test_a_frozen_state_stands_beside_what_all_chose_and_the_label_s_reason():
    (row,) = lists_of(a_run_in_dispute())[3].rows

    assert row.cells == (
        ("p1",),
        ("end, graded 0", "v2: 0.9"),
        ("accepted: writer 1, critic 0.5", "One finding is enough."),
    )


def test_a_list_of_the_report_leads_to_its_cases():
    assert 'id="disputes-0"' in (page := unpacked(render(a_run_in_dispute())))
    assert '<a href="#case=a">a</a>' in page.partition('id="disputes-0"')[2]
