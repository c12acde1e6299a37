"""A whole answer of a model as server-sent events, for a client that asked for a stream.

An answer of a batch round is whole, whatever the request asked for. The formats are those of OpenAI's chat completions
and responses and of Anthropic's messages.
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


def _responses(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[Event]:
    del request
    events: list[tuple[str, dict[str, Any]]] = []
    events.append(("response.created", {"response": {**answer, "status": "in_progress", "output": [], "usage": None}}))
    for index, item in enumerate(answer["output"]):
        at = {"output_index": index, "item_id": item.get("id", "")}
        events.append(("response.output_item.added", {"output_index": index, "item": _begun(item)}))
        for place, part in enumerate(item.get("content") or () if item["type"] == "message" else ()):
            where = {**at, "content_index": place}
            if part["type"] != "output_text":
                continue
            events += [
                ("response.content_part.added", {**where, "part": {**part, "text": ""}}),
                ("response.output_text.delta", {**where, "delta": part["text"], "logprobs": []}),
                ("response.output_text.done", {**where, "text": part["text"], "logprobs": []}),
                ("response.content_part.done", {**where, "part": part}),
            ]
        if item["type"] == "function_call":
            told = {"name": item["name"], "arguments": item["arguments"]}
            events.append(("response.function_call_arguments.delta", {**at, "delta": item["arguments"]}))
            events.append(("response.function_call_arguments.done", {**at, **told}))
        events.append(("response.output_item.done", {"output_index": index, "item": item}))
    ended = "incomplete" if answer.get("status") == "incomplete" else "completed"
    events.append((f"response.{ended}", {"response": answer}))
    return (_named(kind, sequence_number=number, **members) for number, (kind, members) in enumerate(events))


def _begun(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item of the output before anything was added to it."""
    members: dict[str, dict[str, Any]] = {"message": {"content": []}, "function_call": {"arguments": ""}}
    empty = members.get(item["type"])
    return {**item, **empty, "status": "in_progress"} if empty else dict(item)


_FORMATS: Final[Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Iterator[Event]]]] = {
    "/chat/completions": _chat,
    "/messages": _messages,
    "/responses": _responses,
}
