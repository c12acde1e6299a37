"""The life of a task: every transition, and none besides."""

from contextlib import suppress

import pytest

from tests.builders.plan import a_task
from tests.builders.state import a_finding, a_rejection
from triage.state import CriticVerdict, PlanLimits, TaskStatus
from triage.supervisors.plan.plan_progress import (
    MOVES,
    OVER,
    SUPERVISORS,
    RefusedError,
    errored,
    guided,
    returned,
    reviewed,
    runnable,
    set_status,
    started,
)

LIMITS = PlanLimits(max_attempts=2)
APPROVED = CriticVerdict(verdict="APPROVED", confidence=0.8)
STATUSES: tuple[TaskStatus, ...] = tuple(MOVES)


LIFE = {
    "READY": "RUNNING RERUN CANCELLED",
    "RERUN": "RUNNING READY CANCELLED",
    "RUNNING": "NEEDS_REVIEW COMPLETED ERRORED",
    "NEEDS_REVIEW": "COMPLETED READY FAILED ERRORED",
    "ERRORED": "READY RERUN CANCELLED",
    "COMPLETED": "",
    "FAILED": "",
    "CANCELLED": "",
}
"""Where a task may go from each status, as docs/supervisors.md draws it."""
BY_WORK = {
    "RUNNING": started,
    "NEEDS_REVIEW": lambda task, step: returned(task, step, a_finding()),
    "ERRORED": lambda task, step: errored(task, step, "no answer"),
    "COMPLETED": lambda task, step: reviewed(task, step, APPROVED, LIMITS),
    "FAILED": lambda task, step: reviewed(task.model_copy(update={"attempts": 2}), step, a_rejection(), LIMITS),
}
"""How work and review bring a task into a status; into the others the supervisor sets it."""
PAIRS = [(status, wanted) for status in LIFE for wanted in LIFE if (status, wanted) != ("NEEDS_REVIEW", "READY")]
"""All but the one move back that is the critic's doing and not the supervisor's."""


def under_review(attempts=1, **fields):
    return a_task(status="NEEDS_REVIEW", attempts=attempts, result=a_finding(), **fields)


@pytest.mark.parametrize(("status", "wanted"), PAIRS)
def test_a_task_goes_where_its_life_leads_and_nowhere_else(status, wanted):
    move = BY_WORK.get(wanted, lambda task, step: set_status(task, step, wanted, LIMITS))

    if wanted in LIFE[status].split():
        assert move(a_task(status=status), 1).status == wanted
    else:
        with pytest.raises(RefusedError):
            move(a_task(status=status), 1)


def test_what_the_review_found_is_appended_to_the_objective():
    task = reviewed(under_review(objective="Find it."), 1, a_rejection(gaps=("no line named",)), LIMITS)

    assert task.objective == "Find it.\nA review of attempt 1 found: no line named"


def test_a_rejection_without_gaps_still_says_something():
    assert "does not answer the objective" in reviewed(under_review(), 1, a_rejection(gaps=()), LIMITS).objective


def test_without_tries_left_a_result_that_fails_is_final():
    task = reviewed(under_review(attempts=2, objective="Find it."), 1, a_rejection(), LIMITS)

    assert (task.status, task.objective) == ("FAILED", "Find it.")


def test_the_latest_review_is_kept():
    assert reviewed(under_review(), 1, APPROVED, LIMITS).feedback == APPROVED


@pytest.mark.parametrize("capability", ["investigator", "codebase_search", "web_search", "writer"])
def test_what_a_worker_found_awaits_its_review(capability):
    assert returned(a_task(capability=capability, status="RUNNING"), 1, a_finding()).status == "NEEDS_REVIEW"


@pytest.mark.parametrize("status", ["RUNNING", "NEEDS_REVIEW"])
def test_a_breakdown_is_an_error(status):
    assert errored(a_task(status=status), 1, "no answer").status == "ERRORED"


def test_each_start_is_an_attempt():
    assert started(a_task(attempts=1), 3).attempts == 2


def test_the_history_tells_step_status_and_reason():
    task = returned(started(guided(a_task(), "be brief"), 4), 4, a_finding(summary="Found it."))

    assert [(event.step, event.status, event.note) for event in task.history] == [
        (4, "RUNNING", "attempt 1; told: be brief"),
        (4, "NEEDS_REVIEW", "Found it."),
    ]


@pytest.mark.parametrize("status", STATUSES)
def test_a_task_runs_only_after_all_it_waits_for_are_completed(status):
    plan = [a_task(1, status="COMPLETED"), a_task(2, status=status), a_task(3, dependencies=(1, 2))]

    assert (3 in {task.task_id for task in runnable(plan)}) == (status == "COMPLETED")


@pytest.mark.parametrize("status", STATUSES)
def test_the_supervisor_moves_a_task_only_where_the_table_lets_it(status):
    moved = set()
    for wanted in STATUSES:
        with suppress(RefusedError):
            moved.add(set_status(a_task(status=status), 1, wanted, LIMITS).status)

    assert moved == MOVES[status] & SUPERVISORS


@pytest.mark.parametrize("wanted", ["READY", "RERUN"])
def test_no_attempt_is_given_back(wanted):
    with pytest.raises(RefusedError, match="has used all 2 attempts"):
        set_status(a_task(status="ERRORED", attempts=2), 1, wanted, LIMITS)


def test_what_is_over_stays_over():
    assert {"COMPLETED", "FAILED", "CANCELLED"} == OVER


@pytest.mark.parametrize("status", sorted(set(STATUSES) - {"READY", "RERUN"}))
def test_only_what_may_run_is_started(status):
    with pytest.raises(RefusedError, match=f"is {status} and cannot become RUNNING"):
        started(a_task(status=status), 1)
