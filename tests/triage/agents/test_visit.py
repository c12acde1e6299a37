import asyncio
from dataclasses import replace

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.errors import GraphInterrupt

from tests.builders.endpoint import SAID, WORKER_REPLIES, a_team, a_toolbox
from tests.builders.state import a_state
from triage.agents import AGENTS
from triage.agents.agent import ERROR_LIMIT, worker_node
from triage.agents.investigator import INVESTIGATOR


async def visit(agent=INVESTIGATOR, *, toolbox=None, **state):
    return await worker_node(agent, toolbox or a_toolbox(a_team()))(a_state(**state))


def an_agent_that_raises(error: BaseException):
    async def fail(_given):
        raise error

    return replace(INVESTIGATOR, chain=lambda _toolbox: RunnableLambda(fail))


def only_error(update) -> str:
    (entry,) = update["agent_errors"]
    return entry.error


@pytest.mark.parametrize("agent", AGENTS.values(), ids=list(AGENTS))
async def test_every_visit_adds_itself_an_iteration_and_a_finding(agent):
    """The iteration limit is blind to visits that are not counted."""
    update = await visit(agent, iterations=3)

    assert (update["visits"], update["iterations"]) == ([agent.name], 4)
    assert [finding.agent_name for finding in update["findings"]] == [agent.name]


async def test_an_error_the_agent_reports_itself_is_a_failed_visit():
    reply = {**WORKER_REPLIES["investigator"], "error": "the issue is empty"}

    update = await visit(toolbox=a_toolbox(a_team(investigator=[reply])))

    assert only_error(update) == "the issue is empty"
    assert not {"findings", "search_keywords"} & set(update)


@pytest.mark.parametrize("reply", ["", "not JSON", "{}", {**SAID, "confidence": 7}, 401, 500])
async def test_an_answer_that_cannot_be_used_is_a_failed_visit(reply):
    update = await visit(toolbox=a_toolbox(a_team(investigator=[reply])))

    assert only_error(update)


async def test_an_error_is_one_line_of_bounded_length():
    error = only_error(await visit(an_agent_that_raises(ValueError("x" * 9_000 + "\nsecond line"))))

    assert len(error) == ERROR_LIMIT
    assert "\n" not in error


async def test_a_missing_recording_fails_the_visit_and_not_the_job():
    """The replay's own ledger has counted it by then."""
    assert only_error(await visit(an_agent_that_raises(LookupError("not recorded")))) == "LookupError: not recorded"


async def test_a_pause_of_the_graph_is_no_failure():
    with pytest.raises(GraphInterrupt):
        await visit(an_agent_that_raises(GraphInterrupt()))


async def test_a_cancelled_job_stays_cancelled():
    with pytest.raises(asyncio.CancelledError):
        await visit(an_agent_that_raises(asyncio.CancelledError()))


async def test_a_chain_is_built_at_the_first_visit_and_once():
    built = []
    agent = replace(INVESTIGATOR, chain=lambda toolbox: built.append(1) or INVESTIGATOR.chain(toolbox))
    node = worker_node(agent, a_toolbox(a_team()))
    assert built == []

    await node(a_state())
    await node(a_state())

    assert built == [1]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"error": "The repository\nis empty."}, "The repository is empty."),
        ({"error": "none"}, "the answer breaks its schema at reasoning, summary"),
        ({"error": 7}, "the answer breaks its schema at reasoning, summary"),
        ({}, "the answer breaks its schema at reasoning, summary"),
    ],
)
async def test_an_agents_own_error_is_kept_where_it_fills_in_nothing_else(answer, told):
    visit = worker_node(INVESTIGATOR, a_toolbox(a_team(investigator=[answer])))
    update = await visit(a_state())

    assert update["agent_errors"][0].error.startswith(told)
    assert "findings" not in update
