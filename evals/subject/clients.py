"""The HTTP clients the graph is given. What their transports do is all that tells live, recording and replay apart."""

from dataclasses import dataclass

import httpx
import httpx2

from evals.cassette.player import HttpxReplayTransport, ReplayTransport


@dataclass(frozen=True)
class Clients:
    """The clients of one event loop."""

    openai: httpx2.Client
    openai_async: httpx2.AsyncClient
    tavily_async: httpx.AsyncClient

    async def close(self) -> None:
        """Close every connection."""
        self.openai.close()
        await self.openai_async.aclose()
        await self.tavily_async.aclose()


def replay_clients() -> Clients:
    """Clients that answer from the current tape and cannot reach anything else."""
    return Clients(
        openai=httpx2.Client(transport=ReplayTransport(), trust_env=False),
        openai_async=httpx2.AsyncClient(transport=ReplayTransport(), trust_env=False),
        tavily_async=httpx.AsyncClient(transport=HttpxReplayTransport(), trust_env=False),
    )
