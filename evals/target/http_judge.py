"""The judge of a target: asks an OpenAI-compatible endpoint for grades, without the SDK."""

from dataclasses import dataclass
from typing import Any, Final, TypeVar

import httpx2
from pydantic import BaseModel

from evals.cassettes.player import AGENT_HEADER, ReplayTransport
from evals.errors import ConfigurationError
from evals.models.judge import AGENT
from evals.models.suite import Models

Schema = TypeVar("Schema", bound=BaseModel)
_URL: Final = "http://judge.invalid/v1/chat/completions"
"""Who is asked is up to the transport."""


@dataclass(frozen=True)
class HttpJudge:
    """See `evals.pack.ModelJudge`."""

    client: httpx2.AsyncClient
    models: Models

    @classmethod
    def over(cls, transport: httpx2.AsyncBaseTransport | None, models: Models) -> "HttpJudge":
        """Asks over the transport, or the current cassette. Raises ConfigurationError: the suite names no model."""
        if not models.of(AGENT):
            raise ConfigurationError(
                "the suite asks a judge and names no model for it; write `models: {agents: {judge: MODEL}}` into it"
            )
        return cls(httpx2.AsyncClient(transport=transport or ReplayTransport(), timeout=None), models)

    async def ask(self, system: str, human: str, schema: type[Schema]) -> Schema:
        """An answer as an instance of `schema`. Raises what httpx2 and pydantic raise."""
        form = {"name": schema.__name__, "strict": True, "schema": schema.model_json_schema()}
        body: dict[str, Any] = {
            "model": self.models.of(AGENT),
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": human}],
            "response_format": {"type": "json_schema", "json_schema": form},
        }
        if self.models.max_output_tokens is not None:
            body["max_tokens"] = self.models.max_output_tokens
        reply = await self.client.post(_URL, json=body, headers={AGENT_HEADER: AGENT})
        message = reply.json()["choices"][0]["message"]
        return schema.model_validate_json(message.get("content") or "")
