"""The rules in the graph: whole jobs with real workers and no supervisor model, and the telemetry they leave."""

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from tests.builders.endpoint import SAID, a_team, a_toolbox
from tests.builders.repository import an_index
from tests.builders.rules import a_draft, a_drafted_state, a_review_finding, some_retries
from tests.builders.search import a_toolbox_with
from tests.builders.state import a_finding, a_state
from triage.checkpoints import serializer
from triage.graph import build_graph, supervisor_node
from triage.graph_configuration import Configuration, RulesSettings
from triage.state import BugTriageState, SearchScope

JOB = {"configurable": {"thread_id": "job"}}
EVERY_MATCH = RulesSettings(min_score=0.0, low_confidence=0.75)
"""The builder's vectors know nothing, so no filter may rest on them."""


def a_place(path="shop/cart.py", confidence=0.8):
    reply = {"relevant_files": [{"path": path, "relevance_reason": "r"}], "root_cause_location": f"{path}::f"}
    return {**SAID, **reply, "confidence": confidence}


def a_graph(toolbox, **changes):
    configuration = Configuration(supervisor="rules", **{"rules": EVERY_MATCH, **changes})
    return build_graph(configuration, toolbox, InMemorySaver(serde=serializer()))


async def a_job(tmp_path, *searches, rules=EVERY_MATCH, **replies) -> tuple[BugTriageState, object]:
    """(the finished job, its team); the user answers whatever is asked."""
    team = a_team(codebase_search=searches or [a_place()], **replies)
    graph = a_graph(a_toolbox_with(an_index(tmp_path), team), rules=rules)
    given = a_state()
    while (await graph.ainvoke(given, JOB)).get("__interrupt__"):
        given = Command(resume="It is the cart.")
    return BugTriageState.model_validate((await graph.aget_state(JOB)).values), team


async def test_a_retried_search_reads_more_and_is_told_why(tmp_path):
    files = {f"shop/f{n}.py": f"def f{n}(): ...\n" for n in range(20)}
    team = a_team(codebase_search=[a_place("shop/f1.py", 0.2), a_place("shop/f1.py", 0.9)])
    graph = a_graph(a_toolbox_with(an_index(tmp_path, files), team))
    job = BugTriageState.model_validate(await graph.ainvoke(a_state(), JOB))

    first, second = (team.messages("codebase_search", n)[1] for n in (0, 1))
    assert job.visits == ["investigator", "codebase_search", "critic", "codebase_search", "writer"]
    assert [text.count("```\n# shop/f") for text in (first, second)] == [5, 10]
    assert "not conclusive" not in first
    assert "not conclusive" in second


async def test_a_conflict_that_stays_is_asked_about_and_the_answer_searched(tmp_path):
    places = [a_place(f"shop/{name}.py") for name in ("cart", "tax", "mail")]
    rejects = {
        **SAID,
        "verdict": "CHALLENGED",
        "confidence_adjustment": 0.0,
        "gaps": [],
        "revised_hypothesis": None,
        "ready_for_report": False,
    }
    job, _ = await a_job(tmp_path, *places, critic=[rejects])

    assert job.visits == [
        "investigator", "codebase_search", "critic", "codebase_search", "codebase_search",
        "human_input", "investigator", "codebase_search", "writer",
    ]  # fmt: skip
    assert [reason.reason for reason in job.retry_reasons] == ["hallucination", "conflicting_locations"]
    assert job.human_exchanges[0].answer == "It is the cart."


async def test_a_question_is_an_event_too(tmp_path):
    toolbox = a_toolbox_with(an_index(tmp_path), a_team())
    decide = supervisor_node(Configuration(supervisor="rules"), toolbox)
    update = await decide(a_drafted_state(a_draft(confidence=0.54), retry_reasons=some_retries(2)))

    assert update["decision_events"][0].model_dump() == {
        "node": "supervisor",
        "decision": "HITL_triggered",
        "confidence": 0.54,
        "retry_count": 2,
        "reason": "low_confidence",
    }
    assert update["awaiting_human"]
    assert "54%" in update["pending_exchange"].question


async def test_the_job_is_about_the_files_of_its_own_repository(tmp_path):
    """The draft cites what the index does not hold."""
    job, _ = await a_job(tmp_path, a_place("shop/invented.py", 0.9), a_place("shop/cart.py", 0.9))

    assert job.retry_reasons[0].citation_issue


async def test_without_any_source_the_search_outside_and_the_user_remain():
    """The code is not searched a second time: there is none."""
    graph = a_graph(a_toolbox(a_team()))
    values = await graph.ainvoke(a_state(repository="shop"), JOB)

    assert values["visits"] == ["investigator", "codebase_search", "critic", "web_search"]
    assert "still uncertain" in values["__interrupt__"][0].value.question


async def test_the_rules_speak_for_frozen_states():
    decide = supervisor_node(Configuration(supervisor="rules"), a_toolbox(a_team()))
    update = await decide(a_state(iterations=1, visits=["investigator"], findings=[a_finding()]))

    assert (update["next_node"], update["routed_node"]) == ("codebase_search", "codebase_search")
    assert update["search_scope"] == SearchScope(chunks=5, min_score=0.20)


async def test_the_reasoning_gives_the_numbers():
    decide = supervisor_node(Configuration(supervisor="rules"), a_toolbox(a_team()))
    update = await decide(a_drafted_state(a_draft("the cart", confidence=0.4, relevant_files=()), a_review_finding()))

    assert update["supervisor_reasoning"] == (
        "retry, low confidence: confidence 40% against a bar of 65%, 1 of 2 retries used."
    )
    assert "Low confidence: yes" in update["briefing"]
