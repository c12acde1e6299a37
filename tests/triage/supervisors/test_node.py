"""The registry supervisor over a real SDK and an endpoint in memory: a plain call, one attempt, and errors kept."""

import openai
import pytest

from tests.builders.endpoint import Endpoint, a_team, a_toolbox
from tests.builders.state import a_finding, a_state
from triage.graph import build_graph
from triage.graph_configuration import Configuration
from triage.prompts.load import load_supervisor_prompt
from triage.state import BugTriageState
from triage.supervisors import SUPERVISORS

CONFIGURATION = Configuration(prompt=load_supervisor_prompt("v4"), supervisor="registry")


def a_reply(next_agent="critic", **fields):
    return {"reasoning": "It is next.", "next_agent": next_agent, "input_check": "all there", **fields}


def a_supervisor(*replies):
    endpoint = Endpoint({"supervisor": replies})
    return SUPERVISORS["registry"](CONFIGURATION, a_toolbox(endpoint)), endpoint


def a_team_led_by(*agents, **replies):
    said = [a_reply(agent) if isinstance(agent, str) and agent.isidentifier() else agent for agent in agents]
    return a_team(**{"supervisor": said, **replies})


async def a_job(team, **changes) -> BugTriageState:
    configuration = Configuration(prompt=CONFIGURATION.prompt, supervisor="registry", **changes)
    return BugTriageState.model_validate(await build_graph(configuration, a_toolbox(team)).ainvoke(a_state()))


async def test_the_registry_stands_in_the_system_prompt_and_the_state_in_the_message():
    supervise, endpoint = a_supervisor(a_reply())
    update = await supervise(a_state())

    system, told = endpoint.messages("supervisor")
    assert '"codebase_search": {\n    "purpose"' in system
    assert "Available data" in told
    assert update["briefing"] == told


async def test_finished_is_the_end_without_an_error():
    supervise, _ = a_supervisor(a_reply("finished"))
    update = await supervise(a_state())

    assert update["next_node"] == "end"
    assert "supervisor_errors" not in update


@pytest.mark.parametrize("reply", ["", "Call the critic.", '{"next_agent": "cri', a_reply("manager")])
async def test_an_unusable_reply_finishes_the_job_with_the_error_kept(reply):
    supervise, endpoint = a_supervisor(reply)
    update = await supervise(a_state(iterations=3))

    assert update["next_node"] == "end"
    assert update["supervisor_errors"][0].iteration == 3
    assert update["supervisor_errors"][0].error in update["supervisor_reasoning"]
    assert (update["forced_fallback"], update["supervisor_confidence"]) == (True, 0.0)
    assert endpoint.count("supervisor") == 1


async def test_a_model_that_asks_the_user_words_the_question_itself():
    supervise, _ = a_supervisor(a_reply("human_input", reasoning="Which database?"))
    update = await supervise(a_state())

    assert update["pending_exchange"].question == "Which database?"
    assert update["awaiting_human"]


@pytest.mark.parametrize(
    ("found", "confidence"),
    [([], 0.0), ([a_finding(confidence=0.3), a_finding("web_search", confidence=0.6)], 0.6),
     ([a_finding(confidence=0.3), a_finding("critic", confidence=0.9)], 0.3)],
)  # fmt: skip
async def test_the_newest_finding_speaks_for_the_confidence_nobody_states(found, confidence):
    supervise, _ = a_supervisor(a_reply())

    assert (await supervise(a_state(findings=found)))["supervisor_confidence"] == confidence


@pytest.mark.parametrize(
    ("status", "raised"),
    [(401, openai.AuthenticationError), (500, openai.InternalServerError), (429, openai.RateLimitError)],
)
async def test_an_outage_is_no_unusable_reply(status, raised):
    supervise, _ = a_supervisor(status)
    with pytest.raises(raised):
        await supervise(a_state())


async def test_a_job_runs_as_decided():
    job = await a_job(a_team_led_by("investigator", "codebase_search", "critic", "writer"))

    assert job.visits == ["investigator", "codebase_search", "critic", "writer"]
    assert job.supervisor_errors == []


async def test_an_agent_whose_data_is_missing_gives_way_to_its_provider():
    job = await a_job(a_team_led_by("writer", "finished"), guards="hardened-without-investigator_first")

    assert job.visits[0] == "investigator"
    assert (job.vetoes[0].guard, job.vetoes[0].chosen) == ("requires_met", "writer")


async def test_without_guards_the_registry_is_not_enforced():
    job = await a_job(a_team_led_by("writer", "finished"), guards="none")

    assert job.visits == ["writer"]


async def test_an_error_stays_in_the_state_even_where_a_guard_has_the_report_written():
    job = await a_job(a_team_led_by("investigator", "no idea!"))

    assert job.visits == ["investigator", "writer"]
    assert [veto.guard for veto in job.vetoes] == ["report_before_end"]
    assert len(job.supervisor_errors) == 1
