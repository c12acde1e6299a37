"""Whatever a supervisor does to its plan: the job ends with a report, and what was done side by side adds up."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders.endpoint import WORKER_REPLIES
from tests.builders.plan import (
    REJECTED,
    PlanningTeam,
    a_choice,
    a_job,
    a_plan_graph,
)
from tests.builders.state import a_state
from triage.graph import recursion_limit
from triage.state import WORKERS, BugTriageState

PASSED = WORKER_REPLIES["critic"]


@pytest.mark.parametrize("plan", ["linear", "fan-out"])
@pytest.mark.parametrize("guards", ["hardened", "prd", "none"])
async def test_a_plan_that_goes_well_needs_no_guard(plan, guards):
    job = await a_job(plan=plan, guards=guards)

    assert job.vetoes == []
    assert job.report is not None


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
