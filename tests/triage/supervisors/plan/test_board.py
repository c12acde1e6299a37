"""The status board: what the supervisor is told of the plan."""

import pytest

from tests.builders.plan import a_task
from tests.builders.state import a_finding, a_rejection, a_state
from triage.state import PlanLimits, TaskEvent
from triage.supervisors.plan.plan_progress import board

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


def test_a_long_issue_is_cut():
    assert len(shown(state=a_state(issue_body="x" * 100_000))) < 3_000


def test_redirects_come_first():
    assert shown(state=a_state(redirect_instructions=["Check the cart."])).startswith("## Active redirect")


def test_what_tools_said_stands_before_the_task():
    assert "## What your tools have said\n1. one\n2. two\n\n## Your task\nDecide." in shown(notes=["one", "two"])


@pytest.mark.parametrize(
    ("mode", "said"),
    [("fixed", "no task can be added or changed"), ("llm", "add the tasks it needs"), ("hybrid", "tasks can be added")],
)
def test_it_says_what_may_become_of_the_plan(mode, said):
    assert said in shown(mode=mode)
