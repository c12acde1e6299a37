"""A whole answer of a model as server-sent events, for a client that asked for a stream.

An answer of a batch round is whole, whatever the request asked for. The formats are those of OpenAI's chat completions
and of Anthropic's messages.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

Event = dict[str, Any]
"""An event as a cassette keeps it: `data`, and `event` where it has a name."""


def streamed(path: str, request: Mapping[str, Any], answer: Mapping[str, Any]) -> list[Event] | None:
    """The events of a whole answer; None where the request asked for none, or in a format that is not known."""
    if request.get("stream") is not True:
        return None
    place = path.partition("?")[0]
    write = next((write for end, write in _FORMATS.items() if place.endswith(end)), None)
    return None if write is None else list(write(request, answer))


def _chat(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[Event]:
    head = {name: answer[name] for name in ("id", "created", "model", "system_fingerprint") if name in answer}
    head = {"id": "chatcmpl", "created": 0, **head, "object": "chat.completion.chunk"}
    for choice in answer["choices"]:
        index, message = choice.get("index", 0), dict(choice["message"])
        calls = message.pop("tool_calls", None) or ()
        texts = {name: text for name, text in message.items() if name != "role" and text is not None}
        deltas = [{"role": message.get("role", "assistant"), "content": "" if "content" in texts else None}]
        deltas += [{name: text} for name, text in texts.items()]
        deltas += [{"tool_calls": [{"index": place, **call}]} for place, call in enumerate(calls)]
        for delta in deltas:
            yield {"data": {**head, "choices": [{"index": index, "delta": delta, "finish_reason": None}]}}
        ended = {"index": index, "delta": {}, "finish_reason": choice["finish_reason"]}
        yield {"data": {**head, "choices": [ended]}}
    if (request.get("stream_options") or {}).get("include_usage") and "usage" in answer:
        yield {"data": {**head, "choices": [], "usage": answer["usage"]}}
    yield {"data": "[DONE]"}


def _named(kind: str, **members: object) -> Event:
    return {"event": kind, "data": {"type": kind, **members}}


def _messages(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[Event]:
    del request
    usage = answer.get("usage") or {}
    start = {
        **answer,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 0},
    }
    yield _named("message_start", message=start)
    for index, block in enumerate(answer["content"]):
        empty, delta = _block(block)
        yield _named("content_block_start", index=index, content_block=empty)
        if delta:
            yield _named("content_block_delta", index=index, delta=delta)
        yield _named("content_block_stop", index=index)
    ended = {"stop_reason": answer.get("stop_reason"), "stop_sequence": answer.get("stop_sequence")}
    yield _named("message_delta", delta=ended, usage={"output_tokens": usage.get("output_tokens", 0)})
    yield _named("message_stop")


def _block(block: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """A block of content as it starts, and what is then added to it."""
    if block["type"] == "text":
        return {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    if block["type"] == "tool_use":
        return {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return dict(block), None


_FORMATS: Final[Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Iterator[Event]]]] = {
    "/chat/completions": _chat,
    "/messages": _messages,
}
