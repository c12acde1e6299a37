"""Agents as services: the same agent, with a wire between."""

import asyncio
import json
import socket
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx
import pytest
import uvicorn

from tests.builders.endpoint import WORKER_REPLIES, a_team, a_toolbox
from tests.builders.state import a_finding, a_state, an_exchange
from triage.agent_server import app
from triage.agents import AGENTS
from triage.agents.agent import remote_chain, worker_node
from triage.agents.investigator import INVESTIGATOR
from triage.errors import ConfigurationError


def a_client(team) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app(a_toolbox(team))), base_url="http://agents.invalid")


def a_remote_toolbox(client, url="http://agents.invalid"):
    """Every agent runs at `url`; an LLM request from this side would fail."""
    here = a_toolbox(a_team(**{name: [500] for name in AGENTS}))
    settings = here.settings.model_copy(update={"agent_urls": dict.fromkeys(AGENTS, url)})
    return replace(here, settings=settings, clients=replace(here.clients, services_async=client))


def a_busy_state():
    return a_state(findings=[a_finding()], human_exchanges=[an_exchange()], search_keywords=["cart"])


@pytest.mark.parametrize("agent", AGENTS.values(), ids=list(AGENTS))
async def test_a_remote_visit_changes_the_state_as_a_local_one_does(agent):
    local = await worker_node(agent, a_toolbox(a_team()))(a_busy_state())
    remote = await worker_node(agent, a_remote_toolbox(a_client(a_team())))(a_busy_state())

    assert remote == local
    assert "findings" in remote


async def test_the_wire_format_is_input_and_output():
    answer = await a_client(a_team()).post(
        "/agents/investigator/invoke", json={"input": {"issue_title": "t", "issue_body": "b"}}
    )

    assert answer.status_code == 200
    assert list(answer.json()) == ["output"]
    assert answer.json()["output"]["hypothesis"] == "Quantities are overwritten."


@pytest.mark.parametrize(("wanted", "status"), [("shop", 200), ("", 200), ("carts", 422)])
async def test_a_service_searches_its_own_repository_and_refuses_another(wanted, status):
    service = httpx.ASGITransport(app(a_toolbox(a_team()), "shop"))
    given = {"hypothesis": "h", "repository": wanted}
    async with httpx.AsyncClient(transport=service, base_url="http://agents.invalid") as client:
        answer = await client.post("/agents/codebase_search/invoke", json={"input": given})

    assert answer.status_code == status
    assert ("this service searches 'shop', not 'carts'" in answer.text) == (status == 422)


async def test_an_unknown_agent_is_a_404_that_names_the_known_ones():
    answer = await a_client(a_team()).post("/agents/janitor/invoke", json={"input": {}})

    assert answer.status_code == 404
    assert "investigator" in answer.json()["detail"]


@pytest.mark.parametrize(
    "body", [{}, {"input": {}}, {"input": []}, {"input": {"issue_title": 1, "issue_body": "b"}}, []]
)
async def test_an_input_the_agent_cannot_read_is_a_422(body):
    team = a_team()

    answer = await a_client(team).post("/agents/investigator/invoke", json=body)

    assert answer.status_code == 422
    assert team.asked == []


async def test_the_cause_of_a_502_reaches_the_caller():
    update = await worker_node(INVESTIGATOR, a_remote_toolbox(a_client(a_team(investigator=[500]))))(a_state())

    assert "HTTP 502 from http://agents.invalid/agents/investigator/invoke" in update["agent_errors"][0].error
    assert "Error code: 500" in update["agent_errors"][0].error


@pytest.mark.parametrize(("name", "failed"), [("investigator", 0), ("critic", 1)])
async def test_a_service_may_say_who_it_is_as_long_as_it_is_the_one_asked(name, failed):
    output = {**WORKER_REPLIES["investigator"], "agent_name": name}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"output": output}))

    update = await worker_node(INVESTIGATOR, a_remote_toolbox(httpx.AsyncClient(transport=transport)))(a_state())

    assert len(update.get("agent_errors", [])) == failed


async def test_a_service_without_a_web_to_search_is_a_502_that_says_so():
    toolbox = replace(a_toolbox(a_team()), searches=False)
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app(toolbox)), base_url="http://agents.invalid")
    answer = await client.post(
        "/agents/web_search/invoke", json={"input": {"issue_title": "t", "issue_body": "b", "hypothesis": "h"}}
    )

    assert answer.status_code == 502
    assert "TRIAGE_TAVILY_API_KEY is not set" in answer.json()["detail"]


async def test_a_service_that_is_down_is_a_failed_visit():
    def refuse(request):
        raise httpx.ConnectError("refused", request=request)

    toolbox = a_remote_toolbox(httpx.AsyncClient(transport=httpx.MockTransport(refuse)))
    update = await worker_node(INVESTIGATOR, toolbox)(a_state())

    assert update["agent_errors"][0].error == "ConnectError: refused"


def test_a_remote_agent_without_a_client_is_a_clear_error():
    with pytest.raises(ConfigurationError, match="services_async"):
        remote_chain(INVESTIGATOR, "http://agents.invalid", None)


@asynccontextmanager
async def a_running_server(team):
    """Uvicorn on a free port of loopback."""
    server = uvicorn.Server(uvicorn.Config(app(a_toolbox(team)), log_level="error"))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:  # noqa: ASYNC110  # uvicorn tells in no other way
            await asyncio.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving


@pytest.mark.slow
async def test_an_agent_behind_a_real_server_is_visited_over_a_real_connection():
    team = a_team()

    async with a_running_server(team) as url, httpx.AsyncClient() as client:
        update = await worker_node(INVESTIGATOR, a_remote_toolbox(client, url))(a_state())

    assert update["findings"][0].details == "Quantities are overwritten."
    assert team.count("investigator") == 1


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize(
    "body",
    ['{"input": %s}', "%s", '{"input": {"issue_title": %s, "issue_body": "b"}}', '{"input": {"findings": [%s]}}'],
    ids=["as the input", "as the body", "as a text", "in a list"],
)
async def test_a_number_that_json_does_not_have_is_refused(body, number):
    answer = await a_client(a_team()).post(
        "/agents/investigator/invoke", content=body % number, headers={"content-type": "application/json"}
    )

    assert answer.status_code == 422
    assert answer.json()["detail"][0]["msg"]


async def test_a_confidence_that_is_no_number_is_refused():
    given = a_busy_state().model_dump(mode="json")
    finding = json.dumps(given["findings"][0] | {"confidence": 0.123}).replace("0.123", "NaN")
    body = f'{{"input": {{"issue_title": "t", "issue_body": "b", "findings": [{finding}]}}}}'
    answer = await a_client(a_team()).post(
        "/agents/critic/invoke", content=body, headers={"content-type": "application/json"}
    )

    assert answer.status_code == 422
