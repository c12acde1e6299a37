"""Where the source documents contradict each other or themselves: one test for each question, and how it was settled.

Where the seed's own behaviour is kept to be measured (guard set `prd`), the test pins the fault beside its repair.
"""

import openai
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.types import Command

from tests.builders.endpoint import a_decision, a_team, a_toolbox
from tests.builders.state import a_finding, a_rejection, a_state, an_exchange
from triage.checkpoints import serializer
from triage.configuration import Configuration
from triage.context_message import supervisor_context
from triage.graph import build_graph
from triage.guards.guard import rule
from triage.guards.guard_sets import guard_set
from triage.prompts.load import load_supervisor_prompt
from triage.state import BugTriageState
from triage.supervisors.llm_supervisor import SupervisorDecision

ASK = a_decision("human_input", question="Which database?")
REJECTS = {"verdict": "CHALLENGED", "ready_for_report": False, "gaps": ["no line named"]}
NO_DECISION = "Let me think about it."
JOB = {"configurable": {"thread_id": "job"}, "recursion_limit": 120}


def a_graph(team, guards="hardened", prompt="v3"):
    configuration = Configuration(prompt=load_supervisor_prompt(prompt), guards=guards)
    return build_graph(configuration, a_toolbox(team), InMemorySaver(serde=serializer()))


def route(guards, state, choice):
    return rule(guard_set(guards).guards, state, choice).routed


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


async def test_a_spent_budget_calls_the_writer_again_and_again_under_the_prd():
    """Guard 3 does not ask whether the report exists, so `end` is overruled for ever."""
    job = await a_job(a_team("investigator", "end"), "prd", max_iterations=1)

    assert job.visits.count("writer") > 50


async def test_a_spent_budget_calls_the_writer_once():
    job = await a_job(a_team("investigator", "end"), "hardened", max_iterations=1)

    assert job.visits == ["investigator", "writer"]


def test_end_slips_past_a_rejection_under_the_prd():
    """Guard 4 turns `end` into `writer` and guard 5 is never asked."""
    assert route("prd", a_rejected_state(), "end") == "writer"


def test_end_does_not_slip_past_a_rejection():
    assert route("hardened", a_rejected_state(), "end") == "investigator"


async def test_a_job_that_ends_after_a_rejection_is_reported_on_at_once_under_the_prd():
    """What the gate exists for is held back when it is called `writer`, and let through when it is called `end`."""
    job = await a_job(a_team("investigator", "critic", "end", critic=[_review(**REJECTS)]), "prd")

    assert job.visits == ["investigator", "critic", "writer"]
    assert [(veto.guard, veto.chosen) for veto in job.vetoes] == [("report_before_end", "end")]


async def test_a_job_that_ends_after_a_rejection_is_looked_into_first():
    job = await a_job(a_team("investigator", "critic", "end", critic=[_review(**REJECTS)]))

    assert job.visits == ["investigator", "critic", "investigator", "writer"]
    assert [veto.guard for veto in job.vetoes] == ["critic_gate", "report_before_end"]


async def test_a_rejection_latches_under_the_prd():
    """Only a second review could lift it, and the prompt forbids one: the job investigates until its budget is gone."""
    job = await a_job(a_team("investigator", "critic", "writer", critic=[_review(**REJECTS)]), "prd")

    assert job.visits.count("investigator") == 9


async def test_a_rejection_binds_until_something_new_lands():
    job = await a_job(a_team("investigator", "critic", "writer", critic=[_review(**REJECTS)]))

    assert job.visits == ["investigator", "critic", "investigator", "writer"]


async def test_a_failed_visit_is_nothing_new():
    team = a_team("investigator", "critic", "codebase_search", "writer", critic=[_review(**REJECTS)])
    team.script = {**team.script, "codebase_search": [500]}

    assert (await a_job(team)).visits == ["investigator", "critic", "codebase_search", "investigator", "writer"]


def test_a_forced_fallback_is_held_back_under_the_prd():
    """The seed says the graph routes to the writer and completes; its guards 1 and 5 say otherwise."""
    assert route("prd", a_state(forced_fallback=True), "writer") == "investigator"
    assert route("prd", a_rejected_state(forced_fallback=True), "writer") == "investigator"


def test_a_forced_fallback_reaches_the_writer_once_somebody_has_investigated():
    assert route("hardened", a_state(forced_fallback=True), "writer") == "investigator"
    assert route("hardened", a_rejected_state(forced_fallback=True), "writer") == "writer"


async def test_a_job_without_a_valid_decision_investigates_first_under_the_prd():
    """What is forced to the writer ends up at the investigator, and the model that just failed twice is asked again."""
    said = [NO_DECISION, NO_DECISION, a_decision("writer"), a_decision("end")]
    job = await a_job(a_team(supervisor=said), "prd")

    assert job.visits == ["investigator", "writer"]
    assert [(veto.guard, veto.chosen) for veto in job.vetoes] == [("investigator_first", "writer")]


async def test_a_job_without_a_valid_decision_is_investigated_and_reported_on():
    """Guard 1 holds for a forced fallback as well: a report on a title alone helps nobody."""
    job = await a_job(a_team(supervisor=[NO_DECISION]))

    assert job.visits == ["investigator", "writer"]
    assert [(veto.guard, veto.chosen) for veto in job.vetoes] == [("investigator_first", "writer")]


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


async def test_the_writer_comes_twice_if_the_supervisor_is_asked_again():
    """Where the writer leads is not said in the seed; under the PRD set the supervisor has the last word."""
    job = await a_job(a_team("investigator", "writer", "writer", "end"), "prd")

    assert job.visits == ["investigator", "writer", "writer"]


async def test_the_writer_ends_the_job():
    job = await a_job(a_team("investigator", "writer", "writer", "end"))

    assert job.visits == ["investigator", "writer"]


async def test_every_kind_of_visit_is_an_iteration():
    """The seed's critic, web search and human nodes return no iteration, which blinds the limit."""
    job = await a_job(a_team("investigator", "web_search", "critic", ASK, "codebase_search", "writer"))

    assert job.iterations == len(job.visits) == 6


async def test_the_answer_of_the_user_is_kept():
    """The seed's human_input returns {}: the answer would be lost and no question would ever count."""
    job = await a_job(a_team("investigator", ASK, "writer"))

    assert job.human_exchanges == [an_exchange("MySQL", context="")]


def test_the_redirect_header_stands_once():
    """The seed writes a section header and then the block's own."""
    context = supervisor_context(a_state(redirect_instructions=["Be quick"]), load_supervisor_prompt("v2"))

    assert context.lower().count("redirect instructions") == 1


def test_state_stands_in_the_context_and_not_in_the_system_prompt():
    """Section 3 of the seed mixes both into one prompt, section 2 sends two messages; two it is."""
    prompt = load_supervisor_prompt("v2")

    assert "Iteration:" not in prompt.system
    assert "investigator - " not in supervisor_context(a_state(), prompt)


def test_the_gate_was_enforced_on_a_verdict_nobody_was_shown():
    """The seed says the prompt honours the verdict, but neither its prompt nor its context holds one: v3 adds it."""
    state = a_rejected_state()

    assert "REJECTED" not in supervisor_context(state, load_supervisor_prompt("v2"))
    assert "REJECTED" in supervisor_context(state, load_supervisor_prompt("v3"))


async def test_an_outage_is_not_invalid_output():
    """The seed catches `Exception`, so a wrong key would be "corrected" once and then reported on."""
    with pytest.raises(openai.AuthenticationError):
        await a_graph(a_team("investigator", supervisor=[401])).ainvoke(a_state(), JOB)


def test_confidence_is_bounded():
    """The seed's schema lets a model answer 70 for 70 %, which passes every threshold."""
    with pytest.raises(ValueError, match="less than or equal to 1"):
        SupervisorDecision.model_validate(a_decision(confidence=70))


def test_thresholds_are_the_prompts_business_unless_a_variant_says_otherwise():
    """Section 7 of the seed: the guards do not check confidence. The floor that does is a choice of the variant."""
    state = a_state(iterations=1, visits=["investigator"], findings=[a_finding()], supervisor_confidence=0.1)

    assert route("hardened", state, "writer") == "writer"


def _review(**changes):
    told = {"reasoning": "r", "summary": "s", "confidence": 0.4, "error": None, "confidence_adjustment": -0.2}
    return {**told, "revised_hypothesis": None, **changes}
