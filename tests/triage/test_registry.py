"""The agent registry: every worker is in it, what it needs can be provided, and calls are counted."""

import pytest

from tests.builders.endpoint import a_team, a_toolbox
from tests.builders.state import a_finding, a_rejection, a_report, a_state, an_exchange
from triage.agent_registry import (
    AVAILABLE,
    MAX_CALLS,
    REGISTRY,
    available_data,
    call_counts,
    flagged_agents,
    missing_data,
    provider_of,
)
from triage.agents import AGENTS
from triage.agents.agent import worker_node
from triage.state import WORKERS


def test_every_worker_is_registered():
    assert tuple(REGISTRY) == WORKERS


def test_all_data_of_the_registry_can_be_available():
    named = {data for card in REGISTRY.values() for data in (*card.requires, *card.provides)}

    assert named == set(AVAILABLE)


def test_whatever_an_agent_requires_somebody_provides_or_the_job_brings():
    assert {data for card in REGISTRY.values() for data in card.requires if provider_of(data) is None} == {"issue"}


@pytest.mark.parametrize(
    ("fields", "data"),
    [
        ({"findings": [a_finding("investigator")]}, "hypothesis"),
        ({"findings": [a_finding("codebase_search")]}, "code_findings"),
        ({"findings": [a_finding("web_search")]}, "web_findings"),
        ({"search_keywords": ["cart"]}, "search_keywords"),
        ({"critic_feedback": a_rejection()}, "critic_feedback"),
        ({"human_exchanges": [an_exchange()]}, "human_answers"),
        ({"report": a_report()}, "report"),
    ],
)
def test_data_is_available_once_it_is_there(fields, data):
    assert available_data(a_state(**fields)) == ["issue", data]


def test_a_question_nobody_answered_is_no_data():
    assert available_data(a_state(human_exchanges=[an_exchange(answer=None)])) == ["issue"]


def test_failed_visits_count_as_calls():
    """`visits` holds them, findings do not."""
    assert call_counts(a_state(visits=["critic", "investigator", "critic"])) == {"investigator": 1, "critic": 2}


@pytest.mark.parametrize(
    ("calls", "flagged"), [(MAX_CALLS - 1, []), (MAX_CALLS, ["critic"]), (MAX_CALLS + 1, ["critic"])]
)
def test_an_agent_called_too_often_is_flagged(calls, flagged):
    assert flagged_agents(a_state(visits=["critic"] * calls)) == flagged


def test_an_investigation_without_a_hypothesis_provides_none():
    state = a_state(findings=[a_finding(details=" ")])

    assert "hypothesis" not in available_data(state)
    assert missing_data(state, "codebase_search") == ["hypothesis"]


@pytest.mark.parametrize("name", AGENTS)
async def test_what_an_agent_provides_is_there_after_its_visit(name):
    """`requires` and `provides` are checked against the state, and this is what the state holds then."""
    toolbox = a_toolbox(a_team())
    before = a_state(findings=[a_finding()], search_keywords=["cart"])
    if name == "web_search":  # its model would have to call the search tool
        after = before.model_copy(update={"findings": [*before.findings, a_finding("web_search")]})
    else:
        update = await worker_node(AGENTS[name], toolbox)(before)
        findings = [*before.findings, *update.pop("findings")]
        after = before.model_copy(update={**update, "findings": findings})

    assert set(REGISTRY[name].provides) <= set(available_data(after))
