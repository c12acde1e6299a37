"""Confusion of decisions: what should have been by what was chosen, and what was chosen by where it led."""

from evals.comparison.variant_metrics import confusions_of
from tests.builders.case import a_case, a_point
from tests.builders.measure import some_evidence
from tests.builders.trace import a_decision, a_trace, an_answer, an_override

CASE = a_case("c", points=[a_point("p", writer=1.0, critic=0.5), a_point("q", writer=1.0), a_point("r", critic=1.0)])


def tables(**fields):
    return confusions_of(some_evidence([CASE], [a_trace(case_id="c", variant="v3", **fields)]))


def cells(table):
    return {(cell.row, cell.column): (cell.count, cell.credit) for cell in table.cells}


def test_frozen_states_are_counted_by_gold_and_chosen_node_with_their_credit():
    frozen, _ = tables(points=[an_answer("p", "critic"), an_answer("q", "critic"), an_answer("r", "critic")])

    assert cells(frozen) == {("writer", "critic"): (2, 0.5), ("critic", "critic"): (1, 1.0)}


def test_decisions_of_trials_are_counted_by_where_the_guards_let_them_go():
    overruled = a_decision(0, "writer", "investigator", overrides=[an_override()])
    _, decided = tables(decisions=[overruled, a_decision(1, "writer")])

    assert cells(decided) == {("writer", "investigator"): (1, 0.0), ("writer", "writer"): (1, 1.0)}


def test_decisions_off_the_tape_are_known_but_not_counted():
    _, decided = tables(provenance="frontier", frontier=1, decisions=[a_decision(0, "writer")])

    assert (decided.cells, decided.n, decided.of) == ((), 0, 1)
