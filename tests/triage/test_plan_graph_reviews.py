"""Plans whose tasks fail, break down, and are reviewed."""

from tests.builders.endpoint import WORKER_REPLIES
from tests.builders.plan import (
    REJECTED,
    PlanningTeam,
    a_job,
    a_task,
    statuses,
)
from tests.builders.state import a_state

PASSED = WORKER_REPLIES["critic"]


async def test_the_critic_is_told_which_result_to_judge_and_by_what():
    team = PlanningTeam()
    await a_job(team)

    asked = team.workers.messages("critic", 1)[1]
    assert "- Review one result only" in asked
    assert "- Objective: Find the file and the function" in asked
    assert asked.endswith("- Result of codebase_search: s (shop/cart.py::add)")


async def test_a_result_that_fails_its_review_is_worked_on_again_with_what_was_missing():
    team = PlanningTeam(replies={"critic": [REJECTED, PASSED]})
    job = await a_job(team)

    assert job.visits[:4] == ["investigator", "critic", "investigator", "critic"]
    assert "A review of attempt 1 found: no line named" in team.workers.messages("investigator", 1)[1]
    assert (job.plan[0].status, job.plan[0].attempts) == ("COMPLETED", 2)


async def test_a_task_that_fails_every_review_is_failed_and_the_guards_still_get_a_report():
    team = PlanningTeam(replies={"critic": [REJECTED]})
    job = await a_job(team, limits={"max_attempts": 2})

    assert statuses(job) == ["FAILED", "READY", "READY"]
    assert job.visits == ["investigator", "critic", "investigator", "critic", "writer"]
    assert job.vetoes[-1].guard == "report_before_end"


async def test_a_breakdown_is_an_errored_task_that_the_supervisor_may_run_again():
    rerun = ("update_task_status", {"task_id": 1, "status": "RERUN"})
    team = PlanningTeam(calls=[[], [rerun]], replies={"investigator": [400, WORKER_REPLIES["investigator"]]})
    job = await a_job(team)

    assert [event.status for event in job.plan[0].history][:3] == ["RUNNING", "ERRORED", "RERUN"]
    assert statuses(job) == ["COMPLETED"] * 3


async def test_a_review_that_breaks_down_is_an_error_of_its_task():
    job = await a_job(PlanningTeam(replies={"critic": [500]}))

    assert job.plan[0].status == "ERRORED"
    assert job.plan[0].history[-1].note.startswith("the review failed: ")


async def test_a_review_is_of_its_task_and_a_critic_task_of_the_job():
    plan = [a_task(1), a_task(2, "critic", dependencies=(1,)), a_task(3, "writer", dependencies=(2,), is_final=True)]
    reviewed_only = await a_job()
    with_a_critic = await a_job(state=a_state(plan=plan))

    assert reviewed_only.critic_feedback is None
    assert reviewed_only.plan[0].feedback.verdict == "APPROVED"
    assert with_a_critic.critic_feedback.verdict == "APPROVED"
    assert with_a_critic.plan[1].feedback is None
