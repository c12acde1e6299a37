"""Whole jobs under the plan supervisor, through the real graph and the real workers, over an endpoint in memory."""

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from tests.builders.endpoint import a_team, a_toolbox
from tests.builders.plan import (
    REJECTED,
    PlanningTeam,
    a_choice,
    a_job,
    a_plan_configuration,
    a_plan_graph,
    a_task,
    can_run,
    statuses,
)
from tests.builders.state import a_state
from triage.checkpoints import open_jobs, serializer
from triage.graph import build_graph
from triage.llm import AGENT_HEADER
from triage.state import WORKERS, BugTriageState

JOB = {"configurable": {"thread_id": "job-1"}}


async def test_a_linear_plan_runs_task_by_task_and_every_result_goes_to_the_critic():
    job = await a_job(plan="linear")

    assert job.visits == ["investigator", "critic", "codebase_search", "critic", "writer", "critic"]
    assert statuses(job) == ["COMPLETED"] * 3
    assert job.report is not None


async def test_tasks_that_can_run_together_do():
    """Each of the two searches waits until the other has asked: one after the other, neither would get its answer."""
    team, arrived, both = PlanningTeam(), set(), asyncio.Event()

    async def answer(request):
        agent = request.headers[AGENT_HEADER]
        if agent in {"codebase_search", "web_search"}:
            arrived.add(agent)
            if len(arrived) == 2:
                both.set()
            await asyncio.wait_for(both.wait(), timeout=20)
        return team(request)

    graph = build_graph(a_plan_configuration(plan="fan-out"), a_toolbox(answer))
    job = BugTriageState.model_validate(await graph.ainvoke(a_state()))

    assert job.agent_errors == []
    assert statuses(job) == ["COMPLETED"] * 4


async def test_a_report_written_with_the_last_visit_is_final():
    """A critic could ask for nothing that there are visits left for, and would only make the job run on."""
    report_task = ("add_task", {"objective": "the report", "capability": "writer"})
    team = PlanningTeam(decide=[a_choice()], calls=[[report_task]], replies={"critic": REJECTED})
    job = await a_job(team, a_state(max_iterations=2), supervisor="plan-llm", plan=None)

    assert job.report is not None
    assert job.visits == ["investigator", "writer"]


async def test_every_visit_counts_those_side_by_side_and_the_reviews_too():
    job = await a_job(plan="fan-out")

    assert job.iterations == len(job.visits) == 8


async def test_a_worker_reads_its_objective_and_what_the_supervisor_adds():
    feedback = [{"task_id": 1, "text": "Mind the time zone."}]
    team = PlanningTeam(decide=lambda context: a_choice(*can_run(context), feedback=feedback))
    await a_job(team)

    assert team.workers.messages("investigator")[1].endswith(
        "## Instructions for this visit\n"
        "- Read the issue and form one hypothesis about its root cause.\n"
        "- The supervisor adds: Mind the time zone."
    )


async def test_a_branch_the_findings_made_pointless_is_cancelled():
    cancel = [("cancel_task", {"task_id": n, "reason": "the cause is in the code"}) for n in (3, 4)]
    job = await a_job(PlanningTeam(calls=[[], cancel]), plan="optional-branch")

    assert statuses(job) == ["COMPLETED", "COMPLETED", "CANCELLED", "CANCELLED", "COMPLETED"]
    assert "web_search" not in job.visits


async def test_a_hybrid_plan_grows_by_what_the_supervisor_adds():
    calls = [
        [],
        [
            ("add_task", {"objective": "Look outside.", "capability": "web_search", "dependencies": [1]}),
            ("patch_task", {"task_id": 3, "dependencies": [2, 4]}),
        ],
    ]
    job = await a_job(PlanningTeam(calls=calls), supervisor="plan-hybrid")

    assert statuses(job) == ["COMPLETED"] * 4
    assert job.visits[2:4] == ["codebase_search", "web_search"]


async def test_a_dynamic_plan_is_the_supervisors_own():
    calls = [
        [
            ("add_task", {"objective": "Read.", "capability": "investigator"}),
            ("add_task", {"objective": "Write.", "capability": "writer", "dependencies": [1], "is_final": True}),
        ]
    ]
    job = await a_job(PlanningTeam(calls=calls), supervisor="plan-llm")

    assert job.visits == ["investigator", "critic", "writer", "critic"]
    assert job.plan[1].is_final


async def test_a_dynamic_plan_nobody_makes_still_ends_with_an_investigation_and_a_report():
    job = await a_job(supervisor="plan-llm")

    assert job.visits == ["investigator", "writer"]
    assert job.plan == []


async def test_all_done_is_the_supervisors_to_say():
    """Here as soon as the first task is completed; the guards see to the report."""
    team = PlanningTeam(decide=[a_choice(1), a_choice(all_done=True)])
    job = await a_job(team)

    assert job.visits == ["investigator", "critic", "writer"]
    assert job.next_node == "end"


async def test_a_spent_budget_sends_the_job_to_the_writer():
    job = await a_job(state=a_state(max_iterations=2))

    assert job.visits == ["investigator", "critic", "writer"]
    assert job.vetoes[-1].guard == "iteration_limit"
    assert job.plan[1].status == "READY"


async def test_a_guard_sends_the_job_elsewhere_and_leaves_the_tasks_as_they_are():
    plan = [a_task(1, "codebase_search"), a_task(2, "writer", dependencies=(1,), is_final=True)]
    job = await a_job(state=a_state(plan=plan))

    assert job.vetoes[0].guard == "investigator_first"
    assert job.visits == ["investigator", "codebase_search", "critic", "writer", "critic"]
    assert job.plan[0].attempts == 1


@pytest.mark.parametrize("kind", [name for name in WORKERS if name != "human_input"])
async def test_two_of_one_kind_may_run_side_by_side(kind):
    """Each writes the fields of the state the other writes."""
    plan = [a_task(1), a_task(2, kind, dependencies=(1,)), a_task(3, kind, dependencies=(1,))]
    last = a_task(4, "writer", dependencies=(2, 3), is_final=True)
    job = await a_job(state=a_state(plan=[*plan, last], max_iterations=20))

    assert job.visits[2:4] == [kind, kind]
    assert statuses(job) == ["COMPLETED"] * 4


async def test_a_question_interrupts_the_job_and_its_answer_completes_the_task():
    plan = [
        a_task(1),
        a_task(2, "human_input", objective="Which database?", dependencies=(1,)),
        a_task(3, "writer", dependencies=(2,), is_final=True),
    ]
    graph = a_plan_graph(PlanningTeam(), InMemorySaver(serde=serializer()))
    await graph.ainvoke(a_state(plan=plan), JOB)
    waiting = (await graph.aget_state(JOB)).tasks[0].interrupts[0].value
    job = BugTriageState.model_validate(await graph.ainvoke(Command(resume="MySQL"), JOB))

    assert waiting.question == "Which database?"
    assert job.visits == ["investigator", "critic", "human_input", "writer", "critic"]
    assert (job.plan[1].status, job.plan[1].result.summary) == ("COMPLETED", "MySQL")
    assert (job.pending_exchange, job.awaiting_human, job.iterations) == (None, False, 5)


async def test_a_plan_left_at_a_question_goes_on_from_its_file(tmp_path):
    plan = [
        a_task(1, "human_input", objective="Which database?"),
        a_task(2, "writer", dependencies=(1,), is_final=True),
    ]
    async with open_jobs(tmp_path / "jobs.sqlite") as jobs:
        await a_plan_graph(PlanningTeam(), jobs, guards="none").ainvoke(a_state(plan=plan), JOB)
    async with open_jobs(tmp_path / "jobs.sqlite") as jobs:
        values = await a_plan_graph(PlanningTeam(), jobs, guards="none").ainvoke(Command(resume="MySQL"), JOB)

    assert statuses(BugTriageState.model_validate(values)) == ["COMPLETED", "COMPLETED"]


def test_the_graph_has_a_review_beside_the_agreed_nodes_and_only_here():
    planned, usual = (build_graph(c, a_toolbox(a_team("end"))) for c in (a_plan_configuration(), _usual()))

    assert set(planned.get_graph().nodes) == {*WORKERS, "supervisor", "review", "__start__", "__end__"}
    assert "review" not in usual.get_graph().nodes


def _usual():
    from triage.graph_configuration import Configuration
    from triage.prompts.load import load_supervisor_prompt

    return Configuration(prompt=load_supervisor_prompt("v3"))
