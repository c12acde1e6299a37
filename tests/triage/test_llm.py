import json

import httpx
import httpx2
import openai
import pytest
from pydantic import SecretStr

from tests.builders.endpoint import a_completion, offline_settings, some_clients, some_models
from triage.llm import AGENT_HEADER, ModelFactory, live_clients, resilient
from triage.settings import Settings


class Service:
    """Answers with each status in turn, then always with the last; keeps the requests."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return httpx2.Response(status, json=a_completion("fine") if status == 200 else {"error": {"message": "no"}})

    @property
    def models(self) -> list[str]:
        return [openai_body(request)["model"] for request in self.requests]


def openai_body(request):
    return json.loads(request.content)


def a_chain(service):
    return resilient(lambda model: model, some_models(service), "critic")


async def test_a_rate_limit_costs_three_requests_and_then_one_to_the_fallback():
    service = Service(429, 429, 429, 200)

    answer = await a_chain(service).ainvoke("hello")

    assert answer.content == "fine"
    assert service.models == ["gpt-4o", "gpt-4o", "gpt-4o", "gpt-4o-mini"]


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_a_server_error_is_asked_again_and_goes_to_no_other_model(status):
    """Another model is behind the same server."""
    passing, lasting = Service(status, status, 200), Service(status)

    await a_chain(passing).ainvoke("hello")
    with pytest.raises(openai.InternalServerError):
        await a_chain(lasting).ainvoke("hello")

    assert [len(service.requests) for service in (passing, lasting)] == [3, 3]


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_no_other_failure_is_repeated_or_handed_on(status):
    """A bad key or an outage stays what it is: asking again would only hide it."""
    service = Service(status)

    with pytest.raises(openai.APIStatusError):
        await a_chain(service).ainvoke("hello")

    assert len(service.requests) == 1


async def test_every_request_carries_its_agents_name():
    service = Service(200)

    await some_models(service).chat("web_search").ainvoke("hello")

    assert service.requests[0].headers[AGENT_HEADER] == "web_search"


async def test_a_request_is_deterministic_and_not_streamed():
    service = Service(200)
    factory = some_models(service)

    events = [event async for event in factory.chat("critic").astream_events("hello")]

    body = openai_body(service.requests[0])
    assert events
    assert body["temperature"] == 0
    assert not body.get("stream")


async def test_the_bound_on_an_answers_length_is_sent():
    service = Service(200)
    settings = offline_settings().model_copy(update={"max_output_tokens": 77})

    await ModelFactory(settings, some_clients(service)).chat("critic").ainvoke("hello")

    body = openai_body(service.requests[0])
    assert 77 in (body.get("max_tokens"), body.get("max_completion_tokens"))


def test_a_model_is_made_once():
    """Building one costs as much as half a request."""
    factory = some_models(Service(200))

    assert factory.chat("critic") is factory.chat("critic")
    assert factory.chat("critic") is not factory.chat("critic", fallback=True)


async def test_the_key_goes_to_the_configured_endpoint():
    service = Service(200)
    settings = Settings(base_url="http://gateway.invalid/v1", api_key=SecretStr("gateway-token"))

    await ModelFactory(settings, some_clients(service)).chat("critic").ainvoke("hello")

    request = service.requests[0]
    assert str(request.url) == "http://gateway.invalid/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer gateway-token"


async def test_live_clients_time_out_as_configured():
    clients = live_clients(Settings(timeout_s=7, agent_urls={"critic": "http://critic.invalid"}))

    assert clients.openai_async.timeout.read == 7
    assert clients.tavily_async.timeout == httpx.Timeout(7)
    assert clients.services_async is not None
