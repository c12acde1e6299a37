"""Bodies of any HTTP request and answer as the JSON objects that a cassette holds, and back.

A cassette keeps a JSON object per request and per answer. A JSON object is kept as it is. Everything else gets an
envelope: `x_events` for server-sent events (one item per event), `x_body` for other JSON and text.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from evals.cassettes.cassette_data import Interaction
from evals.cassettes.live_answer import MAX_ANSWER, HttpReply, is_stream, refusal, usable
from evals.cassettes.player import IncomingRequest
from evals.cassettes.request_key import parse_json
from evals.errors import RecordingError
from evals.secret_filter import redact_response, scan

EVENTS: Final = "x_events"
BODY: Final = "x_body"
EVENT_STREAM: Final = "text/event-stream"
_FIELD: Final = re.compile(r"(event|data): (.*)")
_CREDENTIALS: Final = frozenset({"key", "api_key", "apikey", "access_token", "token"})
"""Query parameters that carry a credential: neither kept nor part of the request key."""
_FRAGMENTS: Final = frozenset(
    {"content", "text", "arguments", "partial_json", "thinking", "reasoning_content", "delta"}
)
"""Members of stream events whose values are pieces of one text."""
_LAST_TYPES: Final = frozenset({"message_stop", "response.completed", "response.incomplete"})


@dataclass(frozen=True)
class HttpAnswer:
    """An answer as an HTTP library gets it: one chunk, or one chunk per server-sent event."""

    status: int
    content_type: str
    chunks: tuple[bytes, ...]
    should_retry: bool = True

    @property
    def body(self) -> bytes:
        """All chunks together."""
        return b"".join(self.chunks)

    @property
    def headers(self) -> dict[str, str]:
        """`x-should-retry` is what the SDKs of OpenAI and Anthropic read before they repeat a failed request."""
        headers = {"content-type": self.content_type}
        return headers if self.should_retry else {**headers, "x-should-retry": "false"}


def refused(message: str) -> HttpAnswer:
    """The answer for a request that is not sent: status 400 with an error in the shape of OpenAI's."""
    body = json.dumps({"error": {"message": message, "type": "not_recorded", "code": "not_recorded"}})
    return HttpAnswer(400, "application/json", (body.encode(),), should_retry=False)


def request_object(body: bytes) -> bytes:
    """A request's body as JSON text of an object. No body becomes `{}`; bytes that are not UTF-8 raise ValueError."""
    if not body:
        return b"{}"
    try:
        value = parse_json(body)
    except ValueError:
        value = body.decode()
    return body if isinstance(value, dict) else json.dumps({BODY: value}).encode()


def without_credentials(path: str) -> str:
    """A path with its query, less the query parameters that carry a credential."""
    place, _, query = path.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    kept = [(name, value) for name, value in pairs if name.lower() not in _CREDENTIALS]
    if len(kept) == len(pairs):
        return path
    return f"{place}?{urlencode(kept)}" if kept else place


def answer_object(request: IncomingRequest, reply: HttpReply) -> dict[str, Any]:
    """A live reply as the JSON object that is kept. Raises RecordingError if it is no success or cannot be kept."""
    if not reply.is_success:
        raise refusal(request, reply)
    if len(reply.body) > MAX_ANSWER:
        raise RecordingError(f"an answer to {request.agent} has more than {MAX_ANSWER:,} bytes and is not kept")
    if is_stream(reply.content_type):
        return _stream_object(request, reply.body)
    path = request.path.partition("?")[0]
    if reply.kind == "application/json" and reply.body.lstrip().startswith(b"{"):
        return redact_response(path, usable(request, reply))
    try:
        text = reply.body.decode()
    except UnicodeDecodeError:
        kind = reply.kind or "no content type"
        raise RecordingError(f"an answer to {request.agent} is binary ({kind}): pass its host through") from None
    return {BODY: {"content_type": reply.content_type, "text": text}}


def served(found: Interaction) -> HttpAnswer:
    """A recorded answer as the HTTP library gets it."""
    events = found.response.get(EVENTS) or streamed(found.uri, found.request, found.response)
    if isinstance(events, list):
        return HttpAnswer(found.status, EVENT_STREAM, tuple(_event_bytes(event) for event in events))
    other = found.response.get(BODY)
    if isinstance(other, dict):
        return HttpAnswer(found.status, str(other["content_type"]), (str(other["text"]).encode(),))
    return HttpAnswer(found.status, found.content_type, (found.body,))


def _stream_object(request: IncomingRequest, body: bytes) -> dict[str, Any]:
    """The envelope of a stream, with the model and the token counts that its events name."""
    path = request.path.partition("?")[0]
    try:
        texts = re.split(r"\n\n", body.decode().replace("\r\n", "\n"))
    except UnicodeDecodeError:
        raise RecordingError(f"a stream for {request.agent} is no UTF-8 text and is not kept") from None
    events = [_event(path, text) for text in texts if text.strip("\n")]
    data = [event["data"] for event in events if isinstance(event.get("data"), dict)]
    _refuse_unfinished(request, events, data)
    for text in _joined(data):
        for finding in scan(text)[:1]:
            raise RecordingError(f"a stream for {request.agent} holds a secret ({finding.rule}): it is not kept")
    kept: dict[str, Any] = {EVENTS: events}
    messages = [each for item in data for each in (item, item.get("message"), item.get("response")) if _is_object(each)]
    if names := [each["model"] for each in messages if isinstance(each.get("model"), str)]:
        kept["model"] = names[-1]
    usage = {name: count for each in messages for name, count in _counts(each).items() if count is not None}
    return {**kept, "usage": usage} if usage else kept


def _counts(message: Mapping[str, Any]) -> Mapping[str, Any]:
    return message.get("usage") or message.get("usageMetadata") or {}


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _event(path: str, text: str) -> dict[str, Any]:
    """One event: `event` and `data` if those are all it has, its `text` otherwise."""
    fields = [_FIELD.fullmatch(line) for line in text.strip("\n").split("\n")]
    names = [found[1] for found in fields if found]
    if None in fields or names not in (["data"], ["event", "data"]):
        return {"text": text.strip("\n")}
    event: dict[str, Any] = {found[1]: found[2] for found in fields if found}
    try:
        data = parse_json(event["data"])
    except ValueError:
        return event
    return {**event, "data": redact_response(path, data)} if isinstance(data, dict) else event


def _event_bytes(event: Mapping[str, Any]) -> bytes:
    if "text" in event:
        return f"{event['text']}\n\n".encode()
    data = event["data"]
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    name = f"event: {event['event']}\n" if "event" in event else ""
    return f"{name}data: {text}\n\n".encode()


def _refuse_unfinished(
    request: IncomingRequest, events: Sequence[Mapping[str, Any]], data: Sequence[Mapping[str, Any]]
) -> None:
    """Raises RecordingError for a stream that reports an error, or that ends before its answer does."""
    if any(item.get("error") for item in data) or any(event.get("event") == "error" for event in events):
        raise RecordingError(f"a stream for {request.agent} reports an error and is not kept: record again")
    ended = any(event.get("data") == "[DONE]" for event in events) or any(
        item.get("type") in _LAST_TYPES
        or any(_is_object(choice) and choice.get("finish_reason") for choice in item.get("choices") or ())
        or any(_is_object(candidate) and candidate.get("finishReason") for candidate in item.get("candidates") or ())
        for item in data
    )
    if not ended:
        raise RecordingError(f"a stream for {request.agent} was cut off and is not kept: record again")


def _joined(data: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Texts that a stream sends in pieces: a secret may stand across two of them."""
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for item in data:
        for where, text in _pieces(item, f"{item.get('index', '')}"):
            texts[where].append(text)
    return ("".join(pieces) for pieces in texts.values() if len(pieces) > 1)


def _pieces(value: object, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            if isinstance(member, str) and name in _FRAGMENTS:
                yield f"{where}.{name}", member
            else:
                yield from _pieces(member, f"{where}.{name}")
    elif isinstance(value, list):
        for place, item in enumerate(value):
            at = item.get("index", place) if isinstance(item, Mapping) else place
            yield from _pieces(item, f"{where}[{at}]")


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
