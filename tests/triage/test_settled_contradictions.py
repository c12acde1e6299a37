"""Where the source documents contradict each other or themselves: one test for each question, and how it was settled.

Where the seed's own behaviour is kept to be measured (guard set `prd`), the test pins the fault beside its repair.
"""

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.types import Command

from tests.builders.endpoint import a_decision, a_team, a_toolbox
from tests.builders.state import a_finding, a_rejection, a_state
from triage.checkpoints import serializer
from triage.graph import build_graph
from triage.graph_configuration import Configuration
from triage.prompts.load import load_supervisor_prompt
from triage.state import BugTriageState
from triage.supervisor_context import supervisor_context

ASK = a_decision("human_input", question="Which database?")
REJECTS = {"verdict": "CHALLENGED", "ready_for_report": False, "gaps": ["no line named"]}
NO_DECISION = "Let me think about it."
JOB = {"configurable": {"thread_id": "job"}, "recursion_limit": 120}


def a_graph(team, guards="hardened", prompt="v3"):
    configuration = Configuration(prompt=load_supervisor_prompt(prompt), guards=guards)
    return build_graph(configuration, a_toolbox(team), InMemorySaver(serde=serializer()))


async def a_job(team, guards="hardened", **fields) -> BugTriageState:
    """A whole job whose user always answers; if LangGraph has to stop it, the state it got to."""
    graph = a_graph(team, guards)
    given = a_state(**fields)
    try:
        while (await graph.ainvoke(given, JOB)).get("__interrupt__"):
            given = Command(resume="MySQL")
    except GraphRecursionError:
        pass
    return BugTriageState.model_validate((await graph.aget_state(JOB)).values)


def a_rejected_state(**fields):
    seen = {"iterations": 2, "visits": ["investigator", "critic"], "findings": [a_finding(), a_finding("critic")]}
    return a_state(**{**seen, "critic_feedback": a_rejection(evidence_seen=2), **fields})


async def test_the_question_limit_before_the_iteration_limit_loops_for_ever():
    """The seed's order sends a supervisor that keeps asking to codebase_search for as long as it is let."""
    job = await a_job(a_team("investigator", ASK), "prd", max_iterations=6)

    assert job.iterations > 50
    assert "writer" not in job.visits


async def test_the_iteration_limit_before_the_question_limit_ends():
    job = await a_job(a_team("investigator", ASK), "hardened", max_iterations=6)

    assert job.visits == ["investigator", "human_input", "human_input", *["codebase_search"] * 3, "writer"]


async def test_a_rejection_latches_under_the_prd():
    """Only a second review could lift it, and the prompt forbids one: the job investigates until its budget is gone."""
    job = await a_job(a_team("investigator", "critic", "writer", critic=[_review(**REJECTS)]), "prd")

    assert job.visits.count("investigator") == 9


async def test_a_rejection_binds_until_something_new_lands():
    job = await a_job(a_team("investigator", "critic", "writer", critic=[_review(**REJECTS)]))

    assert job.visits == ["investigator", "critic", "investigator", "writer"]


@pytest.mark.parametrize(("guards", "next_visit"), [("prd", "investigator"), ("hardened", "writer")])
async def test_a_rejection_holds_a_forced_fallback_back_only_under_the_prd(guards, next_visit):
    said = [a_decision("investigator"), a_decision("critic"), NO_DECISION, NO_DECISION, a_decision("end")]
    job = await a_job(a_team(supervisor=said, critic=[_review(**REJECTS)]), guards)

    assert job.visits[:3] == ["investigator", "critic", next_visit]


async def test_an_overruled_question_stays_pending_under_the_prd():
    """The user never sees it, and the supervisor reads "(awaiting answer)" for the rest of the job."""
    team = a_team(ASK, "writer", "end")
    await a_job(team, "prd")

    assert "(awaiting answer)" in team.messages("supervisor", 1)[1]


async def test_an_overruled_question_is_taken_back():
    team = a_team(ASK, "writer")
    await a_job(team)

    assert "(awaiting answer)" not in team.messages("supervisor", 1)[1]


def test_the_gate_was_enforced_on_a_verdict_nobody_was_shown():
    """The seed says the prompt honours the verdict, but neither its prompt nor its context holds one: v3 adds it."""
    state = a_rejected_state()

    assert "REJECTED" not in supervisor_context(state, load_supervisor_prompt("v2"))
    assert "REJECTED" in supervisor_context(state, load_supervisor_prompt("v3"))


def _review(**changes):
    told = {"reasoning": "r", "summary": "s", "confidence": 0.4, "error": None, "confidence_adjustment": -0.2}
    return {**told, "revised_hypothesis": None, **changes}
