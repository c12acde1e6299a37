"""The HTTP clients that a trial's graph is given: live, recording or replaying."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

import httpx
import httpx2

from evals.cassettes.player import HttpxReplayTransport, ReplayTransport
from evals.shortcut_switch import is_plain

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

    from evals.triage.variant_graph import Team


def _as_it_is(model: "ChatOpenAI") -> "ChatOpenAI":
    return model


@dataclass(frozen=True)
class Clients:
    """The clients of one event loop; those that hold no connection serve any, and last as long as the process."""

    openai: httpx2.Client
    openai_async: httpx2.AsyncClient
    tavily_async: httpx.AsyncClient
    finish: "Callable[[ChatOpenAI], ChatOpenAI]" = _as_it_is
    """What is done to each model that is built over them."""
    lasting: bool = False
    teams: "dict[tuple[str, str], Team] | None" = field(default=None, compare=False)
    """The teams over these clients, for trials to share; None where each trial has one of its own."""

    async def close(self) -> None:
        """Close every connection; lasting clients have none."""
        if self.lasting:
            return
        self.openai.close()
        await self.openai_async.aclose()
        await self.tavily_async.aclose()


def recording_clients(llm: httpx2.AsyncBaseTransport, search: httpx.AsyncBaseTransport, timeout_s: float) -> Clients:
    """Clients whose asynchronous requests go through the given transports; trials share the graphs built over them."""
    return Clients(
        openai=httpx2.Client(transport=ReplayTransport(), trust_env=False),
        openai_async=httpx2.AsyncClient(transport=llm, trust_env=False, timeout=timeout_s),
        tavily_async=httpx.AsyncClient(transport=search, trust_env=False, timeout=timeout_s),
        teams={},
    )


def replay_clients() -> Clients:
    """Clients that answer from the current tape and cannot reach anything else: the same ones for every trial, unless
    the environment asks for the plain path."""
    return _over_the_tape() if is_plain() else _lasting()


@cache
def _lasting() -> Clients:
    from evals.triage.fast_replay import shortened  # noqa: PLC0415 - loads LangChain

    return replace(_over_the_tape(), finish=shortened, lasting=True, teams={})


def _over_the_tape() -> Clients:
    return Clients(
        openai=httpx2.Client(transport=ReplayTransport(), trust_env=False),
        openai_async=httpx2.AsyncClient(transport=ReplayTransport(), trust_env=False),
        tavily_async=httpx.AsyncClient(transport=HttpxReplayTransport(), trust_env=False),
    )
