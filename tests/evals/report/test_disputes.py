"""Who is wrong, the label or the answer, as tables show it."""

from evals.analysis.label_disputes import disputes
from evals.models.run import PointInfo
from evals.report.html_page import render
from evals.report.view.dispute_page import suspect_lists
from tests.builders.dispute import a_disputed_run, an_answer_to
from tests.builders.run import a_run
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


def test_each_list_says_how_many_suspects_of_how_many_cases_it_has():
    titles = [each.title for each in lists_of(a_run_in_dispute())]

    assert [title.split(":")[1].split(",")[0].strip() for title in titles] == [
        "1 of 2 cases got right by all",
        "1 of 2 cases with a wrong outcome by a route that passes",
        "1",
        "1",
    ]


def test_a_suspect_label_stands_beside_its_rule_the_routes_and_what_it_says():
    (row,) = lists_of(a_run_in_dispute())[0].rows

    assert row.cells == (
        ("P2b (soft 2: no critic, if confidence >= 0.85); alone in 1 of 1",),
        ("v2: I C K Wr, 0.87",),
        ("An index is off by one.",),
    )


def test_a_case_of_the_gate_is_marked():
    (row,) = lists_of(a_run_in_dispute(gate=["a"]))[0].rows

    assert row.about == "gate, not to be tuned on · local_bug"


def test_a_lax_route_says_what_is_wrong():
    (row,) = lists_of(a_run_in_dispute())[1].rows

    assert row.cells[0] == ("v2: root cause, says: An index is off by one.",)


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


def test_a_report_of_a_run_without_rules_does_not_say_that_no_label_is_suspect():
    page = render(a_run())

    assert "Suspect labels" not in page
    assert "cannot judge: no route of this run was read constraint by constraint" in page
