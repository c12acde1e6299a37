"""Whole jobs under the plan supervisor, through the real graph and the real workers, over an endpoint in memory."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from tests.builders.endpoint import WORKER_REPLIES, a_team, a_toolbox
from tests.builders.plan import (
    REJECTED,
    PlanningTeam,
    a_choice,
    a_finished_plan,
    a_plan_configuration,
    a_plan_graph,
    a_task,
    can_run,
    everything,
)
from tests.builders.state import a_state
from triage.checkpoints import open_jobs, serializer
from triage.graph import build_graph, recursion_limit
from triage.llm import AGENT_HEADER
from triage.state import WORKERS, BugTriageState, by_id, each_once, furthest

JOB = {"configurable": {"thread_id": "job-1"}}
PASSED = WORKER_REPLIES["critic"]


async def a_job(team=None, state=None, **changes) -> BugTriageState:
    return await a_finished_plan(team or PlanningTeam(), state or a_state(), **changes)


def statuses(job):
    return [task.status for task in job.plan]


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


async def test_what_runs_together_is_told_in_the_order_of_the_choice():
    team = PlanningTeam(decide=lambda context: a_choice(*reversed(can_run(context))))
    job = await a_job(team, plan="fan-out")

    assert job.visits[2:6] == ["web_search", "codebase_search", "critic", "critic"]


async def test_a_report_written_with_the_last_visit_is_final():
    """A critic could ask for nothing that there are visits left for, and would only make the job run on."""
    report_task = ("add_task", {"objective": "the report", "capability": "writer"})
    team = PlanningTeam(decide=[a_choice()], calls=[[report_task]], replies={"critic": REJECTED})
    job = await a_job(team, a_state(max_iterations=1), supervisor="plan-llm", plan=None)

    assert job.report is not None
    assert job.visits == ["writer"]


async def test_every_visit_counts_those_side_by_side_and_the_reviews_too():
    job = await a_job(plan="fan-out")

    assert job.iterations == len(job.visits) == 8


async def test_the_final_report_waits_for_all_branches():
    team = PlanningTeam()
    await a_job(team, plan="fan-out")

    assert [can_run(context) for context in team.decided] == [[1], [2, 3], [4]]


async def test_a_worker_reads_its_objective_and_what_the_supervisor_adds():
    feedback = [{"task_id": 1, "text": "Mind the time zone."}]
    team = PlanningTeam(decide=lambda context: a_choice(*can_run(context), feedback=feedback))
    await a_job(team)

    assert team.workers.messages("investigator")[1].endswith(
        "## Instructions for this visit\n"
        "- Read the issue and form one hypothesis about its root cause.\n"
        "- The supervisor adds: Mind the time zone."
    )


async def test_a_redirect_still_comes_first():
    team = PlanningTeam()
    await a_job(team, a_state(redirect_instructions=["Check the cart."]))

    assert (
        "## Instructions for this visit\n- Check the cart.\n- Read the issue"
        in team.workers.messages("investigator")[1]
    )


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


@pytest.mark.parametrize("attempts", [1, 3])
async def test_attempts_are_limited_by_configuration(attempts):
    team = PlanningTeam(replies={"critic": [REJECTED]})
    job = await a_job(team, limits={"max_attempts": attempts})

    assert job.plan[0].attempts == attempts


async def test_a_breakdown_is_an_errored_task_that_the_supervisor_may_run_again():
    rerun = ("update_task_status", {"task_id": 1, "status": "RERUN"})
    team = PlanningTeam(calls=[[], [rerun]], replies={"investigator": [500, WORKER_REPLIES["investigator"]]})
    job = await a_job(team)

    assert [event.status for event in job.plan[0].history][:3] == ["RUNNING", "ERRORED", "RERUN"]
    assert statuses(job) == ["COMPLETED"] * 3


async def test_a_breakdown_nobody_mends_ends_with_the_report_of_what_is_known():
    job = await a_job(PlanningTeam(replies={"investigator": [500]}))

    assert statuses(job) == ["ERRORED", "READY", "READY"]
    assert job.visits == ["investigator", "writer"]


async def test_a_review_that_breaks_down_is_an_error_of_its_task():
    job = await a_job(PlanningTeam(replies={"critic": [500]}))

    assert job.plan[0].status == "ERRORED"
    assert job.plan[0].history[-1].note.startswith("the review failed: ")


async def test_the_supervisor_is_asked_only_once_all_that_run_together_are_back():
    """One breaks down while the other still awaits its review."""
    team = PlanningTeam(replies={"web_search": [500]})
    job = await a_job(team, plan="fan-out")

    assert [task.status for task in job.plan[1:3]] == ["COMPLETED", "ERRORED"]
    assert not any("RUNNING" in board or "NEEDS_REVIEW" in board for board in team.decided)


async def test_a_branch_the_findings_made_pointless_is_cancelled():
    cancel = [("cancel_task", {"task_id": n, "reason": "the cause is in the code"}) for n in (3, 4)]
    job = await a_job(PlanningTeam(calls=[[], cancel]), plan="optional-branch")

    assert statuses(job) == ["COMPLETED", "COMPLETED", "CANCELLED", "CANCELLED", "COMPLETED"]
    assert "web_search" not in job.visits


async def test_what_waits_for_a_cancelled_task_never_runs():
    team = PlanningTeam(calls=[[], [("cancel_task", {"task_id": 3, "reason": "r"})]])
    job = await a_job(team, plan="fan-out")

    assert job.plan[3].attempts == 0
    assert job.visits[-1] == "writer"  # the guards', for a job does not end without a report


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


async def test_a_fixed_plan_keeps_its_shape_whatever_the_model_calls():
    add = ("add_task", {"objective": "Look outside.", "capability": "web_search"})
    job = await a_job(PlanningTeam(calls=[[add]]))

    assert [task.capability for task in job.plan] == ["investigator", "codebase_search", "writer"]


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


async def test_without_guards_all_done_ends_at_once():
    job = await a_job(PlanningTeam(decide=[a_choice(all_done=True)]), guards="none")

    assert job.visits == []


async def test_after_the_last_step_the_job_ends():
    team = PlanningTeam()
    job = await a_job(team, limits={"max_steps": 1})

    assert len(team.decided) == 1
    assert job.visits == ["investigator", "critic", "writer"]
    assert job.supervisor_reasoning == "All 1 steps are used."


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


async def test_a_review_is_of_its_task_and_a_critic_task_of_the_job():
    plan = [a_task(1), a_task(2, "critic", dependencies=(1,)), a_task(3, "writer", dependencies=(2,), is_final=True)]
    reviewed_only = await a_job()
    with_a_critic = await a_job(state=a_state(plan=plan))

    assert reviewed_only.critic_feedback is None
    assert reviewed_only.plan[0].feedback.verdict == "APPROVED"
    assert with_a_critic.critic_feedback.verdict == "APPROVED"
    assert with_a_critic.plan[1].feedback is None


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


async def test_a_third_question_is_not_asked():
    plan = [a_task(n, "human_input", objective=f"Question {n}?") for n in (1, 2, 3)]
    graph = a_plan_graph(PlanningTeam(), InMemorySaver(serde=serializer()))
    given = a_state(plan=[a_task(9), *plan])
    while (await graph.ainvoke(given, JOB)).get("__interrupt__"):
        given = Command(resume="Nobody knows.")
    job = BugTriageState.model_validate((await graph.aget_state(JOB)).values)

    assert len(job.human_exchanges) == 2
    assert "question_limit" in {veto.guard for veto in job.vetoes}


@pytest.mark.parametrize("plan", ["linear", "fan-out"])
@pytest.mark.parametrize("guards", ["hardened", "prd", "none"])
async def test_a_plan_that_goes_well_needs_no_guard(plan, guards):
    job = await a_job(plan=plan, guards=guards)

    assert job.vetoes == []
    assert job.report is not None


def test_the_graph_has_a_review_beside_the_agreed_nodes_and_only_here():
    planned, usual = (build_graph(c, a_toolbox(a_team("end"))) for c in (a_plan_configuration(), _usual()))

    assert set(planned.get_graph().nodes) == {*WORKERS, "supervisor", "review", "__start__", "__end__"}
    assert "review" not in usual.get_graph().nodes


def _usual():
    from triage.configuration import Configuration
    from triage.prompts import load_supervisor_prompt

    return Configuration(prompt=load_supervisor_prompt("v3"))


IDS = st.integers(0, 6)
CHANCE = st.lists(st.tuples(st.lists(st.integers(0, 6), max_size=3), st.booleans()), min_size=1, max_size=6)
TOOLS = st.lists(
    st.one_of(
        st.tuples(st.just("cancel_task"), st.fixed_dictionaries({"task_id": IDS, "reason": st.just("r")})),
        st.tuples(
            st.just("update_task_status"),
            st.fixed_dictionaries({"task_id": IDS, "status": st.sampled_from(["READY", "RERUN"])}),
        ),
        st.tuples(
            st.just("add_task"),
            st.fixed_dictionaries(
                {"objective": st.just("o"), "capability": st.sampled_from([w for w in WORKERS if w != "human_input"])}
            ),
        ),
    ),
    max_size=3,
)


@given(
    decisions=CHANCE,
    tools=st.lists(TOOLS, max_size=8),
    critics=st.lists(st.sampled_from([REJECTED, PASSED, 500]), min_size=1, max_size=6),
    investigators=st.lists(st.sampled_from([WORKER_REPLIES["investigator"], 500]), min_size=1, max_size=4),
    mode=st.sampled_from(["fixed", "llm", "hybrid"]),
    plan=st.sampled_from(["linear", "fan-out"]),
    budget=st.integers(1, 12),
)
@settings(max_examples=25, deadline=None)
def test_a_hardened_job_always_ends_with_a_report(decisions, tools, critics, investigators, mode, plan, budget):
    """Whatever the supervisor, the workers and the critic come up with, within the supersteps the budget allows."""
    team = PlanningTeam(
        decide=[a_choice(*run, all_done=done) for run, done in decisions],
        calls=tools,
        replies={"critic": critics, "investigator": investigators},
    )
    graph = a_plan_graph(team, supervisor=f"plan-{mode}", plan=plan)
    limit = {"recursion_limit": recursion_limit(budget, f"plan-{mode}")}
    job = BugTriageState.model_validate(asyncio.run(graph.ainvoke(a_state(max_iterations=budget), limit)))

    assert job.report is not None
    assert len(job.visits) == job.iterations <= budget + 2
    assert all(task.attempts <= 2 for task in job.plan)


def test_visits_side_by_side_are_counted_one_by_one():
    assert furthest(furthest(3, 4), 5) == 5


def test_a_snippet_two_searches_cite_is_kept_once():
    assert each_once(["a"], ["b", "a", "b"]) == ["a", "b"]


def test_a_task_replaces_the_one_of_its_number():
    assert [task.objective for task in by_id([a_task(2), a_task(1)], [a_task(2, objective="new")])] == [
        "Do part 1.",
        "new",
    ]


async def test_everything_that_ran_is_known_afterwards():
    """The final state holds the DAG and each task's history."""
    job = await a_job(PlanningTeam(decide=everything), plan="fan-out")

    assert [task.dependencies for task in job.plan] == [(), (1,), (1,), (2, 3)]
    assert [[(event.step, event.status) for event in task.history] for task in job.plan] == [
        [(step, "RUNNING"), (step, "NEEDS_REVIEW"), (step, "COMPLETED")] for step in (1, 2, 2, 3)
    ]


async def test_the_review_of_a_report_reads_the_report():
    team = PlanningTeam()
    job = await a_job(team, plan="linear")
    asked = team.workers.messages("critic", 2)[1]

    assert f"Root cause in the report: {job.report.root_cause}" in asked
    assert f"Comment to be posted: {' '.join(job.comment.split())}" in asked
    assert "Root cause in the report" not in team.workers.messages("critic", 1)[1]
