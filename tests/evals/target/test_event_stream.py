"""A whole answer, as a batch round gives it, is heard as a stream by clients that asked for one."""

import json
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI

from evals.cassettes.live_answer import HttpReply
from evals.cassettes.player import IncomingRequest
from evals.target.drive import TargetCall
from tests.builders.target_clients import HELLO, asking
from tests.builders.target_session import target_session

USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
WEATHER = {"name": "weather", "arguments": '{"city": "Ulm"}'}
TEXT = {"role": "assistant", "content": "good day"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": WEATHER}],
}


def chat(message: dict[str, Any], ended: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": ended}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m-1", "choices": [choice], "usage": USAGE}


def message(*content: dict[str, Any], ended: str = "end_turn") -> dict[str, Any]:
    usage = {"input_tokens": 3, "output_tokens": 4}
    told = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "stop_sequence": None}
    return {**told, "content": list(content), "stop_reason": ended, "usage": usage}


def openai_text() -> str:
    stream = openai.OpenAI(api_key="k").chat.completions.create(model="m-1", messages=HELLO, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


async def langchain_call() -> Any:
    model = ChatOpenAI(model="m-1", api_key="k", streaming=True, stream_usage=True)
    answer = await model.ainvoke("hello")
    return [answer.tool_calls[0]["name"], answer.tool_calls[0]["args"], answer.usage_metadata["total_tokens"]]


async def anthropic_text() -> str:
    client = anthropic.AsyncAnthropic(api_key="k")
    async with client.messages.stream(model="claude-x", max_tokens=9, messages=HELLO) as stream:
        return "".join([text async for text in stream.text_stream])


def langchain_anthropic_call() -> Any:
    model = ChatAnthropic(model="claude-x", api_key="k", streaming=True)
    return model.invoke("hello").tool_calls[0]["args"]


TOOL_USE = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Ulm"}}


@pytest.mark.parametrize(
    ("client", "answer", "heard"),
    [
        (openai_text, chat(TEXT), "good day"),
        (langchain_call, chat(CALL, "tool_calls"), ["weather", {"city": "Ulm"}, 7]),
        (anthropic_text, message({"type": "text", "text": "good day"}), "good day"),
        (langchain_anthropic_call, message(TOOL_USE, ended="tool_use"), {"city": "Ulm"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
async def test_a_client_that_asks_for_a_stream_hears_a_whole_answer(
    client: Any, answer: dict[str, Any], heard: Any, tmp_path: Path
) -> None:
    async def answerer(_: IncomingRequest) -> HttpReply:
        return HttpReply(200, "application/json", json.dumps(answer).encode())

    with target_session(tmp_path) as session:
        session.recorder.answerer = answerer
        recorded = await session.record(TargetCall(asking(client), {}))
        replayed = await session.replay(TargetCall(asking(client), {}))

    assert recorded.error is None
    assert replayed == recorded
    assert replayed.output["said"] == heard
    assert session.cassette.interactions[0].request["stream"] is True
