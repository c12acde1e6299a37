"""A server on loopback that speaks OpenAI's and Anthropic's protocols for chat, whole and as streams."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.builders.http_server import Handler, running

Say = Callable[[str, Mapping[str, Any]], "str | list[tuple[str, dict[str, Any]]]"]
"""(all texts of the request, its body) -> a text, or tool calls as (name, arguments)."""


@contextmanager
def model_server(say: Say) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Its URL and the bodies of the requests it got. Anything but a model's path is echoed as JSON."""
    bodies: list[dict[str, Any]] = []

    class Model(Handler):
        def do_GET(self) -> None:
            bodies.append({"path": self.path})
            self.answer(200, json.dumps({"path": self.path}).encode(), content_type="application/json")

        def do_POST(self) -> None:
            body = json.loads(self.body() or b"{}")
            bodies.append(body)
            path = self.path.partition("?")[0]
            said = say(json.dumps(body.get("messages")), body) if "messages" in body else ""
            if path.endswith("/chat/completions"):
                self._send(
                    body, _openai(said), [f"data: {json.dumps(each)}" for each in _openai_chunks(said)], "data: [DONE]"
                )
            elif path.endswith("/messages"):
                events = [f"event: {each['type']}\ndata: {json.dumps(each)}" for each in _anthropic_events(said)]
                self._send(body, _anthropic(said), events)
            elif path.endswith("/responses"):
                events = [f"event: {each['type']}\ndata: {json.dumps(each)}" for each in _response_events()]
                self._send(body, _response("completed"), events)
            elif path.endswith((":generateContent", ":streamGenerateContent")):
                whole = _gemini()
                self._send({"stream": "stream" in path}, whole, [f"data: {json.dumps(whole)}"])
            else:
                self._send({}, {"echo": body}, [])

        def _send(self, body: Mapping[str, Any], whole: Any, events: list[str], *last: str) -> None:
            if body.get("stream"):
                text = "".join(f"{event}\n\n" for event in (*events, *last))
                self.answer(200, text.encode(), content_type="text/event-stream")
            else:
                self.answer(200, json.dumps(whole).encode(), content_type="application/json")

    with running(Model) as server:
        yield server.url, bodies


def _calls(said: Any) -> list[dict[str, Any]]:
    if isinstance(said, str):
        return []
    return [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(said)
    ]


def _openai(said: Any) -> dict[str, Any]:
    calls = _calls(said)
    message = {"role": "assistant", "content": None if calls else said, **({"tool_calls": calls} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m-1",
        "choices": [choice],
        "usage": usage,
    }


def _openai_chunks(said: Any) -> Iterator[dict[str, Any]]:
    calls = [{"index": n, **call} for n, call in enumerate(_calls(said))]
    pieces = [{"tool_calls": calls}] if calls else [{"content": piece} for piece in said.partition(" ") if piece]
    for delta in ({"role": "assistant", "content": ""}, *pieces, {}):
        ended = {"finish_reason": None if delta else "tool_calls" if calls else "stop"}
        yield {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m-1",
            "choices": [{"index": 0, "delta": delta, **ended}],
        }


def _response(status: str) -> dict[str, Any]:
    text = {"type": "output_text", "text": "good day", "annotations": []}
    message = {"type": "message", "id": f"msg_{'0a1b' * 12}", "role": "assistant", "status": status, "content": [text]}
    head = {"id": f"resp_{'0a1b' * 12}", "object": "response", "created_at": 1, "model": "m-1", "status": status}
    usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    return {**head, "output": [message], "tools": [], "usage": usage}


def _response_events() -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "sequence_number": 0, "response": _response("in_progress")}
    place = {"item_id": f"msg_{'0a1b' * 12}", "output_index": 0, "content_index": 0}
    yield {"type": "response.output_text.delta", "sequence_number": 1, **place, "delta": "good day"}
    yield {"type": "response.completed", "sequence_number": 2, "response": _response("completed")}


def _gemini() -> dict[str, Any]:
    counts = {"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 3, "totalTokenCount": 10}
    candidate = {"content": {"role": "model", "parts": [{"text": "good day"}]}, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": counts}


def _anthropic(said: Any) -> dict[str, Any]:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "stop_sequence": None}
    return {
        **message,
        "content": [{"type": "text", "text": said}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }


def _anthropic_events(said: Any) -> list[dict[str, Any]]:
    start = {**_anthropic(""), "content": [], "stop_reason": None}
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    return [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": p}}
            for p in said.partition(" ")
            if p
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    ]
