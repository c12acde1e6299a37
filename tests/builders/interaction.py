"""Requests, answers, interactions, tapes and a recorder, as the cassette tests need them."""

import asyncio
import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2

from evals.cassettes.calls_and_misses import MissRecord
from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.cassette_files import load
from evals.cassettes.cassette_schema import Usage
from evals.cassettes.player import IncomingRequest, Tape, playing
from evals.cassettes.recorder import Recorder, RecordingTransport
from evals.cassettes.request_key import request_key
from tests.builders import secret

CHAT = "/v1/chat/completions"
PLANTED = secret.PLANTED
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def a_chat_request(words: str = "Why does it crash?", model: str = "small", **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": words}], "temperature": 0.0, **more}


def messages(system: str, words: str) -> list[dict[str, str]]:
    """A system prompt and what is asked under it."""
    return [{"role": "system", "content": system}, {"role": "user", "content": words}]


def a_chat_answer(words: str = "Because of line 7.", model: str = "small-0.5b", **more: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": words}},
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
        **more,
    }


def an_interaction(
    words: str = "Why does it crash?", *, agent: str = "critic", sample: int = 0, answer: str | None = None, **more: Any
) -> Interaction:
    request = more.pop("request", None) or a_chat_request(words)
    fields: dict[str, Any] = {
        "key": request_key("POST", CHAT, json.dumps(request).encode()),
        "agent": agent,
        "sample": sample,
        "model": "small-0.5b",
        "uri": CHAT,
        "request": request,
        "response": a_chat_answer(answer or f"About {words!r}: line 7."),
        "recorded_at": "2026-11-21T12:00:00+00:00",
        "usage": Usage(prompt_tokens=11, completion_tokens=5),
        "latency_ms": 12.5,
    }
    return Interaction(**{**fields, **more})


def a_cassette(*interactions: Interaction) -> Cassette:
    return Cassette(Path("nowhere") / "case.yaml", interactions or [an_interaction()])


def a_tape(*interactions: Interaction, sample: int = 0, samples: int = 1) -> Tape:
    return Tape(a_cassette(*interactions), sample=sample, samples=samples)


def an_asked(words: str = "Why does it crash?", *, agent: str = "critic", **more: Any) -> IncomingRequest:
    return IncomingRequest("POST", CHAT, json.dumps(a_chat_request(words, **more)).encode(), agent)


def a_miss(words: str = "Why does it crash?", *, agent: str = "critic", **more: Any) -> MissRecord:
    asked = an_asked(words, agent=agent, **more)
    return MissRecord(asked.key, 0, agent, "POST", CHAT, asked.model, asked.body)


def a_recorder(**more) -> Recorder:
    ticks = iter(range(10**6))
    fields: dict[str, Any] = {
        "now": lambda: NOON,
        "stopwatch": lambda: next(ticks) / 100,
        "recorded_by": "test",
        "slots": asyncio.Semaphore(8),
    }
    return Recorder(**{**fields, **more})


class AnLlm(httpx2.AsyncBaseTransport):
    """An LLM server in memory: echoes the last message, counts what it is asked, yields before it answers."""

    def __init__(self, reply: Callable[[dict[str, Any]], httpx2.Response] | None = None) -> None:
        self.heard: list[str] = []
        self._reply = reply or (lambda body: httpx2.Response(200, json=a_chat_answer("Re: " + last_words(body))))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(await request.aread())
        self.heard.append(last_words(body))
        await asyncio.sleep(0)
        return self._reply(body)


def last_words(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


async def ask(transport: httpx2.AsyncBaseTransport, words: str, *, agent: str = "critic", **more: Any) -> str:
    """Sends one chat request and returns the words of the answer."""
    async with httpx2.AsyncClient(transport=_Borrowed(transport), base_url="http://127.0.0.1:9") as client:
        answer = await client.post(CHAT, json=a_chat_request(words, **more), headers={"x-triage-agent": agent})
    return str(answer.json()["choices"][0]["message"]["content"])


async def record(path: Path, *questions: str, llm: AnLlm | None = None, **more: Any) -> AnLlm:
    """One trial that asks its questions one after the other."""
    llm = llm or AnLlm()
    transport = RecordingTransport(a_recorder(**more), llm)
    with playing(Tape(load(path))):
        for words in questions:
            await ask(transport, words)
    return llm


class _Borrowed(httpx2.AsyncBaseTransport):
    """Lends a transport to a client without giving it the right to close it."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await self._inner.handle_async_request(request)


def words_of(interactions: Iterable[Interaction]) -> list[str]:
    return [last_words(interaction.request) for interaction in interactions]
