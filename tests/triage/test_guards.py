"""Guards: one rule, one test; sets differ where the seed's order is known to go wrong."""

import pytest

from tests.builders.state import a_finding, a_rejection, a_report, a_state, an_agent_error, an_exchange
from triage.errors import ConfigurationError
from triage.guards.guard import rule
from triage.guards.guard_sets import guard_set
from triage.guards.hardened_guards import HARDENED
from triage.guards.prd_guards import PRD
from triage.state import NODES, BugTriageState, ConfidenceFloor, Node

FLOOR = ConfidenceFloor(single=0.85, corroborated=0.70, min_findings=2)


def route(state: BugTriageState, choice: Node, guards: str = "hardened", floor: ConfidenceFloor | None = None) -> Node:
    return rule(guard_set(guards, floor).guards, state, choice).routed


def a_worked_state(**fields):
    """A job in its middle: the investigator has been there."""
    return a_state(**{"iterations": 1, "visits": ["investigator"], "findings": [a_finding()], **fields})


@pytest.mark.parametrize("guards", ["prd", "hardened"])
@pytest.mark.parametrize("choice", [node for node in NODES if node != "investigator"])
def test_nothing_comes_before_the_investigator(guards, choice):
    assert route(a_state(), choice, guards) == "investigator"


@pytest.mark.parametrize("guards", ["prd", "hardened"])
def test_a_third_question_goes_to_the_code_instead(guards):
    state = a_worked_state(human_exchanges=[an_exchange(), an_exchange()])

    assert route(state, "human_input", guards) == "codebase_search"


@pytest.mark.parametrize("guards", ["prd", "hardened"])
def test_a_second_question_is_let_through(guards):
    state = a_worked_state(human_exchanges=[an_exchange()])

    assert route(state, "human_input", guards) == "human_input"


@pytest.mark.parametrize("guards", ["prd", "hardened"])
@pytest.mark.parametrize("choice", NODES)
def test_a_spent_budget_overrules_the_supervisor(guards, choice):
    state = a_worked_state(iterations=10, max_iterations=10)

    assert route(state, choice, guards) == "writer"


@pytest.mark.parametrize("guards", ["prd", "hardened"])
def test_a_spent_budget_overrules_the_critic(guards):
    state = a_worked_state(iterations=10, max_iterations=10, critic_feedback=a_rejection())

    assert route(state, "writer", guards) == "writer"


@pytest.mark.parametrize("guards", ["prd", "hardened"])
def test_no_job_ends_without_a_report(guards):
    assert route(a_worked_state(), "end", guards) == "writer"


@pytest.mark.parametrize("guards", ["none", "prd", "hardened"])
def test_a_job_with_a_report_may_end(guards):
    assert route(a_worked_state(report=a_report()), "end", guards) == "end"


@pytest.mark.parametrize("guards", ["prd", "hardened"])
def test_a_rejection_holds_the_writer_back(guards):
    assert route(a_worked_state(critic_feedback=a_rejection()), "writer", guards) == "investigator"


@pytest.mark.parametrize("guards", ["prd", "hardened"])
def test_an_approval_lets_the_writer_pass(guards):
    state = a_worked_state(critic_feedback=a_rejection(verdict="APPROVED"))

    assert route(state, "writer", guards) == "writer"


@pytest.mark.parametrize("choice", NODES)
def test_without_guards_the_supervisor_has_its_way(choice):
    assert route(a_state(iterations=99), choice, "none") == choice


def test_an_answer_from_the_user_lifts_a_rejection():
    state = a_worked_state(critic_feedback=a_rejection(evidence_seen=1), human_exchanges=[an_exchange()])

    assert route(state, "writer") == "writer"


def test_an_agent_that_failed_twice_is_not_chosen_again():
    state = a_worked_state(agent_errors=[an_agent_error("critic"), an_agent_error("critic")])

    assert route(state, "critic") == "codebase_search"


def test_an_agent_that_failed_once_gets_another_chance():
    state = a_worked_state(agent_errors=[an_agent_error("critic"), an_agent_error("web_search")])

    assert route(state, "critic") == "critic"


def test_once_the_searches_are_tried_a_broken_agent_gives_way_to_the_writer():
    state = a_worked_state(
        visits=["investigator", "codebase_search", "web_search"], agent_errors=[an_agent_error("critic")] * 2
    )

    assert route(state, "critic") == "writer"


def test_no_guard_sends_to_an_agent_that_failed_twice():
    state = a_worked_state(
        visits=["investigator", "codebase_search", "codebase_search"],
        human_exchanges=[an_exchange(), an_exchange()],
        agent_errors=[an_agent_error("codebase_search")] * 2,
    )

    assert route(state, "human_input") == "web_search"


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


def test_the_prd_set_keeps_the_order_of_the_seed():
    assert [guard.__name__ for guard in PRD] == [
        "investigator_first",
        "question_limit",
        "iteration_limit",
        "report_before_end",
        "critic_gate",
    ]


@pytest.mark.parametrize("left_out", [guard.__name__ for guard in HARDENED])
def test_an_ablation_lacks_one_guard_and_no_other(left_out):
    ablated = guard_set(f"hardened-without-{left_out}")

    assert [g.__name__ for g in ablated.guards] == [g.__name__ for g in HARDENED if g.__name__ != left_out]


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


def test_the_floor_sends_to_whoever_has_not_acted_yet():
    state = a_worked_state(visits=["investigator", "codebase_search", "web_search"], supervisor_confidence=0.2)

    assert route(state, "writer", floor=FLOOR) == "critic"


def test_the_floor_gives_in_when_everybody_has_acted():
    state = a_worked_state(visits=["investigator", "codebase_search", "web_search", "critic"])

    assert route(state, "writer", floor=FLOOR) == "writer"


def test_end_does_not_slip_under_the_floor():
    assert route(a_worked_state(supervisor_confidence=0.2), "end", floor=FLOOR) == "codebase_search"


def test_a_spent_budget_overrules_the_floor():
    assert route(a_worked_state(iterations=10), "writer", floor=FLOOR) == "writer"


def test_the_floor_is_off_unless_asked_for():
    assert route(a_worked_state(supervisor_confidence=0.0), "writer") == "writer"


def test_an_ablation_takes_a_floor_too():
    state = a_worked_state(supervisor_confidence=0.2)

    assert route(state, "end", "hardened-without-report_before_end", FLOOR) == "codebase_search"
