"""Guards: one rule, one test; sets differ where the seed's order is known to go wrong."""

import pytest

from tests.builders.state import a_finding, a_state, an_agent_error
from triage.errors import ConfigurationError
from triage.guards.guard_sets import guard_set
from triage.guards.guards import HARDENED, rule
from triage.state import BugTriageState, ConfidenceFloor, Node

FLOOR = ConfidenceFloor(single=0.85, corroborated=0.70, min_findings=2)


def route(state: BugTriageState, choice: Node, guards: str = "hardened", floor: ConfidenceFloor | None = None) -> Node:
    return rule(guard_set(guards, floor).guards, state, choice).routed


def a_worked_state(**fields):
    """A job in its middle: the investigator has been there."""
    return a_state(**{"iterations": 1, "visits": ["investigator"], "findings": [a_finding()], **fields})


def test_an_agent_that_failed_once_gets_another_chance():
    state = a_worked_state(agent_errors=[an_agent_error("critic"), an_agent_error("web_search")])

    assert route(state, "critic") == "critic"


def test_a_veto_names_guard_origin_goal_and_time():
    ruling = rule(HARDENED, a_worked_state(iterations=10), "critic")

    assert ruling.veto is not None
    assert ruling.veto.model_dump() == {
        "guard": "iteration_limit",
        "chosen": "critic",
        "send_to": "writer",
        "iteration": 10,
    }


def test_a_guard_that_agrees_with_the_choice_leaves_no_veto():
    assert rule(HARDENED, a_worked_state(iterations=10), "writer").veto is None


def test_an_unknown_set_lists_the_known_ones():
    with pytest.raises(
        ConfigurationError, match=r"no guard set is called 'strict'; choose one of none, prd, hardened, "
    ):
        guard_set("strict")


@pytest.mark.parametrize(
    ("confidence", "found", "goes_to"),
    [
        (0.84, 1, "codebase_search"),
        (0.85, 1, "writer"),
        (0.69, 2, "codebase_search"),
        (0.70, 2, "writer"),
        (1.0, 0, "codebase_search"),
    ],
)
def test_the_floor_asks_for_confidence_or_company(confidence, found, goes_to):
    state = a_worked_state(supervisor_confidence=confidence, findings=[a_finding()] * found)

    assert route(state, "writer", floor=FLOOR) == goes_to


def test_a_review_does_not_corroborate():
    state = a_worked_state(supervisor_confidence=0.75, findings=[a_finding(), a_finding("critic")])

    assert route(state, "writer", floor=FLOOR) == "codebase_search"


def test_the_floor_is_off_unless_asked_for():
    assert route(a_worked_state(supervisor_confidence=0.0), "writer") == "writer"
