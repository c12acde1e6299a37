"""The two ways a replayed request may go: built by the SDK, or looked up before it is."""

import re
from dataclasses import dataclass
from typing import Any, Final

import httpx2
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI

from evals.cassettes.player import ReplayTransport, Tape, playing
from evals.models.suite import Models
from evals.triage.trial_clients import Clients, replay_clients, shortened
from evals.triage.variant_graph import settings_of
from triage.llm import HttpClients, ModelFactory


class CountedTransport(ReplayTransport):
    """Replays, and counts the requests the SDK made."""

    def __init__(self) -> None:
        self.asked = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked += 1
        return await super().handle_async_request(request)


_RUN: Final = re.compile(r"lc_run--[-0-9a-f]+")


@dataclass(frozen=True)
class Way:
    """A model on one of the two paths, and the transport behind it."""

    model: ChatOpenAI
    transport: CountedTransport


def a_path(*, short: bool, agent: str = "critic", model: str = "small", max_tokens: int | None = None) -> Way:
    """The model of `agent` as a suite builds it."""
    transport = CountedTransport()
    tape: Clients = replay_clients()
    doors = HttpClients(tape.openai, httpx2.AsyncClient(transport=transport), tape.tavily_async)
    settings = settings_of(Models(default=model, fallback=model, max_output_tokens=max_tokens))
    finish = {"finish": shortened} if short else {}
    return Way(ModelFactory(settings, doors, **finish).chat(agent), transport)


async def outcome(chain: Runnable[Any, Any], messages: Any, tape: Tape) -> Any:
    """What a chain makes of `messages` on a tape: its result without ids drawn at random, or its error in words."""
    with playing(tape):
        try:
            result = await chain.ainvoke(messages)
        except Exception as error:  # noqa: BLE001 - of whatever kind, it is what is compared
            return type(error), _RUN.sub("", str(error))
    return result.model_dump(exclude={"id"}) if isinstance(result, BaseMessage) else result


def names_of(tape: Tape) -> list[str]:
    """The keys of what was served, in order."""
    return [found.key for found in tape.ledger.served]
