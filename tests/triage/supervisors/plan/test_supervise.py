"""One step of the plan supervisor: where a plan comes from, what is picked, and when there is no further step."""

import pytest

from tests.builders.plan import PlanningTeam, a_choice, a_step, a_task
from tests.builders.state import a_finding, a_report, a_state
from triage.errors import ConfigurationError
from triage.state import PlanLimits
from triage.supervisors.plan.plan_supervisor import PlanDecision, adopted, headline, over, picked


def chosen(plan, *run, room=5, **fields):
    decision = PlanDecision.model_validate(a_choice(*run, **fields))
    return [task.task_id for task in picked(plan, decision, room)]


THREE = (a_task(1), a_task(2, "web_search"), a_task(3, "writer", dependencies=(1, 2)))


@pytest.mark.parametrize("mode", ["fixed", "hybrid"])
async def test_a_given_plan_is_there_from_the_first_step(mode):
    update = await a_step(PlanningTeam(), supervisor=f"plan-{mode}")

    assert [task.capability for task in update["plan"]] == ["investigator", "codebase_search", "writer"]


def test_a_task_named_twice_runs_once():
    assert chosen(THREE, 1, 1) == [1]


def test_the_supervisor_may_leave_a_ready_task_for_later():
    assert chosen(THREE, 2) == [2]


def test_all_is_not_done_while_tasks_are_named_to_run():
    """A contradiction costs one more question at worst; the other way it would cost the work."""
    assert chosen(THREE, 1, all_done=True) == [1]


@pytest.mark.parametrize(("room", "picks"), [(0, [1]), (1, [1]), (2, [1, 2])])
def test_no_more_tasks_start_than_the_visits_left_allow_but_one_does(room, picks):
    """Each takes two visits: the work and its review."""
    assert chosen(THREE, 1, 2, room=room) == picks


@pytest.mark.parametrize(("run", "picks"), [((1, 2), [1]), ((2, 1), [2])])
def test_a_question_is_asked_alone(run, picks):
    """It stops the whole graph, and nobody knows for how long."""
    assert chosen((a_task(1, "human_input"), a_task(2, "web_search")), *run) == picks


@pytest.mark.parametrize(
    ("capabilities", "name"),
    [((), None), (("web_search", "codebase_search"), "web_search"), (("web_search", "writer"), "writer")],
)
def test_one_node_stands_for_the_choice(capabilities, name):
    assert headline([a_task(n, capability) for n, capability in enumerate(capabilities, 1)]) == name


def test_the_job_is_over_once_the_final_task_is_completed():
    assert (
        over([a_task(2, status="COMPLETED", is_final=True)], a_state(), PlanLimits())
        == "Task 2, the final one, is completed."
    )


@pytest.mark.parametrize("status", ["READY", "FAILED", "CANCELLED", "ERRORED"])
def test_a_final_task_that_is_not_completed_ends_nothing(status):
    assert over([a_task(status=status, is_final=True)], a_state(), PlanLimits()) is None


@pytest.mark.parametrize(("steps", "ends"), [(3, False), (4, True), (5, True)])
def test_the_job_is_over_after_the_last_step(steps, ends):
    assert (over([a_task()], a_state(plan_steps=steps), PlanLimits(max_steps=4)) is not None) == ends


async def test_what_is_over_is_not_put_to_the_model():
    team = PlanningTeam()
    done = a_state(plan=[a_task(status="COMPLETED", is_final=True)], supervisor_confidence=0.8, report=a_report())
    update = await a_step(team, done)

    assert team.consulted == team.decided == []
    assert (update["next_node"], update["supervisor_confidence"]) == ("end", 0.8)


async def test_feedback_is_kept_with_its_task():
    feedback = [{"task_id": 1, "text": "Name the line."}, {"task_id": 99, "text": "Nobody."}]
    update = await a_step(PlanningTeam(decide=[a_choice(1, feedback=feedback)]))

    assert [task.guidance for task in update["plan"]] == ["Name the line.", "", ""]


async def test_a_question_is_the_objective_of_its_task():
    plan = [a_task(1, "human_input", objective="Which database?")]
    feedback = [{"task_id": 1, "text": "Two are supported."}]
    update = await a_step(PlanningTeam(decide=[a_choice(1, feedback=feedback)]), a_state(plan=plan))

    asked = update["pending_exchange"]
    assert (asked.question, asked.context, update["awaiting_human"]) == ("Which database?", "Two are supported.", True)


def test_a_job_under_way_has_its_plan_completed_as_far_as_it_got():
    """Frozen states of the dataset, and jobs begun under another supervisor, know findings and no plan."""
    state = a_state(findings=[a_finding("investigator"), a_finding("critic")])
    plan = adopted((a_task(1), a_task(2, "investigator"), a_task(3, "writer")), state)

    assert [(task.status, task.attempts) for task in plan] == [("COMPLETED", 1), ("READY", 0), ("READY", 0)]
    assert plan[0].history[0].note == "done before the plan was made"


@pytest.mark.parametrize("supervisor", ["plan-fixed", "plan-hybrid"])
async def test_without_a_plan_there_is_nothing_to_supervise(supervisor):
    with pytest.raises(ConfigurationError, match="needs a plan"):
        await a_step(PlanningTeam(), supervisor=supervisor, plan=None)
