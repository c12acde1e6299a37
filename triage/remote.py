"""The same agents over HTTP: an agent named in `agent_urls` runs as a service (see `triage.server`)."""

from typing import Any

import httpx
from langchain_core.runnables import Runnable, RunnableLambda

from triage.agents.agent import AgentInput, AnyAgent
from triage.errors import ConfigurationError
from triage.findings import Answer


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
        response.raise_for_status()
        output: Answer = agent.output_model.model_validate(response.json()["output"])
        return output

    return RunnableLambda(call)
