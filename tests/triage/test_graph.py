"""Whole jobs through the real graph and the real workers, over an endpoint in memory."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.types import Command

from tests.builders.endpoint import a_decision, a_team, a_toolbox
from tests.builders.state import a_finding, a_state, an_exchange
from triage.checkpoints import serializer
from triage.errors import ConfigurationError
from triage.graph import build_graph, recursion_limit, supervisor_node
from triage.graph_configuration import Configuration
from triage.prompts.load import load_supervisor_prompt
from triage.state import NODES, WORKERS, BugTriageState, HumanExchange

JOB = {"configurable": {"thread_id": "job-1"}}
ASK = a_decision("human_input", question="Which database?", question_context="Two are supported.")


def a_configuration(**changes) -> Configuration:
    return Configuration(**{"prompt": load_supervisor_prompt("v3"), **changes})


def a_graph(team, checkpointer=None, **changes):
    return build_graph(a_configuration(**changes), a_toolbox(team), checkpointer)


async def a_finished_job(team, *, state=None, limit=None, **changes) -> BugTriageState:
    config = {"recursion_limit": limit} if limit else None
    values = await a_graph(team, **changes).ainvoke(state or a_state(), config)
    return BugTriageState.model_validate(values)


async def test_a_job_runs_as_decided_and_ends_with_the_writer():
    job = await a_finished_job(a_team("investigator", "codebase_search", "critic", "writer"))

    assert job.visits == ["investigator", "codebase_search", "critic", "writer"]
    assert job.report is not None
    assert job.ticket is not None


async def test_the_writer_gets_the_prompt_that_belongs_to_the_supervisors():
    asked = {}
    for version in ("v5", "v6"):
        team = a_team("investigator", "writer")
        state = a_state(issue_body="Adding two items charges for one. " + "x" * 900)
        await a_finished_job(team, state=state, prompt=load_supervisor_prompt(version))
        asked[version] = team.messages("writer")

    assert "assume nothing else" in asked["v6"][0]
    assert "## From the issue's text\nAdding two items charges for one." in asked["v6"][1]
    assert "characters left out" in asked["v6"][1]
    assert "Adding two items" not in asked["v5"][1]


async def test_a_failed_visit_costs_an_iteration_and_adds_no_finding():
    job = await a_finished_job(a_team("investigator", "critic", "writer", critic=[500]))

    assert job.iterations == 3
    assert [finding.agent_name for finding in job.findings] == ["investigator", "writer"]
    assert [error.agent_name for error in job.agent_errors] == ["critic"]


async def test_a_supervisor_outage_ends_the_job_with_its_error():
    with pytest.raises(Exception, match="planned outage"):
        await a_finished_job(a_team("investigator", supervisor=[500]))


@pytest.mark.parametrize("guards", ["none", "prd"])
async def test_the_other_sets_ask_once_more_after_the_writer(guards):
    job = await a_finished_job(a_team("investigator", "writer", "end"), guards=guards)

    assert job.visits == ["investigator", "writer"]
    assert job.routed_node == "end"


async def test_without_guards_a_loop_is_stopped_by_the_recursion_limit():
    with pytest.raises(GraphRecursionError):
        await a_finished_job(a_team("critic"), guards="none")


@pytest.mark.parametrize("budget", [1, 3, 10, 14])
@pytest.mark.parametrize("choice", [node for node in NODES if node != "human_input"])
async def test_a_hardened_job_always_ends_within_its_budget_and_the_writer(budget, choice):
    job = await a_finished_job(a_team(choice), state=a_state(max_iterations=budget), limit=recursion_limit(budget))

    assert len(job.visits) <= budget + 1
    assert job.visits[-1] == "writer"


async def test_a_question_interrupts_the_job_with_a_typed_value():
    graph = a_graph(a_team("investigator", ASK, "writer"), InMemorySaver(serde=serializer()))
    await graph.ainvoke(a_state(), JOB)

    waiting = (await graph.aget_state(JOB)).tasks[0].interrupts[0].value
    assert waiting == HumanExchange(question="Which database?", context="Two are supported.")


async def test_an_answer_resumes_the_job_and_counts_as_a_visit():
    graph = a_graph(a_team("investigator", ASK, "writer"), InMemorySaver(serde=serializer()))
    await graph.ainvoke(a_state(), JOB)
    values = await graph.ainvoke(Command(resume="MySQL"), JOB)

    job = BugTriageState.model_validate(values)
    assert job.visits == ["investigator", "human_input", "writer"]
    assert job.human_exchanges == [an_exchange("MySQL")]
    assert (job.pending_exchange, job.awaiting_human, job.iterations) == (None, False, 3)


async def test_the_supervisor_can_be_asked_about_a_frozen_state():
    toolbox = a_toolbox(a_team("writer"))
    decide = supervisor_node(a_configuration(), toolbox)
    update = await decide(a_state(iterations=2, visits=["investigator", "critic"], findings=[a_finding()]))

    assert (update["next_node"], update["routed_node"], update["vetoes"]) == ("writer", "writer", [])


def test_the_graph_has_the_agreed_nodes():
    assert set(a_graph(a_team("end")).get_graph().nodes) == {*WORKERS, "supervisor", "__start__", "__end__"}


def test_an_unknown_supervisor_lists_the_known_ones():
    with pytest.raises(ConfigurationError, match=r"no supervisor is called 'dice'; choose one of llm"):
        a_graph(a_team("end"), supervisor="dice")


def test_an_unknown_guard_set_is_refused_before_anything_runs():
    with pytest.raises(ConfigurationError, match="no guard set is called 'strict'"):
        a_graph(a_team("end"), guards="strict")
