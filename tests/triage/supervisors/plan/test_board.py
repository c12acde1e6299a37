"""The status board: what the supervisor is told of the plan."""

import pytest

from tests.builders.plan import a_task
from tests.builders.state import a_finding, a_rejection, a_state, an_exchange
from triage.state import PlanLimits, TaskEvent
from triage.supervisors.plan.plan_prompts import board

LIMITS = PlanLimits()


def shown(*plan, state=None, mode="fixed", notes=()):
    return board(state or a_state(), plan, mode, LIMITS, notes, "## Your task\nDecide.")


def test_a_task_shows_all_the_supervisor_needs():
    task = a_task(
        2,
        "codebase_search",
        objective="Find it.",
        dependencies=(1,),
        attempts=1,
        is_final=True,
        result=a_finding(summary="In the cart.", details="cart.py", confidence=0.6),
        feedback=a_rejection(gaps=("no line",)),
    )

    assert (
        "[2] READY codebase_search, final (waits for: 1; attempts: 1 of 2)\n"
        "Objective: Find it.\n"
        "Result (confidence: 60%): In the cart.\n"
        "Details: cart.py\n"
        "Review: REJECTED (confidence: 30%); missing: no line"
    ) in shown(a_task(1), task)


@pytest.mark.parametrize("status", ["ERRORED", "CANCELLED"])
def test_a_task_that_broke_down_or_was_cancelled_says_why(status):
    task = a_task(status=status, history=(TaskEvent(step=1, status=status, note="no answer"),))

    assert "Reason: no answer" in shown(task)


def test_it_lists_what_can_run_now():
    assert "## Can run now\n1, 3\n" in shown(a_task(1), a_task(2, dependencies=(1,)), a_task(3))


def test_it_says_when_nothing_can_run():
    assert "## Can run now\nnothing" in shown()
    assert "There is no task yet." in shown()


def test_it_holds_the_issue():
    assert "## Issue\nCart total is wrong\n\nAdding two items charges for one." in shown()


def test_a_long_issue_is_cut():
    assert len(shown(state=a_state(issue_body="x" * 100_000))) < 3_000


def test_it_counts_steps_and_visits():
    assert "Step 3 of 10\nVisits so far: 4 of 10" in shown(state=a_state(plan_steps=2, iterations=4))


def test_redirects_come_first():
    assert shown(state=a_state(redirect_instructions=["Check the cart."])).startswith("## Active redirect")


def test_the_users_answers_are_shown():
    assert "A: PostgreSQL" in shown(state=a_state(human_exchanges=[an_exchange()]))


def test_what_tools_said_stands_before_the_task():
    assert "## What your tools have said\n1. one\n2. two\n\n## Your task\nDecide." in shown(notes=["one", "two"])


def test_without_tool_calls_there_is_no_header_for_them():
    assert "tools have said" not in shown()


@pytest.mark.parametrize(
    ("mode", "said"),
    [("fixed", "no task can be added or changed"), ("llm", "add the tasks it needs"), ("hybrid", "tasks can be added")],
)
def test_it_says_what_may_become_of_the_plan(mode, said):
    assert said in shown(mode=mode)
