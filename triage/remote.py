"""The same agents over HTTP: an agent named in `agent_urls` runs as a service (see `triage.server`)."""

from typing import Any

import httpx
from langchain_core.runnables import Runnable

from triage.agents.agent import AgentInput, AnyAgent
from triage.errors import ConfigurationError
from triage.findings import Answer
from triage.step import Step


def remote_chain(agent: AnyAgent, url: str, client: httpx.AsyncClient | None) -> Runnable[Any, Any]:
    """A stand-in for `agent.chain`: input and output cross the wire as JSON, and are checked on arrival.

    Raises:
        ConfigurationError: at once, without a client to send through.
        httpx.HTTPError: when run, if the service cannot be reached or answers with an error.
    """
    if client is None:
        raise ConfigurationError(
            f"{agent.name} runs at {url}, but HttpClients.services_async is not set: give it a client"
        )
    address = f"{url.rstrip('/')}/agents/{agent.name}/invoke"

    async def call(given: AgentInput) -> Answer:
        response = await client.post(address, json={"input": given.model_dump(mode="json")})
        if response.is_error:
            said = f"HTTP {response.status_code} from {address}: {_detail(response)}"
            raise httpx.HTTPStatusError(said, request=response.request, response=response)
        output: Answer = agent.output_model.model_validate(_without_name(response.json()["output"], agent.name))
        return output

    return Step(call)


def _detail(response: httpx.Response) -> str:
    """Why the service failed, as far as it says so."""
    try:
        said = response.json()["detail"]
    except (ValueError, LookupError, TypeError):
        said = response.text
    return " ".join(str(said).split()) or response.reason_phrase


def _without_name(output: object, name: str) -> object:
    """The output without `agent_name`, which other services of this wire format send along; here the caller knows whom
    it has asked. Raises ValueError if somebody else has answered."""
    if not isinstance(output, dict) or "agent_name" not in output:
        return output
    if output["agent_name"] != name:
        raise ValueError(f"{output['agent_name']!r} answered in the place of {name}: see TRIAGE_AGENT_URLS")
    return {key: value for key, value in output.items() if key != "agent_name"}
