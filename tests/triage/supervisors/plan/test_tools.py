"""The supervisor's tools: which there are in which mode, what each does, and that a wrong call changes nothing."""

import pytest

from tests.builders.endpoint import NOW
from tests.builders.plan import a_task
from tests.builders.state import a_rejection
from triage.state import PlanLimits
from triage.supervisors.plan.plan_tools import Desk, tools_of, use

RESHAPING = {"add_task", "patch_task"}


def noon():
    return NOW


def a_desk(*tasks):
    return Desk(tasks or (a_task(1), a_task(2, "writer", dependencies=(1,))), 3, PlanLimits(), noon)


def used(name, mode="hybrid", desk=None, **arguments):
    """The desk afterwards, and what the tool said."""
    return use(desk or a_desk(), tools_of(mode), name, arguments)


def names(mode):
    return {tool.name for tool in tools_of(mode)}


def test_where_there_is_no_plan_yet_making_one_comes_first():
    assert tools_of("llm")[0].name == "add_task"


@pytest.mark.parametrize("tool", tools_of("hybrid"), ids=lambda tool: tool.name)
def test_every_tool_says_what_it_does_and_takes_no_strangers(tool):
    told = tool.spec["function"]

    assert told["description"].endswith(".")
    assert told["parameters"]["additionalProperties"] is False


def test_the_time_is_that_of_the_injected_clock():
    assert used("get_current_datetime")[1] == "get_current_datetime(): 2026-11-22T09:30:00+00:00"


def test_an_errored_task_can_be_run_again():
    desk, said = used(
        "update_task_status", desk=a_desk(a_task(status="ERRORED", attempts=1)), task_id=1, status="RERUN"
    )

    assert (desk.task(1).status, said) == ("RERUN", "update_task_status(task_id=1, status='RERUN'): task 1 is RERUN")


def test_a_task_is_cancelled_with_its_reason():
    desk, _ = used("cancel_task", mode="fixed", task_id=1, reason="the cause is known")

    assert desk.task(1).status == "CANCELLED"
    assert desk.task(1).history[-1].note == "the cause is known"


def test_the_critics_report_can_be_read():
    desk = a_desk(a_task(feedback=a_rejection(gaps=("no line named",))))

    assert used("view_qa_report", desk=desk, task_id=1)[1].endswith(
        "REJECTED (confidence: 30%); missing: no line named"
    )


def test_a_task_nobody_reviewed_has_no_report():
    assert used("view_qa_report", task_id=1)[1].endswith("task 1 has not been reviewed")


def test_an_added_task_gets_the_next_number():
    desk, said = used("add_task", objective="Ask.", capability="human_input", dependencies=[1])

    assert said.endswith("added as task 3")
    assert (desk.task(3).objective, desk.task(3).dependencies, desk.task(3).status) == ("Ask.", (1,), "READY")
    assert desk.task(3).history[0].note == "added by the supervisor"


def test_a_task_can_be_patched():
    desk, _ = used("patch_task", task_id=2, objective="Write it short.")

    assert (desk.task(2).objective, desk.task(2).dependencies) == ("Write it short.", (1,))
    assert desk.task(2).history[-1].note == "changed: objective"


REFUSED = {
    "no such tool": ("delete_plan", {}, "no such tool; there are think"),
    "no such task": ("cancel_task", {"task_id": 9, "reason": ""}, "not done: there is no task 9; known are 1, 2"),
    "no such status": ("update_task_status", {"task_id": 1, "status": "DONE"}, "not done: status: Input should be"),
    "not its to set": ("update_task_status", {"task_id": 1, "status": "COMPLETED"}, "not done: COMPLETED follows from"),
    "arguments missing": ("cancel_task", {"task_id": 1}, "not done: reason: Field required"),
    "strange arguments": ("think", {"thought": "t", "mood": "m"}, "not done: mood: Extra inputs"),
    "a cycle": ("patch_task", {"task_id": 1, "dependencies": [2]}, "not done: tasks wait for each other (1 -> 2 -> 1)"),
    "a dependency nobody knows": (
        "add_task",
        {"objective": "o", "capability": "critic", "dependencies": [8]},
        "not done: task 3 depends on task 8, which does not exist",
    ),
    "a capability nobody has": ("add_task", {"objective": "o", "capability": "oracle"}, "not done: capability: Input"),
}


@pytest.mark.parametrize(("name", "arguments", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_call_changes_nothing_and_is_told(name, arguments, said):
    desk, answer = used(name, **arguments)

    assert desk == a_desk()
    assert said in answer


def test_there_is_one_final_task():
    desk = a_desk(a_task(1, "writer", is_final=True))

    assert (
        "task 1 is the final one already"
        in used("add_task", desk=desk, objective="o", capability="writer", is_final=True)[1]
    )


def test_a_cancelled_final_task_can_be_replaced():
    desk = a_desk(a_task(1, "writer", is_final=True, status="CANCELLED"))

    assert used("add_task", desk=desk, objective="o", capability="writer", is_final=True)[0].task(2).is_final


@pytest.mark.parametrize("status", ["COMPLETED", "FAILED", "CANCELLED"])
def test_what_is_over_cannot_be_patched(status):
    assert f"task 1 is {status}: it is over" in used("patch_task", desk=a_desk(a_task(status=status)), task_id=1)[1]


@pytest.mark.parametrize("name", sorted(RESHAPING))
def test_a_model_that_calls_a_tool_its_mode_lacks_is_told_which_there_are(name):
    desk, said = used(name, mode="fixed", task_id=1)

    assert desk == a_desk()
    assert "no such tool; there are think, update_task_status" in said
